"""What a tagged file says of its text itself: headings, by the marked content they consist of."""

import ctypes
import re
from collections.abc import Mapping
from typing import Final

from a2c_smcp.documents.pdf.engine import Engine

MAX_ELEMENTS: Final = 4_000
_MAX_DEPTH: Final = 64
_TYPE_BYTES: Final = 128
_HEADING = re.compile(r"(?:h|heading|überschrift|titre|título|标题)[\s_-]*([1-9])?", re.IGNORECASE)


def headings_of(engine: Engine, page: int) -> Mapping[int, int]:
    """Return the level of each marked content that is a heading; 0 where the file does not say."""
    tree = engine.FPDF_StructTree_GetForPage(page)
    if not tree:
        return {}
    try:
        return _Walk(engine).headings(tree)
    finally:
        engine.FPDF_StructTree_Close(tree)


class _Walk:
    """One pass over the structure of a page."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._buffer = ctypes.create_string_buffer(_TYPE_BYTES)
        self._address = ctypes.addressof(self._buffer)
        self._left = MAX_ELEMENTS
        self._found: dict[int, int] = {}

    def headings(self, tree: int) -> Mapping[int, int]:
        engine = self._engine
        for number in range(min(engine.FPDF_StructTree_CountChildren(tree), MAX_ELEMENTS)):
            child = engine.FPDF_StructTree_GetChildAtIndex(tree, number)
            if child:
                self._element(child, None, 0)
        return self._found

    def _element(self, element: int, level: int | None, depth: int) -> None:
        engine = self._engine
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            return
        if level is None:
            match = _HEADING.fullmatch(self._type(element))
            if match:
                level = int(match[1] or 0)
            elif self._type(element) == "Title":
                level = 1
        for number in range(min(engine.FPDF_StructElement_CountChildren(element), MAX_ELEMENTS)):
            child = engine.FPDF_StructElement_GetChildAtIndex(element, number)
            if child:
                self._element(child, level, depth + 1)
            elif level is not None:
                content = engine.FPDF_StructElement_GetChildMarkedContentID(element, number)
                if content >= 0:
                    self._found[content] = level

    def _type(self, element: int) -> str:
        length = self._engine.FPDF_StructElement_GetType(element, self._address, _TYPE_BYTES)
        if not 2 < length <= _TYPE_BYTES:
            return ""
        return self._buffer.raw[: length - 2].decode("utf-16-le", "replace")
