"""PDFium's functions, bound for speed, and the lock that every call needs.

A page costs PDFium a millisecond or two, and reading it well takes some hundred small questions, so that what a call
costs matters: pointers travel as plain integers here, and the small calls keep the interpreter's lock.
"""

import ctypes
import os
import threading
from ctypes import CFUNCTYPE, PYFUNCTYPE, c_double, c_float, c_int, c_uint, c_ulong, c_void_p
from functools import cache, cached_property
from typing import Any, Final

from a2c_smcp.documents.descriptors import Descriptor, read_at
from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.pdf.native import native

LOCK: Final = threading.RLock()
"""PDFium is not thread-safe: whoever calls it holds this."""

_SHORT: Final = 1_024
"""Bytes that most strings fit into."""
_ROOM: Final = 16_384
"""Bytes that the text of most pages fits into."""
BOX_BYTES: Final = 16
"""Four floats."""

_P, _I, _U, _L, _F, _D = c_void_p, c_int, c_uint, c_ulong, c_float, c_double

# Result type, then argument types. These work for long and let other threads run meanwhile.
_SLOW: Final[dict[str, tuple[Any, ...]]] = {
    "FPDF_LoadDocument": (_P, ctypes.c_char_p, ctypes.c_char_p),
    "FPDF_LoadCustomDocument": (_P, _P, ctypes.c_char_p),
    "FPDF_CloseDocument": (None, _P),
    "FPDF_LoadPage": (_P, _P, _I),
    "FPDF_ClosePage": (None, _P),
    "FPDFText_LoadPage": (_P, _P),
    "FPDFText_ClosePage": (None, _P),
    "FPDF_RenderPageBitmap": (None, _P, _P, _I, _I, _I, _I, _I, _I),
    "FPDF_FFLDraw": (None, _P, _P, _P, _I, _I, _I, _I, _I, _I),
    "FPDFImageObj_GetRenderedBitmap": (_P, _P, _P, _P),
}
_QUICK: Final[dict[str, tuple[Any, ...]]] = {
    "FPDF_GetLastError": (_L,),
    "FPDF_GetPageCount": (_I, _P),
    "FPDF_GetPageWidthF": (_F, _P),
    "FPDF_GetPageHeightF": (_F, _P),
    "FPDF_GetPageSizeByIndexF": (_I, _P, _I, _P),
    "FPDF_GetPageBoundingBox": (_I, _P, _P),
    "FPDFPage_GetRotation": (_I, _P),
    "FPDF_PageToDevice": (_I, _P, _I, _I, _I, _I, _I, _D, _D, _P, _P),
    "FPDF_GetMetaText": (_L, _P, ctypes.c_char_p, _P, _L),
    "FPDF_GetPageLabel": (_L, _P, _I, _P, _L),
    "FPDFCatalog_IsTagged": (_I, _P),
    "FPDFDoc_GetAttachmentCount": (_I, _P),
    "FPDFDoc_GetAttachment": (_P, _P, _I),
    "FPDFAttachment_GetName": (_L, _P, _P, _L),
    # Text
    "FPDFText_CountChars": (_I, _P),
    "FPDFText_GetText": (_I, _P, _I, _I, _P),
    "FPDFText_GetCharIndexFromTextIndex": (_I, _P, _I),
    "FPDFText_GetLooseCharBox": (_I, _P, _I, _P),
    "FPDFText_GetFontSize": (_D, _P, _I),
    "FPDFText_GetFontWeight": (_I, _P, _I),
    "FPDFText_GetFontInfo": (_L, _P, _I, _P, _L, _P),
    "FPDFText_GetMatrix": (_I, _P, _I, _P),
    "FPDFText_GetTextObject": (_P, _P, _I),
    "FPDFTextObj_GetFont": (_P, _P),
    "FPDFTextObj_GetTextRenderMode": (_I, _P),
    "FPDFText_GetBoundedText": (_I, _P, _D, _D, _D, _D, _P, _I),
    # What is drawn
    "FPDFPage_CountObjects": (_I, _P),
    "FPDFPage_GetObject": (_P, _P, _I),
    "FPDFPageObj_GetType": (_I, _P),
    "FPDFPageObj_GetBounds": (_I, _P, _P, _P, _P, _P),
    "FPDFPageObj_GetMatrix": (_I, _P, _P),
    "FPDFPageObj_GetMarkedContentID": (_I, _P),
    "FPDFFormObj_CountObjects": (_I, _P),
    "FPDFFormObj_GetObject": (_P, _P, _L),
    "FPDFPath_CountSegments": (_I, _P),
    "FPDFPath_GetPathSegment": (_P, _P, _I),
    "FPDFPathSegment_GetType": (_I, _P),
    "FPDFPathSegment_GetPoint": (_I, _P, _P, _P),
    "FPDFPath_GetDrawMode": (_I, _P, _P, _P),
    "FPDFPageObj_GetFillColor": (_I, _P, _P, _P, _P, _P),
    "FPDFImageObj_GetImagePixelSize": (_I, _P, _P, _P),
    "FPDFImageObj_GetImageFilterCount": (_I, _P),
    "FPDFImageObj_GetImageFilter": (_L, _P, _I, _P, _L),
    "FPDFImageObj_GetImageDataRaw": (_L, _P, _P, _L),
    # Structure of tagged files
    "FPDF_StructTree_GetForPage": (_P, _P),
    "FPDF_StructTree_Close": (None, _P),
    "FPDF_StructTree_CountChildren": (_I, _P),
    "FPDF_StructTree_GetChildAtIndex": (_P, _P, _I),
    "FPDF_StructElement_CountChildren": (_I, _P),
    "FPDF_StructElement_GetChildAtIndex": (_P, _P, _I),
    "FPDF_StructElement_GetChildMarkedContentID": (_I, _P, _I),
    "FPDF_StructElement_GetType": (_L, _P, _P, _L),
    "FPDF_StructElement_GetAltText": (_L, _P, _P, _L),
    "FPDF_StructElement_GetActualText": (_L, _P, _P, _L),
    # Outline, links and annotations
    "FPDFBookmark_GetFirstChild": (_P, _P, _P),
    "FPDFBookmark_GetNextSibling": (_P, _P, _P),
    "FPDFBookmark_GetTitle": (_L, _P, _P, _L),
    "FPDFBookmark_GetDest": (_P, _P, _P),
    "FPDFBookmark_GetAction": (_P, _P),
    "FPDFAction_GetType": (_L, _P),
    "FPDFAction_GetDest": (_P, _P, _P),
    "FPDFAction_GetURIPath": (_L, _P, _P, _P, _L),
    "FPDFAction_GetFilePath": (_L, _P, _P, _L),
    "FPDFDest_GetDestPageIndex": (_I, _P, _P),
    "FPDFLink_Enumerate": (_I, _P, _P, _P),
    "FPDFLink_GetAnnotRect": (_I, _P, _P),
    "FPDFLink_GetDest": (_P, _P, _P),
    "FPDFLink_GetAction": (_P, _P),
    "FPDFPage_GetAnnotCount": (_I, _P),
    "FPDFPage_GetAnnot": (_P, _P, _I),
    "FPDFPage_CloseAnnot": (None, _P),
    "FPDFAnnot_GetSubtype": (_I, _P),
    "FPDFAnnot_GetRect": (_I, _P, _P),
    "FPDFAnnot_GetFlags": (_I, _P),
    "FPDFAnnot_GetStringValue": (_L, _P, ctypes.c_char_p, _P, _L),
    "FPDFAnnot_HasKey": (_I, _P, ctypes.c_char_p),
    "FPDFAnnot_CountAttachmentPoints": (ctypes.c_size_t, _P),
    "FPDFAnnot_GetAttachmentPoints": (_I, _P, ctypes.c_size_t, _P),
    "FPDFAnnot_GetLinkedAnnot": (_P, _P, ctypes.c_char_p),
    "FPDFPage_GetAnnotIndex": (_I, _P, _P),
    "FPDFAnnot_GetFormFieldName": (_L, _P, _P, _P, _L),
    "FPDFAnnot_GetFormFieldAlternateName": (_L, _P, _P, _P, _L),
    "FPDFAnnot_GetFormFieldValue": (_L, _P, _P, _P, _L),
    "FPDFAnnot_GetFormFieldExportValue": (_L, _P, _P, _P, _L),
    "FPDFAnnot_GetFormFieldType": (_I, _P, _P),
    "FPDFAnnot_GetFormFieldFlags": (_I, _P, _P),
    "FPDFAnnot_GetOptionCount": (_I, _P, _P),
    "FPDFAnnot_GetOptionLabel": (_L, _P, _P, _I, _P, _L),
    "FPDFAnnot_IsOptionSelected": (_I, _P, _P, _I),
    "FPDFAnnot_IsChecked": (_I, _P, _P),
    "FPDFDOC_ExitFormFillEnvironment": (None, _P),
    # Bitmaps
    "FPDFBitmap_CreateEx": (_P, _I, _I, _I, _P, _I),
    "FPDFBitmap_FillRect": (_I, _P, _I, _I, _I, _I, _U),
    "FPDFBitmap_GetBuffer": (_P, _P),
    "FPDFBitmap_GetFormat": (_I, _P),
    "FPDFBitmap_GetWidth": (_I, _P),
    "FPDFBitmap_GetHeight": (_I, _P),
    "FPDFBitmap_GetStride": (_I, _P),
    "FPDFBitmap_Destroy": (None, _P),
}

