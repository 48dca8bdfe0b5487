"""A catalogue of documents that is validated, sorted and case-folded once for many searches."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final, Self, TypeGuard

from a2c_smcp.errors import BadRequest, InvalidDPEUri
from a2c_smcp.smcp import DPEDocumentSummary
from a2c_smcp.types import SERVER_NAME
from a2c_smcp.uris.dpe import parse_dpe_uri

FIELD_SEPARATOR: Final = "\0"
"""Separates the fields of a folded text, so that no keyword matches across two fields."""

NO_SERVER: Final = ""
"""The key of documents without a server."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER: Final = timedelta.min


def is_entry(document: object) -> TypeGuard[DPEDocumentSummary]:
    """Whether this is a document that an Agent can open: one with a valid level-1 URI.

    URIs of level 0, 2 and 3 name a catalogue, a page and an element.
    """
    uri = document.get("uri") if isinstance(document, dict) else None
    if not isinstance(uri, str):
        return False
    try:
        return parse_dpe_uri(uri).level == 1
    except InvalidDPEUri:
        return False


def fold(document: Mapping[str, Any]) -> str:
    """Return the searchable text: title, keywords and summary, case-folded.

    A field that is missing or has the wrong type counts as empty: the data of MCP servers is untrusted.
    """
    title, keywords, summary = document.get("title"), document.get("keywords"), document.get("summary")
    if not isinstance(title, str):
        title = ""
    if not isinstance(summary, str):
        summary = ""
    if not isinstance(keywords, (list, tuple)):
        keywords = ()
    try:
        words = " ".join(keywords)
    except TypeError:
        words = " ".join(word for word in keywords if isinstance(word, str))
    return f"{title}{FIELD_SEPARATOR}{words}{FIELD_SEPARATOR}{summary}".casefold()


def modified_at(document: Mapping[str, Any]) -> timedelta:
    """Return `last_modified` as the time since the epoch; the minimum if it is missing or invalid.

    A time without zone is UTC; a date alone is midnight.
    """
    stamp = document.get("last_modified")
    if not isinstance(stamp, str):
        return _NEVER
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return _NEVER
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment - _EPOCH


def newest_first(documents: Iterable[DPEDocumentSummary]) -> list[DPEDocumentSummary]:
    """Sort by `last_modified`; documents with equal or without times keep their order."""
    return sorted(documents, key=modified_at, reverse=True)


def matching(
    documents: Iterable[DPEDocumentSummary], texts: Iterable[str], needles: Sequence[str]
) -> list[DPEDocumentSummary]:
    """Return the documents whose text, at the same position in `texts`, contains at least one needle."""
    found = []
    # Hot loop: any() over a generator takes nearly twice the time.
    for document, text in zip(documents, texts, strict=True):
        for needle in needles:
            if needle in text:
                found.append(document)
                break
    return found


def group_by_server(documents: Iterable[DPEDocumentSummary]) -> dict[SERVER_NAME, list[DPEDocumentSummary]]:
    """Return each server's documents in their given order; those without a server are under `NO_SERVER`."""
    groups: dict[SERVER_NAME, list[DPEDocumentSummary]] = {}
    for document in documents:
        server: object = document.get("server")
        groups.setdefault(server if isinstance(server, str) else NO_SERVER, []).append(document)
    return groups


@dataclass(frozen=True)
class ServerCatalogue:
    """The documents of one server, newest first."""

    documents: Sequence[DPEDocumentSummary]

    @classmethod
    def of(cls, entries: Iterable[DPEDocumentSummary]) -> Self:
        """Sort documents that passed `is_entry`."""
        return cls(newest_first(entries))

    @cached_property
    def texts(self) -> Sequence[str]:
        """The folded text of each document, computed at the first search."""
        return [fold(document) for document in self.documents]


@dataclass(frozen=True, slots=True)
class FinderCatalogue:
    """The documents of all servers, by server, ready for `organize_finder`.

    A catalogue is immutable: `with_server` and `without_server` return a new one that shares the unchanged parts. The
    documents are not copied; one that is modified after the first search is still found by its old text.
    """

    servers: Mapping[SERVER_NAME, ServerCatalogue]

    @classmethod
    def of(cls, documents: Iterable[DPEDocumentSummary] = ()) -> Self:
        """Return the catalogue of these documents; those that are not valid entries are dropped."""
        groups = group_by_server(filter(is_entry, documents))
        return cls({server: ServerCatalogue.of(entries) for server, entries in groups.items()})

    @property
    def total(self) -> int:
        """The number of all documents."""
        return sum(len(entry.documents) for entry in self.servers.values())

    def with_server(self, server: SERVER_NAME, documents: Iterable[DPEDocumentSummary]) -> Self:
        """Return a catalogue with `documents` as the only ones of `server`.

        Raises:
            BadRequest: A document belongs to another server.
        """
        entries = list(filter(is_entry, documents))
        for document in entries:
            if document.get("server") != server:
                raise BadRequest(f"{document['uri']} is of {document.get('server')!r}, not of {server!r}")
        servers = {name: entry for name, entry in self.servers.items() if name != server}
        if entries:
            servers[server] = ServerCatalogue.of(entries)
        return type(self)(servers)

    def without_server(self, server: SERVER_NAME) -> Self:
        """Return a catalogue without the documents of `server`, if it has any."""
        return self.with_server(server, ())
