"""What the fonts of a document say of its text."""

import ctypes
import re
from typing import Final

from a2c_smcp.documents.pdf.engine import Engine
from a2c_smcp.documents.pdf.words import Font

_BOLD = re.compile(rb"bold|black|heavy|demi|cmbx|sfbx|cmssbx|ptmb|[-,]bd|[-_]b\b|-medi|w7|w8|w9", re.IGNORECASE)
_ITALIC = re.compile(rb"italic|oblique|cmti|cmsl|sfti|-it\b|ital", re.IGNORECASE)
_MONO = re.compile(rb"mono|courier|tt\d|tt$|consol|typewriter|menlo|fixed|code|lmtt|ectt|ttype", re.IGNORECASE)
_FORCE_BOLD: Final = 1 << 18
_FIXED_PITCH: Final = 1
_NAME: Final = 128
"""Bytes that the name of a font fits into."""


class FontBook:
    """The fonts of a document, each looked at once."""

    def __init__(self) -> None:
        self.known: dict[tuple[bytes, int], Font] = {}
        self.on_page: dict[int | None, Font] = {}
        self._name, self._flags = ctypes.create_string_buffer(_NAME), ctypes.c_int()

    def turn(self) -> None:
        """Begin another page, whose fonts may have the handles of others that are gone."""
        self.on_page.clear()

    def look_up(self, engine: Engine, text_page: int, index: int, handle: int | None) -> Font:
        """Return the font of a character, which has this handle, and keep it in `on_page`."""
        font = self.on_page[handle] = self._named(engine, text_page, index)
        return font

    def _named(self, engine: Engine, text_page: int, index: int) -> Font:
        name, flags = ctypes.addressof(self._name), ctypes.addressof(self._flags)
        # A name that does not fit is not written.
        if not 0 < engine.FPDFText_GetFontInfo(text_page, index, name, _NAME, flags) <= _NAME:
            return _NO_FONT
        key = self._name.value, self._flags.value
        font = self.known.get(key)
        if font is None:
            font = self.known[key] = self._look(engine, text_page, index, *key)
        return font

    def _look(self, engine: Engine, text_page: int, index: int, name: bytes, flags: int) -> Font:
        # A subset's name begins with six letters and a plus sign.
        own = name.partition(b"+")[2] or name
        heavy = engine.FPDFText_GetFontWeight(text_page, index) >= 600
        bold = bool(_BOLD.search(own)) or bool(flags & _FORCE_BOLD) or heavy
        mono = bool(_MONO.search(own)) or bool(flags & _FIXED_PITCH)
        return Font(own.decode("utf-8", "replace"), bold, bool(_ITALIC.search(own)), mono)


_NO_FONT: Final = Font()
