"""python-socketio's client with a shorter hot path, for one connection.

Differences from the stock client:

- One loop reads the websocket, and frames are written directly; the stock client starts tasks and timers for every
  message, and waits forever for a writer that a dead network blocks.
- Events and acks are decoded once, and acks are sent as already encoded text.
- The maximum message size of the server and the HTTP status of a refused handshake are available.
- A malformed packet is dropped; it neither ends the connection nor logs a traceback.

It uses internals of python-socketio and python-engineio; `tests/interaction/computer/office` and
`tests/interaction/agent` cover each of them.
"""

import asyncio
import logging
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias

import aiohttp
import engineio
import socketio
from socketio import packet as sio_packet

from a2c_smcp.common.durations import seconds_text
from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.errors import BadRequest, InternalError, to_wire
from a2c_smcp.smcp import SMCP_NAMESPACE, error_ack

log = logging.getLogger(__name__)

STOCK_PAYLOAD: Final = 1_000_000
"""Message limit of a server that announces none: the default of Socket.IO."""

CLOSE_PATIENCE: Final = 2.0
BROKEN: Final = (aiohttp.ClientError, OSError, RuntimeError)
"""Exceptions of writing to a closed websocket."""

FRAME_HEADER: Final = 14
"""Maximum overhead of a websocket frame in bytes."""

_PACKET: Final = re.compile(rf"(2|3){re.escape(SMCP_NAMESPACE)},([0-9]{{0,18}})(?![0-9])")
_NAME: Final = re.compile(r'\["(client:[\w.:-]{1,100})"')

Received: TypeAlias = Callable[[int | None, str, Any], None]
"""Called with ack number, name and payload of an event. Must not block."""


class Packet(sio_packet.Packet):  # type: ignore[misc]
    """A packet of JSON only: payloads are not searched for binary parts."""

    uses_binary_events = False
    json = FastJson


