"""Descriptions, pages and elements as bytes: between processes and on disk.

JSON, because what comes out of a process that reads hostile files must not be able to do more than say something.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from pydantic_core import from_json, to_json

from a2c_smcp.documents.formats.base import Description, OutlineEntry
from a2c_smcp.documents.model import Element, Page, PageEntry, is_pending
from a2c_smcp.documents.opening import Opened, describe

NOTHING: Final = b"null"
"""An element that is not there."""

WITHOUT_PAGES: Final = "without pages"
"""The argument of a request to describe a file by its metadata alone."""


class Passing(bytes):
    """An answer that may be another the next time, because OCR did not get to it: it is not remembered."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a file as a whole: the fields of `Opened` without the document itself."""

    description: Description
    file_type: str
    problem: str = ""
    locked: bool = False
    lasting: bool = True


def record_of(opened: Opened, *, without_pages: bool = False) -> Record:
    """Return what is to be remembered of a file that was opened.

    Raises:
        ModuleNotFoundError: A library is missing; the message names the install command.
        Unsupported: The format cannot describe a file without its pages.
    """
    opened, description = describe(opened, without_pages=without_pages)
    return Record(description, opened.file_type, opened.problem, opened.locked, opened.lasting)


def encode_record(record: Record) -> bytes:
    """Return the bytes that `decode_record` reads."""
    return _dump(asdict(record))


def decode_record(data: bytes) -> Record:
    """Return the record of `encode_record`."""
    fields = _load(data)
    known = fields.pop("description")
    known["keywords"] = tuple(known["keywords"])
    return Record(Description(**known), **fields)


def encode_page(page: Page) -> bytes:
    """Return the bytes that `decode_page` reads."""
    return _marked(_dump([page.index, page.title, [_parts(element) for element in page.elements]]), page.elements)


def decode_page(data: bytes) -> Page:
    """Return the page of `encode_page`."""
    index, title, elements = _load(data)
    return Page(index, title, tuple(Element(*parts) for parts in elements))


def encode_found(found: tuple[int, Element] | None) -> bytes:
    """Return the bytes that `decode_found` reads."""
    return NOTHING if found is None else _marked(_dump([found[0], _parts(found[1])]), found[1:])


def decode_found(data: bytes) -> tuple[int, Element] | None:
    """Return the element of `encode_found` with the index of its page, None for one that is not there."""
    found = _load(data)
    return None if found is None else (found[0], Element(*found[1]))


def encode_entries(entries: Sequence[PageEntry]) -> bytes:
    """Return the bytes that `decode_entries` reads."""
    return _dump([[entry.index, entry.title, entry.element_count] for entry in entries])


def decode_entries(data: bytes) -> list[PageEntry]:
    """Return the part of a page index of `encode_entries`."""
    return [PageEntry(*parts) for parts in _load(data)]


def encode_outline(outline: Sequence[OutlineEntry]) -> bytes:
    """Return the bytes that `decode_outline` reads."""
    return _dump([[entry.title, entry.page_index, entry.level] for entry in outline])


def decode_outline(data: bytes) -> list[OutlineEntry]:
    """Return the table of contents of `encode_outline`."""
    return [OutlineEntry(*parts) for parts in _load(data)]


def encode_picture(picture: tuple[str, bytes] | None) -> bytes:
    """Return the bytes that `decode_picture` reads."""
    return b"" if picture is None else picture[0].encode() + b"\n" + picture[1]


def decode_picture(data: bytes) -> tuple[str, bytes] | None:
    """Return the MIME type and the bytes of `encode_picture`, None where there is no picture."""
    mime_type, _, picture = data.partition(b"\n")
    return (mime_type.decode(), picture) if data else None


def _marked(answer: bytes, elements: Iterable[Element]) -> bytes:
    return Passing(answer) if is_pending(elements) else answer


def _parts(element: Element) -> list[Any]:
    return [element.id, element.category, element.content, element.summary, element.metadata]


def _dump(value: Any) -> bytes:
    # What JSON has no word for becomes a string.
    try:
        return to_json(value, fallback=_plain, inf_nan_mode="constants")
    except ValueError:
        pass
    # Names and texts that are no UTF-8 are in Python with lone surrogates; others are nested very deep.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return text.encode("utf-8", "surrogatepass")


def _plain(value: object) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(value)
    try:
        return dict(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return str(value)


def _load(data: bytes) -> Any:
    try:
        return from_json(data)
    except ValueError:
        return json.loads(data.decode("utf-8", "surrogatepass"))
