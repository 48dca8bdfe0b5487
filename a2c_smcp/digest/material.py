"""What a digest is made of: the text of each page, the images, and what is known of the document."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a2c_smcp.digest.extraction import Settings, extract
from a2c_smcp.digest.framework_protocol import Params, Progress
from a2c_smcp.digest.page_texts import divided, fault_of, page_fault
from a2c_smcp.digest.pictures import page_of
from a2c_smcp.errors import BadRequest, SMCPError


@dataclass(frozen=True, slots=True)
class Material:
    """The material of a digest.

    Attributes:
        texts: Markdown by page number, from 1.
        images: By page number; under 0 those of which the page is not known.
        exact: Whether the text says where pages begin.
    """

    title: str
    page_count: int
    texts: Mapping[int, str]
    images: Mapping[int, Sequence[Path]]
    outline: Sequence[Mapping[str, Any]] = ()
    exact: bool = True


def gather(params: Params, progress: Progress | None = None) -> Material:
    """Return the material that a request names; text that is missing or too short is read from the PDF itself.

    Raises:
        BadRequest: There is neither a text nor a PDF.
        DocumentError: The PDF cannot be read.
    """
    text = _text_of(params)
    images = _images_of(params)
    count = params.get("page_count")
    count = count if isinstance(count, int) and count > 0 else None
    pages = divided(text, count) if count else None
    outline = [entry for entry in params.get("outline") or () if isinstance(entry, Mapping)]
    title = str(params.get("title") or "")
    if pages is not None and count and not all(map(page_fault, pages.values())):
        return Material(title or _stem(params), count, pages, images, outline)
    pdf = params.get("pdf_path")
    if pdf:
        return _from_pdf(Path(str(pdf)), params, text, images, progress)
    if fault_of(text):
        raise BadRequest("There is no text to make a digest of: give `text_path`, `pdf_path` or both")
    return Material(title or _stem(params), count or 1, _spread(text, count or 1), images, outline, exact=not count)


def _from_pdf(
    pdf: Path, params: Params, text: str, images: Mapping[int, Sequence[Path]], progress: Progress | None
) -> Material:
    from a2c_smcp.digest.dotsocr.local_pdf_tool import local_ocr  # noqa: PLC0415 - only where it is needed

    with tempfile.TemporaryDirectory(prefix="a2c-digest-") as folder:
        settings = Settings(password=params.get("password"), ocr=local_ocr(), images=False)
        # What a reader needs of a good text that came from elsewhere is only how many pages there are.
        good = not fault_of(text)
        found = extract(pdf, Path(folder), settings, numbers=() if good else None, progress=progress)
    outline = found.contents
    title = str(params.get("title") or "") or found.title
    if not good:
        texts = {page.number: page.text for page in found.pages}
        return Material(title, found.page_count, texts, images, outline)
    pages = divided(text, found.page_count)
    exact = pages is not None or found.page_count == 1
    return Material(title, found.page_count, pages or _spread(text, found.page_count), images, outline, exact=exact)


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


def _stem(params: Params) -> str:
    for name in ("pdf_path", "text_path", "out_md_path"):
        if params.get(name):
            return Path(str(params[name])).stem
    return "Digest"


def problem_of(error: SMCPError) -> str:
    """Return the first line of what went wrong."""
    return error.message.strip().splitlines()[0][:200] if error.message.strip() else type(error).__name__
