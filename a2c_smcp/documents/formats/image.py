"""Pictures: one page a frame, with the picture as an element and, where a policy allows it, the text read from it."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.documents.formats.base import Description, OpenDocument, OpenOptions, require, suffix_of
from a2c_smcp.documents.formats.elements import clip, page_title
from a2c_smcp.documents.model import PENDING, Element, Page, PageEntry, is_pending
from a2c_smcp.documents.ocr.base import TURN_ON, OcrPolicy, TransientOcrError, elements_of, read_with_fallback
from a2c_smcp.documents.ocr.exif import facts_of
from a2c_smcp.documents.ocr.pictures import (
    TooManyPixels,
    check_size,
    is_blank,
    on_white,
    png_of,
    safely,
    shrink,
    upright_size,
)
from a2c_smcp.documents.page_elements import PageElementMaker, page_of
from a2c_smcp.errors import DocumentError

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES: Final = 512 << 20
MAX_FRAMES: Final = 2_000
PAGES_KEPT: Final = 8
DEFAULT_DPI: Final = 96

_TYPES: Final = {
    "png": "png",
    "jpg": "jpg",
    "jpeg": "jpg",
    "jpe": "jpg",
    "tif": "tiff",
    "tiff": "tiff",
    "webp": "webp",
    "gif": "gif",
    "bmp": "bmp",
}
_KINDS: Final = ("PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP")
# Frames of these are pages; those of the others are a film, of which the first tells enough.
_PAGED: Final = frozenset({"TIFF"})


class ImageFormat:
    """PNG, JPEG, TIFF, WebP, GIF and BMP."""

    def file_type(self, name: str) -> str | None:
        """Accept pictures by their usual endings."""
        return _TYPES.get(suffix_of(name))

    def open(self, path: Path, *, options: OpenOptions = OpenOptions()) -> OpenDocument:  # noqa: B008 - frozen
        """Look at the head of the file."""
        if path.stat().st_size > MAX_BYTES:
            raise DocumentError(f"larger than the {MAX_BYTES >> 20} MiB that are read of this file type")
        return ImageDocument(path, options.ocr)


FORMAT: Final = ImageFormat()


class ImageDocument:
    """A picture; a frame is decoded when its page is asked for."""

    def __init__(self, path: Path, policy: OcrPolicy | None) -> None:
        self._path = path
        self._policy = policy
        with safely(), self._opened() as picture:
            self._kind: str = picture.format or ""
            self._size = upright_size(picture)
            frames = int(getattr(picture, "n_frames", 1))
            self._frames = min(frames, MAX_FRAMES) if self._kind in _PAGED else 1
            self._unread = frames - self._frames if self._kind in _PAGED else 0
            self._moments = frames if self._kind not in _PAGED else 1
            self._facts = facts_of(picture)
        self._kept: OrderedDict[int, Page] = OrderedDict()

    def describe(self) -> Description:
        """Return the size of the picture, and what it says of itself."""
        facts = dict(self._facts)
        title = facts.pop("title", "") or facts.pop("description", "")
        size = self._name(self._size)
        pages = f"{self._frames} pages" if self._frames > 1 else ""
        pages += f" of {self._frames + self._unread}" if self._unread else ""
        told = [pages, *(f"{key}: {facts[key]}" for key in facts)]
        return Description(
            title=clip(title, 200),
            page_count=self._frames,
            keywords=tuple(word.strip() for word in facts.get("keywords", "").split(";") if word.strip())[:20],
            summary=clip(", ".join(filter(None, [size, *told])), 200),
        )

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of the page index; no text is recognized for it."""
        return [self._entry(index) for index in range(self._frames)[offset : offset + limit]]

    def _entry(self, index: int) -> PageEntry:
        if self._policy is None or index in self._kept:
            return self.page(index).entry
        return PageEntry(index, f"Page {index + 1}" if self._frames > 1 else self._name(self._size))

    def page(self, index: int) -> Page:
        """Return a frame; one whose recognition may succeed the next time is not kept."""
        page = self._kept.get(index) or self._read(index)
        if not is_pending(page.elements):
            self._kept[index] = page
            self._kept.move_to_end(index)
            while len(self._kept) > PAGES_KEPT:
                self._kept.popitem(last=False)
        return page

    def find(self, element_id: str) -> tuple[int, Element] | None:
        """Return an element with the index of its page."""
        index = page_of(element_id)
        if index is None or index >= self._frames:
            return None
        return next(((index, element) for element in self.page(index).elements if element.id == element_id), None)

    def render(self, index: int, dpi: int) -> bytes:
        """Return a frame as PNG at this resolution, but never larger than it is."""
        with safely():
            size, own = self._look(index)
            frame = self._frame(index)
            scale = min(1.0, dpi / own * size[0] / frame.width)
            wanted = (max(1, round(frame.width * scale)), max(1, round(frame.height * scale)))
            return png_of(frame.resize(wanted) if wanted != frame.size else frame)

    def element_image(self, element_id: str) -> tuple[str, bytes] | None:
        """Return the picture as it is in its file, or the frame as PNG where it has several."""
        found = self.find(element_id)
        if found is None or found[1].category != "image":
            return None
        if self._frames > 1 or self._kind in ("TIFF", "BMP", "MPO"):
            with safely():
                return "image/png", png_of(self._frame(found[0]))
        return found[1].content["mime_type"], self._path.read_bytes()

    @contextmanager
    def _opened(self) -> "Iterator[Image]":
        module = require("PIL.Image", "documents")
        module.init()  # not every kind is known before
        with self._path.open("rb") as file, module.open(file, formats=_KINDS) as picture:
            yield picture

    def _look(self, index: int) -> tuple[tuple[int, int], float]:
        """Return the size of a frame held upright, and its resolution; nothing is decoded."""
        with self._opened() as picture:
            picture.seek(index)
            return upright_size(picture), _dpi(picture.info)

    def _frame(self, index: int) -> "Image":
        """Return a frame upright on white; a photograph of very many pixels in half or less of its size.

        Raises:
            TooManyPixels: It cannot be had smaller.
        """
        upright = require("PIL.ImageOps", "documents").exif_transpose
        with self._opened() as picture:
            picture.seek(index)
            shrink(picture)
            check_size(picture.size)
            return on_white(upright(picture))

    def _read(self, index: int) -> Page:
        with safely():
            size, dpi = self._look(index)
        make = PageElementMaker(index)
        metadata: dict[str, Any] = {
            "bbox": [0, 0, _points(size[0], dpi), _points(size[1], dpi)],
            "page_width": _points(size[0], dpi),
            "page_height": _points(size[1], dpi),
        }
        if self._facts:
            metadata["properties"] = dict(self._facts)
        if self._moments > 1:
            metadata["frames"] = self._moments
        content: dict[str, Any] = {
            "mime_type": f"image/{'jpeg' if self._kind == 'MPO' else self._kind.lower()}",
            "width": size[0],
            "height": size[1],
        }
        told = self._facts.get("description") or self._facts.get("title")
        if told:
            content["description"] = told
        try:
            with safely():
                frame = self._frame(index)
            recognized, note = self._recognized(frame, index, dpi * frame.width / size[0], make)
        except TooManyPixels as error:
            recognized, note = [], f"No text was read from this picture: {error.message}"
        except (TransientOcrError, ModuleNotFoundError) as error:
            why = error.message if isinstance(error, DocumentError) else str(error)
            recognized, note = [], f"No text was read from this picture: {why}. It is tried again when it is next read."
            metadata[PENDING] = True
        if note:
            metadata["ocr_note"] = note
        image = make.make("image", content, metadata)
        kind = self._name(size)
        image = replace(image, summary=clip(". ".join(filter(None, (told or "", kind, note))), 240))
        title = page_title(recognized) if recognized else f"Page {index + 1}" if self._frames > 1 else kind
        return Page(index, title, (image, *recognized))

    def _name(self, size: tuple[int, int]) -> str:
        return f"{self._kind} image, {size[0]} × {size[1]} pixels"

    def _recognized(self, frame: "Image", index: int, dpi: float, make: PageElementMaker) -> tuple[list[Element], str]:
        if self._policy is None:
            return [], TURN_ON
        if is_blank(frame):
            return [], ""
        try:
            page = read_with_fallback(self._policy, png_of(frame))
        except TransientOcrError:
            raise
        except DocumentError as error:
            return [], f"No text was read from this picture: {error.message}"
        return elements_of(page, index, dpi, make=make.make), ""


def _dpi(info: dict[Any, Any]) -> float:
    """Return the resolution a picture claims, where it is a sensible one."""
    try:
        across = float(info.get("dpi", (DEFAULT_DPI,))[0])
    except (TypeError, ValueError, IndexError, ZeroDivisionError):
        return DEFAULT_DPI
    return across if 30 <= across <= 2_400 else DEFAULT_DPI


def _points(pixels: int, dpi: float) -> float:
    return round(pixels * 72 / dpi, 1)
