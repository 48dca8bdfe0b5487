"""Engine.IO server and sockets: one read loop and one write loop per client, with bounds on memory.

Until a client is admitted to a namespace it is *pending*: it has a deadline, and its address may have few such
sessions. Until it has joined an office, its frames and HTTP bodies must be small.
"""

import asyncio
import base64
import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final
from urllib.parse import parse_qs

import engineio
from engineio import async_socket
from engineio import packet as eio_packet

from a2c_smcp.errors import BadRequest, RequestTimeout, SMCPError
from a2c_smcp.server.client_manager import POST_PACKETS
from a2c_smcp.server.handshake import address_of
from a2c_smcp.server.limits import ServerLimits, limit_exceeded
from a2c_smcp.server.logs import ThrottledLog
from a2c_smcp.server.web import Receive, Scope, Send, refuse
from a2c_smcp.web.listening import connection_of

log = ThrottledLog(logging.getLogger(__name__))

CLOSE_GRACE: Final = 2.0
POLL_PACKETS: Final = 16
"""Packets in one response to a poll; python-engineio clients refuse more."""
YIELD_EVERY: Final = 64
"""Packets of a POST that are handled before the event loop runs other tasks."""
BODY_LIMIT: Final = "body size"
POST_PACKET_TYPES: Final = frozenset("134")
"""Packet types that a client may POST: close, pong, message."""
MIN_PENDING_SESSIONS: Final = 16
"""Pending sessions that an address may have at least; a quarter of its connection limit if that is more."""
SESSION_FACTOR: Final = 2
"""Sessions of one address, as a multiple of its connection limit: the namespace refuses first, with a reason."""