class EngineClient(engineio.AsyncClient):  # type: ignore[misc]
    """Engine.IO over a websocket with direct writes. Polling and upgrades from it use the stock code."""

    max_payload = STOCK_PAYLOAD
    deliver: Callable[[str], bool]
    _lean = False
    _pong: "asyncio.Task[bool] | None" = None
    _sending: "asyncio.Task[bool] | None" = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._write_lock = asyncio.Lock()

    async def _connect_websocket(self, url: str, headers: dict[str, str], engineio_path: str) -> bool:
        if self.sid:
            return bool(await super()._connect_websocket(url, headers, engineio_path))
        address = self._get_engineio_url(url, engineio_path, "websocket") + self._get_url_timestamp()
        patience = aiohttp.ClientWSTimeout(ws_close=CLOSE_PATIENCE)
        self.ws = await self.http.ws_connect(address, headers=headers, max_msg_size=0, timeout=patience)
        self._lean = True
        self._read_handshake((await self.ws.receive()).data)
        self.current_transport = "websocket"
        self.state = "connected"
        await self._trigger_event("connect", run_async=False)
        self.read_loop_task = self.start_background_task(self._read_loop_websocket)
        return True

    def _read_handshake(self, frame: object) -> None:
        try:
            handshake: Any = FastJson.loads(frame[1:]) if isinstance(frame, str) and frame[:1] == "0" else None
            self.sid = handshake["sid"]
            self.upgrades = handshake["upgrades"]
            self.ping_interval = handshake["pingInterval"] / 1000
            self.ping_timeout = handshake["pingTimeout"] / 1000
            self.max_payload = max(0, int(handshake.get("maxPayload", 0))) or STOCK_PAYLOAD
        except (ValueError, KeyError, TypeError, AttributeError):
            raise engineio.exceptions.ConnectionError("the server does not speak Socket.IO") from None

    async def _read_loop_websocket(self) -> None:
        reason = await self._read()
        if self.write_loop_task:
            await self.queue.put(None)
            await self.write_loop_task
        if self.state == "connected":
            self.abort()
            await self._trigger_event("disconnect", reason, run_async=False)
            await self._reset()

    async def _read(self) -> str:
        """Dispatch incoming frames until the connection ends; return the reason."""
        patience = self.ping_interval + self.ping_timeout
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(patience) as watch:
                self._watch_bytes(lambda: watch.reschedule(clock() + patience))
                while self.state == "connected":
                    message = await self.ws.receive()
                    watch.reschedule(clock() + patience)
                    if not await self._take(message.data):
                        break
        except TimeoutError:
            return f"no traffic from the server for {seconds_text(patience)}"
        except Exception as problem:  # callers wait for the end of the connection, whatever its cause
            log.exception("read loop failed: unexpected error")
            return type(problem).__name__
        return str(self.reason.TRANSPORT_ERROR)

    def _watch_bytes(self, moved: Callable[[], None]) -> None:
        """Call `moved` whenever bytes arrive, so that a large incomplete message does not count as silence."""
        connection = self.ws._response.connection  # noqa: SLF001
        protocol = connection.protocol if connection is not None else None
        if protocol is None or protocol.transport is None:
            return  # already closed; the read loop notices
        take = protocol.data_received

        def data_received(data: bytes) -> None:
            if self.state == "connected":
                with suppress(RuntimeError):  # the read loop has just ended
                    moved()
            take(data)

        protocol.data_received = data_received
        protocol.transport.set_protocol(protocol)  # some event loops cache the method

    async def _take(self, frame: object) -> bool:
        if isinstance(frame, str):
            kind = frame[:1]
            if kind == "4":
                if not self.deliver(frame[1:]):
                    await self._trigger_event("message", frame[1:], run_async=True)
            elif kind == "2":
                # Does not block reading on a slow network, and does not queue behind requests.
                self._pong = asyncio.ensure_future(self._write_now(f"3{frame[1:]}"))
            return kind != "1"
        if isinstance(frame, bytes):
            await self._trigger_event("message", frame, run_async=True)
            return True
        return False  # the websocket was closed

    async def _send_packet(self, pkt: Any) -> None:
        if not self._lean:
            await super()._send_packet(pkt)
        elif self.state == "connected":
            await self.write(pkt.encode())

    async def _send_request(self, *arguments: Any, **options: Any) -> Any:
        response = await super()._send_request(*arguments, **options)
        if isinstance(response, aiohttp.ClientResponse):
            try:
                await response.read()  # polling leaves responses unread, which keeps their connections busy
            except (aiohttp.ClientError, TimeoutError) as problem:
                return str(problem)
        return response

    async def write(self, frame: str | bytes) -> bool:
        """Write a frame in order, and wait while the send buffer is full; return whether it was written.

        A frame whose writer is cancelled while queued is not sent.
        """
        async with self._write_lock:
            if self._sending is not None and not self._sending.done():
                await asyncio.wait([self._sending])  # of a caller that was cancelled during its write
            if self._fits_buffer(frame):
                return await self._write_now(frame)
            # All writers that wait for a full buffer share one future of aiohttp: cancelling one would cancel all.
            self._sending = asyncio.ensure_future(self._write_now(frame))
            return await asyncio.shield(self._sending)

    async def _write_now(self, frame: str | bytes) -> bool:
        try:
            await (self.ws.send_str(frame) if isinstance(frame, str) else self.ws.send_bytes(frame))
        except BROKEN:
            return False  # the read loop notices too
        return True

    def _fits_buffer(self, frame: str | bytes) -> bool:
        """Whether a frame can be written without waiting."""
        connection = self.ws._response.connection  # noqa: SLF001
        transport = connection.transport if connection is not None else None
        if transport is None:
            return True  # closed: the write fails immediately
        low, high = transport.get_write_buffer_limits()
        waiting = transport.get_write_buffer_size()
        size = len(frame) if isinstance(frame, bytes) or frame.isascii() else 4 * len(frame)
        return bool(waiting <= low and waiting + size + FRAME_HEADER < high)

    def abort(self) -> None:
        """Close the transport immediately, and drop unsent data."""
        if not self._lean:
            return
        response = self.ws._response  # noqa: SLF001
        if response.connection is not None and response.connection.transport is not None:
            response.connection.transport.abort()  # close() would wait for a dead network to take the rest
        response.close()


