"""The Socket.IO server under the ready application: python-socketio with its hot path cut short.

What differs from the stock server, and why:

- `client:*` events and their acks pass through as text, without a task, a future or a parsed payload for each.
- A websocket is read and written by two plain loops; the stock ones start a task and a timer for every message.
- What waits for a slow reader is bounded; a client that exceeds it is disconnected, the others notice nothing.
- A packet that is no packet is answered or dropped; it neither ends the connection nor logs a traceback.
- Disconnecting costs the rooms of that client, not a walk over all rooms.

It leans on internals of python-socketio and python-engineio; `tests/interaction/server` shows each of them at work.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, cast

import engineio
import socketio
from engineio import async_socket
from engineio import packet as eio_packet
from socketio import packet as sio_packet

from a2c_smcp.errors import BadRequest, InternalError, to_wire
from a2c_smcp.fastjson import FastJson
from a2c_smcp.server.limits import Limits
from a2c_smcp.server.packets import (
    ACK,
    EVENT,
    ack_arguments,
    ack_id_of,
    ack_number_of,
    ack_packet,
    event_packet,
    notification_packet,
    split_request,
)
from a2c_smcp.server.payload import Payload, Raw
from a2c_smcp.server.switchboard import Answer, Reply, Switchboard, too_large
from a2c_smcp.smcp import JOIN_OFFICE_EVENT, LEAVE_OFFICE_EVENT, SMCP_NAMESPACE, error_ack

log = logging.getLogger(__name__)

IN_ORDER = frozenset({JOIN_OFFICE_EVENT, LEAVE_OFFICE_EVENT})
CLOSE_GRACE = 2.0
MAX_ATTACHMENTS = 32


class SendQueue(asyncio.Queue[Any]):
    """What waits to be written to one client, counted in bytes."""

    def _init(self, maxsize: int) -> None:
        super()._init(maxsize)
        self.bytes = 0

    def _put(self, item: Any) -> None:
        self.bytes += _length(item)
        super()._put(item)

    def _get(self) -> Any:
        item = super()._get()
        self.bytes -= _length(item)
        return item


def _length(item: Any) -> int:
    data = item if isinstance(item, str) else getattr(item, "data", None)
    return len(data) if isinstance(data, str | bytes) else 0


class Socket(async_socket.AsyncSocket):  # type: ignore[misc]
    """One client's transport."""

    server: "EngineServer"
    queue: SendQueue
    connected: bool
    _lean = False
    _reader: "asyncio.Task[Any] | None" = None

    def push(self, text: str) -> None:
        """Queue a Socket.IO packet; end the connection if too much waits already."""
        if self.closed:
            return
        self.queue.put_nowait(f"4{text}" if self._lean else eio_packet.Packet(eio_packet.MESSAGE, text))
        if self.queue.bytes > self.server.limits.backlog_bytes:
            log.warning("a client reads too slowly and is disconnected", extra={"eio_sid": self.sid})
            self.server.hang_up(self)

    async def receive(self, pkt: Any) -> None:
        """Take a packet; one that is refused changes nothing."""
        try:
            await super().receive(pkt)
        except engineio.exceptions.EngineIOError:
            log.info("a packet of unknown kind was dropped", extra={"eio_sid": self.sid})

    async def close(self, wait: bool = True, abort: bool = False, reason: str | None = None) -> None:  # noqa: ARG002, FBT001, FBT002
        """Close without waiting for a client that may never read."""
        await super().close(wait=False, abort=abort, reason=reason)
        self.queue.put_nowait(None)  # wakes the writer, or a poll that waits for something to say
        if self._reader is not None and self._reader is not asyncio.current_task():
            asyncio.get_running_loop().call_later(0 if abort else CLOSE_GRACE, self._reader.cancel)

    async def _websocket_handler(self, ws: Any) -> None:
        if self.connected:
            await super()._websocket_handler(ws)  # an upgrade from polling keeps the stock loops
            return
        self.connected = self.upgraded = self._lean = True
        self._reader = asyncio.current_task()
        writer = asyncio.create_task(self._write(ws))
        try:
            await self._read(ws)
        except asyncio.CancelledError:
            if not self.closed:
                raise
        finally:
            self.queue.put_nowait(None)
            await self.close(wait=False, abort=True, reason=self.server.reason.TRANSPORT_CLOSE)
            _, late = await asyncio.wait([writer], timeout=CLOSE_GRACE)
            for task in late:
                task.cancel()

    async def _read(self, ws: Any) -> None:
        limit = self.server.limits.frame_bytes
        deliver = self.server.deliver
        with suppress(OSError):
            while not self.closed:
                frame = await ws.wait()
                if not frame:
                    continue
                if len(frame) > limit:
                    log.warning("a frame over the frame limit ended its connection", extra={"eio_sid": self.sid})
                    return
                if frame[0] == "4":
                    await deliver(self.sid, frame[1:])
                elif isinstance(frame, bytes):
                    await deliver(self.sid, frame)
                elif frame == "3":
                    self.schedule_ping()
                elif frame == "1":
                    return
                else:
                    log.info("a frame of unknown kind was dropped", extra={"eio_sid": self.sid})

    async def _write(self, ws: Any) -> None:
        queue = self.queue
        with suppress(OSError, RuntimeError):
            while (item := await queue.get()) is not None:
                await ws.send(item if type(item) is str else item.encode())
        await ws.close()


