"""What a digest is made of: text and elements of each page, the images, and what is known of the document."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from a2c_smcp.digest.elements import has_picture, has_table, read_elements
from a2c_smcp.digest.extraction import ExtractionSettings, PdfExtract, extract
from a2c_smcp.digest.extracts import elements_of
from a2c_smcp.digest.framework_protocol import Params, Progress
from a2c_smcp.digest.page_texts import divided, fault_of, is_better, page_fault
from a2c_smcp.digest.pictures import page_of
from a2c_smcp.digest.sections import check_ranges
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.safe_markdown import safe_markdown
from a2c_smcp.errors import BadRequest, DocumentError, SMCPError


@dataclass(frozen=True, slots=True)
class Material:
    """The material of a digest.

    Attributes:
        texts: Markdown by page number, from 1.
        images: By page number; under 0 those of which the page is not known.
        elements: What stands on pages, where more is known of them than their text.
        drawn: What stands on pages as far as this machine can see: for their pictures, not for their text.
        unread: Pages that could not be read, and why.
        exact: Whether the text says where pages begin.
    """

    title: str
    page_count: int
    texts: Mapping[int, str]
    images: Mapping[int, Sequence[Path]]
    outline: Sequence[Mapping[str, Any]] = ()
    elements: Mapping[int, Sequence[Element]] = field(default_factory=dict)
    drawn: Mapping[int, Sequence[Element]] = field(default_factory=dict)
    unread: Mapping[int, str] = field(default_factory=dict)
    exact: bool = True

    def page(self, number: int) -> Sequence[Element]:
        """Return the elements of a page; of a text from elsewhere those that are safe."""
        known = self.elements.get(number)
        return elements_of(safe_markdown(self.texts.get(number, ""), top=1)) if known is None else known

    def is_shown(self, number: int) -> int:
        """Return how much a page is worth to be shown: 2 for pictures, 1 for a table, 0 where its text says it all."""
        known = self.elements.get(number)
        elements = [*(elements_of(self.texts.get(number, "")) if known is None else known)]
        elements += self.drawn.get(number, ())
        return 2 if has_picture(elements) else 1 if has_table(elements) else 0


def gather(params: Params, progress: Progress | None = None) -> Material:
    """Return the material that a request names; text that is missing or too short is read from the PDF itself.

    Raises:
        BadRequest: There is neither a text nor a PDF, or the section ranges are none of its pages.
        DocumentError: The PDF cannot be read.
    """
    given = params.get("page_count")
    count = given if isinstance(given, int) and given > 0 else None
    if params.get("section_ranges") is not None:
        check_ranges(params["section_ranges"], count)
    text, images = _text_of(params), _images_of(params)
    pages = divided(text, count) if count else None
    if pages is not None and count and (params.get("pages") or not all(map(page_fault, pages.values()))):
        return _from_pages(params, count, pages, images, progress)
    if params.get("pdf_path"):
        return _from_pdf(params, text, images, progress)
    if fault_of(text, count or 1):
        raise BadRequest("There is no text to make a digest of: give `text_path`, `pdf_path` or both")
    exact = not count or count == 1
    outline = _outline_of(params)
    return Material(_title_of(params), count or 1, _spread(text, count or 1), images, outline, exact=exact)


def _from_pages(
    params: Params, count: int, pages: dict[int, str], images: Mapping[int, Sequence[Path]], progress: Progress | None
) -> Material:
    """Take a text that says where its pages begin; pages that are no good are read from the PDF, unless they were."""
    ways: dict[int, Mapping[str, Any]] = {
        way["page"]: way for way in params.get("pages") or () if isinstance(way, Mapping) and way.get("page")
    }
    drawn = read_elements(params.get("elements_path"))
    elements = {number: found for number, found in drawn.items() if ways.get(number, {}).get("path") == "local"}
    unread = {number: str(way.get("why")) for number, way in ways.items() if way.get("unread")}
    bad = [number for number in range(1, count + 1) if page_fault(pages.get(number, ""))]
    if bad and not ways and params.get("pdf_path"):
        found = _read(params, bad, progress)
        for page in found.pages:
            if page.problem and not pages.get(page.number, "").strip():
                unread[page.number] = page.problem
            elif is_better(page.text, pages.get(page.number, "")):
                pages[page.number], elements[page.number] = page.text, page.elements
    return Material(_title_of(params), count, pages, images, _outline_of(params), elements, drawn, unread)


def _from_pdf(params: Params, text: str, images: Mapping[int, Sequence[Path]], progress: Progress | None) -> Material:
    about = _read(params, (), progress)
    count = about.page_count
    if params.get("section_ranges") is not None:
        check_ranges(params["section_ranges"], count)
    title = str(params.get("title") or "") or about.title
    if fault_of(text, count):
        found = _read(params, None, progress)
        unread = {page.number: page.problem for page in found.pages if page.problem}
        if found.pages and len(unread) == len(found.pages):
            number, why = next(iter(unread.items()))
            raise DocumentError(f"None of the {count} pages could be read; page {number}: {why}")
        texts = {page.number: page.text for page in found.pages}
        elements = {page.number: page.elements for page in found.pages if not page.problem}
        return Material(title, count, texts, images, found.contents, elements, elements, unread)
    pages = divided(text, count)
    exact = pages is not None or count == 1
    return Material(title, count, pages or _spread(text, count), images, about.contents, exact=exact)


def _read(params: Params, numbers: Sequence[int] | None, progress: Progress | None) -> PdfExtract:
    from a2c_smcp.digest.dotsocr.local_pdf_tool import local_ocr  # noqa: PLC0415 - only where it is needed

    ocr = local_ocr() if params.get("ocr", True) else None
    with tempfile.TemporaryDirectory(prefix="a2c-digest-") as folder:
        settings = ExtractionSettings(password=params.get("password"), ocr=ocr, images=False)
        told = progress if numbers is None or numbers else None
        return extract(Path(str(params["pdf_path"])), Path(folder), settings, numbers=numbers, progress=told)


def _spread(text: str, count: int) -> dict[int, str]:
    """Deal the paragraphs of a text out to pages, as evenly as they go."""
    paragraphs = [part for part in text.replace("\f", "\n\n").split("\n\n") if part.strip()]
    total, used = sum(map(len, paragraphs)) or 1, 0
    pages: dict[int, list[str]] = {number: [] for number in range(1, count + 1)}
    for paragraph in paragraphs:
        pages[min(used * count // total + 1, count)].append(paragraph)
        used += len(paragraph)
    return {number: "\n\n".join(parts) for number, parts in pages.items()}


def _text_of(params: Params) -> str:
    path = params.get("text_path")
    if not path:
        return ""
    try:
        return Path(str(path)).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        if params.get("pdf_path"):
            return ""
        raise BadRequest(f"text_path cannot be read: {error.strerror or type(error).__name__}") from error


def _images_of(params: Params) -> dict[int, list[Path]]:
    images: dict[int, list[Path]] = {}
    for name in params.get("images") or ():
        path = Path(str(name))
        images.setdefault(page_of(path) or 0, []).append(path)
    return images


def _outline_of(params: Params) -> list[Mapping[str, Any]]:
    return [entry for entry in params.get("outline") or () if isinstance(entry, Mapping)]


def _title_of(params: Params) -> str:
    if title := str(params.get("title") or ""):
        return title
    for name in ("pdf_path", "text_path", "out_md_path"):
        if params.get(name):
            return Path(str(params[name])).stem
    return "Digest"


def problem_of(error: SMCPError) -> str:
    """Return the first line of what went wrong."""
    return error.message.strip().splitlines()[0][:200] if error.message.strip() else type(error).__name__
