"""A long XML part in batches: the rows of a sheet, or the shared strings, without ever holding all of them.

The part is cut between its items by looking at the bytes, and only batches that are wanted become trees. In well-formed
XML the start of an item cannot stand inside another; where a comment imitates one, the batch is no XML and is refused.
"""

import codecs
import re
from collections.abc import Iterator
from typing import Final

from a2c_smcp.documents.ooxml.package import MAX_STREAM, Package
from a2c_smcp.documents.ooxml.xml import UTF16, Node, parse, prolog_end, refuse_doctype, transitional, utf16_kind
from a2c_smcp.errors import DocumentError

MAX_HEAD: Final = 8 << 20
"""What stands before the first item: views and column widths, which nobody needs in millions."""

MAX_ITEM: Final = 16 << 20
"""A full row of plain cells is a tenth of that."""

_ROOT = re.compile(rb"<(?:([\w.-]+):)?([\w.-]+)(?:\s[^>]*)?>")
_ENDS_NAME: Final = b" />\t\r\n"


class Pieces:
    """The items called `item` of a part; they stand in its root element, or in the `container` that is named."""

    def __init__(self, package: Package, part: str, item: str, container: str = "") -> None:
        self._chunks = _as_utf8(package.chunks(part, MAX_STREAM))
        self._part = part
        self.tail = b""
        self._given = b""
        self.head, self._rest = self._read_head(item.encode(), container.encode())
        refuse_doctype(self.head)
        root = _ROOT.search(self.head, prolog_end(self.head))
        if root is None:
            raise DocumentError(f"damaged: its part {part!r} is not valid XML")
        prefix = root[1] + b":" if root[1] else b""
        self._open = transitional(root[0]).rstrip(b"/>").rstrip() + b">"
        self._close = b"</" + prefix + root[2] + b">"
        self._start = b"<" + prefix + item.encode()
        outer = prefix + (container.encode() or root[2])
        self._after = re.compile(rb"</" + outer + rb"\s*>|<" + outer + rb"\s*/>")

    def _read_head(self, item: bytes, container: bytes) -> tuple[bytes, bytes]:
        start = re.compile(rb"<(?:[\w.-]+:)?" + item + rb"[\s/>]")
        end = re.compile(rb"<(?:[\w.-]+:)?" + container + rb"\s*/>|</(?:[\w.-]+:)?" + container + rb"\s*>")
        data = b""
        for chunk in self._chunks:
            data += chunk
            first = start.search(data)
            nothing = end.search(data, 0, first.start() if first else len(data)) if container else None
            if nothing:
                return data[: nothing.start()], data[nothing.start() :]
            if first:
                return data[: first.start()], data[first.start() :]
            if len(data) > MAX_HEAD:
                raise DocumentError(f"damaged: nothing is found in its part {self._part!r}")
        return data, b""

    def batches(self) -> Iterator[bytes]:
        """Yield the bytes of whole items, many at a time; after the last, `tail` is what follows them."""
        data, self._rest = self._rest, b""
        seen = 0  # up to where no further item begins, so that a long one is not searched again and again
        for chunk in self._chunks:
            cut = self._last_start(data, seen)
            if cut > 0:
                self._given = self._given or data[:cut]
                yield data[:cut]
                data = data[cut:]
            seen = max(0, len(data) - len(self._start) - 1)
            data += chunk
            if len(data) > MAX_ITEM:
                raise DocumentError(f"damaged: an entry of its part {self._part!r} is too large")
        end = self._after.search(data)
        self.tail = data[end.end() :] if end else b""
        items = data[: end.start()] if end else data
        if items.startswith(self._start):
            yield items

    def tree(self, batch: bytes) -> Node:
        """Return the items of a batch below a root.

        Raises:
            DocumentError: They are no XML.
        """
        return parse(self._open + batch + self._close, what=f"its part {self._part!r}")

    def head_tree(self) -> Node:
        """Return the root with what stands before the items."""
        head = self.head
        opened = re.search(rb"<(?:[\w.-]+:)?sheetData[^<]*\Z", head)
        return parse((head[: opened.start()] if opened else head) + self._close, what=f"its part {self._part!r}")

    def tail_tree(self) -> Node:
        """Return the root with what follows the items, once `batches` has come to its end."""
        tail = self.tail if self.tail.rstrip().endswith(self._close) else self.tail + self._close
        return parse(self._open + tail, what=f"its part {self._part!r}")

    def count(self, batch: bytes) -> int:
        """Return how many items a batch has."""
        found = batch.count(self._start)
        return found if len(self._start) > 4 else sum(batch.count(self._start + bytes([end])) for end in _ENDS_NAME)

    def bytes_an_item(self) -> float:
        """Return how long the items of the first batch are on average."""
        return max(1, len(self._given)) / max(1, self.count(self._given))

    def last_attribute(self, batch: bytes, name: bytes) -> bytes | None:
        """Return an attribute of the last item of a batch, None where it has none."""
        at = self._last_start(batch)
        end = batch.find(b">", at)
        match = re.search(rb"\s" + name + rb"\s*=\s*[\"']([^\"']*)", batch[at : end if end > 0 else None])
        return match[1] if match else None

    def _last_start(self, data: bytes, after: int = 0) -> int:
        at = len(data)
        while (at := data.rfind(self._start, after, at)) > 0:
            following = data[at + len(self._start) : at + len(self._start) + 1]
            if following and following in _ENDS_NAME:
                return at
        return 0


def _as_utf8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    first = next(chunks, b"")
    if not first.startswith(UTF16):
        yield first
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(utf16_kind(first))("replace")
    yield re.sub(r"\A\ufeff?\s*<\?xml[^>]*\?>", "", decoder.decode(first)).encode()
    for chunk in chunks:
        yield decoder.decode(chunk).encode()
