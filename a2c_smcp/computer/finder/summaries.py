"""Converts the replies of MCP servers about documents to catalogue entries, and merges catalogues. Pure.

The replies are untrusted: invalid fields count as missing, and long ones are truncated.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, NotRequired, TypeAlias, TypedDict, cast

import msgspec
import orjson

from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.resources.listing import document_of
from a2c_smcp.errors import InvalidDPEUri
from a2c_smcp.smcp import DPEDocumentSummary
from a2c_smcp.types import SERVER_NAME
from a2c_smcp.uris.dpe import build_dpe_uri

Entries: TypeAlias = dict[str, DPEDocumentSummary]
"""The documents of one host, by doc-ref."""

Describe: TypeAlias = Callable[[str], Mapping[str, Any]]
"""Returns the listed MCP resource of a doc-ref; empty if it is not listed."""

MAX_REPLY: Final = 32 * 1024 * 1024
"""The longest JSON text that is parsed, in characters."""

# Limits of the stored and searched fields: longer than any legitimate one.
MAX_LINE: Final = 1_000
MAX_SUMMARY: Final = 64_000
MAX_KEYWORDS: Final = 2_000
MAX_KEYWORD: Final = 1_000

# Limits of the fields in a reply, so that a page of a hundred documents fits into a message.
SHOWN_SUMMARY: Final = 4_000
SHOWN_KEYWORDS: Final = 50
SHOWN_KEYWORD: Final = 100
MAX_COUNT: Final = 2**53

_PLAIN_REF = re.compile(r"[A-Za-z0-9._~-]{1,500}")

_Line: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_LINE)]


class _ValidEntry(TypedDict):
    """An entry that needs no repair."""

    doc_ref: _Line
    uri: _Line
    file_uri: _Line
    file_type: _Line
    title: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_LINE)]
    page_count: Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]
    keywords: NotRequired[
        Annotated[list[Annotated[str, msgspec.Meta(max_length=MAX_KEYWORD)]], msgspec.Meta(max_length=MAX_KEYWORDS)]
    ]
    summary: NotRequired[Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_SUMMARY)]]
    last_modified: NotRequired[Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_LINE)]]


class _ValidCatalogue(TypedDict):
    documents: list[_ValidEntry]


_VALID = msgspec.json.Decoder(_ValidCatalogue)


def catalogue_entries(contents: Iterable[object], server: SERVER_NAME, host: str, describe: Describe) -> Entries | None:
    """Return the documents in a level 0 reply of `host`; None if it is not a catalogue.

    Args:
        describe: Supplies what the catalogue omits.
    """
    text = _text_of(contents)
    if text is None:
        return None
    try:
        # Fast path: nearly all catalogues need no repair.
        items: Iterable[object] = _VALID.decode(text)["documents"]
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        found = catalogue_documents(_parse(text))
        return None if found is None else entries_of(found, server, host, describe)
    return _valid_entries(cast("Iterable[DPEDocumentSummary]", items), server, host, describe)


def _valid_entries(items: Iterable[DPEDocumentSummary], server: SERVER_NAME, host: str, describe: Describe) -> Entries:
    entries: Entries = {}
    prefix = f"dpe://{host}/"
    start = len(prefix)
    for item in items:
        uri = item["uri"]
        if uri.startswith(prefix) and _PLAIN_REF.fullmatch(uri, start):
            doc_ref = uri[start:]
        elif (place := _place(item, host)) is not None:
            doc_ref, item["uri"] = place
        else:
            continue
        if doc_ref in entries:
            continue
        item["doc_ref"] = doc_ref
        item["server"] = server
        if "summary" not in item or "last_modified" not in item:
            _complete(item, describe(doc_ref))
        entries[doc_ref] = item
    return entries


def parse_json(contents: Iterable[object]) -> object:
    """Return the JSON value in the first text of resource contents; None if there is none or it is invalid."""
    text = _text_of(contents)
    return None if text is None else _parse(text)


def _text_of(contents: Iterable[object]) -> str | None:
    for item in contents:
        text = item.get("text") if isinstance(item, Mapping) else None
        if isinstance(text, str):
            return text if len(text) <= MAX_REPLY else None
    return None


def _parse(text: str) -> object:
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return None


def catalogue_documents(reply: object) -> list[object] | None:
    """Return the items of a level 0 reply; None if it is not a catalogue."""
    documents = reply.get("documents") if isinstance(reply, dict) else None
    return documents if isinstance(documents, list) else None


def entries_of(items: Iterable[object], server: SERVER_NAME, host: str, describe: Describe) -> Entries:
    """Return the documents of a catalogue of `host`; the first one of duplicates.

    An item is valid if its URI is a document of this host or, without a URI, if it has a doc-ref.

    Args:
        describe: Supplies what the catalogue omits.
    """
    entries: Entries = {}
    for item in items:
        if not isinstance(item, dict):
            continue
        place = _place(item, host)
        if place is not None and place[0] not in entries:
            entries[place[0]] = summary_of(item, server, *place, describe(place[0]))
    return entries


def _place(item: Mapping[str, Any], host: str) -> tuple[str, str] | None:
    uri, doc_ref = item.get("uri"), item.get("doc_ref")
    try:
        if uri is None and isinstance(doc_ref, str):
            return doc_ref, build_dpe_uri(host, doc_ref)
    except InvalidDPEUri:
        return None
    if not isinstance(uri, str):
        return None
    place = document_of(uri)
    if place is None or place[0] != host or place[1] is None:
        return None
    return place[1], plain_uri(uri)


def plain_uri(uri: str) -> str:
    """Return a level 1 URI without its query, so that `/pages/0` can be appended."""
    return uri.partition("?")[0]


def summary_of(
    item: object, server: SERVER_NAME, doc_ref: str, uri: str, resource: Mapping[str, Any]
) -> DPEDocumentSummary:
    """Return the summary of a document from `item`, completed from `resource` (as MCP lists it).

    Fields of the wrong type count as missing, and long ones are truncated.
    """
    said = item if isinstance(item, dict) else {}
    summary: DPEDocumentSummary = {
        "doc_ref": doc_ref,
        "uri": uri,
        "file_uri": _line(said.get("file_uri")),
        "file_type": _line(said.get("file_type")),
        "title": _truncate(said.get("title"), MAX_LINE),
        "page_count": _count(said.get("page_count")),
        "server": server,
    }
    keywords = said.get("keywords")
    if isinstance(keywords, list):
        summary["keywords"] = _words(keywords)
    if text := _truncate(said.get("summary"), MAX_SUMMARY):
        summary["summary"] = text
    if modified := _line(said.get("last_modified")):
        summary["last_modified"] = modified
    if not (summary["title"] and text and modified):
        _complete(summary, resource)
    return summary


def _complete(summary: DPEDocumentSummary, resource: Mapping[str, Any]) -> None:
    """Fill missing fields from the listed resource."""
    if not summary["title"]:
        names = (
            _truncate(resource.get("title"), MAX_LINE),
            _truncate(resource.get("name"), MAX_LINE),
            summary["doc_ref"],
        )
        summary["title"] = next(filter(None, names))
    if "summary" not in summary and (text := _truncate(resource.get("description"), MAX_SUMMARY)):
        summary["summary"] = text
    annotations = resource.get("annotations")
    modified = _line(annotations.get("lastModified")) if isinstance(annotations, Mapping) else ""
    if "last_modified" not in summary and modified:
        summary["last_modified"] = modified


def is_truncated(document: DPEDocumentSummary) -> bool:
    """Whether the stored summary or keywords of a document are truncated."""
    return len(document.get("summary", "")) >= MAX_SUMMARY or len(document.get("keywords", ())) >= MAX_KEYWORDS


def shown(document: DPEDocumentSummary) -> DPEDocumentSummary:
    """Return a document for a reply: a long summary and long keywords end with "…"."""
    summary, keywords = document.get("summary", ""), document.get("keywords", [])
    long_words = len(keywords) > SHOWN_KEYWORDS or any(len(word) > SHOWN_KEYWORD for word in keywords)
    if len(summary) <= SHOWN_SUMMARY and not long_words:
        return document
    short = document.copy()
    if summary:
        short["summary"] = _ellipsized(summary, SHOWN_SUMMARY)
    if keywords:
        short["keywords"] = [_ellipsized(word, SHOWN_KEYWORD) for word in keywords[:SHOWN_KEYWORDS]]
        if len(keywords) > SHOWN_KEYWORDS:
            short["keywords"].append("…")
    return short


def _ellipsized(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _words(keywords: list[Any]) -> list[str]:
    try:
        if len(keywords) <= MAX_KEYWORDS and len("".join(keywords)) <= MAX_KEYWORD:
            return keywords
    except TypeError:
        pass  # not all of them are strings
    return [word[:MAX_KEYWORD] for word in keywords[:MAX_KEYWORDS] if isinstance(word, str)]


def _truncate(value: object, limit: int) -> str:
    return value[:limit] if isinstance(value, str) else ""


def _line(value: object) -> str:
    # A truncated URI or date is worse than none.
    return value if isinstance(value, str) and len(value) <= MAX_LINE else ""


def _count(value: object) -> int:
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MAX_COUNT else 0


def merge_catalogues(uri: str, replies: Sequence[Sequence[Json]], missing: Sequence[SERVER_NAME] = ()) -> list[Json]:
    """Merge the contents of a level 0 resource from several servers.

    JSON catalogues become one, with all documents, the sum of the counts, and the servers that did not answer in
    `unavailable`. Texts of the same type are concatenated; other contents are listed one after the other.
    """
    catalogues = [parse_json(reply) for reply in replies]
    if all(catalogue_documents(catalogue) is not None for catalogue in catalogues):
        return [_as_json(uri, catalogues, missing)]
    items = [item for reply in replies for item in reply]
    kinds = {item.get("mimeType") for item in items}
    texts = [item.get("text") for item in items]
    if len(kinds) == 1 and all(isinstance(text, str) for text in texts):
        return [{**items[0], "uri": uri, "text": "\n\n".join(map(str, texts))}]
    return items


def _as_json(uri: str, catalogues: Sequence[object], missing: Sequence[SERVER_NAME]) -> Json:
    documents: list[object] = []
    total = 0
    for catalogue in catalogues:
        some = catalogue_documents(catalogue) or []
        documents += some
        total += _total(catalogue, len(some))
    merged: Json = {"documents": documents, "total_count": total}
    if missing:
        merged["unavailable"] = list(missing)
    return {"uri": uri, "mimeType": "application/json", "text": orjson.dumps(merged).decode()}


def _total(catalogue: object, at_least: int) -> int:
    said = catalogue.get("total_count") if isinstance(catalogue, dict) else None
    return said if isinstance(said, int) and not isinstance(said, bool) and said > at_least else at_least
