"""From what an MCP server says of its documents to catalogue entries. Pure, and ready for any nonsense."""

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
"""What MCP's list says of the document of a doc-ref: the resource, empty if it is not listed."""

MAX_REPLY: Final = 32 * 1024 * 1024
"""The longest JSON text that is read, in characters."""

# What is kept of a document, and searched: longer than any honest field.
MAX_LINE: Final = 1_000
MAX_SUMMARY: Final = 64_000
MAX_KEYWORDS: Final = 2_000
MAX_KEYWORD: Final = 1_000

# What is shown of it: short enough that a page of a hundred documents stays a message one can send.
SHOWN_SUMMARY: Final = 4_000
SHOWN_KEYWORDS: Final = 50
SHOWN_KEYWORD: Final = 100
MAX_COUNT: Final = 2**53

_PLAIN_REF = re.compile(r"[A-Za-z0-9._~-]{1,500}")

_Line: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_LINE)]


class _SoundEntry(TypedDict):
    """An entry with nothing to mend."""

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


class _SoundCatalogue(TypedDict):
    documents: list[_SoundEntry]


_SOUND = msgspec.json.Decoder(_SoundCatalogue)


def catalogue_entries(contents: Iterable[object], server: SERVER_NAME, host: str, describe: Describe) -> Entries | None:
    """Return the documents in a level 0 reply of `host`; None if it is no catalogue.

    Args:
        describe: Asked for what the catalogue leaves out.
    """
    text = _text_of(contents)
    if text is None:
        return None
    try:
        # Nearly all catalogues are sound, and can be taken as they are.
        items: Iterable[object] = _SOUND.decode(text)["documents"]
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        found = catalogue_documents(_parse(text))
        return None if found is None else entries_of(found, server, host, describe)
    return _sound_entries(cast("Iterable[DPEDocumentSummary]", items), server, host, describe)


def _sound_entries(items: Iterable[DPEDocumentSummary], server: SERVER_NAME, host: str, describe: Describe) -> Entries:
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
    """Return the JSON value in the first text of resource contents; None if there is none that can be read."""
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
    """Return the items of a level 0 reply; None if it is no catalogue."""
    documents = reply.get("documents") if isinstance(reply, dict) else None
    return documents if isinstance(documents, list) else None


def entries_of(items: Iterable[object], server: SERVER_NAME, host: str, describe: Describe) -> Entries:
    """Return the documents of a catalogue of `host`; of two with one doc-ref the first.

    An item counts when its URI is a document of this host, or, without a URI, when it has a doc-ref.

    Args:
        describe: Asked for what the catalogue leaves out.
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
    """Return a level 1 URI as it is written but without its query, so that `/pages/0` can follow."""
    return uri.partition("?")[0]


def summary_of(
    item: object, server: SERVER_NAME, doc_ref: str, uri: str, resource: Mapping[str, Any]
) -> DPEDocumentSummary:
    """Return what is known of a document. Where `item` does not say, `resource` (as MCP lists it) is asked.

    Fields of the wrong kind count as missing, and endless ones are cut.
    """
    said = item if isinstance(item, dict) else {}
    summary: DPEDocumentSummary = {
        "doc_ref": doc_ref,
        "uri": uri,
        "file_uri": _line(said.get("file_uri")),
        "file_type": _line(said.get("file_type")),
        "title": _cut(said.get("title"), MAX_LINE),
        "page_count": _count(said.get("page_count")),
        "server": server,
    }
    keywords = said.get("keywords")
    if isinstance(keywords, list):
        summary["keywords"] = _words(keywords)
    if text := _cut(said.get("summary"), MAX_SUMMARY):
        summary["summary"] = text
    if modified := _line(said.get("last_modified")):
        summary["last_modified"] = modified
    if not (summary["title"] and text and modified):
        _complete(summary, resource)
    return summary


def _complete(summary: DPEDocumentSummary, resource: Mapping[str, Any]) -> None:
    """Fill in what the list says of a document."""
    if not summary["title"]:
        names = (_cut(resource.get("title"), MAX_LINE), _cut(resource.get("name"), MAX_LINE), summary["doc_ref"])
        summary["title"] = next(filter(None, names))
    if "summary" not in summary and (text := _cut(resource.get("description"), MAX_SUMMARY)):
        summary["summary"] = text
    annotations = resource.get("annotations")
    modified = _line(annotations.get("lastModified")) if isinstance(annotations, Mapping) else ""
    if "last_modified" not in summary and modified:
        summary["last_modified"] = modified


def is_cut(document: DPEDocumentSummary) -> bool:
    """Whether a document says more of itself than is kept."""
    return len(document.get("summary", "")) >= MAX_SUMMARY or len(document.get("keywords", ())) >= MAX_KEYWORDS


def shown(document: DPEDocumentSummary) -> DPEDocumentSummary:
    """Return a document as an Agent gets it: a long summary, and long keywords, end with "…"."""
    summary, keywords = document.get("summary", ""), document.get("keywords", [])
    long_words = len(keywords) > SHOWN_KEYWORDS or any(len(word) > SHOWN_KEYWORD for word in keywords)
    if len(summary) <= SHOWN_SUMMARY and not long_words:
        return document
    short = document.copy()
    if summary:
        short["summary"] = _ended(summary, SHOWN_SUMMARY)
    if keywords:
        short["keywords"] = [_ended(word, SHOWN_KEYWORD) for word in keywords[:SHOWN_KEYWORDS]]
        if len(keywords) > SHOWN_KEYWORDS:
            short["keywords"].append("…")
    return short


def _ended(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _words(keywords: list[Any]) -> list[str]:
    try:
        if len(keywords) <= MAX_KEYWORDS and len("".join(keywords)) <= MAX_KEYWORD:
            return keywords
    except TypeError:
        pass  # not all of them are words
    return [word[:MAX_KEYWORD] for word in keywords[:MAX_KEYWORDS] if isinstance(word, str)]


def _cut(value: object, limit: int) -> str:
    return value[:limit] if isinstance(value, str) else ""


def _line(value: object) -> str:
    # Half a URI or half a date is worse than none.
    return value if isinstance(value, str) and len(value) <= MAX_LINE else ""


def _count(value: object) -> int:
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MAX_COUNT else 0


def merge_catalogues(uri: str, replies: Sequence[Sequence[Json]], missing: Sequence[SERVER_NAME] = ()) -> list[Json]:
    """Return the contents of a level 0 resource from the contents that each server gave.

    JSON catalogues become one, with all documents and the sum of the counts, and with the servers that did not answer
    in `unavailable`. Texts of one kind are put one after the other; anything else stays side by side.
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
