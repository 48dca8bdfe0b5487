"""The documents of all MCP servers as one catalogue: read in parallel, kept until they change, told of when they do."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from a2c_smcp.common.cached_fetch import CachedFetch, run_within
from a2c_smcp.computer.finder.catalogue import FinderCatalogue, ServerCatalogue
from a2c_smcp.computer.finder.organize import organize_finder
from a2c_smcp.computer.finder.server_documents import ServerDocuments
from a2c_smcp.computer.finder.summaries import is_cut, shown
from a2c_smcp.computer.resources.cache import CachedServer, ResourceCache
from a2c_smcp.computer.resources.listing import DPE, ResourceList, scheme_of
from a2c_smcp.computer.tools.history import History
from a2c_smcp.errors import SMCPError
from a2c_smcp.smcp import DPEDocumentSummary
from a2c_smcp.types import SERVER_NAME

logger = logging.getLogger(__name__)

_MANY: Final = 5_000
"""So many documents are sorted and folded in a thread, to keep the event loop free."""


class FinderPage(NamedTuple):
    """A page of the catalogue.

    Attributes:
        total: How many documents pass the filters.
        unavailable: The MCP servers that could not be asked for all their documents.
    """

    documents: list[DPEDocumentSummary]
    total: int
    unavailable: list[SERVER_NAME]


@dataclass(slots=True)
class _ServerState:
    """One server's part of the catalogue. `quiet`: nobody was told yet of what the next reading may find."""

    documents: ServerDocuments
    cell: CachedFetch[bool]
    quiet: bool = False


