"""One client's transport: read and written by two plain loops, with a bound on what waits to be written."""

import asyncio
import logging
from contextlib import suppress
from typing import Any

import engineio
from engineio import async_socket
from engineio import packet as eio_packet

from a2c_smcp.server.limits import Limits

log = logging.getLogger(__name__)

CLOSE_GRACE = 2.0


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
    _ending: asyncio.TimerHandle | None = None

    def push(self, part: str | bytes) -> None:
        """Queue a Socket.IO packet or an attachment; end the connection if too much waits already."""
        if self.closed:
            return
        plain = self._lean and isinstance(part, str)
        self.queue.put_nowait(f"4{part!s}" if plain else eio_packet.Packet(eio_packet.MESSAGE, part))
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
            loop = asyncio.get_running_loop()
            self._ending = loop.call_later(0 if abort else CLOSE_GRACE, self._reader.cancel)

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
            self._reader = None
            if self._ending is not None:
                self._ending.cancel()  # it ends by itself already
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
        keep(task)

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


_tasks: set["asyncio.Future[Any]"] = set()


def keep(task: "asyncio.Future[Any]") -> None:
    """Hold on to a task: the event loop holds it weakly."""
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
