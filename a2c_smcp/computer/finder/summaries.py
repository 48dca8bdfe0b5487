"""From what an MCP server says of its documents to catalogue entries. Pure, and ready for any nonsense."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import orjson

from a2c_smcp.computer.ports import Json
from a2c_smcp.errors import InvalidDPEUri
from a2c_smcp.smcp import DPEDocumentSummary
from a2c_smcp.types import SERVER_NAME
from a2c_smcp.uris.dpe import build_dpe_uri, parse_dpe_uri

Entries: TypeAlias = dict[str, DPEDocumentSummary]
"""The documents of one host, by doc-ref."""

MAX_REPLY: Final = 32 * 1024 * 1024
"""The longest JSON text that is read, in characters."""

# Longer than any honest field, and short enough that a page of a hundred documents stays a message one can send.
MAX_LINE: Final = 1_000
MAX_SUMMARY: Final = 4_000
MAX_KEYWORDS: Final = 50
MAX_KEYWORD: Final = 100
MAX_COUNT: Final = 2**53


def parse_json(contents: Iterable[object]) -> object:
    """Return the JSON value in the first text of resource contents; None if there is none that can be read."""
    for item in contents:
        text = item.get("text") if isinstance(item, Mapping) else None
        if not isinstance(text, str):
            continue
        if len(text) > MAX_REPLY:
            return None
        try:
            return orjson.loads(text)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            return None
    return None


def catalogue_documents(reply: object) -> list[object] | None:
    """Return the items of a level 0 reply; None if it is no catalogue."""
    documents = reply.get("documents") if isinstance(reply, dict) else None
    return documents if isinstance(documents, list) else None


def entries_of(
    items: Iterable[object], server: SERVER_NAME, host: str, resources: Mapping[str, Mapping[str, Any]] | None = None
) -> Entries:
    """Return the documents of a catalogue of `host`; of two with one doc-ref the first.

    An item counts when its URI is a document of this host, or, without a URI, when it has a doc-ref.

    Args:
        resources: The documents as MCP lists them, by doc-ref, for what the catalogue leaves out.
    """
    resources = resources or {}
    entries: Entries = {}
    for item in items:
        if not isinstance(item, dict):
            continue
        place = _place(item, host)
        if place is not None and place[0] not in entries:
            entries[place[0]] = summary_of(item, server, *place, resources.get(place[0]))
    return entries


def _place(item: Json, host: str) -> tuple[str, str] | None:
    uri, doc_ref = item.get("uri"), item.get("doc_ref")
    try:
        if uri is None and isinstance(doc_ref, str):
            return doc_ref, build_dpe_uri(host, doc_ref)
        if not isinstance(uri, str):
            return None
        parsed = parse_dpe_uri(uri)
    except InvalidDPEUri:
        return None
    if parsed.level != 1 or parsed.host != host or parsed.doc_ref is None:
        return None
    return parsed.doc_ref, plain_uri(uri)


def plain_uri(uri: str) -> str:
    """Return a level 1 URI as it is written but without its query, so that `/pages/0` can follow."""
    return uri.partition("?")[0]


def summary_of(
    item: object, server: SERVER_NAME, doc_ref: str, uri: str, resource: Mapping[str, Any] | None = None
) -> DPEDocumentSummary:
    """Return what is known of a document. Where `item` does not say, `resource` (as MCP lists it) is asked.

    Fields of the wrong kind count as missing, and endless ones are cut.
    """
    said = item if isinstance(item, dict) else {}
    listed = resource or {}
    summary: DPEDocumentSummary = {
        "doc_ref": doc_ref,
        "uri": uri,
        "file_uri": _whole_line(said.get("file_uri")),
        "file_type": _whole_line(said.get("file_type")),
        "title": _first_text(MAX_LINE, said.get("title"), listed.get("title"), listed.get("name"), doc_ref),
        "page_count": _count(said.get("page_count")),
        "server": server,
    }
    keywords = said.get("keywords")
    if isinstance(keywords, list):
        summary["keywords"] = [word[:MAX_KEYWORD] for word in keywords[:MAX_KEYWORDS] if isinstance(word, str)]
    if text := _first_text(MAX_SUMMARY, said.get("summary"), listed.get("description")):
        summary["summary"] = text
    if modified := _whole_line(said.get("last_modified")) or _whole_line(_annotated(listed).get("lastModified")):
        summary["last_modified"] = modified
    return summary


def _first_text(limit: int, *values: object) -> str:
    for value in values:
        if isinstance(value, str) and value:
            return value[:limit]
    return ""


def _whole_line(value: object) -> str:
    # Half a URI or half a date is worse than none.
    return value if isinstance(value, str) and len(value) <= MAX_LINE else ""


def _count(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT else 0


def _annotated(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    annotations = resource.get("annotations")
    return annotations if isinstance(annotations, Mapping) else {}
