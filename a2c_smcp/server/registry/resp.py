"""The protocol of Redis (RESP3): encodes commands, parses replies and pushed messages. Pure.

+text  -error  :number  $length text  _  #t  ,float  (number  =length text
*n items  ~n items  %n pairs  >n items       a push: not a reply to a command
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

RespValue: TypeAlias = Any
"""bytes, int, float, bool, None, list, dict, `RedisErrorReply`, `PublishedMessage` or `RespPush`."""

CommandPart: TypeAlias = bytes | str | int | float

LINE_LIMIT: Final = 64 * 1024
"""The longest line; longer data without a line end is invalid."""


class RedisErrorReply(Exception):
    """Redis refused a command; the first word of the message is its kind."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RedisErrorReply) and self.args == other.args

    __hash__ = Exception.__hash__


class RespPush(list[Any]):
    """A push other than a published message."""

    __slots__ = ()


class PublishedMessage(bytes):
    """A message that was published to a channel."""

    __slots__ = ()


def encode(*parts: CommandPart) -> bytes:
    """Return an encoded command."""
    return encode_start(*parts, parts=len(parts))


def encode_start(*first: CommandPart, parts: int) -> bytes:
    """Return the start of a command of `parts` parts; each further part is written like `$3\\r\\nabc\\r\\n`."""
    out = [b"*%d\r\n" % parts]
    for part in first:
        data = part if isinstance(part, bytes) else str(part).encode()
        out.append(b"$%d\r\n%b\r\n" % (len(data), data))
    return b"".join(out)


class _Open:
    """An incomplete array."""

    __slots__ = ("build", "items", "missing")

    def __init__(self, missing: int, build: Callable[[list[Any]], Any]) -> None:
        self.missing = missing
        self.build = build
        self.items: list[Any] = []


def _pairs(items: list[Any]) -> dict[Any, Any]:
    return dict(zip(items[::2], items[1::2], strict=True))


def _push(items: list[Any]) -> PublishedMessage | RespPush:
    return PublishedMessage(items[2]) if items[0] == b"message" else RespPush(items)


_BUILD: Final[dict[int, tuple[int, Callable[[list[Any]], Any]]]] = {
    ord("*"): (1, list),
    ord("~"): (1, list),
    ord(">"): (1, _push),
    ord("%"): (2, _pairs),
}
_LINE: Final[dict[int, Callable[[bytes], Any]]] = {
    ord("+"): bytes,
    ord("-"): lambda line: RedisErrorReply(line.decode("utf-8", "replace")),
    ord(":"): int,
    ord("("): int,
    ord(","): float,
    ord("#"): lambda line: line == b"t",
    ord("_"): lambda _: None,
}
_TEXT: Final[dict[int, Callable[[bytes], bytes]]] = {
    ord("$"): bytes,
    ord("="): lambda text: text[4:],  # without the format, as in `txt:`
}
_PUSH: Final = ord(">")


class RespParser:
    """Splits a stream into replies; reads every byte once, however the stream is split."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._size = 0
        self._needed = 0
        self._open: list[_Open] = []
        self._expected = b""

    def expect(self, channel: str) -> None:
        """Use the fast path for messages of a channel."""
        self._expected = b">3\r\n$7\r\nmessage\r\n$%d\r\n%b\r\n" % (len(channel.encode()), channel.encode())

    def feed(self, data: bytes) -> list[RespValue]:
        """Return the replies that `data` completes, in order.

        Raises:
            ValueError: The stream is not RESP3.
        """
        if self._rest:
            self._rest.append(data)
            self._size += len(data)
            if self._size < self._needed:
                return []
            data = b"".join(self._rest)
            self._rest.clear()
        done: list[RespValue] = []
        at, size = 0, len(data)
        while at < size:
            at, stop = self._read(data, at, done)
            if stop:
                self._rest.append(data[at:])
                self._size, self._needed = size - at, stop - at
                break
        return done

    def _read(self, data: bytes, at: int, done: list[RespValue]) -> tuple[int, int]:
        """Read one value; return the offset of the next one, and if it is incomplete, where it ends at the earliest."""
        kind = data[at]
        if kind == _PUSH and self._expected and data.startswith(self._expected, at):
            start = at + len(self._expected)
            end = data.find(b"\r\n", start)
            stop = end + 4 + int(data[start + 1 : end]) if end >= 0 else len(data) + 1
            if stop > len(data):
                return at, stop
            done.append(PublishedMessage(data[end + 2 : stop - 2]))
            return stop, 0
        end = data.find(b"\r\n", at)
        if end < 0:
            if len(data) - at > LINE_LIMIT:
                raise ValueError("line too long")
            return at, len(data) + 1
        line, after = data[at + 1 : end], end + 2
        if kind in _LINE:
            value = _LINE[kind](line)
        elif kind in _TEXT:
            length = int(line)
            stop = after + length + 2 if length >= 0 else after
            if stop > len(data):
                return at, stop
            value = _TEXT[kind](data[after : stop - 2]) if length >= 0 else None
            after = stop
        elif kind in _BUILD:
            times, build = _BUILD[kind]
            missing = int(line) * times
            if missing > 0:
                self._open.append(_Open(missing, build))
                return after, 0
            value = build([]) if missing == 0 else None
        else:
            raise ValueError(f"reply of unknown type {chr(kind)!r}")
        self._close(value, done)
        return after, 0

    def _close(self, value: Any, done: list[RespValue]) -> None:
        # Add the value to the innermost incomplete array; a complete array is a value in turn.
        while self._open:
            inner = self._open[-1]
            inner.items.append(value)
            inner.missing -= 1
            if inner.missing:
                return
            self._open.pop()
            value = inner.build(inner.items)
        done.append(value)
