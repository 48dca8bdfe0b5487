"""Word documents: pages as they were laid out or as the author parted them, elements by styles and numbering."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import Description, OpenDocument, OutlineEntry, PagedDocument, suffix_of
from a2c_smcp.documents.formats.elements import ElementMaker, clip
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.documents.ooxml.drawings import mime_type_of
from a2c_smcp.documents.ooxml.package import Package, kind_of_package, open_package
from a2c_smcp.documents.ooxml.properties import Properties, read_properties
from a2c_smcp.documents.ooxml.word.body import Beside, BodyReader
from a2c_smcp.documents.ooxml.word.notes import read_comments, read_notes
from a2c_smcp.documents.ooxml.word.pages import paginate, titles
from a2c_smcp.documents.ooxml.word.styles import Numbering, Styles
from a2c_smcp.documents.ooxml.xml import child, resolve_alternates
from a2c_smcp.errors import DocumentError

_TELLING: Final = 4
"""Characters of a text that says something of its document; shorter ones are numbers and letters."""


class DocxFormat:
    """Office Open XML documents, with macros or without."""

    def file_type(self, name: str) -> str | None:
        """Accept `.docx`, `.docm` and their templates."""
        return "docx" if suffix_of(name) in ("docx", "docm", "dotx", "dotm") else None

    def open(self, path: Path) -> OpenDocument:
        """Read the whole document."""
        with open_package(path) as package:
            try:
                return _read(path, package)
            except RecursionError as error:
                raise DocumentError("damaged: its parts are nested too deeply") from error


FORMAT: Final = DocxFormat()


class WordDocument(PagedDocument):
    """A document in memory; its pictures stay in the file."""

    def __init__(
        self, path: Path, description: Description, pages: Sequence[Page], pictures: Mapping[str, str]
    ) -> None:
        super().__init__(description, pages)
        self._path = path
        self._pictures = pictures

    def outline(self) -> Sequence[OutlineEntry]:
        """Return the headings with their pages."""
        return [
            OutlineEntry(element.summary, page.index, element.content["level"])
            for page in self._pages
            for element in page.elements
            if element.category == "heading"
        ]

    def element_image(self, element_id: str) -> tuple[str, bytes] | None:
        """Return the picture of an image element."""
        part = self._pictures.get(element_id)
        if part is None:
            return None
        with open_package(self._path) as package:
            return mime_type_of(part), package.read(part)


def _read(path: Path, package: Package) -> WordDocument:
    main = package.main_part()
    root = package.tree(main)
    body = child(resolve_alternates(root), "body")
    if body is None:
        raise DocumentError(f"not a Word document: {kind_of_package(package.content_type(main))}")
    reader = BodyReader(
        package,
        main,
        Styles(package.optional(next(package.related(main, "styles"), ""))),
        Numbering(package.optional(next(package.related(main, "numbering"), ""))),
        Beside(
            read_notes(package, main, "footnote"), read_notes(package, main, "endnote"), read_comments(package, main)
        ),
    )
    maker = ElementMaker()
    pictures: dict[str, str] = {}
    parts: list[list[Element]] = []
    for drafts in paginate(list(reader.read(body))):
        parts.append([])
        for draft in drafts:
            element = maker.make(draft.category, draft.content, draft.metadata)
            parts[-1].append(replace(element, summary=draft.summary) if draft.summary else element)
            if draft.picture:
                pictures[element.id] = draft.picture
    pages = [Page(at, title, tuple(part)) for at, (title, part) in enumerate(zip(titles(parts), parts, strict=True))]
    return WordDocument(path, _describe(read_properties(package), pages), pages, pictures)


def _describe(properties: Properties, pages: Sequence[Page]) -> Description:
    elements = [element for page in pages for element in page.elements]
    headings = [element for element in elements if element.category == "heading"]
    named = next((heading for heading in headings if heading.metadata.get("style") == "title"), None)
    title = named or min(headings, key=lambda heading: heading.content["level"], default=None)
    texts = [element.content["text"] for element in elements if element.category == "text"]
    prose = next((text for text in texts if len(text) >= _TELLING), texts[0] if texts else "")
    shown = [element.summary for element in elements if element.category != "annotation"]
    start = prose or (shown[0] if shown else elements[0].summary if elements else "Empty document")
    topics = dict.fromkeys(heading.summary for heading in headings if heading is not title)
    return Description(
        title=properties.title or (title.content["text"] if title else ""),
        page_count=len(pages),
        keywords=properties.keywords or tuple(topics)[:12],
        summary=clip(properties.about or start, 200),
    )
