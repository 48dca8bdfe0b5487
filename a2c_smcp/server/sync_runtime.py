"""The counterpart of `async_runtime` for a blocking server: threads, or greenlets that stand in for them."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from socketio import Namespace as BaseNamespace
from engineio import packet as eio_packet
from socketio import packet as sio_packet

from a2c_smcp.common.callbacks import call_guarded
from a2c_smcp.errors import InternalError, SMCPError
from a2c_smcp.server.calls import AckArguments, ReplyCallback
from a2c_smcp.server.client_manager import AckWaiter, accept_many_packets, guard_acks, cancel_pong, on_pong
from a2c_smcp.server.payload import Payload
from a2c_smcp.server.call_router import CHALLENGE_SECONDS, ClientTransport
from a2c_smcp.smcp import DISCONNECT_NOTIFICATION, SMCP_NAMESPACE, farewell

__all__ = ["BaseNamespace", "Lock", "ReplyFuture", "PeriodicTimer", "clock", "router_lock", "sleep", "transport_for", "resolve"]

log = logging.getLogger(__name__)

clock = time.monotonic
Lock = threading.Lock


def router_lock() -> AbstractContextManager[Any]:
    """What keeps the switchboard from being entered by two threads."""
    return threading.RLock()


sleep = time.sleep


def resolve(value: Any) -> Any:
    """The result of a callback.

    Raises:
        InternalError: The callback is a coroutine function, which a blocking server cannot run.
    """
    if hasattr(value, "__await__"):
        value.close()
        raise InternalError("This is a blocking server: its authentication provider must not be asynchronous")
    return value


class ReplyFuture:
    """Where an answer is put by one thread and waited for by another."""

    def __init__(self) -> None:
        self._there = threading.Event()
        self._answer: AckArguments = ()

    def put(self, answer: AckArguments) -> None:
        """Hand over the answer."""
        if not self._there.is_set():
            self._answer = answer
            self._there.set()

    def get(self) -> AckArguments:
        """Wait for it; the switchboard's own deadline ends the wait."""
        self._there.wait()
        return self._answer


class PeriodicTimer:
    """Calls `tick` every quarter second, from a thread of its own."""

    def __init__(self, tick: Callable[[], None], seconds: float = 0.25) -> None:
        self._tick = tick
        self._seconds = seconds
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, if not begun."""
        if self._thread is None or not self._thread.is_alive():
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, name="a2c-ticker", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            call_guarded(log, "the clock of the server", self._tick)


class StockTransport:
    """The port of a blocking python-socketio server."""

    def __init__(self, server: Any) -> None:
        self._server = server
        guard_acks(server.manager, lambda: None)
        accept_many_packets()

    def request(self, sid: str, event: str, payload: Payload, answered: ReplyCallback) -> int:
        """Send an event that wants an ack."""
        manager = self._server.manager
        number: int = manager._generate_ack_id(sid, AckWaiter(event, answered))  # noqa: SLF001
        packet = self._server.packet_class(
            sio_packet.EVENT, namespace=SMCP_NAMESPACE, data=[event, payload], id=number
        )
        self._server._send_packet(manager.eio_sid_from_sid(sid, SMCP_NAMESPACE), packet)  # noqa: SLF001
        return number

    def forget(self, sid: str, ack: int) -> None:
        """Drop the callback of an ack."""
        self._server.manager.callbacks.get(sid, {}).pop(ack, None)

    def notify(self, sids: Iterable[str], event: str, data: Any) -> None:
        """Send an event to several clients."""
        for sid in sids:
            self._server.emit(event, data, to=sid, namespace=SMCP_NAMESPACE)

    def hang_up(self, sid: str, error: SMCPError, *, reconnect: bool) -> None:
        """Say why, and end a client's connection."""
        self._server.start_background_task(self._hang_up, sid, error, reconnect=reconnect)

    def _hang_up(self, sid: str, error: SMCPError, *, reconnect: bool) -> None:
        eio_sid = self._server.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE)
        self._server.emit(DISCONNECT_NOTIFICATION, farewell(error), to=sid, namespace=SMCP_NAMESPACE)
        if not reconnect:
            self._server.disconnect(sid, namespace=SMCP_NAMESPACE)
        if eio_sid is not None:
            self._server.eio.disconnect(eio_sid)

    def challenge(self, sid: str, done: Callable[[bool], None]) -> None:
        """Ping a client; `done` is told whether it answered."""
        socket = self._server.eio.sockets.get(self._server.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE))
        if socket is None:
            return
        if on_pong(socket, done):
            socket.send(eio_packet.Packet(eio_packet.PING))
        self._server.start_background_task(self._await_pong, socket, done)

    def _await_pong(self, socket: Any, done: Callable[[bool], None]) -> None:
        time.sleep(CHALLENGE_SECONDS)
        cancel_pong(socket, done)


def transport_for(server: Any) -> ClientTransport:
    """How the switchboard reaches the clients of this server."""
    return StockTransport(server)
