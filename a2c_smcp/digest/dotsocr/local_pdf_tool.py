"""`local_pdf@v1`: text and page images of a PDF, made on this machine."""

import importlib.util
from pathlib import Path
from typing import Any, Final

from a2c_smcp.digest.elements import ELEMENTS_NAME, write_elements
from a2c_smcp.digest.extraction import ExtractionSettings, PageRead, check_pdf, extract
from a2c_smcp.digest.folders import write
from a2c_smcp.digest.framework_protocol import Params, Progress, Response, respond, wanted
from a2c_smcp.digest.page_texts import joined
from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec
from a2c_smcp.errors import BadRequest, DocumentError

TEXT_NAME: Final = "extract_text_local.txt"
DEFAULT_DPI: Final = 180
MIN_DPI, MAX_DPI = 36, 600


def call(params: Params, *, progress: Progress | None = None) -> Response:
    """Return `images`, `text_path`, `elements_path` and, for each page, how it was read, or why it could not be.

    Parameters: `pdf_path`, `out_dir`, and if given `dpi`, `password`, `pages` (numbers from 1), `image_extract` (false:
    no page images), `ocr` (false: scans are not read; by default they are where the local engine is installed).
    """
    return respond(params, lambda given, _: _call(given, progress))


def _call(params: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    out_dir, pdf = Path(wanted(params, "out_dir")), Path(wanted(params, "pdf_path"))
    if pdf.is_file():
        check_pdf(pdf)
    settings = ExtractionSettings(
        dpi=dpi_of(params),
        password=params.get("password"),
        ocr=local_ocr() if params.get("ocr", True) else None,
        images=bool(params.get("image_extract", True)),
    )
    found = extract(pdf, out_dir, settings, numbers=params.get("pages"), progress=progress)
    unread = [page for page in found.pages if page.problem]
    if unread and len(unread) == len(found.pages):
        first = unread[0]
        raise DocumentError(
            f"None of the {len(unread)} pages could be read; page {first.number}: {first.problem}",
            details={"unread": [page.number for page in unread]},
        )
    elements = {page.number: page.elements for page in found.pages if not page.problem}
    text_path = write(
        out_dir / TEXT_NAME, joined({page.number: page.text for page in found.pages}).encode("utf-8", "surrogatepass")
    )
    return {
        "images": [str(page.image) for page in found.pages if page.image is not None],
        "text_path": str(text_path),
        "elements_path": str(write_elements(out_dir / ELEMENTS_NAME, elements)),
        "title": found.title,
        "page_count": found.page_count,
        "outline": found.contents,
        "pages": [_told(page) for page in found.pages],
        "reused": found.reused,
    }


def _told(page: PageRead) -> dict[str, Any]:
    why = page.problem or (f"no picture: {page.no_image}" if page.no_image else "")
    told: dict[str, Any] = {"page": page.number, "path": "local", "by": page.by, "why": why}
    return told | {"unread": True} if page.problem else told


def local_ocr() -> OcrPolicy | None:
    """Return the policy that reads scans here, None where the engine is not installed."""
    there = all(importlib.util.find_spec(module) for module in ("rapidocr", "onnxruntime"))
    return OcrPolicy((OcrSpec("local"),)) if there else None


def dpi_of(params: Params) -> int:
    """Return the resolution that is asked for.

    Raises:
        BadRequest: It is no sensible number.
    """
    dpi = params.get("dpi", DEFAULT_DPI)
    if not isinstance(dpi, int) or isinstance(dpi, bool) or not MIN_DPI <= dpi <= MAX_DPI:
        raise BadRequest(f"dpi must be a whole number from {MIN_DPI} to {MAX_DPI}; it is {dpi!r}")
    return dpi
