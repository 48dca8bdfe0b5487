"""Cuts the byte stream of a process into lines, bounded. Pure."""

import codecs
from typing import Final, TypeAlias

Line: TypeAlias = bytes | str
"""Bytes where the encoding spells a line break as one byte, else decoded text."""

MAX_LINE: Final = 64 * 1024 * 1024
SAMPLE: Final = 500


class Oversized(bytes):
    """The first bytes of a message that is over the limit.

    Attributes:
        size: Bytes of the whole message; None while the rest of it has not come.
        limit: Bytes that a message may have.
        tail: Its last bytes.
    """

    size: int | None
    limit: int
    tail: bytes


class Lines:
    """A stream that is fed in chunks and read in lines.

    A line longer than `limit` is skipped but for its beginning and its end, so that no process can fill the memory: it
    comes as `Oversized`. Empty lines are left out.
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

    def feed(self, data: bytes) -> list[Line]:
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

    def end(self) -> list[Line]:
        """Return what is left when the stream has ended without a line break."""
        if self._decoder is not None:
            self._keep(self._decoder.decode(b"", final=True).encode())
        return self._told([self._completed(b"")])

    def _completed(self, piece: bytes) -> bytes:
        self._keep(piece)
        if self._sample is None:
            line = b"".join(self._kept).strip().removeprefix(codecs.BOM_UTF8)
        else:
            line = oversized = Oversized(self._sample.strip().removeprefix(codecs.BOM_UTF8))
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

    def _told(self, lines: list[bytes]) -> list[Line]:
        plain = self._decoder is None
        return [line if plain or isinstance(line, Oversized) else line.decode() for line in lines if line]


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    # These two want a byte-order mark and raise without one, but few who write them put one into a pipe.
    if encoding in ("utf-16", "utf-32"):
        encoding += "-le"
    return codecs.getincrementaldecoder(encoding)(errors="replace")