class FinderCollector:
    """Answers `get_finder`.

    What has not changed is not read again. A reply waits `limits.reply` seconds at most, and for one server at most
    once: the documents of a late one are missing, or as they were, until they arrive; that is a change like any other.

    Args:
        changed: Called, from within the event loop, when the catalogue is not what it was.
    """

    def __init__(self, index: ResourceCache, changed: Callable[[], None]) -> None:
        self._index = index
        self._changed = changed
        self._catalogue = FinderCatalogue.of()
        self._parts: dict[SERVER_NAME, _ServerState] = {}
        self._late: set[SERVER_NAME] = set()
        self._cut: dict[SERVER_NAME, int] = {}
        index.observe(self)

    @property
    def left_out(self) -> Mapping[SERVER_NAME, int]:
        """How many documents of a server say more of themselves than is kept and searched."""
        return {server: count for server, count in self._cut.items() if count}

    async def find(
        self,
        keywords: Iterable[str] | None = None,
        file_type: str | None = None,
        offset: int = 0,
        limit: int = 20,
        history: History | None = None,
    ) -> FinderPage:
        """Return a page of the documents: see `organize_finder`.

        Raises:
            BadRequest: An argument is of the wrong kind.
        """
        servers = self._index.servers()
        reached = await self._collect([server for server in servers if server.takes_part])
        unavailable = [
            server.name for server in servers if server.absent or (server.takes_part and server.name not in reached)
        ]
        page, total = organize_finder(self._catalogue, keywords, file_type, history, offset, limit)
        return FinderPage([shown(document) for document in page], total, unavailable)

    async def close(self) -> None:
        """End what is being read."""
        for part in list(self._parts.values()):
            await part.cell.close()

    # Collecting

    async def _collect(self, servers: list[CachedServer]) -> set[SERVER_NAME]:
        reached = {server.name for server in servers if self._holds(server)}
        self._late -= reached
        if len(reached) < len(servers):
            waiting = [server for server in servers if server.name not in reached]
            await run_within([self._visit(server, reached) for server in waiting], self._index.limits.reply)
            self._late.update(server.name for server in waiting if server.name not in reached and self._silent(server))
        return reached

    def _holds(self, server: CachedServer) -> bool:
        return server.fresh() is not None and self._part(server).cell.value is True

    def _silent(self, server: CachedServer) -> bool:
        problem = server.problem or self._part(server).cell.error
        return problem is None or isinstance(problem, TimeoutError)

    async def _visit(self, server: CachedServer, reached: set[SERVER_NAME]) -> None:
        cell = self._part(server).cell
        if server.name in self._late:
            if not cell.settled:
                cell.start()
            return
        try:
            await server.listing()
            await cell.get()
        except SMCPError:
            return  # told as unavailable
        reached.add(server.name)

    def _part(self, server: CachedServer) -> _ServerState:
        part = self._parts.get(server.name)
        if part is None:
            documents = ServerDocuments(server)
            part = _ServerState(documents, CachedFetch(lambda: self._read(server), pause=self._index.limits.pause))
            self._parts[server.name] = part
        return part

    async def _read(self, server: CachedServer) -> bool:
        part, name = self._parts[server.name], server.name
        quiet, part.quiet = part.quiet, False
        problem = await part.documents.read()
        self._count_cut(name, sum(map(is_cut, part.documents.documents)))
        shelf = await _sorted(part.documents.documents)
        if not server.known.documents:
            shelf = None  # they went while they were put in order
        before = self._put(name, shelf)
        if problem is not None:
            logger.warning("Not all documents of %r could be read: %s", name, problem, extra={"server": name})
            raise problem
        if name in self._late or (quiet and before != shelf):
            self._late.discard(name)
            self._changed()
        return True

    def _count_cut(self, server: SERVER_NAME, count: int) -> None:
        if count and self._cut.get(server) != count:
            logger.warning(
                "summaries or keywords cut before searching: documents=%d mcp_server=%s",
                count,
                server,
                extra={"server": server},
            )
        self._cut[server] = count

    def _put(self, server: SERVER_NAME, shelf: ServerCatalogue | None) -> ServerCatalogue | None:
        """Replace the documents of one server, and return those of before. Nothing is awaited: no other's are lost."""
        shelves = dict(self._catalogue.shelves)
        before = shelves.pop(server, None)
        if shelf is not None:
            shelves[server] = shelf
        self._catalogue = FinderCatalogue(shelves)
        return before

    # What is heard

    def forgotten(self, server: SERVER_NAME) -> None:
        """Nothing that was read from this server holds any more."""
        self._late.discard(server)
        self._cut.pop(server, None)
        part = self._parts.pop(server, None)
        if part is not None:
            part.cell.cancel()
        if self._put(server, None) is not None:
            self._changed()

    def listed(self, server: SERVER_NAME, before: ResourceList, after: ResourceList) -> None:
        """Compare the documents: other ones are a change."""
        part = self._parts.get(server)
        if before.documents != after.documents:
            if part is not None:
                part.documents.list_changed()
                part.cell.expire()
            if not after.documents:
                self._put(server, None)
            self._changed()
            return
        logger.debug("list changed, same documents mcp_server=%s", server, extra={"server": server})
        if part is not None and part.documents.mark_unlisted(after):
            self._renew(part)

    def watched(self, server: SERVER_NAME) -> None:
        """What was read before may have changed unheard: look once more."""
        part = self._parts.get(server)
        if part is not None and part.documents.mark_early():
            self._renew(part)

    def updated(self, server: SERVER_NAME, uri: str) -> None:
        """A document, or a catalogue, has new contents."""
        if scheme_of(uri) != DPE:
            return
        part = self._parts.get(server)
        if part is not None:
            part.documents.mark(uri)
            part.cell.expire()
        self._changed()

    @staticmethod
    def _renew(part: _ServerState) -> None:
        part.quiet = True
        part.cell.renew()


async def _sorted(documents: list[DPEDocumentSummary]) -> ServerCatalogue | None:
    """Put the documents of one server in order. They come from `ServerDocuments`, and so are catalogue entries."""
    if not documents:
        return None
    return (
        ServerCatalogue.of(documents) if len(documents) < _MANY else await asyncio.to_thread(_sort_and_fold, documents)
    )


def _sort_and_fold(documents: list[DPEDocumentSummary]) -> ServerCatalogue:
    shelf = ServerCatalogue.of(documents)
    _ = shelf.texts
    return shelf
