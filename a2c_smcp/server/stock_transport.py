"""How the call router reaches the clients of a python-socketio server that the application created."""

from collections.abc import Callable, Iterable
from typing import Any

from engineio import packet as eio_packet
from socketio import packet as sio_packet

from a2c_smcp.errors import SMCPError
from a2c_smcp.server.async_runtime import send, sleep, start
from a2c_smcp.server.call_router import CHALLENGE_SECONDS, ClientTransport
from a2c_smcp.server.calls import ReplyCallback
from a2c_smcp.server.client_manager import AckWaiter, accept_many_packets, cancel_pong, guard_acks, on_pong
from a2c_smcp.server.payload import Payload
from a2c_smcp.smcp import DISCONNECT_NOTIFICATION, SMCP_NAMESPACE, farewell


class StockTransport:
    """The `ClientTransport` of a stock server."""

    def __init__(self, server: Any) -> None:
        self._server = server
        guard_acks(server.manager, _ignore_ack)
        accept_many_packets()

    def request(self, sid: str, event: str, payload: Payload, answered: ReplyCallback) -> int:
        """Send an event that wants an ack."""
        manager = self._server.manager
        number: int = manager._generate_ack_id(sid, AckWaiter(event, answered))  # noqa: SLF001
        packet = self._server.packet_class(sio_packet.EVENT, namespace=SMCP_NAMESPACE, data=[event, payload], id=number)
        send(self._server._send_packet, manager.eio_sid_from_sid(sid, SMCP_NAMESPACE), packet)  # noqa: SLF001
        return number

    def forget(self, sid: str, ack: int) -> None:
        """Drop the callback of an ack."""
        self._server.manager.callbacks.get(sid, {}).pop(ack, None)

    def notify(self, sids: Iterable[str], event: str, data: Any) -> None:
        """Send an event to several clients."""
        for sid in sids:
            send(self._server.emit, event, data, to=sid, namespace=SMCP_NAMESPACE)

    def hang_up(self, sid: str, error: SMCPError, *, reconnect: bool) -> None:
        """Send the reason and close a client's connection."""
        start(self._server, self._hang_up, sid, error, reconnect=reconnect)

    async def _hang_up(self, sid: str, error: SMCPError, *, reconnect: bool) -> None:
        eio_sid = self._server.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE)
        await self._server.emit(DISCONNECT_NOTIFICATION, farewell(error), to=sid, namespace=SMCP_NAMESPACE)
        if not reconnect:
            await self._server.disconnect(sid, namespace=SMCP_NAMESPACE)
        if eio_sid is not None:
            await self._server.eio.disconnect(eio_sid)

    def challenge(self, sid: str, done: Callable[[bool], None]) -> None:
        """Ping a client and call `done` with whether it answered."""
        socket = self._server.eio.sockets.get(self._server.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE))
        if socket is None:
            return
        if on_pong(socket, done):
            send(socket.send, eio_packet.Packet(eio_packet.PING))
        start(self._server, self._await_pong, socket, done)

    async def _await_pong(self, socket: Any, done: Callable[[bool], None]) -> None:
        await sleep(CHALLENGE_SECONDS)
        cancel_pong(socket, done)


async def _ignore_ack() -> None:
    pass


def transport_for(server: Any) -> ClientTransport:
    """Return the transport of a server: our own server is one."""
    return server if isinstance(server, ClientTransport) else StockTransport(server)
