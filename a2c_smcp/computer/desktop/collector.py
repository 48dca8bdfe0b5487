"""The windows of all MCP servers: read concurrently, cached, with a callback on changes."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from a2c_smcp.common.cached_fetch import CachedFetch, run_within
from a2c_smcp.computer.desktop.organize import DesktopWindow, organize_desktop, reading_order
from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.resources.cache import CachedServer, ResourceCache
from a2c_smcp.computer.resources.listing import WINDOW, ResourceList, scheme_of
from a2c_smcp.computer.tools.history import History, order_servers
from a2c_smcp.errors import SMCPError
from a2c_smcp.types import SERVER_NAME, Desktop

logger = logging.getLogger(__name__)

MAX_WINDOWS: Final = 5_000
"""The most windows of one MCP server that are read: those that the desktop would show first."""

_MAX_VIEWS: Final = 32
_THE_LIST: Final = ""  # used in place of a URI for a server's list of windows

_Key: TypeAlias = tuple[SERVER_NAME, str]
_Contents: TypeAlias = list[Json]


class DesktopCollector:
    """Handles `get_desktop`.

    Unchanged windows are not read again. A reply waits `limits.reply` seconds at most, and only once for a late window:
    it is missing until it arrives, which counts as a change.

    Args:
        changed: Called in the event loop when the desktop changes.
    """

    def __init__(self, cache: ResourceCache, changed: Callable[[], None]) -> None:
        self._cache = cache
        self._changed = changed
        self._fetches: dict[_Key, CachedFetch[_Contents]] = {}
        self._late: set[_Key] = set()
        self._missing: dict[_Key, str] = {}
        self._left_out: dict[SERVER_NAME, int] = {}
        self._whole: Sequence[DesktopWindow] | None = None
        self._views: dict[tuple[object, ...], list[Desktop]] = {}
        cache.observe(self)

    @property
    def missing(self) -> Mapping[_Key, str]:
        """What the latest reply lacked, with the reason: windows by server and URI, whole servers with an empty URI."""
        return dict(self._missing)

    @property
    def left_out(self) -> Mapping[SERVER_NAME, int]:
        """By server: how many windows are not read because it lists more than `MAX_WINDOWS`."""
        return dict(self._left_out)

    async def desktop(
        self, size: int | None = None, window: str | None = None, history: History | None = None
    ) -> list[Desktop]:
        """Return the rendered windows, the most relevant first: see `organize_desktop`."""
        if size is not None and size <= 0:
            return []
        servers = self._cache.participants()
        order = order_servers((server.name for server in servers), history)
        beyond = window is not None and bool(self._left_out)  # the whole desktop may lack this window
        if self._whole is None or beyond or any(server.fresh() is None for server in servers):
            windows = await self._collect(servers, window)
            if windows is not self._whole:
                return organize_desktop(windows, size, order[::-1], window)
        return list(self._view(order, size, window))

    async def close(self) -> None:
        """Cancel running reads."""
        for fetch in list(self._fetches.values()):
            await fetch.close()

    def _view(self, order: list[SERVER_NAME], size: int | None, window: str | None) -> list[Desktop]:
        key = (size, window, *order)
        view = self._views.get(key)
        if view is None:
            if len(self._views) >= _MAX_VIEWS:
                self._views.clear()
            view = self._views[key] = organize_desktop(self._whole or (), size, order[::-1], window)
        return view

    # Collecting

    async def _collect(self, servers: list[CachedServer], only: str | None) -> Sequence[DesktopWindow]:
        found: dict[_Key, _Contents] = {}
        visits = [visit for server in servers if (visit := self._visit(server, only, found)) is not None]
        await run_within(visits, self._cache.limits.reply)
        windows: list[DesktopWindow] = []
        missing: dict[_Key, str] = {}
        for server in servers:
            self._note_missing_list(server, missing)
            wanted = _wanted(server.known, only)
            if only is None:
                self._count_left_out(server, len(wanted))
            for uri in wanted:
                key = (server.name, uri)
                contents = found[key] if key in found else self._cached(key)
                if contents is not None:
                    windows.append(_window(server, uri, contents))
                else:
                    self._note_missing_window(key, missing)
        self._report(missing)
        if only is None and not missing and self._is_current(found):
            self._whole = windows
            self._views.clear()
        return windows

    def _count_left_out(self, server: CachedServer, read: int) -> None:
        left = len(server.known.windows) - read if read >= MAX_WINDOWS else 0
        if left and self._left_out.get(server.name) != left:
            logger.warning(
                "windows left out of the desktop: %d of %d, those of the lowest priority mcp_server=%s",
                left,
                len(server.known.windows),
                server.name,
                extra={"server": server.name},
            )
        if left:
            self._left_out[server.name] = left
        else:
            self._left_out.pop(server.name, None)

    def _cached(self, key: _Key) -> _Contents | None:
        fetch = self._fetches.get(key)
        return fetch.value if fetch is not None else None

    def _is_current(self, found: Iterable[_Key]) -> bool:
        # A change during collection has expired or dropped the fetch.
        fetches = [self._fetches.get(key) for key in found]
        return all(fetch is not None and fetch.settled for fetch in fetches)

    def _visit(
        self, server: CachedServer, only: str | None, found: dict[_Key, _Contents]
    ) -> Coroutine[Any, Any, None] | None:
        """Collect the cached windows of a server, and return the coroutine for the others, if there are any."""
        listing = server.fresh()
        if listing is None and (server.name, _THE_LIST) not in self._late:
            return self._list_and_read(server, only, found)
        waiting = self._take(server, listing or server.known, only, found)
        return _all(waiting) if waiting else None

    async def _list_and_read(self, server: CachedServer, only: str | None, found: dict[_Key, _Contents]) -> None:
        try:
            listing = await server.listing()
        except SMCPError:
            return  # `server.problem` has the reason
        await _all(self._take(server, listing, only, found))

    def _take(
        self, server: CachedServer, listing: ResourceList, only: str | None, found: dict[_Key, _Contents]
    ) -> list[Coroutine[Any, Any, None]]:
        waiting = []
        for uri in _wanted(listing, only):
            key = (server.name, uri)
            fetch = self._fetch(server, uri)
            if (contents := fetch.value) is not None:
                found[key] = contents
            elif key not in self._late:
                waiting.append(self._wait(fetch, key, found))
            elif not fetch.settled:
                fetch.start()
        return waiting

    @staticmethod
    async def _wait(fetch: CachedFetch[_Contents], key: _Key, found: dict[_Key, _Contents]) -> None:
        try:
            found[key] = await fetch.get()
        except SMCPError:
            return  # `fetch.error` has the reason

    def _fetch(self, server: CachedServer, uri: str) -> CachedFetch[_Contents]:
        key = (server.name, uri)
        fetch = self._fetches.get(key)
        if fetch is None:
            fetch = CachedFetch(partial(self._read, server, uri), pause=self._cache.limits.pause)
            self._fetches[key] = fetch
        return fetch

    async def _read(self, server: CachedServer, uri: str) -> _Contents:
        await server.windows_watched()
        key = (server.name, uri)
        if not server.watches(uri) and key in self._fetches:
            # Without a subscription its next change is not announced: do not cache this read.
            self._fetches[key].expire()
        contents = await server.read(uri)
        if key in self._late:
            self._late.discard(key)
            self._changed()
        return contents

    # Missing windows

    def _note_missing_list(self, server: CachedServer, missing: dict[_Key, str]) -> None:
        key = (server.name, _THE_LIST)
        if server.fresh() is not None:
            self._late.discard(key)
            return
        missing[key] = _reason(server.problem)
        if _does_not_answer(server.problem):
            self._late.add(key)

    def _note_missing_window(self, key: _Key, missing: dict[_Key, str]) -> None:
        fetch = self._fetches.get(key)
        error = fetch.error if fetch is not None else None
        missing[key] = _reason(error)
        if fetch is not None and _does_not_answer(error):  # without a fetch it was listed just now
            self._late.add(key)

    def _report(self, missing: dict[_Key, str]) -> None:
        for key in missing.keys() - self._missing.keys():
            server, uri = key
            logger.warning(
                "desktop incomplete: missing=%s mcp_server=%s reason=%s",
                uri or "all windows",
                server,
                missing[key],
                extra={"server": server},
            )
        self._missing = missing

    # Events of the resource cache

    def forgotten(self, server: SERVER_NAME) -> None:
        """Drop everything read from this server."""
        self._late = {key for key in self._late if key[0] != server}
        self._left_out.pop(server, None)
        dropped = [key for key in self._fetches if key[0] == server]
        for key in dropped:
            self._drop(key)
        if dropped:
            self._changed()

    def listed(self, server: SERVER_NAME, before: ResourceList, after: ResourceList) -> None:
        """Announce a change if the listed windows differ, and drop those that are gone."""
        for uri in set(before.windows).difference(after.windows):
            self._drop((server, uri))
        if set(before.windows) != set(after.windows):
            self._whole = None
            self._changed()
            return
        logger.debug("list changed, same windows mcp_server=%s", server, extra={"server": server})
        if [before.resources[uri] for uri in before.windows] != [after.resources[uri] for uri in after.windows]:
            self._whole = None

    def watched(self, server: SERVER_NAME) -> None:
        """Do nothing: windows are read after their subscriptions are active."""

    def updated(self, server: SERVER_NAME, uri: str) -> None:
        """A window has new contents."""
        if scheme_of(uri) != WINDOW:
            return
        fetch = self._fetches.get((server, uri))
        # If the server spells the URI differently than in its list, it may mean any of its windows.
        for expired in [fetch] if fetch is not None else [c for key, c in self._fetches.items() if key[0] == server]:
            expired.expire()
        self._whole = None
        self._changed()

    def _drop(self, key: _Key) -> None:
        self._late.discard(key)
        fetch = self._fetches.pop(key, None)
        if fetch is not None:
            fetch.cancel()
            self._whole = None


async def _all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    await asyncio.gather(*work)


def _wanted(listing: ResourceList, only: str | None) -> Sequence[str]:
    if only is not None:
        return [only] if only in listing.windows else []
    if len(listing.windows) <= MAX_WINDOWS:
        return listing.windows
    # Keep the order of the list, which decides ties.
    first = reading_order([listing.resources[uri] for uri in listing.windows])[:MAX_WINDOWS]
    return [listing.windows[position] for position in sorted(first)]


def _window(server: CachedServer, uri: str, contents: _Contents) -> DesktopWindow:
    resource = server.known.resources[uri]
    return DesktopWindow(server.name, uri, contents, resource.get("annotations"), resource.get("_meta"))


def _does_not_answer(error: SMCPError | None) -> bool:
    return error is None or isinstance(error, TimeoutError)


def _reason(error: SMCPError | None) -> str:
    return "it is still being read" if error is None else error.message
