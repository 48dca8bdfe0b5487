"""Reads the documents of one MCP server: from its catalogue if it has one, otherwise one by one."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from a2c_smcp.computer.finder.summaries import (
    Describe,
    Entries,
    catalogue_entries,
    parse_json,
    plain_uri,
    summary_of,
)
from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.resources.cache import CachedServer
from a2c_smcp.computer.resources.listing import ResourceList
from a2c_smcp.errors import DocumentNotFound, InvalidDPEUri, RequestTimeout, SMCPError, ToolFailed
from a2c_smcp.smcp import DPEDocumentSummary
from a2c_smcp.uris.dpe import build_dpe_uri, parse_dpe_uri

logger = logging.getLogger(__name__)

T = TypeVar("T")

FEW: Final = 8
"""Up to this many changed documents are read one by one; for more the catalogue is read again."""

LONG: Final = 1024 * 1024
"""Longer replies are parsed in a thread, to keep the event loop free."""


@dataclass(slots=True)
class _Marks:
    """What to read again: the whole host, or the documents of these doc-refs."""

    stale: bool = True
    changed: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Host:
    """The documents of one host.

    Attributes:
        offers_catalogue: Whether level 0 can be read; None before the first attempt.
        early: The catalogue was read before the subscriptions to its documents were active.
    """

    entries: Entries = field(default_factory=dict)
    offers_catalogue: bool | None = None
    early: bool = False
    marks: _Marks = field(default_factory=_Marks)


class ServerDocuments:
    """Reads the documents of one MCP server, and reads only what is new or changed."""

    def __init__(self, server: CachedServer) -> None:
        self._server = server
        self._hosts: dict[str, _Host] = {}

    # Changes

    def list_changed(self) -> None:
        """Documents were added or removed: read catalogues again. Documents read one by one follow the list."""
        for host in self._hosts.values():
            host.marks.stale = host.marks.stale or host.offers_catalogue is not False

    def mark(self, uri: str) -> None:
        """Mark the document of this URI, or the catalogue if it is one, as changed."""
        try:
            parsed = parse_dpe_uri(uri)
        except InvalidDPEUri:
            for host in self._hosts.values():
                host.marks.stale = True
            return
        known = self._hosts.get(parsed.host)
        if known is None:
            return
        if parsed.doc_ref is None or parsed.doc_ref not in known.entries:
            known.marks.stale = True
        else:
            known.marks.changed.add(parsed.doc_ref)

    def mark_early(self) -> bool:
        """Mark the catalogues that were read before subscriptions were active; return whether there are any."""
        early = [host for host in self._hosts.values() if host.early]
        for host in early:
            host.marks.stale, host.early = True, False
        return bool(early)

    def mark_unlisted(self, listing: ResourceList) -> bool:
        """Mark the catalogues with documents that the server does not list; return whether there are any.

        A changed resource list does not show changes of those documents.
        """
        found = [
            host
            for name, host in self._hosts.items()
            if host.offers_catalogue and host.entries.keys() - listing.hosts.get(name, {}).keys()
        ]
        for host in found:
            host.marks.stale = True
        return bool(found)

    # Reading

    @property
    def documents(self) -> list[DPEDocumentSummary]:
        """The documents read so far."""
        return [entry for host in self._hosts.values() for entry in host.entries.values()]

    async def read(self) -> SMCPError | None:
        """Read what is new or changed; return an error if the result is incomplete.

        Raises:
            SMCPError: The list could not be read.
        """
        listing = await self._server.listing()
        for gone in self._hosts.keys() - listing.hosts.keys():
            del self._hosts[gone]
        hosts = [(name, self._hosts.setdefault(name, _Host())) for name in listing.hosts]
        problems = await asyncio.gather(*(self._read_host(name, host, listing) for name, host in hosts))
        return next((problem for problem in problems if problem is not None), None)

    async def _read_host(self, name: str, host: _Host, listing: ResourceList) -> SMCPError | None:
        # Reset before reading, so that changes during the read are kept. What could not be read is marked again below.
        marks, host.marks = host.marks, _Marks(stale=False)
        listed = listing.hosts[name]

        def describe(doc_ref: str) -> Json:
            return listing.resources.get(listed.get(doc_ref, ""), {})

        try:
            if marks.stale or (host.offers_catalogue and len(marks.changed) > FEW):
                await self._read_catalogue(name, host, marks, listed, describe)
            await self._read_documents(host, marks, listed, describe)
        except SMCPError as error:
            return error
        finally:
            host.marks.stale |= marks.stale
            host.marks.changed |= marks.changed
            if not host.offers_catalogue:
                host.entries = {doc_ref: host.entries[doc_ref] for doc_ref in listed if doc_ref in host.entries}
        return None

    async def _read_catalogue(
        self, name: str, host: _Host, marks: _Marks, listed: Mapping[str, str], describe: Describe
    ) -> None:
        if host.offers_catalogue is not False:
            host.early = not self._server.watches(*listed.values())
            entries = await self._request_catalogue(name, describe)
            if entries is not None:
                host.entries, host.offers_catalogue = entries, True
                marks.stale, marks.changed = False, set()
                return
            host.early = False
            if host.offers_catalogue:
                # Perhaps a temporary failure. If not, the documents are read one by one next time.
                host.offers_catalogue = None
                raise ToolFailed(f"The MCP server {self._server.name!r} gave no catalogue of {name}")
            host.offers_catalogue = False
        marks.stale, marks.changed = False, set(host.entries)

    async def _request_catalogue(self, name: str, describe: Describe) -> Entries | None:
        try:
            contents = await self._server.read(build_dpe_uri(name))
        except (ToolFailed, RequestTimeout):
            raise
        except SMCPError:
            return None
        return await _parse(contents, partial(catalogue_entries, contents, self._server.name, name, describe))

    async def _read_documents(self, host: _Host, marks: _Marks, listed: Mapping[str, str], describe: Describe) -> None:
        unknown = listed.keys() - host.entries.keys()
        wanted = {doc_ref: plain_uri(listed[doc_ref]) for doc_ref in listed if doc_ref in unknown}
        if marks.changed:
            wanted |= {doc_ref: entry["uri"] for doc_ref, entry in host.entries.items() if doc_ref in marks.changed}
        marks.changed &= wanted.keys()
        if not wanted:
            return
        await self._server.all_watched()
        waiting = iter(wanted.items())
        unanswered: list[SMCPError] = []
        refused: list[SMCPError] = []

        async def work() -> None:
            for doc_ref, uri in waiting:
                try:
                    host.entries[doc_ref] = await self._request_document(doc_ref, uri, describe)
                except (ToolFailed, RequestTimeout) as error:
                    unanswered.append(error)
                    continue
                except DocumentNotFound:
                    host.entries.pop(doc_ref, None)
                except SMCPError as error:
                    host.entries.pop(doc_ref, None)
                    refused.append(error)
                    logger.warning(
                        "document not read: uri=%s reason=%s", uri, error, extra={"server": self._server.name}
                    )
                marks.changed.discard(doc_ref)

        await asyncio.gather(*(work() for _ in range(min(len(wanted), self._server.limits.at_once))))
        if unanswered or (refused and not host.entries):
            raise (unanswered or refused)[0]

    async def _request_document(self, doc_ref: str, uri: str, describe: Describe) -> DPEDocumentSummary:
        contents = await self._server.read(uri)
        item = await _parse(contents, partial(parse_json, contents))
        return summary_of(item, self._server.name, doc_ref, uri, describe(doc_ref))


async def _parse(contents: Sequence[Any], work: Callable[[], T]) -> T:
    texts = (item.get("text") for item in contents if isinstance(item, Mapping))
    if sum(len(text) for text in texts if isinstance(text, str)) < LONG:
        return work()
    return await asyncio.to_thread(work)