# Asked for each line or each object of a page: bound without argument types, which cost as much as the call. Handles
# and addresses go in as `Handle` or `c_void_p`, whole numbers as they are.
_BARE: Final[dict[str, str]] = {
    "FPDFPage_GetObject": "object",
    "FPDFFormObj_GetObject": "inner_object",
    "FPDFPageObj_GetType": "type",
    "FPDFText_GetCharIndexFromTextIndex": "index",
    "FPDFText_GetLooseCharBox": "box",
    "FPDFText_GetFontSize": "size",
    "FPDFText_GetMatrix": "matrix",
    "FPDFText_GetTextObject": "text_object",
    "FPDFTextObj_GetFont": "font",
    "FPDFLink_Enumerate": "next_link",
    "FPDFLink_GetAnnotRect": "link_rect",
    "FPDFLink_GetDest": "link_target",
}


FARTHEST: Final = 1e9
"""How far from its origin anything on a page can be, in points. What PDFium says to be farther away, or nowhere (NaN),
is refused where it enters: comparisons have no order for it."""


def is_place(*numbers: float) -> bool:
    """Whether numbers of PDFium are places, sizes or parts of a matrix that can be on a page."""
    return all(-FARTHEST <= number <= FARTHEST for number in numbers)


class Handle(c_void_p):
    """A pointer that a bare function returns and takes."""


