"""A Socket.IO client that costs next to nothing: frames are built and cut by hand, payloads are prepared bytes.

It speaks just enough of websockets, Engine.IO 4 and Socket.IO 5 to load a server, and trusts that server.
"""

import asyncio
import time
from collections.abc import Callable, Iterator

import orjson

from a2c_smcp.smcp import JOIN_OFFICE_EVENT, SMCP_NAMESPACE

NAMESPACE = SMCP_NAMESPACE.encode() + b","
CONNECT, EVENT, ACK = (b"4%d%b" % (kind, NAMESPACE) for kind in (0, 2, 3))
HEAD = len(EVENT)
UPGRADE = (
    b"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
# A client must mask its frames; with a key of zeros the masked bytes are the bytes.
MASK = bytes(4)
TEXT, CLOSE = 0x81, 0x88
PATIENCE = 20.0


def frame(text: bytes) -> bytes:
    """One text frame of a client."""
    size = len(text)
    if size < 126:
        return b"\x81%c%b%b" % (0x80 | size, MASK, text)
    if size < 1 << 16:
        return b"\x81\xfe%b%b%b" % (size.to_bytes(2, "big"), MASK, text)
    return b"\x81\xff%b%b%b" % (size.to_bytes(8, "big"), MASK, text)


class Client(asyncio.Protocol):
    """One connection. A computer answers every event with `reply`; an agent asks with `ask`."""

    def __init__(self, reply: bytes = b"") -> None:
        loop = asyncio.get_running_loop()
        self.reply = reply
        self.ready: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.transport: asyncio.Transport
        self._buffer = b""
        self._upgraded = False
        self._number = 0
        self._pending: dict[bytes, Callable[[bytes], object]] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        self.transport.write(UPGRADE)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set_result(None)
        if not self.ready.done():
            self.ready.set_exception(exc or ConnectionError("the server closed the connection"))

    def data_received(self, data: bytes) -> None:
        self._buffer = data = self._buffer + data if self._buffer else data
        if not self._upgraded:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                return
            if not data.startswith(b"HTTP/1.1 101"):
                self.ready.set_exception(ConnectionError(data[:end].decode()))
                return
            self._upgraded = True
            self._buffer = data[end + 4 :]
        for message in self._messages():
            self._take(message)

    def _messages(self) -> Iterator[bytes]:
        data, start, length = self._buffer, 0, len(self._buffer)
        while length - start >= 2:
            size, body = data[start + 1], start + 2
            if size >= 126:
                wide = 2 if size == 126 else 8
                size, body = int.from_bytes(data[body : body + wide], "big"), body + wide
            if body > length or body + size > length:
                break
            if data[start] == CLOSE:
                self.transport.abort()
            yield data[body : body + size] if data[start] == TEXT else b""
            start = body + size
        self._buffer = data[start:]

    def _take(self, message: bytes) -> None:
        kind = message[:HEAD]
        if kind == EVENT:
            number = message[HEAD : message.index(b"[", HEAD)]
            if number:
                self.send(b"%b%b[%b]" % (ACK, number, self.reply))
        elif kind == ACK:
            bracket = message.index(b"[", HEAD)
            self._pending.pop(message[HEAD:bracket])(message[bracket:])
        elif message[:1] == b"0":
            self.send(CONNECT)
        elif kind == CONNECT:
            self.ready.set_result(None)
        elif message == b"2":
            self.send(b"3")
        elif message[:2] == b"44":
            self.ready.set_exception(ConnectionError(message.decode()))

    def send(self, text: bytes) -> None:
        self.transport.write(frame(text))

    def ask(self, event: bytes, answered: Callable[[bytes], object]) -> None:
        """Send `["event",payload]`; `answered` is called with the list of the ack's arguments, unparsed."""
        self._number += 1
        number = b"%d" % self._number
        self._pending[number] = answered
        self.send(b"%b%b%b" % (EVENT, number, event))

    async def join(self, role: str, name: str, office: str) -> None:
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        request = {"role": role, "name": name, "office_id": office}
        self.ask(orjson.dumps([JOIN_OFFICE_EVENT, request]), answer.set_result)
        if not (arguments := await asyncio.wait_for(answer, PATIENCE)).startswith(b"[true"):
            raise ConnectionError(f"not seated: {arguments.decode()}")


async def connect(port: int, reply: bytes = b"") -> Client:
    """A client that is connected to the namespace."""
    _, client = await asyncio.get_running_loop().create_connection(lambda: Client(reply), "127.0.0.1", port)
    await asyncio.wait_for(client.ready, PATIENCE)
    return client


class Caller:
    """Keeps `depth` requests of one agent under way until it is stopped, and notes how long each took."""

    def __init__(self, agent: Client, request: bytes, reply: bytes, depth: int) -> None:
        self.seconds: list[float] = []
        self._agent = agent
        self._request = request
        self._reply = reply
        self._length = 0
        self._depth = depth
        self._under_way = 0
        self._stopped: asyncio.Future[None] | None = None

    def start(self) -> None:
        for _ in range(self._depth):
            self._ask()

    async def stop(self) -> None:
        self._stopped = asyncio.get_running_loop().create_future()
        ends = {self._stopped, self._agent.closed}
        done, _ = await asyncio.wait(ends, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if self._stopped not in done:
            raise ConnectionError("the server closed a connection" if done else "the server does not answer")

    def _ask(self) -> None:
        self._under_way += 1
        started = time.perf_counter()

        def answered(answer: bytes) -> None:
            self.seconds.append(time.perf_counter() - started)
            self._under_way -= 1
            if len(answer) != self._length:
                self._check(answer)
            if self._stopped is None:
                self._ask()
            elif not self._under_way:
                self._stopped.set_result(None)

        self._agent.ask(self._request, answered)

    def _check(self, answer: bytes) -> None:
        # A server may write the same JSON in another way; what it wrote once it will write again.
        if orjson.loads(answer) != [orjson.loads(self._reply)]:
            raise ValueError(f"not the reply: {answer[:200]!r}")
        self._length = len(answer)
