"""Pictures as OCR engines need them: opened safely, upright, without transparency."""

import io
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from a2c_smcp.documents.formats.base import require
from a2c_smcp.errors import DocumentError

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS: Final = 40_000_000
"""As many as a page is rendered with at most; a scan of A3 at 300 dpi has 17 million."""

_BLANK_SPREAD: Final = 24
_ORIENTATION: Final = 0x0112
_ON_ITS_SIDE: Final = frozenset({5, 6, 7, 8})
_DAMAGE: Final = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    EOFError,
    ArithmeticError,
    NotImplementedError,
    struct.error,
    zlib.error,
)


class TooManyPixels(DocumentError):
    """The picture is larger than what is decoded."""


@contextmanager
def safely() -> Iterator[None]:
    """Translate what Pillow raises over bad, broken and oversized pictures.

    Raises:
        DocumentError: Something was wrong with the picture.
    """
    module = require("PIL.Image", "documents")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of damaged metadata; a bomb is told by its size below
            yield
    except module.DecompressionBombError as error:
        raise DocumentError(
            f"the picture has more than the {MAX_PIXELS // 1_000_000} megapixels that are read"
        ) from error
    except _DAMAGE as error:
        if isinstance(error, OSError) and error.errno:  # the disk, not the picture
            raise
        raise DocumentError("the picture is damaged or of an unknown kind") from error
    except (MemoryError, RecursionError) as error:
        raise DocumentError("the picture needs more memory than there is") from error


def open_picture(data: bytes) -> "Image":
    """Return a picture in RGB on white paper.

    Raises:
        DocumentError: It is damaged, of an unknown kind or too large.
    """
    module = require("PIL.Image", "documents")
    with safely(), module.open(io.BytesIO(data)) as picture:
        check_size(picture.size)
        return on_white(picture)


def check_size(size: tuple[int, int]) -> None:
    """Refuse a picture of too many pixels.

    Raises:
        TooManyPixels: It has more than `MAX_PIXELS`.
    """
    if size[0] * size[1] > MAX_PIXELS:
        raise TooManyPixels(
            f"the picture of {size[0]} × {size[1]} pixels is larger than the {MAX_PIXELS // 1_000_000} megapixels read"
        )


def shrink(picture: "Image") -> None:
    """Let a photograph of more than `MAX_PIXELS` be decoded at a half, a quarter or an eighth; others stay."""
    pixels = picture.width * picture.height
    part = next((part for part in (1, 2, 4) if pixels <= MAX_PIXELS * part * part), 8)
    if part > 1:
        picture.draft(None, (picture.width // part, picture.height // part))


def upright_size(picture: "Image") -> tuple[int, int]:
    """Return width and height of a picture as it is to be held, which a camera notes beside it."""
    try:
        turned = picture.getexif().get(_ORIENTATION) in _ON_ITS_SIDE
    except Exception:  # noqa: BLE001 - the library raises anything over damaged tags
        turned = False
    return (picture.height, picture.width) if turned else picture.size


def on_white(picture: "Image") -> "Image":
    """Return a copy in RGB; what was transparent is white."""
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        module = require("PIL.Image", "documents")
        layer = picture.convert("RGBA")
        paper: Image = module.new("RGBA", layer.size, "white")
        paper.alpha_composite(layer)
        return paper.convert("RGB")
    if picture.mode.startswith("I") or picture.mode == "F":
        return _greys(picture).convert("RGB")
    return picture.convert("RGB")


def is_blank(picture: "Image") -> bool:
    """Whether a picture has nothing on it but one colour."""
    low, high = picture.convert("L").getextrema()
    return bool(high - low < _BLANK_SPREAD)  # type: ignore[operator]


def _greys(picture: "Image") -> "Image":
    # Pillow cuts 16 bits at 255 when it converts them: a scan would be all white.
    low, high = picture.getextrema()
    span = max(float(high) - float(low), 1.0)  # type: ignore[arg-type]
    offset = float(low)  # type: ignore[arg-type]
    return picture.convert("F").point(lambda value: value * (255.0 / span) - offset * 255.0 / span).convert("L")


def png_of(picture: "Image") -> bytes:
    """Return a picture as PNG, packed quickly rather than well."""
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()