class EngineServer(engineio.AsyncServer):  # type: ignore[misc]
    """Engine.IO with our sockets."""

    limits = Limits()
    start_service_task: bool
    service_task_event: Any

    def create_queue(self, *_: Any, **__: Any) -> SendQueue:
        """What a new socket writes from."""
        return SendQueue()

    async def deliver(self, sid: str, data: str | bytes) -> None:
        """Hand a message to the Socket.IO layer."""
        await self.handlers["message"](sid, data)

    async def shutdown(self) -> None:
        """End; a later connection begins anew."""
        ran = self.service_task_event is not None
        await super().shutdown()
        self.service_task_event = None
        self.start_service_task = ran or self.start_service_task

    def hang_up(self, socket: Socket) -> None:
        """End a connection from outside of it."""
        task = asyncio.ensure_future(socket.close(wait=False, abort=True, reason=self.reason.SERVER_DISCONNECT))
        _keep(task)

    async def _handle_connect(self, environ: dict[str, Any], transport: str, jsonp_index: int | None = None) -> Any:
        # As the stock method, but with our kind of socket; cookies are never set.
        if self.start_service_task:
            self.start_service_task = False
            self.service_task_handle = self.start_background_task(self._service_task)
        sid = self.generate_id()
        socket = self.sockets[sid] = Socket(self, sid)
        hello = {
            "sid": sid,
            "upgrades": self._upgrades(sid, transport),
            "pingTimeout": int(self.ping_timeout * 1000),
            "pingInterval": int(self.ping_interval * 1000),
            "maxPayload": self.max_http_buffer_size,
        }
        await socket.send(eio_packet.Packet(eio_packet.OPEN, hello))
        refusal = await self._trigger_event("connect", sid, environ, run_async=False)
        if refusal is not None and refusal is not True:
            del self.sockets[sid]
            return self._unauthorized(refusal or None)
        socket.schedule_ping()
        if transport == "websocket":
            try:
                return await socket.handle_get_request(environ)
            finally:
                self.sockets.pop(sid, None)
        socket.connected = True
        try:
            return self._ok(await socket.poll(), jsonp_index=jsonp_index)
        except engineio.exceptions.QueueEmpty:
            return self._bad_request()


