"""The few things that an async server does differently from a blocking one; `sync_runtime` is its counterpart."""

import asyncio
import inspect
import logging
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from engineio import packet as eio_packet
from socketio import AsyncNamespace as BaseNamespace
from socketio import packet as sio_packet

from a2c_smcp.common.callbacks import call_guarded
from a2c_smcp.errors import SMCPError
from a2c_smcp.server.call_router import CHALLENGE_SECONDS, ClientTransport
from a2c_smcp.server.calls import AckArguments, ReplyCallback
from a2c_smcp.server.client_manager import AckWaiter, accept_many_packets, cancel_pong, guard_acks, on_pong
from a2c_smcp.server.payload import Payload
from a2c_smcp.server.socketio_server import SMCPServer
from a2c_smcp.smcp import DISCONNECT_NOTIFICATION, SMCP_NAMESPACE, farewell

__all__ = [
    "BaseNamespace",
    "Lock",
    "PeriodicTimer",
    "ReplyFuture",
    "clock",
    "resolve",
    "router_lock",
    "sleep",
    "transport_for",
]

log = logging.getLogger(__name__)

clock = time.monotonic
Lock = asyncio.Lock


def router_lock() -> AbstractContextManager[Any]:
    """What keeps the switchboard from being entered twice: one thread needs nothing."""
    return nullcontext()


sleep = asyncio.sleep


async def resolve(value: Any) -> Any:
    """The result of a callback that may be a coroutine function or not."""
    return await value if inspect.isawaitable(value) else value


class ReplyFuture:
    """Where an answer is put by one and waited for by another."""

    def __init__(self) -> None:
        self._future: asyncio.Future[AckArguments] = asyncio.get_running_loop().create_future()

    def put(self, answer: AckArguments) -> None:
        """Hand over the answer."""
        if not self._future.done():
            self._future.set_result(answer)

    async def get(self) -> AckArguments:
        """Wait for it; the switchboard's own deadline ends the wait."""
        return await self._future


class PeriodicTimer:
    """Calls `tick` every quarter second."""

    def __init__(self, tick: Callable[[], None], seconds: float = 0.25) -> None:
        self._tick = tick
        self._seconds = seconds
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, if not begun."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    def stop(self) -> None:
        """End."""
        if self._task is not None:
            with suppress(RuntimeError):
                self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            call_guarded(log, "the clock of the server", self._tick)


class StockTransport:
    """The port of a python-socketio server that somebody else made."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._tasks: set[asyncio.Task[Any]] = set()
        guard_acks(server.manager, _nothing)
        accept_many_packets()

    def request(self, sid: str, event: str, payload: Payload, answered: ReplyCallback) -> int:
        """Send an event that wants an ack."""
        manager = self._server.manager
        number: int = manager._generate_ack_id(sid, AckWaiter(event, answered))  # noqa: SLF001
        packet = self._server.packet_class(sio_packet.EVENT, namespace=SMCP_NAMESPACE, data=[event, payload], id=number)
        eio_sid = manager.eio_sid_from_sid(sid, SMCP_NAMESPACE)
        self._start(self._server._send_packet(eio_sid, packet))  # noqa: SLF001
        return number

    def forget(self, sid: str, ack: int) -> None:
        """Drop the callback of an ack."""
        self._server.manager.callbacks.get(sid, {}).pop(ack, None)

    def notify(self, sids: Iterable[str], event: str, data: Any) -> None:
        """Send an event to several clients."""
        for sid in sids:
            self._start(self._server.emit(event, data, to=sid, namespace=SMCP_NAMESPACE))

    def hang_up(self, sid: str, error: SMCPError, *, reconnect: bool) -> None:
        """Say why, and end a client's connection."""
        self._start(self._hang_up(sid, error, reconnect=reconnect))

    async def _hang_up(self, sid: str, error: SMCPError, *, reconnect: bool) -> None:
        eio_sid = self._server.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE)
        await self._server.emit(DISCONNECT_NOTIFICATION, farewell(error), to=sid, namespace=SMCP_NAMESPACE)
        if not reconnect:
            await self._server.disconnect(sid, namespace=SMCP_NAMESPACE)
        if eio_sid is not None:
            await self._server.eio.disconnect(eio_sid)

    def challenge(self, sid: str, done: Callable[[bool], None]) -> None:
        """Ping a client; `done` is told whether it answered."""
        socket = self._server.eio.sockets.get(self._server.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE))
        if socket is None:
            return
        if on_pong(socket, done):
            self._start(socket.send(eio_packet.Packet(eio_packet.PING)))
        asyncio.get_running_loop().call_later(CHALLENGE_SECONDS, cancel_pong, socket, done)

    def _start(self, coroutine: Any) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _nothing() -> None:
    """What an ack that is dropped comes to."""


def transport_for(server: Any) -> ClientTransport:
    """How the switchboard reaches the clients of this server."""
    return server if isinstance(server, SMCPServer) else StockTransport(server)
