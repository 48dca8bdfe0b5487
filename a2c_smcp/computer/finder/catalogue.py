"""Documents that are checked, sorted and folded once, so that they can be searched many times."""

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
"""Stands between the fields of a folded text, so that no keyword matches across two of them."""

NO_SERVER: Final = ""
"""Stands for the server of documents that name none."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER: Final = timedelta.min


def is_entry(document: object) -> TypeGuard[DPEDocumentSummary]:
    """Whether this is a document an Agent can open: one with a valid level-1 URI.

    A URI of level 0, 2 or 3 names a catalogue, a page or an element, which is no document.
    """
    uri = document.get("uri") if isinstance(document, dict) else None
    if not isinstance(uri, str):
        return False
    try:
        return parse_dpe_uri(uri).level == 1
    except InvalidDPEUri:
        return False


def fold(document: Mapping[str, Any]) -> str:
    """Return what keywords are looked up in: title, keywords and summary, case-folded.

    A field that is missing or of the wrong kind is empty: summaries come from foreign servers.
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
    """Return `last_modified` as an instant, counted from the epoch; without a readable one, before all instants.

    A time without zone is UTC, a date alone is its midnight.
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
    """Sort by `last_modified`; equal instants, and all documents without one, keep their order."""
    return sorted(documents, key=modified_at, reverse=True)


def matching(
    documents: Iterable[DPEDocumentSummary], texts: Iterable[str], needles: Sequence[str]
) -> list[DPEDocumentSummary]:
    """Return the documents whose text, at the same position in `texts`, holds at least one needle."""
    found = []
    # Spelled out because this is the hot loop: any() over a generator takes nearly twice the time.
    for document, text in zip(documents, texts, strict=True):
        for needle in needles:
            if needle in text:
                found.append(document)
                break
    return found


def group_by_server(documents: Iterable[DPEDocumentSummary]) -> dict[SERVER_NAME, list[DPEDocumentSummary]]:
    """Return each server's documents in their given order; those that name no server are under `NO_SERVER`."""
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
        """Put documents that passed `is_entry` in order."""
        return cls(newest_first(entries))

    @cached_property
    def texts(self) -> Sequence[str]:
        """The folded text of each document, made for the first search: a catalogue that nobody searches costs none."""
        return [fold(document) for document in self.documents]


@dataclass(frozen=True, slots=True)
class FinderCatalogue:
    """The documents of all servers, ready for `organize_finder`: a shelf for each server that has any.

    A catalogue never changes: `with_server` and `without_server` return another one that shares what stayed the
    same, so whoever holds the old one reads on undisturbed. The documents are kept as they are, not copied; one
    that is changed after the first search is still found by what it said before.
    """

    shelves: Mapping[SERVER_NAME, ServerCatalogue]

    @classmethod
    def of(cls, documents: Iterable[DPEDocumentSummary] = ()) -> Self:
        """Prepare the documents of any number of servers; those that are no catalogue entries are dropped."""
        groups = group_by_server(filter(is_entry, documents))
        return cls({server: ServerCatalogue.of(entries) for server, entries in groups.items()})

    @property
    def total(self) -> int:
        """How many documents there are, without any filter."""
        return sum(len(shelf.documents) for shelf in self.shelves.values())

    def with_server(self, server: SERVER_NAME, documents: Iterable[DPEDocumentSummary]) -> Self:
        """Return a catalogue in which `documents` are all that `server` has.

        Raises:
            BadRequest: A document says that it is of another server.
        """
        entries = list(filter(is_entry, documents))
        for document in entries:
            if document.get("server") != server:
                raise BadRequest(f"{document['uri']} is of {document.get('server')!r}, not of {server!r}")
        shelves = {name: shelf for name, shelf in self.shelves.items() if name != server}
        if entries:
            shelves[server] = ServerCatalogue.of(entries)
        return type(self)(shelves)

    def without_server(self, server: SERVER_NAME) -> Self:
        """Return a catalogue without the documents of `server`, which need not be in it."""
        return self.with_server(server, ())
