"""The Socket.IO server of the application: python-socketio with a shorter hot path.

Differences from the stock server:

- `client:*` events and their acks are relayed as text, without a task, a future or a parsed payload for each.
- A websocket has one read loop and one write loop; the stock loops start a task and a timer for every message.
- The backlog of a slow reader is bounded; a client that exceeds it is disconnected, others are not affected.
- A malformed packet is answered or dropped; it neither closes the connection nor logs a traceback.
- Disconnecting a client does not scan all rooms.

It overrides internals of python-socketio and python-engineio; `tests/unit/test_private_members.py` guards each.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import socketio
from engineio import packet as eio_packet
from socketio import packet as sio_packet

from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.errors import BadRequest, SMCPError, to_wire
from a2c_smcp.server.call_router import CHALLENGE_SECONDS, CallRouter, internal_error, too_large_error
from a2c_smcp.server.calls import AckArguments, ReplyCallback
from a2c_smcp.server.client_manager import AckWaiter, ClientManager, cancel_pong, on_pong
from a2c_smcp.server.engineio_socket import EngineIOServer, keep_task
from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.logs import ThrottledLog
from a2c_smcp.server.packets import (
    ACK,
    EVENT,
    ack_id_of,
    ack_packet,
    event_packet,
    notification_packet,
    split_ack,
    split_request,
)
from a2c_smcp.server.payload import Payload, RawJson
from a2c_smcp.smcp import (
    DISCONNECT_NOTIFICATION,
    JOIN_OFFICE_EVENT,
    LEAVE_OFFICE_EVENT,
    SMCP_NAMESPACE,
    error_ack,
    farewell,
)

log = logging.getLogger(__name__)
throttled = ThrottledLog(log)

SERIAL_EVENTS = frozenset({JOIN_OFFICE_EVENT, LEAVE_OFFICE_EVENT})
MAX_ATTACHMENTS = 32
MAX_REFUSALS = 5
"""Refused attempts to enter a namespace before the connection is closed."""
JOIN_SECONDS = 300.0
"""Seconds in which a client must join its first office; users of released clients type its name."""
MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
"""Exceptions of decoding a malformed packet."""


class SMCPServer(socketio.AsyncServer):  # type: ignore[misc]
    """A Socket.IO server for the relay. It is also the `ClientTransport` of its call router."""

    def __init__(self, limits: ServerLimits | None = None, **options: Any) -> None:
        self.limits = limits or ServerLimits()
        self.call_router: CallRouter | None = None
        self._attached: dict[str, int] = {}
        settings: dict[str, Any] = {
            "async_mode": "asgi",
            "client_manager": ClientManager(),
            "json": FastJson,
            "max_http_buffer_size": self.limits.frame_bytes,
            "cors_allowed_origins": lambda *_: False,  # an empty list would turn the check off
            "logger": _library_log(),
            "engineio_logger": _library_log(),
        }
        super().__init__(**settings | options)
        self.eio.limits = self.limits

    def _engineio_server_class(self) -> type[EngineIOServer]:
        return EngineIOServer

    # ClientTransport

    def request(self, sid: str, event: str, payload: Payload, answered: ReplyCallback) -> int:
        """Send an event that wants an ack."""
        eio_sid = self.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE)
        socket = self.eio.sockets.get(eio_sid)
        if socket is not None and type(payload) is RawJson:
            socket.check_backlog(len(payload.text))
        number: int = self.manager._generate_ack_id(sid, AckWaiter(event, answered))  # noqa: SLF001
        try:
            if type(payload) is RawJson:
                self._push(eio_sid, event_packet(event, payload, number))
            else:
                self._send(eio_sid, sio_packet.EVENT, [event, payload], number)
        except BaseException:
            self.forget(sid, number)
            raise
        return number

    def forget(self, sid: str, ack: int) -> None:
        """Drop the callback of an ack."""
        self.manager.take_callback(sid, ack)

    def notify(self, sids: Iterable[str], event: str, data: Any) -> None:
        """Send an event to several clients, encoded once."""
        packet = notification_packet(event, data)
        for sid in sids:
            self._push(self.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE), packet)

    def hang_up(self, sid: str, error: SMCPError, *, reconnect: bool) -> None:
        """Send the reason and close a client's connection."""
        eio_sid = self.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE)
        self.notify([sid], DISCONNECT_NOTIFICATION, farewell(error))
        keep_task(asyncio.ensure_future(self._hang_up(sid, self.eio.sockets.get(eio_sid), reconnect=reconnect)))

    def challenge(self, sid: str, done: Callable[[bool], None]) -> None:
        """Ping a client and call `done` with whether it answered."""
        socket = self.eio.sockets.get(self.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE))
        if socket is None:
            return
        if on_pong(socket, done):
            keep_task(asyncio.ensure_future(socket.send(eio_packet.Packet(eio_packet.PING))))
        asyncio.get_running_loop().call_later(CHALLENGE_SECONDS, cancel_pong, socket, done)

    async def _hang_up(self, sid: str, socket: Any, *, reconnect: bool) -> None:
        # A client that is disconnected from the namespace does not reconnect by itself; one without a transport does.
        if not reconnect:
            await self.disconnect(sid, namespace=SMCP_NAMESPACE)
        if socket is not None:
            self.eio.hang_up(socket)

    def _push(self, eio_sid: str | None, packet: str) -> None:
        socket = self.eio.sockets.get(eio_sid)
        if socket is not None:
            socket.push(packet)

    def _send(self, eio_sid: str | None, kind: int, data: list[Any], number: int | None) -> None:
        # The stock encoder splits data with binary parts into several packets.
        encoded = self.packet_class(kind, namespace=SMCP_NAMESPACE, data=data, id=number).encode()
        socket = self.eio.sockets.get(eio_sid)
        if socket is not None:
            for part in encoded if isinstance(encoded, list) else [encoded]:
                socket.push(part)

    # Incoming packets

    async def _handle_eio_message(self, eio_sid: str, data: Any) -> None:
        try:
            if eio_sid in self._binary_packet and not isinstance(data, bytes | bytearray):
                self._abandon(eio_sid, BadRequest("An attachment was expected"))
            if isinstance(data, str):
                if data.startswith(EVENT) and self._routed(eio_sid, data):
                    return
                if data.startswith(ACK) and self._acked(eio_sid, data):
                    return
                if len(data) > self.limits.message_bytes:
                    raise too_large_error("message", len(data), self.limits.message_bytes)
            await self._dispatch(eio_sid, data)
        except MALFORMED as problem:
            found = ack_id_of(data) if isinstance(data, str) else None
            number, is_ack = found or (None, False)
            self._refuse(eio_sid, number, problem, is_ack=is_ack)

    def _routed(self, eio_sid: str, packet: str) -> bool:
        router = self.call_router
        request = split_request(packet) if router is not None else None
        if router is None or request is None:
            return False
        sid = self.manager.sid_from_eio_sid(eio_sid, SMCP_NAMESPACE)
        if sid is None or not self.manager.is_connected(sid, SMCP_NAMESPACE):
            return True
        number, event, payload = request
        try:
            router.route(sid, event, payload, lambda answer: self._answer(eio_sid, number, answer))
        except Exception:
            log.exception("routing failed: event=%s", event)
            self._answer(eio_sid, number, (error_ack(event, internal_error(event)),))
        return True

    def _answer(self, eio_sid: str, number: int | None, answer: AckArguments) -> None:
        if number is None:
            return
        if isinstance(answer, RawJson):
            self._push(eio_sid, ack_packet(number, answer))
        else:
            self._send(eio_sid, sio_packet.ACK, list(answer), number)

    def _acked(self, eio_sid: str, packet: str) -> bool:
        ack = split_ack(packet)
        if ack is None:
            return False
        number, text = ack
        waiting = self._waiting(eio_sid, number)
        if waiting is None:
            return True  # late or unexpected
        if type(waiting) is not AckWaiter:
            return False  # of another user of this server
        del self.manager.callbacks[self.manager.sid_from_eio_sid(eio_sid, SMCP_NAMESPACE)][number]
        waiting.take(text)
        return True

    def _waiting(self, eio_sid: str, number: int) -> Any:
        sid = self.manager.sid_from_eio_sid(eio_sid, SMCP_NAMESPACE)
        return self.manager.callbacks.get(sid, {}).get(number)

    async def _dispatch(self, eio_sid: str, data: Any) -> None:
        partial = self._binary_packet.get(eio_sid)
        if partial is not None:
            await self._attach(eio_sid, partial, data)
            return
        if not isinstance(data, str):
            raise BadRequest("Attachment without a packet")
        packet = self.packet_class(encoded_packet=data)
        match packet.packet_type:
            case sio_packet.CONNECT:
                await self._handle_connect(eio_sid, packet.namespace, packet.data)
            case sio_packet.DISCONNECT:
                await self._handle_disconnect(eio_sid, packet.namespace, self.reason.CLIENT_DISCONNECT)
            case sio_packet.EVENT:
                await self._take_event(eio_sid, packet)
            case sio_packet.ACK:
                await self._handle_ack(eio_sid, packet.namespace, packet.id, _ack_data(packet.data))
            case sio_packet.BINARY_EVENT | sio_packet.BINARY_ACK:
                self._expect_attachments(eio_sid, packet)
            case _:
                raise BadRequest("Unknown packet type")

    async def _take_event(self, eio_sid: str, packet: Any) -> None:
        data = _event_data(packet.data)
        sid = self.manager.sid_from_eio_sid(eio_sid, packet.namespace or "/")
        if (
            data[0] in SERIAL_EVENTS
            and packet.namespace == SMCP_NAMESPACE
            and self.manager.is_connected(sid, SMCP_NAMESPACE)
        ):
            # The client's next packets rely on its membership, so they are read after this.
            await self._handle_event_internal(self, sid, eio_sid, data, packet.namespace, packet.id)
            self._mark_joined(sid, eio_sid)
        else:
            await self._handle_event(eio_sid, packet.namespace, packet.id, data)

    def _mark_joined(self, sid: str, eio_sid: str) -> None:
        connection = self.call_router.connections.get(sid) if self.call_router is not None else None
        socket = self.eio.sockets.get(eio_sid)
        if socket is not None and not socket.joined and connection is not None and connection.member is not None:
            socket.join()

    def _expect_attachments(self, eio_sid: str, packet: Any) -> None:
        if self.manager.sid_from_eio_sid(eio_sid, packet.namespace or "/") is None:
            raise BadRequest("Binary packet before the connection")
        if not 0 < packet.attachment_count <= MAX_ATTACHMENTS:
            raise BadRequest(f"A binary packet must have 1 to {MAX_ATTACHMENTS} attachments")
        if sorted(_placeholders(packet.data)) != list(range(packet.attachment_count)):
            raise BadRequest("A binary packet must name each of its attachments once")
        self._binary_packet[eio_sid] = packet
        self._attached[eio_sid] = 0

    async def _attach(self, eio_sid: str, packet: Any, data: Any) -> None:
        size = self._attached[eio_sid] = self._attached[eio_sid] + len(data)
        if size > self.limits.message_bytes:
            self._abandon(eio_sid, too_large_error("message with its attachments", size, self.limits.message_bytes))
            return
        try:
            complete = packet.add_attachment(data)
            arguments = (_event_data if packet.packet_type == sio_packet.BINARY_EVENT else _ack_data)(packet.data)
        except MALFORMED as problem:
            self._abandon(eio_sid, problem)
            return
        if complete:
            self._drop_partial(eio_sid)
            if packet.packet_type == sio_packet.BINARY_EVENT:
                await self._take_event(eio_sid, packet)
            else:
                await self._handle_ack(eio_sid, packet.namespace, packet.id, arguments)

    def _abandon(self, eio_sid: str, problem: Exception) -> None:
        """Drop a packet with missing or malformed attachments, and reply with an error."""
        packet = self._binary_packet.get(eio_sid)
        self._drop_partial(eio_sid)
        if packet is not None and packet.namespace == SMCP_NAMESPACE:
            self._refuse(eio_sid, packet.id, problem, is_ack=packet.packet_type == sio_packet.BINARY_ACK)

    def _drop_partial(self, eio_sid: str) -> None:
        self._binary_packet.pop(eio_sid, None)
        self._attached.pop(eio_sid, None)

    async def _handle_eio_connect(self, eio_sid: str, environ: dict[str, Any]) -> None:
        await super()._handle_eio_connect(eio_sid, environ)
        self._expect_connect(eio_sid)

    async def _handle_connect(self, eio_sid: str, namespace: str | None, data: Any) -> None:
        await super()._handle_connect(eio_sid, namespace, data)
        socket = self.eio.sockets.get(eio_sid)
        if socket is None:
            return
        if self._is_admitted(eio_sid):
            socket.mark_admitted()
            socket.expire(JOIN_SECONDS, lambda: socket.joined)
            if self.call_router is None:
                socket.join()  # without a router there are no offices
            return
        socket.refusals += 1
        if socket.refusals >= MAX_REFUSALS:
            self.eio.hang_up(socket)

    async def _handle_disconnect(self, eio_sid: str, namespace: str | None, reason: str | None = None) -> None:
        await super()._handle_disconnect(eio_sid, namespace, reason)
        self._expect_connect(eio_sid)

    def _is_admitted(self, eio_sid: str) -> bool:
        manager = self.manager
        return any(manager.sid_from_eio_sid(eio_sid, namespace) for namespace in manager.get_namespaces())

    def _expect_connect(self, eio_sid: str) -> None:
        """Set the deadline for entering a namespace; a client that only answers pings would stay forever."""
        if (socket := self.eio.sockets.get(eio_sid)) is not None:
            socket.expire(self.limits.hello_seconds, lambda: self._is_admitted(eio_sid))

    async def _handle_eio_disconnect(self, eio_sid: str, reason: str) -> None:
        self._drop_partial(eio_sid)
        await super()._handle_eio_disconnect(eio_sid, reason)

    def _refuse(self, eio_sid: str, number: int | None, problem: Exception, *, is_ack: bool) -> None:
        throttled.info("malformed packet refused: error=%s", type(problem).__name__, extra={"eio_sid": eio_sid})
        if number is None:
            return
        if is_ack:
            if type(waiting := self._waiting(eio_sid, number)) is AckWaiter:
                self.forget(self.manager.sid_from_eio_sid(eio_sid, SMCP_NAMESPACE), number)
                waiting.fail()
            return
        error = problem if isinstance(problem, BadRequest) else BadRequest("Malformed packet")
        self._answer(eio_sid, number, (to_wire(error),))


def _event_data(data: Any) -> list[Any]:
    if not isinstance(data, list) or not data or not isinstance(data[0], str):
        raise BadRequest("An event must be a list that begins with its name")
    return data


def _ack_data(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise BadRequest("The arguments of an ack must be a list")
    return data


def _placeholders(data: Any) -> Iterator[int]:
    """Yield the number of every attachment placeholder; -1 for one without a valid number.

    An attachment that is named many times would be copied as often when it is sent.
    """
    if isinstance(data, list):
        for item in data:
            yield from _placeholders(item)
    elif isinstance(data, dict):
        if data.get("_placeholder") and "num" in data:
            yield data["num"] if type(data["num"]) is int else -1
        else:
            for item in data.values():
                yield from _placeholders(item)


def _library_log() -> logging.Logger:
    # The libraries log whole payloads at INFO, and errors of clients with a traceback.
    quiet = logging.getLogger(f"{__name__}.library")
    quiet.setLevel(logging.WARNING)
    if not quiet.filters:
        quiet.addFilter(_without_traceback)
    return quiet


def _without_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = record.exc_text = None
    return True
