"""Cuts an SSE stream into whole events, bounded. Pure."""

import re
from typing import Final

from a2c_smcp.computer.mcp_clients.lines import SAMPLE, Oversized

_LINE_END: Final = re.compile(rb"\r\n?|\n")
_DATA: Final = b"data:"
# What an event may have beside its data: its type, its id and the names of its fields.
ROOM: Final = 64 * 1024


class Events:
    """A stream that is fed in chunks and read in events, each with its blank line. Comments are left out.

    An event whose data is longer than `limit` is skipped but for the beginning and the end of its data. It comes as
    `Oversized`: at its end, and before that as soon as it is known to be too long, then without a size.
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
        if self._head is None and self._size > self._limit + ROOM:
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

    def _cut(self, size: int | None) -> Oversized:
        if self._head is None:
            self._head = _data(bytes(self._kept[: 2 * SAMPLE]))[:SAMPLE]
            self._tail = bytes(self._kept[-SAMPLE:])
            self._kept = bytearray()
        oversized = Oversized(self._head)
        oversized.size, oversized.limit = size, self._limit
        first, line_end, rest = self._tail.partition(b"\n")
        oversized.tail = (first + line_end + _data(rest)).strip()
        return oversized


def _data(lines: bytes) -> bytes:
    return b"\n".join(line[len(_DATA) :].strip() for line in lines.split(b"\n") if line.startswith(_DATA))
