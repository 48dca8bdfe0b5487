"""The language of Redis (RESP3): commands out, replies and pushed messages in. Pure.

+text  -error  :number  $length text  _  #t  ,float  (number  =length text
*n items  ~n items  %n pairs  >n items       a push: something that no command asked for
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

Reply: TypeAlias = Any
"""bytes, int, float, bool, None, list, dict, `ErrorReply`, `Message` or `Push`."""

Part: TypeAlias = bytes | str | int | float

LINE_LIMIT: Final = 64 * 1024
"""No line of Redis is longer; more without a line end is not Redis."""


class ErrorReply(Exception):
    """Redis refused a command; the first word of the message is its kind."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ErrorReply) and self.args == other.args

    __hash__ = Exception.__hash__


class Push(list[Any]):
    """Something that came by itself."""

    __slots__ = ()


class Message(bytes):
    """What somebody published to a channel; it comes by itself, too."""

    __slots__ = ()


def encode(*parts: Part) -> bytes:
    """Return a command as Redis reads it."""
    return encode_start(*parts, parts=len(parts))


def encode_start(*first: Part, parts: int) -> bytes:
    """Return the beginning of a command of so many parts; those that follow are written like `$3\\r\\nabc\\r\\n`."""
    out = [b"*%d\r\n" % parts]
    for part in first:
        data = part if isinstance(part, bytes) else str(part).encode()
        out.append(b"$%d\r\n%b\r\n" % (len(data), data))
    return b"".join(out)


class _Open:
    """An array whose items are still coming."""

    __slots__ = ("build", "items", "missing")

    def __init__(self, missing: int, build: Callable[[list[Any]], Any]) -> None:
        self.missing = missing
        self.build = build
        self.items: list[Any] = []


def _pairs(items: list[Any]) -> dict[Any, Any]:
    return dict(zip(items[::2], items[1::2], strict=True))


def _push(items: list[Any]) -> Message | Push:
    return Message(items[2]) if items[0] == b"message" else Push(items)


_BUILD: Final[dict[int, tuple[int, Callable[[list[Any]], Any]]]] = {
    ord("*"): (1, list),
    ord("~"): (1, list),
    ord(">"): (1, _push),
    ord("%"): (2, _pairs),
}
_LINE: Final[dict[int, Callable[[bytes], Any]]] = {
    ord("+"): bytes,
    ord("-"): lambda line: ErrorReply(line.decode("utf-8", "replace")),
    ord(":"): int,
    ord("("): int,
    ord(","): float,
    ord("#"): lambda line: line == b"t",
    ord("_"): lambda _: None,
}
_BULK: Final = ord("$")
_PUSH: Final = ord(">")
_VERBATIM: Final = ord("=")


class Parser:
    """Cuts a stream into replies. What has been read is never read again, however the stream is cut."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._open: list[_Open] = []
        self._expected = b""

    def expect(self, channel: str) -> None:
        """Be quick with messages of that channel."""
        self._expected = b">3\r\n$7\r\nmessage\r\n$%d\r\n%b\r\n" % (len(channel.encode()), channel.encode())

    def feed(self, data: bytes) -> list[Reply]:
        """Return the replies that `data` completes, in order.

        Raises:
            ValueError: The stream is not Redis's.
        """
        buffer = self._buffer
        buffer += data
        done: list[Reply] = []
        at, size = 0, len(buffer)
        while at < size:
            end = buffer.find(b"\r\n", at)
            if end < 0:
                if size - at > LINE_LIMIT:
                    raise ValueError("a line without an end")
                break
            kind = buffer[at]
            if kind == _PUSH and self._expected and buffer.startswith(self._expected, at):
                start = at + len(self._expected)
                end = buffer.find(b"\r\n", start)
                stop = end + 2 + int(buffer[start + 1 : end]) if end >= 0 else size
                if stop + 2 > size:
                    break
                done.append(Message(memoryview(buffer)[end + 2 : stop]))
                at = stop + 2
                continue
            if kind in (_BULK, _VERBATIM):
                length = int(buffer[at + 1 : end])
                stop = end + 2 + length
                if length >= 0 and stop + 2 > size:
                    break
                value: Any = None if length < 0 else bytes(buffer[end + 2 : stop])
                at = stop + 2 if length >= 0 else end + 2
                if kind == _VERBATIM:
                    value = value[4:]  # the kind of text, as in `txt:`
            elif kind in _BUILD:
                times, build = _BUILD[kind]
                missing = int(buffer[at + 1 : end]) * times
                at = end + 2
                if missing > 0:
                    self._open.append(_Open(missing, build))
                    continue
                value = build([]) if missing == 0 else None
            elif kind in _LINE:
                value = _LINE[kind](bytes(buffer[at + 1 : end]))
                at = end + 2
            else:
                raise ValueError(f"a reply of unknown kind {chr(kind)!r}")
            self._close(value, done)
        del buffer[:at]
        return done

    def _close(self, value: Any, done: list[Reply]) -> None:
        # Put the value into the innermost open array; an array that is full is a value in turn.
        while self._open:
            inner = self._open[-1]
            inner.items.append(value)
            inner.missing -= 1
            if inner.missing:
                return
            self._open.pop()
            value = inner.build(inner.items)
        done.append(value)
