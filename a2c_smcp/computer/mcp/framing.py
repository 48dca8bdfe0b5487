"""Splits byte streams into messages of bounded size: lines of a process, events of an SSE stream. Pure."""

import codecs
import re
from typing import Final, TypeAlias

RawLine: TypeAlias = bytes | str
"""Bytes if the encoding has a one-byte line break, else decoded text."""

MAX_LINE: Final = 64 * 1024 * 1024
SAMPLE: Final = 500


class OversizedMessage(bytes):
    """The first bytes of a message over the size limit.

    Attributes:
        size: Bytes of the whole message; None while it is incomplete.
        limit: The size limit in bytes.
        tail: Its last bytes.
    """

    size: int | None
    limit: int
    tail: bytes


class LineSplitter:
    """Splits a stream of chunks into lines.

    A line longer than `limit` is returned as `OversizedMessage` with its first and last bytes only, so that no process
    can exhaust the memory. Empty lines are skipped.
    """

    def __init__(self, encoding: str = "utf-8", *, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._buffer: list[bytes] = []
        self._size = 0
        self._sample: bytes | None = None
        self._tail = b""
        # A multi-byte line break (UTF-16) cannot be searched in bytes.
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
        self._append(data[start:])
        return self._result(found)

    def end(self) -> list[RawLine]:
        """Return the last line of a stream that ended without a line break."""
        if self._decoder is not None:
            self._append(self._decoder.decode(b"", final=True).encode())
        return self._result([self._completed(b"")])

    def _completed(self, piece: bytes) -> bytes:
        self._append(piece)
        if self._sample is None:
            line = b"".join(self._buffer).strip().removeprefix(codecs.BOM_UTF8)
        else:
            line = oversized = OversizedMessage(self._sample.strip().removeprefix(codecs.BOM_UTF8))
            oversized.size, oversized.limit, oversized.tail = self._size, self._limit, self._tail.strip()
        self._buffer, self._size, self._sample, self._tail = [], 0, None, b""
        return line

    def _append(self, piece: bytes) -> None:
        if not piece:
            return
        self._size += len(piece)
        if self._sample is not None:
            self._tail = (self._tail + piece[-SAMPLE:])[-SAMPLE:]
            return
        self._buffer.append(piece)
        if self._size > self._limit:
            whole = b"".join(self._buffer)
            self._sample, self._tail = whole[:SAMPLE], whole[-SAMPLE:]
            self._buffer = []

    def _result(self, lines: list[bytes]) -> list[RawLine]:
        plain = self._decoder is None
        return [line if plain or isinstance(line, OversizedMessage) else line.decode() for line in lines if line]


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    # These two decoders require a byte-order mark, which few programs write to a pipe.
    if encoding in ("utf-16", "utf-32"):
        encoding += "-le"
    return codecs.getincrementaldecoder(encoding)(errors="replace")


_LINE_END: Final = re.compile(rb"\r\n?|\n")
_DATA: Final = b"data:"
# Bytes that an event may have in addition to its data: its type, its id and the names of its fields.
MAX_OVERHEAD: Final = 64 * 1024


class SseSplitter:
    """Splits an SSE stream of chunks into events, each with its blank line. Comments are skipped.

    An event whose data is longer than `limit` is returned as `OversizedMessage` with the first and last bytes of its
    data: once as soon as it exceeds the limit, without a size, and again when it is complete.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._after_return = False
        self._line = 0
        self._field = b""
        self._reset()

    @property
    def skipping(self) -> bool:
        """Whether the current event is over the limit."""
        return self._head is not None

    def feed(self, data: bytes) -> list[bytes]:
        """Return the events that `data` completes or pushes over the limit."""
        if not data:
            return []
        if self._after_return:
            data = data.removeprefix(b"\n")
        found: list[bytes] = []
        start = 0
        for end in _LINE_END.finditer(data):
            self._append(data[start : end.start()], found)
            start = end.end()
            if self._line:
                self._end_line()
            elif self._size:
                found.append(self._completed())
        self._after_return = data.endswith(b"\r")
        self._append(data[start:], found)
        return found

    def _reset(self) -> None:
        self._buffer = bytearray()
        self._size = 0
        self._data = 0
        self._head: bytes | None = None
        self._tail = b""

    def _append(self, piece: bytes, found: list[bytes]) -> None:
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
            self._buffer += piece
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
        event = self._cut(self._data) if over else bytes(self._buffer) + b"\n"
        self._reset()
        return event

    def _cut(self, size: int | None) -> OversizedMessage:
        if self._head is None:
            self._head = _data(bytes(self._buffer[: 2 * SAMPLE]))[:SAMPLE]
            self._tail = bytes(self._buffer[-SAMPLE:])
            self._buffer = bytearray()
        oversized = OversizedMessage(self._head)
        oversized.size, oversized.limit = size, self._limit
        first, line_end, rest = self._tail.partition(b"\n")
        oversized.tail = (first + line_end + _data(rest)).strip()
        return oversized


def _data(lines: bytes) -> bytes:
    return b"\n".join(line[len(_DATA) :].strip() for line in lines.split(b"\n") if line.startswith(_DATA))