class Bare:
    """The functions that are asked most, under short names and without checks of their arguments."""

    def __init__(self, raw: Any) -> None:
        results: dict[str, Any] = {"object": Handle, "inner_object": Handle, "text_object": Handle}
        for name, short in _BARE.items():
            result = results.get(short, _QUICK[name][0])
            setattr(self, short, PYFUNCTYPE(result)(_address(raw, name)))

    def __getattr__(self, name: str) -> Any:
        """Exists for type checkers: every function is set when the engine is made."""
        raise AttributeError(name)


class Rect(ctypes.Structure):
    """FS_RECTF."""

    _fields_ = [("left", _F), ("top", _F), ("right", _F), ("bottom", _F)]

    @property
    def sides(self) -> tuple[float, float, float, float]:
        """Left, bottom, right and top; the origin where they are no place."""
        sides = self.left, self.bottom, self.right, self.top
        return sides if is_place(*sides) else (0.0, 0.0, 0.0, 0.0)


class Matrix(ctypes.Structure):
    """FS_MATRIX."""

    _fields_ = [(name, _F) for name in "abcdef"]


class Quad(ctypes.Structure):
    """FS_QUADPOINTSF."""

    _fields_ = [(name, _F) for name in ("x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4")]


class FileAccess(ctypes.Structure):
    """FPDF_FILEACCESS: PDFium reads an open file by its descriptor. It is kept for as long as the document is open."""

    _fields_ = [("length", _L), ("read", _P), ("parameter", _P)]

    def __init__(self, held: Descriptor) -> None:
        address = native.block_reader() if native else ctypes.cast(_read_block, c_void_p).value
        super().__init__(os.fstat(held.number).st_size, address, held.number)
        self.held = held