class SendBacklog:
    """The number of unsent bytes of all clients together."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        self.bytes = 0


class SendQueue(asyncio.Queue[Any]):
    """The send queue of one client, counted in bytes.

    Args:
        total: The counter of all clients.
    """

    _queue: deque[Any]

    def __init__(self, total: SendBacklog | None = None) -> None:
        super().__init__()
        self.total = total or SendBacklog()

    def _init(self, maxsize: int) -> None:
        super()._init(maxsize)
        self.bytes = 0
        self.taken = 0

    def _put(self, item: Any) -> None:
        size = _size_of(item)
        self.bytes += size
        self.total.bytes += size
        if type(item) is eio_packet.Packet and item.packet_type == eio_packet.PING:
            self._queue.appendleft(item)  # the pong proves that the client lives, so the ping must not wait
        else:
            super()._put(item)

    def _get(self) -> Any:
        item = super()._get()
        size = _size_of(item)
        self.bytes -= size
        self.taken += size
        self.total.bytes -= size
        return item

    def leave(self) -> None:
        """Stop counting these bytes in the total: the client is being disconnected."""
        self.total.bytes -= self.bytes
        self.total = SendBacklog()
        self.total.bytes = self.bytes


def _size_of(item: Any) -> int:
    data = item if isinstance(item, str) else getattr(item, "data", None)
    return len(data) if isinstance(data, str | bytes) else 0


class EngineIOSocket(async_socket.AsyncSocket):  # type: ignore[misc]
    """The transport of one client.

    Attributes:
        admitted: Whether the client was admitted to a namespace.
        joined: Whether the client has joined an office.
        refusals: How often a namespace refused the client.
        frames: The frames of the current POST; None without one.
    """

    server: "EngineIOServer"
    queue: SendQueue
    connected: bool
    upgrading: bool
    admitted = False
    joined = False
    refusals = 0
    frames: "list[str | bytes] | None" = None
    _direct = False
    _polls = 0
    _moved = 0
    last_ping: float | None
    _reader: "asyncio.Task[Any] | None" = None
    _ending: asyncio.TimerHandle | None = None
    _pinging: asyncio.TimerHandle | None = None
    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, server: "EngineIOServer", sid: str, address: str, connection: Any) -> None:
        super().__init__(server, sid)
        self.address = address
        self._connection = connection

    @property
    def frame_limit(self) -> int:
        """The largest frame or HTTP body that the client may send."""
        limits = self.server.limits
        return limits.frame_bytes if self.joined else min(limits.early_bytes, limits.frame_bytes)

    def expire(self, seconds: float, check: Callable[[], bool]) -> None:
        """Close the connection after `seconds` unless `check` returns True then; replaces an earlier deadline."""
        if self._deadline is not None:
            self._deadline.cancel()
        if not self.closing:
            self._deadline = asyncio.get_running_loop().call_later(seconds, self._expired, check)

    def _expired(self, check: Callable[[], bool]) -> None:
        self._deadline = None
        if not check():
            self.server.hang_up(self)

    def mark_admitted(self) -> None:
        """Record that a namespace admitted the client."""
        self.admitted = True
        self.server.session_admitted(self)
        self.attach(self._connection)

    def join(self) -> None:
        """Record that the client has joined an office and may send large messages."""
        self.joined = True
        self.attach(self._connection)

    def attach(self, connection: Any) -> None:
        """Use a TCP connection from now on, and trust it as much as the client."""
        self._connection = connection
        if connection is not None and self.admitted:
            connection.trust()
        if connection is not None and self.joined:
            connection.allow_large_frames()

    def check_backlog(self, size: int) -> None:
        """Check that a request may be queued; half of the backlog is reserved for notifications and replies.

        Raises:
            RateLimited: Too much is queued already.
        """
        limit = self.server.limits.backlog_bytes // 2
        waiting = self.queue.bytes
        if waiting and waiting + size > limit:
            raise limit_exceeded("unsent bytes of one computer", limit)

    def push(self, part: str | bytes) -> None:
        """Queue a Socket.IO packet or an attachment; close the connection if too much is queued."""
        if self.closed:
            return
        plain = self._direct and isinstance(part, str)
        self.queue.put_nowait(f"4{part!s}" if plain else eio_packet.Packet(eio_packet.MESSAGE, part))
        limits = self.server.limits
        if self.queue.bytes > limits.backlog_bytes:
            log.warning("slow client disconnected", extra={"eio_sid": self.sid})
            self.server.hang_up(self)
        elif self.queue.total.bytes > limits.backlog_total_bytes > 0:
            self.server.drop_slowest()

    def schedule_ping(self) -> None:
        """Schedule the next ping with a timer; the stock method starts a task that outlives the client."""
        if self.last_ping:
            self.last_ping = None
            self._pinging = asyncio.get_running_loop().call_later(self.server.ping_interval, self._ping)

    def _ping(self) -> None:
        if not self.closing and not self.closed:
            self.last_ping = time.time()
            self.queue.put_nowait(eio_packet.Packet(eio_packet.PING))

    async def check_ping_timeout(self) -> bool:
        """Return whether the client answers pings; while a full connection makes progress, its pong may be late."""
        if self.last_ping:
            unsent = self._connection.unsent() if self._direct and self._connection is not None else 0
            moved = self.queue.taken - unsent
            if moved > self._moved and (unsent or self.queue.bytes):
                self.last_ping = time.time()
            self._moved = moved
        return bool(await super().check_ping_timeout())

    async def receive(self, pkt: Any) -> None:
        """Take a packet; one that is refused changes nothing."""
        try:
            await super().receive(pkt)
        except engineio.exceptions.EngineIOError:
            log.info("a packet of unknown kind was dropped", extra={"eio_sid": self.sid})

    async def poll(self) -> list[Any]:
        """Wait for something to write; return it, in portions that every client accepts."""
        if self._polls and not self._direct:
            self.queue.put_nowait(eio_packet.Packet(eio_packet.NOOP))  # the client gave up its earlier poll
        self._polls += 1
        try:
            async with asyncio.timeout(self.server.ping_interval + self.server.ping_timeout):
                packets = [await self.queue.get()]
        except (TimeoutError, asyncio.CancelledError):
            raise engineio.exceptions.QueueEmpty from None
        finally:
            self._polls -= 1
        while packets[-1] is not None and len(packets) < POLL_PACKETS and not self.queue.empty():
            packets.append(self.queue.get_nowait())
        if packets[-1] is None:
            packets.pop()
            if packets:
                self.queue.put_nowait(None)  # ends the next poll
        return packets

    async def handle_post_request(self, environ: dict[str, Any]) -> None:  # noqa: ARG002
        """Handle the packets of a POST, in order."""
        for number, frame in enumerate(self.frames or ()):
            if self.closed:
                return
            if number % YIELD_EVERY == YIELD_EVERY - 1:
                await asyncio.sleep(0)
            if not await self._take(frame):
                await self.close(wait=False, abort=True, reason=self.server.reason.CLIENT_DISCONNECT)

    async def close(self, wait: bool = True, abort: bool = False, reason: str | None = None) -> None:  # noqa: ARG002, FBT001, FBT002
        """Close without waiting for the client, which may never read."""
        await super().close(wait=False, abort=abort, reason=reason)
        self.server.left(self)
        for timer in (self._pinging, self._deadline):
            if timer is not None:
                timer.cancel()
        if abort:
            self.server.sockets.pop(self.sid, None)  # no request will collect the close packet
        self.queue.leave()
        self.queue.put_nowait(None)  # wakes the writer, or a waiting poll
        if self._reader is not None and self._reader is not asyncio.current_task():
            loop = asyncio.get_running_loop()
            self._ending = loop.call_later(0 if abort else CLOSE_GRACE, self._reader.cancel)

    async def _websocket_handler(self, ws: Any) -> None:
        if self.connected:
            await self._upgrade(ws)
            return
        self.connected = self.upgraded = self._direct = True
        self._reader = asyncio.current_task()
        writer = asyncio.create_task(self._write(ws))
        try:
            await self._read(ws)
        except asyncio.CancelledError:
            if not self.closed:
                raise
        finally:
            self._reader = None
            if self._ending is not None:
                self._ending.cancel()  # the reader has ended by itself
            self.queue.put_nowait(None)
            await self.close(wait=False, abort=True, reason=self.server.reason.TRANSPORT_CLOSE)
            _, late = await asyncio.wait([writer], timeout=CLOSE_GRACE)
            for task in late:
                task.cancel()

    async def _upgrade(self, ws: Any) -> None:
        # An upgrade from polling keeps the stock loops, which have no deadline for an unfinished one.
        task = asyncio.current_task()
        if self.upgrading or task is None:
            await ws.close()
            return

        def expire() -> None:
            if not self.upgraded:
                task.cancel()

        timer = asyncio.get_running_loop().call_later(self.server.limits.hello_seconds, expire)
        try:
            await super()._websocket_handler(ws)
        except (asyncio.CancelledError, ValueError) as problem:
            if self.upgraded:
                raise
            self.upgrading = False
            log.info("transport upgrade failed: error=%s", type(problem).__name__, extra={"eio_sid": self.sid})
            await ws.close()
        finally:
            timer.cancel()

    async def _read(self, ws: Any) -> None:
        deliver = self.server.deliver
        with suppress(OSError):
            while not self.closed:
                frame = await ws.wait()
                if not frame:
                    continue
                if len(frame) > self.frame_limit:
                    log.warning("connection closed: frame above the frame limit", extra={"eio_sid": self.sid})
                    return
                if frame[0] == "4":
                    await deliver(self.sid, frame[1:])
                elif not await self._take(frame):
                    return

    async def _take(self, frame: str | bytes) -> bool:
        """Handle one frame; return whether more may follow."""
        if isinstance(frame, bytes):
            await self.server.deliver(self.sid, frame)
        elif frame[0] == "4":
            await self.server.deliver(self.sid, frame[1:])
        elif frame == "3":
            self.schedule_ping()
        elif frame == "1":
            return False
        else:
            log.info("frame of unknown type dropped", extra={"eio_sid": self.sid})
        return True

    async def _write(self, ws: Any) -> None:
        queue = self.queue
        with suppress(OSError, RuntimeError):
            while (item := await queue.get()) is not None:
                await ws.send(item if type(item) is str else item.encode())
        await ws.close()


def _frames(body: bytes) -> list[str | bytes]:
    """Return the packets of an HTTP body, in which attachments are base64.

    Raises:
        BadRequest: The body is malformed, or has too many packets.
    """
    try:
        text = body.decode("utf-8")
        if text.startswith("d="):
            text = parse_qs(text)["d"][0]  # JSONP
        if (number := text.count("\x1e") + 1) <= POST_PACKETS:
            return [_frame(frame) for frame in text.split("\x1e")] if text else []
    except (KeyError, ValueError):
        raise BadRequest("The request holds a malformed packet; nothing of it was processed") from None
    raise BadRequest(
        f"The request holds {number} packets; the limit is {POST_PACKETS}: send them in parts",
        details={"limit": "packets per request", "size": number, "value": POST_PACKETS},
    )


def _frame(text: str) -> str | bytes:
    if text[:1] == "b":
        return base64.b64decode(text[1:], validate=True)
    if text[:1] not in POST_PACKET_TYPES:
        raise ValueError(text[:1])
    return text


class EngineIOServer(engineio.AsyncServer):  # type: ignore[misc]
    """An Engine.IO server with our sockets."""

    limits = ServerLimits()
    start_service_task: bool
    service_task_event: Any

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.backlog = SendBacklog()
        super().__init__(*arguments, **options)
        self._sessions: dict[str, set[EngineIOSocket]] = {}
        self._pending: dict[str, dict[EngineIOSocket, None]] = {}
        self.refused: Callable[[SMCPError, str], None] = _log_refusal

    def create_queue(self, *_: Any, **__: Any) -> SendQueue:
        """Return the send queue of a new socket."""
        return SendQueue(self.backlog)

    def drop_slowest(self) -> None:
        """Disconnect the client with the most unsent bytes."""
        waiting = [one for one in self.sockets.values() if one.queue.total is self.backlog]
        slowest = max(waiting, key=lambda one: one.queue.bytes, default=None)
        if slowest is not None:
            log.warning(
                "total backlog exceeded: slowest client disconnected backlog_bytes=%d",
                self.backlog.bytes,
                extra={"eio_sid": slowest.sid},
            )
            slowest.queue.leave()
            self.hang_up(slowest)

    async def deliver(self, sid: str, data: str | bytes) -> None:
        """Pass a message to the Socket.IO layer."""
        await self.handlers["message"](sid, data)

    async def shutdown(self) -> None:
        """Shut down; a later connection starts the service task again."""
        ran = self.service_task_event is not None
        await super().shutdown()
        self.service_task_event = None
        self.start_service_task = ran or self.start_service_task

    def hang_up(self, socket: EngineIOSocket) -> None:
        """Close a connection from outside its own tasks."""
        task = asyncio.ensure_future(socket.close(wait=False, abort=True, reason=self.reason.SERVER_DISCONNECT))
        keep_task(task)

    # Sessions per address

    def session_admitted(self, socket: EngineIOSocket) -> None:
        """Record that the session of a socket is no longer pending."""
        pending = self._pending.get(socket.address, {})
        pending.pop(socket, None)
        if not pending:
            self._pending.pop(socket.address, None)

    def left(self, socket: EngineIOSocket) -> None:
        """Remove a session."""
        self.session_admitted(socket)
        sessions = self._sessions.get(socket.address, set())
        sessions.discard(socket)
        if not sessions:
            self._sessions.pop(socket.address, None)

    def _reserve_session(self, address: str) -> None:
        """Make place for a new session of an address by closing its oldest pending one, if necessary.

        Raises:
            RateLimited: The address has too many sessions and none is pending.
        """
        each = self.limits.connections_per_address
        limit = SESSION_FACTOR * each
        pending = self._pending.get(address, {})
        few = len(self._sessions.get(address, ())) < limit and len(pending) < max(each // 4, MIN_PENDING_SESSIONS)
        if not each or few:
            return
        if not pending:
            raise limit_exceeded("sessions per address", limit)
        oldest = next(iter(pending))
        log.info("oldest pending session closed: too many sessions of one address", extra={"address": address})
        self.left(oldest)
        self.hang_up(oldest)

    # Requests

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> Any:
        """Serve a request. Its body is read here, so that slow senders cannot hold much memory."""
        socket = self.sockets.get(_session_of(scope))
        if socket is not None and (connection := connection_of(scope)) is not None:
            socket.attach(connection)
        try:
            if scope["type"] != "http":
                await super().handle_request(scope, receive, send)
            elif socket is not None and scope["method"] == "POST":
                await self._post(socket, scope, receive, send)
            else:
                body = await self._body(scope, receive, socket)
                await super().handle_request(scope, _replay(body, receive), send)
        except SMCPError as error:
            self.refused(error, address_of({"asgi.scope": scope}))
            status = 413 if (error.details or {}).get("limit") == BODY_LIMIT else error.code
            await refuse(scope, send, status, error, connection="close")

    async def _post(self, socket: EngineIOSocket, scope: Scope, receive: Receive, send: Send) -> None:
        if socket.frames is not None:
            raise BadRequest("A session must send one POST at a time")
        socket.frames = []
        try:
            body = await self._body(scope, receive, socket)
            socket.frames = _frames(body)
            await super().handle_request(scope, _replay(b"", receive), send)
        finally:
            socket.frames = None

    async def _body(self, scope: Scope, receive: Receive, socket: EngineIOSocket | None) -> bytes:
        """Return the body of a request: within a deadline before the client has joined, afterwards while it progresses.

        Raises:
            BadRequest: The body is too large.
            RequestTimeout: The body did not arrive in time.
        """
        limits = self.limits
        limit = socket.frame_limit if socket is not None else min(limits.early_bytes, limits.frame_bytes)
        joined = socket is not None and socket.joined
        seconds = self.ping_timeout if joined else limits.hello_seconds
        length = dict(scope["headers"]).get(b"content-length", b"")
        if length.isdigit() and int(length[:20]) > limit:
            raise _too_large(limit, joined=joined)
        body, clock = bytearray(), asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(seconds) as watch:
                while True:
                    message = await receive()
                    body += message.get("body", b"")
                    if len(body) > limit:
                        raise _too_large(limit, joined=joined)
                    if not message.get("more_body", False):
                        return bytes(body)
                    if joined:
                        watch.reschedule(clock() + seconds)
        except TimeoutError:
            raise RequestTimeout(f"The request's body did not arrive within {seconds:g} s") from None

    async def _handle_connect(self, environ: dict[str, Any], transport: str, jsonp_index: int | None = None) -> Any:
        # Like the stock method, with our sockets and without cookies.
        if self.start_service_task:
            self.start_service_task = False
            self.service_task_handle = self.start_background_task(self._service_task)
        address = address_of(environ)
        self._reserve_session(address)
        sid = self.generate_id()
        connection = connection_of(environ["asgi.scope"]) if transport == "websocket" else None
        socket = self.sockets[sid] = EngineIOSocket(self, sid, address, connection)
        self._sessions.setdefault(address, set()).add(socket)
        self._pending.setdefault(address, {})[socket] = None
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
            self.left(socket)
            return self._unauthorized(refusal or None)
        socket.schedule_ping()
        if transport == "websocket":
            try:
                return await socket.handle_get_request(environ)
            finally:
                self.sockets.pop(sid, None)
                self.left(socket)
        socket.connected = True
        try:
            return self._ok(await socket.poll(), jsonp_index=jsonp_index)
        except engineio.exceptions.QueueEmpty:
            return self._bad_request()


def _session_of(scope: Scope) -> str:
    found = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("sid")
    return found[0] if found else ""


def _too_large(limit: int, *, joined: bool) -> BadRequest:
    words = "" if joined else " for clients that have not joined an office"
    return BadRequest(
        f"The body is over the limit of {limit} bytes{words}", details={"limit": BODY_LIMIT, "value": limit}
    )


def _log_refusal(error: SMCPError, address: str) -> None:
    log.info("refused: %s", error.message, extra={"event": "connect", "code": error.code, "address": address})


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Any:
        return waiting.pop() if waiting else await receive()

    return next_message


_tasks: set["asyncio.Future[Any]"] = set()


def keep_task(task: "asyncio.Future[Any]") -> None:
    """Keep a reference to a task: the event loop only has a weak one."""
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