class Waiting:
    """Somebody who waits for an ack."""

    __slots__ = ("_answered", "_event")

    def __init__(self, event: str, answered: Reply) -> None:
        self._event = event
        self._answered = answered

    def __call__(self, *arguments: Any) -> None:
        """The ack came parsed, with binary parts."""
        self._answered(arguments)

    def take(self, packet: str) -> None:
        """The ack came as text. A malformed one is an error at once, not after the time-out."""
        try:
            answer: Answer = ack_arguments(packet)
        except ValueError:
            error = InternalError("The computer sent a malformed reply")
            answer = (error_ack(self._event, error),)
        self._answered(answer)


class Manager(socketio.AsyncManager):  # type: ignore[misc]
    """The client table, with an index from a client to its rooms, so that leaving is no walk over all rooms."""

    def __init__(self) -> None:
        super().__init__()
        self._connecting: set[tuple[str, str]] = set()
        self._leaving: set[tuple[str, str]] = set()
        self._rooms_of: dict[tuple[str, str], set[Any]] = {}

    async def pre_connect(self, eio_sid: str, namespace: str) -> str | None:
        """Register a client that is not yet authenticated."""
        sid = await super().pre_connect(eio_sid, namespace)
        if sid is not None:
            self.pending_connect.pop(namespace, None)
            self._connecting.add((namespace, sid))
        return cast("str | None", sid)

    async def connect(self, sid: str, namespace: str) -> str:
        """Register a client as fully connected."""
        self._connecting.discard((namespace, sid))
        return sid

    def is_pre_connected(self, sid: str, namespace: str) -> bool:
        """Whether the client waits for its authentication."""
        return (namespace, sid) in self._connecting

    def is_connected(self, sid: str, namespace: str) -> bool:
        """Whether the client is fully connected."""
        key = (namespace, sid)
        return key not in self._connecting and key not in self._leaving and key in self._rooms_of

    def pre_disconnect(self, sid: str, namespace: str) -> str | None:
        """Mark a client as going, while its handlers still run."""
        self._leaving.add((namespace, sid))
        return cast("str | None", self.rooms[namespace][None].get(sid))

    def basic_disconnect(self, sid: str, namespace: str, **_: Any) -> None:
        """Forget a client."""
        for room in self._rooms_of.pop((namespace, sid), ()):
            super().basic_leave_room(sid, namespace, room)
        self.callbacks.pop(sid, None)
        self._connecting.discard((namespace, sid))
        self._leaving.discard((namespace, sid))

    def basic_enter_room(self, sid: str, namespace: str, room: Any, eio_sid: str | None = None) -> None:
        """Add a client to a room."""
        super().basic_enter_room(sid, namespace, room, eio_sid=eio_sid)
        self._rooms_of.setdefault((namespace, sid), set()).add(room)

    def basic_leave_room(self, sid: str, namespace: str, room: Any) -> None:
        """Remove a client from a room."""
        super().basic_leave_room(sid, namespace, room)
        self._rooms_of.get((namespace, sid), set()).discard(room)


