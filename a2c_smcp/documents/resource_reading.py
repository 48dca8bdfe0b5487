"""What a reader of `dpe://` URIs is told: texts with their type and title, and what is not there."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from a2c_smcp.documents.files import Signature, SourceFile, date_of
from a2c_smcp.documents.formats.base import Description
from a2c_smcp.documents.model import Document
from a2c_smcp.documents.render.values import clean
from a2c_smcp.errors import DocumentError, DocumentNotFound, ElementNotFound, PageOutOfRange
from a2c_smcp.uris.dpe import ParsedDPEUri, build_dpe_uri, parse_dpe_uri


@dataclass(frozen=True, slots=True)
class ResourceReading:
    """What is at a URI, as MCP resource contents tell it, and what it is called."""

    uri: str
    mime_type: str
    text: str
    title: str


def parse_at(uri: str, host: str) -> ParsedDPEUri:
    """Return the parts of a URI of this host.

    Raises:
        InvalidDPEUri: It breaks a rule.
        DocumentNotFound: It leads to another host.
    """
    parsed = parse_dpe_uri(uri)
    if parsed.host.lower() != host.lower():
        raise DocumentNotFound(
            f"There are no documents at {parsed.host!r}; here they are at {build_dpe_uri(host)}",
            details={"host": parsed.host, "known_host": host},
        )
    return parsed


def describe(
    host: str, doc_ref: str, file: SourceFile, signature: Signature, known: Description, file_type: str
) -> Document:
    """Return the entry of the catalogue; a document without a title is called by its file's name."""
    return Document(
        host=host,
        doc_ref=doc_ref,
        file_uri=file.path.as_uri(),
        file_type=file_type,
        title=_line(known.title) or _line(file.path.stem) or doc_ref,
        page_count=known.page_count,
        keywords=tuple(dict.fromkeys(filter(None, map(_line, known.keywords)))),
        summary=_line(known.summary),
        last_modified=date_of(signature),
    )


def no_document(doc_ref: str, host: str, refs: Sequence[str]) -> DocumentNotFound:
    """A reference that leads nowhere, with those it may have meant."""
    nearest = difflib.get_close_matches(doc_ref, refs[:1_000], n=3)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
    return DocumentNotFound(
        f"There is no document {doc_ref!r} at {build_dpe_uri(host)}{hint}",
        details={"doc_ref": doc_ref, "nearest": nearest} if nearest else {"doc_ref": doc_ref},
    )


def gone(doc_ref: str) -> DocumentNotFound:
    """A file that went away."""
    return DocumentNotFound(f"The file of {doc_ref!r} is gone", details={"doc_ref": doc_ref})


def no_page(doc_ref: str, index: int, count: int, problem: str = "") -> PageOutOfRange:
    """A page that is not there, or not readable."""
    why = problem or f"it has {count} {'page' if count == 1 else 'pages'}, counted from 0"
    return PageOutOfRange(
        f"{doc_ref!r} has no page {index}: {why}",
        details={"doc_ref": doc_ref, "page_index": index, "page_count": count},
    )


def no_element(doc_ref: str, element_id: str, count: int, problem: str = "") -> ElementNotFound:
    """An element that is not there, or not readable."""
    why = f": {problem}" if problem else ""
    return ElementNotFound(
        f"{doc_ref!r} has no element {element_id!r}{why}",
        details={"doc_ref": doc_ref, "element_id": element_id, "page_count": count},
    )


def unreadable(doc_ref: str, what: str, reason: str) -> DocumentError:
    """A part of a document that its parser could not make out; other parts may be fine."""
    return DocumentError(f"{what} of {doc_ref!r} cannot be read: {reason}", details={"doc_ref": doc_ref})


def _line(text: str) -> str:
    """Return a text on one line, as any format can pass it on."""
    return " ".join(clean(text).split())
