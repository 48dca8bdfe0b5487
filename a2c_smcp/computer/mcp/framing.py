"""Cuts the byte stream of a process into lines, bounded. Pure."""

import codecs
import re
from typing import Final, TypeAlias

RawLine: TypeAlias = bytes | str
"""Bytes where the encoding spells a line break as one byte, else decoded text."""

MAX_LINE: Final = 64 * 1024 * 1024
SAMPLE: Final = 500


class OversizedMessage(bytes):
    """The first bytes of a message that is over the limit.

    Attributes:
        size: Bytes of the whole message; None while the rest of it has not come.
        limit: Bytes that a message may have.
        tail: Its last bytes.
    """

    size: int | None
    limit: int
    tail: bytes


class LineSplitter:
    """A stream that is fed in chunks and read in lines.

    A line longer than `limit` is skipped but for its beginning and its end, so that no process can fill the memory: it
    comes as `OversizedMessage`. Empty lines are left out.
    """

    def __init__(self, encoding: str = "utf-8", *, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._kept: list[bytes] = []
        self._size = 0
        self._sample: bytes | None = None
        self._tail = b""
        # A line break of several bytes (UTF-16) cannot be found byte by byte.
        wide = "\n".encode(encoding) != b"\n"
        self._decoder = None if not wide else _decoder(encoding)

    def feed(self, data: bytes) -> list[RawLine]:
        """Return the lines that `data` completes."""
        if self._decoder is not None:
            data = self._decoder.decode(data).encode()
        found: list[bytes] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            found.append(self._completed(data[start:end]))
            start = end + 1
        self._keep(data[start:])
        return self._told(found)

    def end(self) -> list[RawLine]:
        """Return what is left when the stream has ended without a line break."""
        if self._decoder is not None:
            self._keep(self._decoder.decode(b"", final=True).encode())
        return self._told([self._completed(b"")])

    def _completed(self, piece: bytes) -> bytes:
        self._keep(piece)
        if self._sample is None:
            line = b"".join(self._kept).strip().removeprefix(codecs.BOM_UTF8)
        else:
            line = oversized = OversizedMessage(self._sample.strip().removeprefix(codecs.BOM_UTF8))
            oversized.size, oversized.limit, oversized.tail = self._size, self._limit, self._tail.strip()
        self._kept, self._size, self._sample, self._tail = [], 0, None, b""
        return line

    def _keep(self, piece: bytes) -> None:
        if not piece:
            return
        self._size += len(piece)
        if self._sample is not None:
            self._tail = (self._tail + piece[-SAMPLE:])[-SAMPLE:]
            return
        self._kept.append(piece)
        if self._size > self._limit:
            whole = b"".join(self._kept)
            self._sample, self._tail = whole[:SAMPLE], whole[-SAMPLE:]
            self._kept = []

    def _told(self, lines: list[bytes]) -> list[RawLine]:
        plain = self._decoder is None
        return [line if plain or isinstance(line, OversizedMessage) else line.decode() for line in lines if line]


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    # These two want a byte-order mark and raise without one, but few who write them put one into a pipe.
    if encoding in ("utf-16", "utf-32"):
        encoding += "-le"
    return codecs.getincrementaldecoder(encoding)(errors="replace")


_LINE_END: Final = re.compile(rb"\r\n?|\n")
_DATA: Final = b"data:"
# What an event may have beside its data: its type, its id and the names of its fields.
MAX_OVERHEAD: Final = 64 * 1024


class SseSplitter:
    """A stream that is fed in chunks and read in events, each with its blank line. Comments are left out.

    An event whose data is longer than `limit` is skipped but for the beginning and the end of its data. It comes as
    `OversizedMessage`: at its end, and before that as soon as it is known to be too long, then without a size.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._after_return = False
        self._line = 0
        self._field = b""
        self._reset()

    @property
    def skipping(self) -> bool:
        """Whether the event under way is over the limit."""
        return self._head is not None

    def feed(self, data: bytes) -> list[bytes]:
        """Return the events that `data` completes, or shows to be over the limit."""
        if not data:
            return []
        if self._after_return:
            data = data.removeprefix(b"\n")
        found: list[bytes] = []
        start = 0
        for end in _LINE_END.finditer(data):
            self._keep(data[start : end.start()], found)
            start = end.end()
            if self._line:
                self._end_line()
            elif self._size:
                found.append(self._completed())
        self._after_return = data.endswith(b"\r")
        self._keep(data[start:], found)
        return found

    def _reset(self) -> None:
        self._kept = bytearray()
        self._size = 0
        self._data = 0
        self._head: bytes | None = None
        self._tail = b""

    def _keep(self, piece: bytes, found: list[bytes]) -> None:
        if not piece:
            return
        self._line += len(piece)
        if len(self._field) <= len(_DATA):
            self._field += piece[: len(_DATA) + 1 - len(self._field)]
        if self._field.startswith(b":"):
            return
        self._size += len(piece)
        self._add(piece)
        if self._head is None and self._size > self._limit + MAX_OVERHEAD:
            found.append(self._cut(None))

    def _add(self, piece: bytes) -> None:
        if self._head is None:
            self._kept += piece
        else:
            self._tail = (self._tail + piece[-SAMPLE:])[-SAMPLE:]

    def _end_line(self) -> None:
        if self._field.startswith(_DATA):
            self._data += self._line - len(_DATA) - self._field.endswith(b" ")
        if not self._field.startswith(b":"):
            self._add(b"\n")
        self._line, self._field = 0, b""

    def _completed(self) -> bytes:
        over = self._head is not None or self._data > self._limit
        event = self._cut(self._data) if over else bytes(self._kept) + b"\n"
        self._reset()
        return event

    def _cut(self, size: int | None) -> OversizedMessage:
        if self._head is None:
            self._head = _data(bytes(self._kept[: 2 * SAMPLE]))[:SAMPLE]
            self._tail = bytes(self._kept[-SAMPLE:])
            self._kept = bytearray()
        oversized = OversizedMessage(self._head)
        oversized.size, oversized.limit = size, self._limit
        first, line_end, rest = self._tail.partition(b"\n")
        oversized.tail = (first + line_end + _data(rest)).strip()
        return oversized


def _data(lines: bytes) -> bytes:
    return b"\n".join(line[len(_DATA) :].strip() for line in lines.split(b"\n") if line.startswith(_DATA))