class SMCPServer(socketio.AsyncServer):  # type: ignore[misc]
    """A Socket.IO server made for the relay. It is also the `Port` of the switchboard it serves.

    Attributes:
        hello_seconds: How long a client may take to join a namespace; one that never does, and answers every ping,
            would hold its connection for ever.
    """

    hello_seconds = 20.0

    def __init__(self, limits: Limits | None = None, **options: Any) -> None:
        self.limits = limits or Limits()
        self.switchboard: Switchboard | None = None
        self._attached: dict[str, int] = {}
        settings: dict[str, Any] = {
            "async_mode": "asgi",
            "client_manager": Manager(),
            "json": FastJson,
            "max_http_buffer_size": self.limits.frame_bytes,
            "cors_allowed_origins": lambda *_: False,  # an empty list would turn the check off
            "logger": _library_log(),
            "engineio_logger": _library_log(),
        }
        super().__init__(**settings | options)
        self.eio.limits = self.limits

    def _engineio_server_class(self) -> type[EngineServer]:
        return EngineServer

    # The Port

    def request(self, sid: str, event: str, payload: Payload, answered: Reply) -> int:
        """Send an event that wants an ack."""
        eio_sid = self.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE)
        number: int = self.manager._generate_ack_id(sid, Waiting(event, answered))  # noqa: SLF001
        if type(payload) is Raw:
            self._push(eio_sid, event_packet(event, payload, number))
        else:
            self._send(eio_sid, sio_packet.EVENT, [event, payload], number)
        return number

    def forget(self, sid: str, ack: int) -> None:
        """Drop the callback of an ack."""
        self.manager.callbacks.get(sid, {}).pop(ack, None)

    def notify(self, sids: Iterable[str], event: str, data: Any) -> None:
        """Send an event to several clients, encoded once."""
        packet = notification_packet(event, data)
        for sid in sids:
            self._push(self.manager.eio_sid_from_sid(sid, SMCP_NAMESPACE), packet)

    def hang_up(self, sid: str) -> None:
        """End a client's session in the namespace."""
        _keep(asyncio.ensure_future(self.disconnect(sid, namespace=SMCP_NAMESPACE)))

    def _push(self, eio_sid: str | None, packet: str) -> None:
        socket = self.eio.sockets.get(eio_sid)
        if socket is not None:
            socket.push(packet)

    def _send(self, eio_sid: str | None, kind: int, data: list[Any], number: int | None) -> None:
        # Data with binary parts: the stock encoder makes several packets of it.
        encoded = self.packet_class(kind, namespace=SMCP_NAMESPACE, data=data, id=number).encode()
        socket = self.eio.sockets.get(eio_sid)
        for part in encoded if isinstance(encoded, list) else [encoded]:
            if socket is not None and isinstance(part, str):
                socket.push(part)
            elif socket is not None:
                socket.queue.put_nowait(eio_packet.Packet(eio_packet.MESSAGE, part))

    # The way in

    async def _handle_eio_message(self, eio_sid: str, data: Any) -> None:
        try:
            if isinstance(data, str):
                if data.startswith(EVENT) and self._routed(eio_sid, data):
                    return
                if data.startswith(ACK) and self._acked(eio_sid, data):
                    return
                if len(data) > self.limits.message_bytes:
                    raise too_large("message", len(data), self.limits.message_bytes)
            await self._dispatch(eio_sid, data)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as problem:
            self._malformed(eio_sid, data, problem)

    def _routed(self, eio_sid: str, packet: str) -> bool:
        board = self.switchboard
        request = split_request(packet) if board is not None else None
        if board is None or request is None:
            return False
        sid = self.manager.sid_from_eio_sid(eio_sid, SMCP_NAMESPACE)
        if sid is None or not self.manager.is_connected(sid, SMCP_NAMESPACE):
            return True
        number, event, payload = request
        board.route(sid, event, payload, lambda answer: self._answer(eio_sid, number, answer))
        return True

    def _answer(self, eio_sid: str, number: int | None, answer: Answer) -> None:
        if number is None:
            return
        if isinstance(answer, Raw):
            self._push(eio_sid, ack_packet(number, answer))
        else:
            self._send(eio_sid, sio_packet.ACK, list(answer), number)

    def _acked(self, eio_sid: str, packet: str) -> bool:
        number = ack_number_of(packet)
        if number is None:
            return False
        callbacks = self.manager.callbacks.get(self.manager.sid_from_eio_sid(eio_sid, SMCP_NAMESPACE), {})
        waiting = callbacks.get(number)
        if waiting is None:
            return True  # too late, or never asked for
        if type(waiting) is not Waiting:
            return False
        del callbacks[number]
        waiting.take(packet)
        return True

    async def _dispatch(self, eio_sid: str, data: Any) -> None:
        partial = self._binary_packet.get(eio_sid)
        if partial is not None:
            await self._attach(eio_sid, partial, data)
            return
        if not isinstance(data, str):
            raise BadRequest("An attachment without a packet")
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
                raise BadRequest("A packet of unknown kind")

    async def _take_event(self, eio_sid: str, packet: Any) -> None:
        data = _event_data(packet.data)
        sid = self.manager.sid_from_eio_sid(eio_sid, packet.namespace or "/")
        if (
            data[0] in IN_ORDER
            and packet.namespace == SMCP_NAMESPACE
            and self.manager.is_connected(sid, SMCP_NAMESPACE)
        ):
            # What the client sends next relies on its seat: it is read when this is done.
            await self._handle_event_internal(self, sid, eio_sid, data, packet.namespace, packet.id)
        else:
            await self._handle_event(eio_sid, packet.namespace, packet.id, data)

    def _expect_attachments(self, eio_sid: str, packet: Any) -> None:
        if self.manager.sid_from_eio_sid(eio_sid, packet.namespace or "/") is None:
            raise BadRequest("A binary packet before the connection")
        if not 0 < packet.attachment_count <= MAX_ATTACHMENTS:
            raise BadRequest(f"A binary packet has 1 to {MAX_ATTACHMENTS} attachments")
        self._binary_packet[eio_sid] = packet
        self._attached[eio_sid] = 0

    async def _attach(self, eio_sid: str, packet: Any, data: Any) -> None:
        if not isinstance(data, bytes | bytearray):
            self._drop_partial(eio_sid)
            raise BadRequest("An attachment was expected")
        self._attached[eio_sid] += len(data)
        if self._attached[eio_sid] > self.limits.message_bytes:
            size = self._attached[eio_sid]
            self._drop_partial(eio_sid)
            raise too_large("message with its attachments", size, self.limits.message_bytes)
        if packet.add_attachment(data):
            self._drop_partial(eio_sid)
            if packet.packet_type == sio_packet.BINARY_EVENT:
                await self._take_event(eio_sid, packet)
            else:
                await self._handle_ack(eio_sid, packet.namespace, packet.id, _ack_data(packet.data))

    def _drop_partial(self, eio_sid: str) -> None:
        self._binary_packet.pop(eio_sid, None)
        self._attached.pop(eio_sid, None)

    async def _handle_eio_connect(self, eio_sid: str, environ: dict[str, Any]) -> None:
        await super()._handle_eio_connect(eio_sid, environ)
        asyncio.get_running_loop().call_later(self.hello_seconds, self._expect_hello, eio_sid)

    def _expect_hello(self, eio_sid: str) -> None:
        socket = self.eio.sockets.get(eio_sid)
        if socket is not None and eio_sid not in self.manager.eio_to_sid:
            self.eio.hang_up(socket)

    async def _handle_eio_disconnect(self, eio_sid: str, reason: str) -> None:
        self._drop_partial(eio_sid)
        await super()._handle_eio_disconnect(eio_sid, reason)

    def _malformed(self, eio_sid: str, data: Any, problem: Exception) -> None:
        log.info("a malformed packet was refused: %s", type(problem).__name__, extra={"eio_sid": eio_sid})
        number = ack_id_of(data) if isinstance(data, str) else None
        if number is not None:
            error = problem if isinstance(problem, BadRequest) else BadRequest("Malformed packet")
            self._answer(eio_sid, number, (to_wire(error),))


def _event_data(data: Any) -> list[Any]:
    if not isinstance(data, list) or not data or not isinstance(data[0], str):
        raise BadRequest("An event is a list that begins with its name")
    return data


def _ack_data(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise BadRequest("The arguments of an ack are a list")
    return data


def _library_log() -> logging.Logger:
    # The libraries log whole payloads at INFO, and clients' mistakes with a traceback.
    quiet = logging.getLogger(f"{__name__}.library")
    quiet.setLevel(logging.WARNING)
    if not quiet.filters:
        quiet.addFilter(_without_traceback)
    return quiet


def _without_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = record.exc_text = None
    return True


_tasks: set["asyncio.Future[Any]"] = set()


def _keep(task: "asyncio.Future[Any]") -> None:
    # The event loop holds tasks weakly.
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
