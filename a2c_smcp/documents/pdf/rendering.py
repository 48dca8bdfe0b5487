"""Pages as PNG. The picture is drawn straight into the rows that PNG compresses, and Intel's deflate packs them."""

import ctypes
import struct
import zlib
from typing import Any, Final

from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.pdf.engine import Engine

MAX_PIXELS: Final = 40_000_000
"""A page that would be larger is drawn smaller: 120 MB of picture at the most."""
MAX_SIDE: Final = 30_000

_BGR: Final = 2
_ANNOTATIONS, _REVERSE_BYTE_ORDER = 0x01, 0x10
_LEVEL: Final = 1
_RGB_COLOR_TYPE: Final = 2


def scale_for(width: float, height: float, dpi: float) -> float:
    """Return pixels a point: what `dpi` asks for, or less for a page too large."""
    scale = dpi / 72.0
    scale = min(scale, MAX_SIDE / max(width, height, 1e-6))
    return float(min(scale, (MAX_PIXELS / max(width * height, 1e-6)) ** 0.5))


def draw(
    engine: Engine,
    page: int,
    size: tuple[float, float],
    scale: float,
    *,
    form: int = 0,
    crop: tuple[float, float, float, float] | None = None,
) -> bytes:
    """Return a page as PNG, or the part of it that `crop` (in points as shown) names."""
    x0, y0, x1, y1 = crop or (0.0, 0.0, *size)
    width, height = max(1, round((x1 - x0) * scale)), max(1, round((y1 - y0) * scale))
    row = width * 3 + 1
    # Each row of a PNG begins with the number of its filter: the bitmap leaves room for it, and 0 is "none".
    rows = bytearray(row * height)
    memory = (ctypes.c_char * len(rows)).from_buffer(rows)
    bitmap = engine.FPDFBitmap_CreateEx(width, height, _BGR, ctypes.addressof(memory) + 1, row)
    try:
        engine.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        whole = max(1, round(size[0] * scale)), max(1, round(size[1] * scale))
        place = (round(-x0 * scale), round(-y0 * scale), *whole, 0, _ANNOTATIONS | _REVERSE_BYTE_ORDER)
        engine.FPDF_RenderPageBitmap(bitmap, page, *place)
        if form:
            engine.FPDF_FFLDraw(form, bitmap, page, *place)
    finally:
        engine.FPDFBitmap_Destroy(bitmap)
    del memory
    return _png(rows, width, height, scale)


def _png(rows: bytearray, width: int, height: int, scale: float) -> bytes:
    deflate: Any = require("isal.isal_zlib", "documents")
    header = struct.pack(">IIBBBBB", width, height, 8, _RGB_COLOR_TYPE, 0, 0, 0)
    a_meter = round(scale * 72 / 0.0254)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"pHYs", struct.pack(">IIB", a_meter, a_meter, 1)),
            _chunk(b"IDAT", deflate.compress(rows, _LEVEL)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(name)))
