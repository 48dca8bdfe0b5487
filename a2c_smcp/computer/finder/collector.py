"""The catalogue of the documents of all MCP servers: read concurrently, cached, with a callback on changes."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from a2c_smcp.common.cached_fetch import CachedFetch, run_within
from a2c_smcp.computer.finder.catalogue import FinderCatalogue, ServerCatalogue
from a2c_smcp.computer.finder.organize import organize_finder
from a2c_smcp.computer.finder.server_documents import ServerDocuments
from a2c_smcp.computer.finder.summaries import is_truncated, shown
from a2c_smcp.computer.resources.cache import CachedServer, ResourceCache
from a2c_smcp.computer.resources.listing import DPE, ResourceList, scheme_of
from a2c_smcp.computer.tools.history import History
from a2c_smcp.errors import SMCPError
from a2c_smcp.smcp import DPEDocumentSummary
from a2c_smcp.types import SERVER_NAME

logger = logging.getLogger(__name__)

_MANY: Final = 5_000
"""From this many documents on, sorting and folding run in a thread, to keep the event loop free."""


class FinderPage(NamedTuple):
    """A page of the catalogue.

    Attributes:
        total: How many documents pass the filters.
        unavailable: The MCP servers whose documents are missing or incomplete.
    """

    documents: list[DPEDocumentSummary]
    total: int
    unavailable: list[SERVER_NAME]


@dataclass(slots=True)
class _ServerState:
    """The documents of one server and their cached fetch. `silent`: the next fetch announces a difference itself."""

    documents: ServerDocuments
    fetch: CachedFetch[bool]
    silent: bool = False


class FinderCollector:
    """Handles `get_finder`.

    Unchanged documents are not read again. A reply waits `limits.reply` seconds at most, and only once for a late
    server: its documents are missing, or old, until they arrive, which counts as a change.

    Args:
        changed: Called in the event loop when the catalogue changes.
    """

    def __init__(self, cache: ResourceCache, changed: Callable[[], None]) -> None:
        self._cache = cache
        self._changed = changed
        self._catalogue = FinderCatalogue.of()
        self._states: dict[SERVER_NAME, _ServerState] = {}
        self._late: set[SERVER_NAME] = set()
        self._truncated: dict[SERVER_NAME, int] = {}
        cache.observe(self)

    @property
    def left_out(self) -> Mapping[SERVER_NAME, int]:
        """By server: how many documents have a summary or keywords that are truncated before searching."""
        return {server: count for server, count in self._truncated.items() if count}

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
            BadRequest: An argument has the wrong type.
        """
        servers = self._cache.servers()
        reached = await self._collect([server for server in servers if server.takes_part])
        unavailable = [
            server.name for server in servers if server.absent or (server.takes_part and server.name not in reached)
        ]
        page, total = organize_finder(self._catalogue, keywords, file_type, history, offset, limit)
        return FinderPage([shown(document) for document in page], total, unavailable)

    async def close(self) -> None:
        """Cancel running reads."""
        for state in list(self._states.values()):
            await state.fetch.close()

    # Collecting

    async def _collect(self, servers: list[CachedServer]) -> set[SERVER_NAME]:
        reached = {server.name for server in servers if self._is_current(server)}
        self._late -= reached
        if len(reached) < len(servers):
            waiting = [server for server in servers if server.name not in reached]
            await run_within([self._visit(server, reached) for server in waiting], self._cache.limits.reply)
            self._late.update(
                server.name for server in waiting if server.name not in reached and self._not_answering(server)
            )
        return reached

    def _is_current(self, server: CachedServer) -> bool:
        return server.fresh() is not None and self._state(server).fetch.value is True

    def _not_answering(self, server: CachedServer) -> bool:
        problem = server.problem or self._state(server).fetch.error
        return problem is None or isinstance(problem, TimeoutError)

    async def _visit(self, server: CachedServer, reached: set[SERVER_NAME]) -> None:
        fetch = self._state(server).fetch
        if server.name in self._late:
            if not fetch.settled:
                fetch.start()
            return
        try:
            await server.listing()
            await fetch.get()
        except SMCPError:
            return  # reported as unavailable
        reached.add(server.name)

    def _state(self, server: CachedServer) -> _ServerState:
        state = self._states.get(server.name)
        if state is None:
            documents = ServerDocuments(server)
            state = _ServerState(documents, CachedFetch(lambda: self._read(server), pause=self._cache.limits.pause))
            self._states[server.name] = state
        return state

    async def _read(self, server: CachedServer) -> bool:
        state, name = self._states[server.name], server.name
        silent, state.silent = state.silent, False
        problem = await state.documents.read()
        self._count_truncated(name, sum(map(is_truncated, state.documents.documents)))
        entry = await _sorted(state.documents.documents)
        if not server.known.documents:
            entry = None  # they disappeared while they were sorted
        before = self._put(name, entry)
        if problem is not None:
            logger.warning("documents incomplete: mcp_server=%s reason=%s", name, problem, extra={"server": name})
            raise problem
        if name in self._late or (silent and before != entry):
            self._late.discard(name)
            self._changed()
        return True

    def _count_truncated(self, server: SERVER_NAME, count: int) -> None:
        if count and self._truncated.get(server) != count:
            logger.warning(
                "summaries or keywords truncated before searching: documents=%d mcp_server=%s",
                count,
                server,
                extra={"server": server},
            )
        self._truncated[server] = count

    def _put(self, server: SERVER_NAME, entry: ServerCatalogue | None) -> ServerCatalogue | None:
        """Replace the documents of one server, and return the previous ones. Atomic, because nothing is awaited."""
        servers = dict(self._catalogue.servers)
        before = servers.pop(server, None)
        if entry is not None:
            servers[server] = entry
        self._catalogue = FinderCatalogue(servers)
        return before

    # Events of the resource cache

    def forgotten(self, server: SERVER_NAME) -> None:
        """Drop everything read from this server."""
        self._late.discard(server)
        self._truncated.pop(server, None)
        state = self._states.pop(server, None)
        if state is not None:
            state.fetch.cancel()
        if self._put(server, None) is not None:
            self._changed()

    def listed(self, server: SERVER_NAME, before: ResourceList, after: ResourceList) -> None:
        """Announce a change if the listed documents differ."""
        state = self._states.get(server)
        if before.documents != after.documents:
            if state is not None:
                state.documents.list_changed()
                state.fetch.expire()
            if not after.documents:
                self._put(server, None)
            self._changed()
            return
        logger.debug("list changed, same documents mcp_server=%s", server, extra={"server": server})
        if state is not None and state.documents.mark_unlisted(after):
            self._renew(state)

    def watched(self, server: SERVER_NAME) -> None:
        """Read again what was read before the subscriptions were active, because it may have changed since."""
        state = self._states.get(server)
        if state is not None and state.documents.mark_early():
            self._renew(state)

    def updated(self, server: SERVER_NAME, uri: str) -> None:
        """A document, or a catalogue, has new contents."""
        if scheme_of(uri) != DPE:
            return
        state = self._states.get(server)
        if state is not None:
            state.documents.mark(uri)
            state.fetch.expire()
        self._changed()

    @staticmethod
    def _renew(state: _ServerState) -> None:
        state.silent = True
        state.fetch.renew()


async def _sorted(documents: list[DPEDocumentSummary]) -> ServerCatalogue | None:
    """Sort the documents of one server. They come from `ServerDocuments`, so they are valid entries."""
    if not documents:
        return None
    return (
        ServerCatalogue.of(documents) if len(documents) < _MANY else await asyncio.to_thread(_sort_and_fold, documents)
    )


def _sort_and_fold(documents: list[DPEDocumentSummary]) -> ServerCatalogue:
    entry = ServerCatalogue.of(documents)
    _ = entry.texts
    return entry