def _read_into(descriptor: int | None, position: int, buffer: int, size: int) -> int:
    # Returning 0 tells PDFium that the file cannot be read there.
    try:
        read = read_at(descriptor or 0, (ctypes.c_char * size).from_address(buffer), position)
    except OSError:
        return 0
    return int(read == size)


_read_block: Final = CFUNCTYPE(_I, _P, _L, _P, _L)(_read_into)


class Room:
    """Memory that PDFium writes into; what is there holds until the next question.

    It is kept, because each size of a ctypes array is a new type, which takes longer to make than to fill.

    """

    def __init__(self, size: int) -> None:
        buffer = ctypes.create_string_buffer(size)
        self.size, self.address, self.view = size, ctypes.addressof(buffer), memoryview(buffer).cast("B")

    @cached_property
    def boxes(self) -> list[c_void_p]:
        """Where each of the boxes begins that fit in."""
        return [c_void_p(self.address + start) for start in range(0, self.size, BOX_BYTES)]


class Engine:
    """PDFium with its functions as attributes, under their own names."""

    def __init__(self) -> None:
        # The package initializes the library when it is imported.
        require("pypdfium2", "documents")
        self._buffer = ctypes.create_string_buffer(_SHORT)
        self._room = Room(_ROOM)
        self.raw = require("pypdfium2.raw", "documents")
        for prototype, table in ((CFUNCTYPE, _SLOW), (PYFUNCTYPE, _QUICK)):
            for name, signature in table.items():
                setattr(self, name, prototype(*signature)(_address(self.raw, name)))
        self.bare = Bare(self.raw)
        if native:
            native.bind({name: _address(self.raw, name) for name in native.functions()}, FARTHEST)

    def __getattr__(self, name: str) -> Any:
        """Exists for type checkers: every function is set when the engine is made."""
        raise AttributeError(name)

    def room(self, size: int = 0) -> Room:
        """Return memory of at least `size` bytes; a page of much more text than others has its own."""
        return self._room if size <= _ROOM else Room(1 << (size - 1).bit_length())

    def string(self, function: Any, *arguments: Any, encoding: str = "utf-16-le", most: int = 65_536) -> str:
        """Return what a function that fills a buffer says, without its final zero; cut at `most` bytes."""
        buffer = self._buffer
        length = function(*arguments, ctypes.addressof(buffer), _SHORT)
        if length > _SHORT:
            # A buffer that is too small gets nothing, so that only the result can be cut.
            buffer = ctypes.create_string_buffer(length)
            function(*arguments, ctypes.addressof(buffer), length)
        return buffer.raw[: max(0, min(length, most))].decode(encoding, "replace").rstrip("\0")


def _address(raw: Any, name: str) -> int:
    return ctypes.cast(getattr(raw, name), c_void_p).value or 0


@cache
def engine() -> Engine:
    """Return the one engine of this process.

    Raises:
        ModuleNotFoundError: The library is missing; the message names the install command.
    """
    with LOCK:
        return Engine()
