"""Pages that are pictures of text: read by OCR where a policy allows it, else shown as the picture they are."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from a2c_smcp.documents.pdf.page import PageContent
from a2c_smcp.errors import DocumentError

DPI: Final = 200
"""What OCR engines are trained on, about."""

OCR_IS_OFF: Final = (
    "No text was read from this picture: OCR is off. Turn it on with an OCR policy (a2c docs --ocr local)."
)


def recognized(content: PageContent, index: int, policy: Any, render: Callable[[int], bytes]) -> None:
    """Put what OCR reads before what the page itself says; without a policy, tell its pictures how to turn OCR on."""
    if policy is None:
        _note(content, OCR_IS_OFF)
        return
    # The engines and their libraries are loaded only for pages that need them.
    from a2c_smcp.documents.ocr.base import elements_of, read_with_fallback  # noqa: PLC0415

    try:
        page = read_with_fallback(policy, render(DPI))
    except DocumentError as error:
        _note(content, f"No text was read from this picture: {error.message}")
        return
    found = elements_of(page, index, DPI)
    taken = {element.id for element in found}
    kept = []
    for element in content.elements:
        if element.id in taken:
            # Ids of the page's own text are told apart from those of recognized text.
            element = replace(element, id=f"{element.id}x")  # noqa: PLW2901
        kept.append(element)
    content.elements = found + kept


def _note(content: PageContent, why: str) -> None:
    content.elements = [
        replace(element, metadata={**element.metadata, "ocr_note": why}, summary=f"{element.summary}. {why}")
        if element.category == "image"
        else element
        for element in content.elements
    ]