class SocketClient(socketio.AsyncClient):  # type: ignore[misc]
    """Socket.IO in the namespace of the protocol, without reconnection and signal handling.

    Args:
        received: Called with every event.
        http: The HTTP session; the caller closes it.
    """

    def __init__(self, received: Received, http: aiohttp.ClientSession) -> None:
        quiet = _library_log()
        super().__init__(
            reconnection=False,
            handle_sigint=False,
            serializer=Packet,
            logger=quiet,
            engineio_logger=quiet,
            http_session=http,
        )
        self._received = received
        self._binary_packet: Any = None
        self._answers: dict[int | None, Callable[..., None]] = {}
        self._last_ack = 0
        self._refusing: set[asyncio.Task[bool]] = set()
        self.eio.deliver = self._deliver

    def _engineio_client_class(self) -> type[EngineClient]:
        return EngineClient

    @property
    def max_payload(self) -> int:
        """Maximum message size that the server announced, in bytes."""
        return int(self.eio.max_payload)

    @property
    def alive(self) -> bool:
        """Whether the transport is open."""
        return bool(self.eio.state == "connected")

    @property
    def silence(self) -> float:
        """Seconds without traffic after which the connection counts as lost."""
        return float(self.eio.ping_interval + self.eio.ping_timeout)

    async def ack(self, number: int, body: str) -> bool:
        """Acknowledge an event with one encoded argument; return whether it was written."""
        return self.alive and await self._write(f"3{SMCP_NAMESPACE},{number}[{body}]")

    async def send(self, body: str, number: int | None) -> bool:
        """Send an event, encoded as name and payload; return whether it was written.

        Args:
            number: Number of the expected ack, if any.
        """
        return self.alive and await self._write(f"2{SMCP_NAMESPACE},{'' if number is None else number}[{body}]")

    async def _write(self, text: str) -> bool:
        if self.eio._lean:  # noqa: SLF001
            return bool(await self.eio.write(f"4{text}"))
        await self.eio.send(text)
        return True

    @property
    def welcome(self) -> bool:
        """Whether the server accepted the connection to the namespace."""
        return SMCP_NAMESPACE in self.namespaces

    def expect(self, answered: Callable[..., None]) -> int:
        """Return the number of the next ack; `answered` is called with its arguments."""
        # The stock client stores its counter among the callbacks under 0, where an ack with that number deletes it.
        self._last_ack += 1
        self._answers[self._last_ack] = answered
        return self._last_ack

    def forget(self, number: int) -> None:
        """Stop waiting for an ack."""
        self._answers.pop(number, None)

    def drop(self) -> None:
        """Close the connection without a close handshake."""
        self.eio.abort()

    async def abort(self) -> None:
        """Close the connection without a close handshake, and wait for the read loop."""
        self.drop()
        if self.eio.read_loop_task is not None:
            await asyncio.wait([self.eio.read_loop_task], timeout=CLOSE_PATIENCE)

    def _deliver(self, packet: str) -> bool:
        """Dispatch an event or ack of the namespace; return False for packets of the stock code."""
        match = _PACKET.match(packet)
        if match is None:
            return False
        number = int(match[2]) if match[2] else None
        try:
            content = FastJson.loads(packet[match.end() :])
        except ValueError:
            content = None
        if match[1] == "3":
            self._acked(number, content)
        elif isinstance(content, list) and content and isinstance(content[0], str):
            self._received(number, content[0], content[1] if len(content) == 2 else None)
        else:
            log.info("malformed packet refused")
            self._refuse(number, packet[match.end() :])
        return True

    def _acked(self, number: int | None, content: Any) -> None:
        answered = self._answers.pop(number, None)
        if answered is None:
            return  # late or unexpected
        if isinstance(content, list):
            answered(*content)
        else:
            log.info("malformed reply: its request fails")
            answered(to_wire(InternalError("The server sent a malformed reply")))

    def _refuse(self, number: int | None, text: str) -> None:
        # The caller gets the error now, not a time-out later.
        if number is None:
            return
        name = _NAME.match(text)
        error = BadRequest("The request is malformed, or contains a number that is not finite")
        body = FastJson.dumps(error_ack(name[1], error) if name else to_wire(error))
        task = asyncio.ensure_future(self.ack(number, body))
        self._refusing.add(task)
        task.add_done_callback(self._refusing.discard)

    # The stock code decodes packets with binary parts, and those over polling.

    async def _handle_event(self, namespace: str | None, id: int | None, data: Any) -> None:  # noqa: A002, ARG002
        if isinstance(data, list) and data and isinstance(data[0], str):
            self._received(id, data[0], data[1] if len(data) == 2 else None)

    async def _handle_ack(self, namespace: str | None, id: int | None, data: Any) -> None:  # noqa: A002
        if namespace == SMCP_NAMESPACE:
            self._acked(id, data)

    async def _handle_eio_message(self, data: Any) -> None:
        if isinstance(data, str) and self._deliver(data):
            return  # over polling
        try:
            await super()._handle_eio_message(data)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as problem:
            log.info("malformed packet dropped: %s", type(problem).__name__)
            packet, self._binary_packet = self._binary_packet, None
            if packet is not None and packet.packet_type == sio_packet.BINARY_ACK:
                await self._handle_ack(packet.namespace, packet.id, None)


def _library_log() -> logging.Logger:
    # The libraries log whole payloads, and log an ordinary lost connection as an error.
    quiet = logging.getLogger(f"{__name__}.library")
    quiet.setLevel(logging.CRITICAL)
    return quiet
