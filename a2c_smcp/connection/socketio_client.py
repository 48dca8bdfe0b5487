"""python-socketio's client with its hot path cut short, for the life of one connection.

What differs from the stock client, and why:

- A websocket is read by one plain loop and written to directly; the stock client starts tasks and timers for every
  message, and waits for ever for a writer that a dead network holds up.
- Events and acks are handed on without a second decoding, and acks go out as text that is encoded already.
- What the server announces as its largest message is kept, and the HTTP status of a refused handshake is told.
- A packet that is no packet is dropped; it neither ends the connection nor logs a traceback.

It leans on internals of python-socketio and python-engineio; `tests/interaction/computer/office` and
`tests/interaction/agent` show each of them at work.
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
"""What a server takes that announces nothing: the default of every Socket.IO server."""

CLOSE_PATIENCE: Final = 2.0
BROKEN: Final = (aiohttp.ClientError, OSError, RuntimeError)
"""What writing to a websocket that is gone raises."""

FRAME_HEADER: Final = 14
"""Bytes that a websocket frame adds to what it carries, at most."""

_PACKET: Final = re.compile(rf"(2|3){re.escape(SMCP_NAMESPACE)},([0-9]{{0,18}})(?![0-9])")
_NAME: Final = re.compile(r'\["(client:[\w.:-]{1,100})"')

Received: TypeAlias = Callable[[int | None, str, Any], None]
"""Takes the ack number, the name and the payload of an event. Must not wait."""


class Packet(sio_packet.Packet):  # type: ignore[misc]
    """A packet of JSON alone: nothing is searched for binary parts before it is sent."""

    uses_binary_events = False
    json = FastJson


class EngineClient(engineio.AsyncClient):  # type: ignore[misc]
    """Engine.IO over a websocket that is written to directly. Polling, and what upgrades from it, stay stock."""

    max_payload = STOCK_PAYLOAD
    deliver: Callable[[str], bool]
    _lean = False
    _pong: "asyncio.Task[bool] | None" = None
    _sending: "asyncio.Task[bool] | None" = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._turn = asyncio.Lock()

    async def _connect_websocket(self, url: str, headers: dict[str, str], engineio_path: str) -> bool:
        if self.sid:
            return bool(await super()._connect_websocket(url, headers, engineio_path))
        address = self._get_engineio_url(url, engineio_path, "websocket") + self._get_url_timestamp()
        patience = aiohttp.ClientWSTimeout(ws_close=CLOSE_PATIENCE)
        self.ws = await self.http.ws_connect(address, headers=headers, max_msg_size=0, timeout=patience)
        self._lean = True
        self._take_hello((await self.ws.receive()).data)
        self.current_transport = "websocket"
        self.state = "connected"
        await self._trigger_event("connect", run_async=False)
        self.read_loop_task = self.start_background_task(self._read_loop_websocket)
        return True

    def _take_hello(self, frame: object) -> None:
        try:
            hello: Any = FastJson.loads(frame[1:]) if isinstance(frame, str) and frame[:1] == "0" else None
            self.sid = hello["sid"]
            self.upgrades = hello["upgrades"]
            self.ping_interval = hello["pingInterval"] / 1000
            self.ping_timeout = hello["pingTimeout"] / 1000
            self.max_payload = max(0, int(hello.get("maxPayload", 0))) or STOCK_PAYLOAD
        except (ValueError, KeyError, TypeError, AttributeError):
            raise engineio.exceptions.ConnectionError("what answers there is no Socket.IO server") from None

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
        """Hand on what comes until nothing more can; return why not."""
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
            return f"the server gave no sign of life for {seconds_text(patience)}"
        except Exception as problem:  # whatever it was: somebody waits to hear that nothing more comes
            log.exception("reading from the server failed")
            return type(problem).__name__
        return str(self.reason.TRANSPORT_ERROR)

    def _watch_bytes(self, moved: Callable[[], None]) -> None:
        """Have `moved` called whenever bytes come: a large message that is not complete yet is no silence."""
        connection = self.ws._response.connection  # noqa: SLF001
        protocol = connection.protocol if connection is not None else None
        if protocol is None or protocol.transport is None:
            return  # it is gone, and the reader notices
        take = protocol.data_received

        def data_received(data: bytes) -> None:
            if self.state == "connected":
                with suppress(RuntimeError):  # the reader has just ended
                    moved()
            take(data)

        protocol.data_received = data_received
        protocol.transport.set_protocol(protocol)  # some event loops remember the method

    async def _take(self, frame: object) -> bool:
        if isinstance(frame, str):
            kind = frame[:1]
            if kind == "4":
                if not self.deliver(frame[1:]):
                    await self._trigger_event("message", frame[1:], run_async=True)
            elif kind == "2":
                # Reading goes on while a slow line takes this, and it does not wait behind requests.
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
                await response.read()  # polling leaves answers unread, and an unread one holds its connection
            except (aiohttp.ClientError, TimeoutError) as problem:
                return str(problem)
        return response

    async def write(self, frame: str | bytes) -> bool:
        """Write a frame, in turn with others and waiting while the line is full; whether the connection took it.

        One that is cancelled before its turn is not sent.
        """
        async with self._turn:
            if self._sending is not None and not self._sending.done():
                await asyncio.wait([self._sending])  # of somebody who was cancelled in the middle
            if self._has_room(frame):
                return await self._write_now(frame)
            # Everybody who waits for a full line waits for one future of aiohttp: cancelling one would cancel all.
            self._sending = asyncio.ensure_future(self._write_now(frame))
            return await asyncio.shield(self._sending)

    async def _write_now(self, frame: str | bytes) -> bool:
        try:
            await (self.ws.send_str(frame) if isinstance(frame, str) else self.ws.send_bytes(frame))
        except BROKEN:
            return False  # the reader notices as well
        return True

    def _has_room(self, frame: str | bytes) -> bool:
        """Whether a frame is written without waiting."""
        connection = self.ws._response.connection  # noqa: SLF001
        transport = connection.transport if connection is not None else None
        if transport is None:
            return True  # it is gone, and says so at once
        low, high = transport.get_write_buffer_limits()
        waiting = transport.get_write_buffer_size()
        size = len(frame) if isinstance(frame, bytes) or frame.isascii() else 4 * len(frame)
        return bool(waiting <= low and waiting + size + FRAME_HEADER < high)

    def abort(self) -> None:
        """Drop the line at once, with whatever waits to be written."""
        if not self._lean:
            return
        response = self.ws._response  # noqa: SLF001
        if response.connection is not None and response.connection.transport is not None:
            response.connection.transport.abort()  # closing alone would wait until a dead network takes the rest
        response.close()


class SocketClient(socketio.AsyncClient):  # type: ignore[misc]
    """Socket.IO in the namespace of the protocol; it neither reconnects nor catches signals.

    Args:
        received: Is told of every event.
        http: The session to connect with; whoever made it closes it.
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
        """The largest message that the server says it takes, in bytes."""
        return int(self.eio.max_payload)

    @property
    def alive(self) -> bool:
        """Whether the transport is open."""
        return bool(self.eio.state == "connected")

    @property
    def silence(self) -> float:
        """Seconds after which a server that gives no sign of life is given up."""
        return float(self.eio.ping_interval + self.eio.ping_timeout)

    async def ack(self, number: int, body: str) -> bool:
        """Answer an event with one argument, encoded already; whether the connection took it."""
        return self.alive and await self._write(f"3{SMCP_NAMESPACE},{number}[{body}]")

    async def send(self, body: str, number: int | None) -> bool:
        """Send an event, encoded already as its name and its payload; whether the connection took it.

        Args:
            number: That of the ack, where one is wanted.
        """
        return self.alive and await self._write(f"2{SMCP_NAMESPACE},{'' if number is None else number}[{body}]")

    async def _write(self, text: str) -> bool:
        if self.eio._lean:  # noqa: SLF001
            return bool(await self.eio.write(f"4{text}"))
        await self.eio.send(text)
        return True

    @property
    def welcome(self) -> bool:
        """Whether the server let it into the namespace."""
        return SMCP_NAMESPACE in self.namespaces

    def expect(self, answered: Callable[..., None]) -> int:
        """Return the number of the next ack, whose arguments `answered` will take."""
        # The stock client keeps its counter among the callbacks, under 0: an ack of that number would delete it.
        self._last_ack += 1
        self._answers[self._last_ack] = answered
        return self._last_ack

    def forget(self, number: int) -> None:
        """Wait no more for an ack."""
        self._answers.pop(number, None)

    def drop(self) -> None:
        """End the connection without a farewell."""
        self.eio.abort()

    async def abort(self) -> None:
        """End the connection without a farewell, and wait until nothing is read any more."""
        self.drop()
        if self.eio.read_loop_task is not None:
            await asyncio.wait([self.eio.read_loop_task], timeout=CLOSE_PATIENCE)

    def _deliver(self, packet: str) -> bool:
        """Take an event or an ack of the namespace; anything else goes the stock way."""
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
            log.info("a malformed packet was refused")
            self._refuse(number, packet[match.end() :])
        return True

    def _acked(self, number: int | None, content: Any) -> None:
        answered = self._answers.pop(number, None)
        if answered is None:
            return  # too late, or never asked for
        if isinstance(content, list):
            answered(*content)
        else:
            log.info("a malformed reply failed its request")
            answered(to_wire(InternalError("The server sent a malformed reply")))

    def _refuse(self, number: int | None, text: str) -> None:
        # Whoever asked is answered at once, not after the time-out.
        if number is None:
            return
        name = _NAME.match(text)
        error = BadRequest("The request is malformed, or holds a number that is not finite")
        body = FastJson.dumps(error_ack(name[1], error) if name else to_wire(error))
        task = asyncio.ensure_future(self.ack(number, body))
        self._refusing.add(task)
        task.add_done_callback(self._refusing.discard)

    # What came with binary parts or over polling is decoded by the stock code.

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
            log.info("a malformed packet was dropped: %s", type(problem).__name__)
            packet, self._binary_packet = self._binary_packet, None
            if packet is not None and packet.packet_type == sio_packet.BINARY_ACK:
                await self._handle_ack(packet.namespace, packet.id, None)


def _library_log() -> logging.Logger:
    # The libraries log whole payloads, and would print an ordinary lost connection as an error.
    quiet = logging.getLogger(f"{__name__}.library")
    quiet.setLevel(logging.CRITICAL)
    return quiet
