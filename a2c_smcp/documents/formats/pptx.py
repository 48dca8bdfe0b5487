"""PowerPoint presentations: a slide is a page, read when it is asked for."""

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import Description, OpenDocument, suffix_of
from a2c_smcp.documents.formats.elements import clip, page_title
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.documents.ooxml.drafts import PageNumbers, page_of
from a2c_smcp.documents.ooxml.drawings import mime_type_of
from a2c_smcp.documents.ooxml.package import Package, kind_of_package, open_package
from a2c_smcp.documents.ooxml.properties import Properties, read_properties
from a2c_smcp.documents.ooxml.slides.slide import read_slide
from a2c_smcp.documents.ooxml.xml import R, child, children
from a2c_smcp.errors import DocumentError

_log = logging.getLogger(__name__)

MAX_SLIDES: Final = 10_000
KEPT_PAGES: Final = 8


class PptxFormat:
    """Office Open XML presentations, with macros or without."""

    def file_type(self, name: str) -> str | None:
        """Accept `.pptx`, `.pptm`, shows and templates."""
        return "pptx" if suffix_of(name) in ("pptx", "pptm", "ppsx", "ppsm", "potx", "potm") else None

    def open(self, path: Path) -> OpenDocument:
        """Read the list of slides."""
        with open_package(path) as package:
            return PptxDocument(path, package.main_part(), _slides(package), read_properties(package))


FORMAT: Final = PptxFormat()


@dataclass(frozen=True, slots=True)
class _Built:
    page: Page
    pictures: dict[str, str]


class PptxDocument:
    """A presentation; each call reads the slides it needs."""

    def __init__(self, path: Path, main: str, slides: Sequence[str], properties: Properties) -> None:
        self._path = path
        self._main = main
        self._slides = slides
        self._properties = properties
        self._built: OrderedDict[int, _Built] = OrderedDict()

    def describe(self) -> Description:
        """Return the properties; what they leave open is told by the first slide."""
        count = len(self._slides)
        elements = self._first_elements() if count else ()
        opening = next((element.content["text"] for element in elements if element.category == "heading"), "")
        begins = f", beginning with “{opening}”" if opening else ""
        told = f"{count} {'slide' if count == 1 else 'slides'}{begins}"
        about = self._properties.about
        return Description(
            title=self._properties.title or opening,
            page_count=count,
            keywords=self._properties.keywords,
            summary=clip(f"{about}. {told}" if about else told, 200),
        )

    def _first_elements(self) -> Sequence[Element]:
        try:
            return self.page(0).elements
        except (ModuleNotFoundError, OSError):
            raise
        except Exception:  # noqa: BLE001 - one slide does not hide the others
            _log.info("A slide could not be read", exc_info=True)
            return ()

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return that part of the page index."""
        return [self.page(index).entry for index in range(offset, min(offset + limit, len(self._slides)))]

    def page(self, index: int) -> Page:
        """Return a slide."""
        return self._page(index).page

    def find(self, element_id: str) -> tuple[int, Element] | None:
        """Return an element with the index of its slide."""
        index = page_of(element_id)
        if index is None or index >= len(self._slides):
            return None
        elements = self.page(index).elements
        return next(((index, element) for element in elements if element.id == element_id), None)

    def element_image(self, element_id: str) -> tuple[str, bytes] | None:
        """Return the picture of an image element."""
        index = page_of(element_id)
        part = self._page(index).pictures.get(element_id) if index is not None and index < len(self._slides) else None
        if part is None:
            return None
        with open_package(self._path) as package:
            return mime_type_of(part), package.read(part)

    def _page(self, index: int) -> _Built:
        built = self._built.pop(index, None) or self._build(index)
        self._built[index] = built
        while len(self._built) > KEPT_PAGES:
            self._built.popitem(last=False)
        return built

    def _build(self, index: int) -> _Built:
        slides = {part: at for at, part in enumerate(self._slides)}
        with open_package(self._path) as package:
            slide = read_slide(package, self._main, self._slides[index], slides)
        pictures: dict[str, str] = {}
        elements: list[Element] = []
        for draft, element in PageNumbers(index).number(slide.drafts):
            elements.append(element)
            if draft.picture:
                pictures[element.id] = draft.picture
        title = clip(slide.title, 80) or page_title(elements) or f"Slide {index + 1}"
        return _Built(Page(index, f"{title} (hidden)" if slide.is_hidden else title, tuple(elements)), pictures)


def _slides(package: Package) -> list[str]:
    main = package.main_part()
    root = package.tree(main)
    listed = child(root, "sldIdLst")
    if listed is None and child(root, "sldMasterIdLst") is None:
        raise DocumentError(f"not a presentation: {kind_of_package(package.content_type(main))}")
    targets = (package.target(main, node.get(f"{R}id")) for node in islice(children(listed, "sldId"), MAX_SLIDES))
    return [target for target in targets if target]
