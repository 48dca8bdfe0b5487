"""The windows of all MCP servers: read in parallel, kept until they change, told of when they do."""

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
"""The most windows of one MCP server that are read at a time: those that the desktop would show first."""

_MAX_VIEWS: Final = 32
_THE_LIST: Final = ""  # stands for a server's list of windows where the URI of one is expected

_Key: TypeAlias = tuple[SERVER_NAME, str]
_Contents: TypeAlias = list[Json]


class DesktopCollector:
    """Answers `get_desktop`.

    What has not changed is not read again. A reply waits `limits.reply` seconds at most, and for one window at most
    once: a window that is late is missing until it arrives, and its arrival is a change like any other.

    Args:
        changed: Called, from within the event loop, when the desktop is not what it was.
    """

    def __init__(self, index: ResourceCache, changed: Callable[[], None]) -> None:
        self._index = index
        self._changed = changed
        self._cells: dict[_Key, CachedFetch[_Contents]] = {}
        self._late: set[_Key] = set()
        self._missing: dict[_Key, str] = {}
        self._left_out: dict[SERVER_NAME, int] = {}
        self._whole: Sequence[DesktopWindow] | None = None
        self._views: dict[tuple[object, ...], list[Desktop]] = {}
        index.observe(self)

    @property
    def missing(self) -> Mapping[_Key, str]:
        """What the last reply had to do without, and why: windows by server and URI, whole servers with no URI."""
        return dict(self._missing)

    @property
    def left_out(self) -> Mapping[SERVER_NAME, int]:
        """How many windows of a server no whole desktop shows, because it lists more than are read."""
        return dict(self._left_out)

    async def desktop(
        self, size: int | None = None, window: str | None = None, history: History | None = None
    ) -> list[Desktop]:
        """Return the rendered windows, the most relevant first: see `organize_desktop`."""
        if size is not None and size <= 0:
            return []
        servers = self._index.participants()
        order = order_servers((server.name for server in servers), history)
        beyond = window is not None and bool(self._left_out)  # it may be one that the whole desktop leaves out
        if self._whole is None or beyond or any(server.fresh() is None for server in servers):
            windows = await self._collect(servers, window)
            if windows is not self._whole:
                return organize_desktop(windows, size, order[::-1], window)
        return list(self._view(order, size, window))

    async def close(self) -> None:
        """End what is being read."""
        for cell in list(self._cells.values()):
            await cell.close()

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
        await run_within(visits, self._index.limits.reply)
        windows: list[DesktopWindow] = []
        missing: dict[_Key, str] = {}
        for server in servers:
            self._miss_list(server, missing)
            wanted = _wanted(server.known, only)
            if only is None:
                self._count_left_out(server, len(wanted))
            for uri in wanted:
                key = (server.name, uri)
                contents = found[key] if key in found else self._kept(key)
                if contents is not None:
                    windows.append(_window(server, uri, contents))
                else:
                    self._miss_window(key, missing)
        self._report(missing)
        if only is None and not missing and self._still_holds(found):
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

    def _kept(self, key: _Key) -> _Contents | None:
        cell = self._cells.get(key)
        return cell.value if cell is not None else None

    def _still_holds(self, found: Iterable[_Key]) -> bool:
        # What was told while they were collected has expired a cell, or dropped it, by now.
        cells = [self._cells.get(key) for key in found]
        return all(cell is not None and cell.settled for cell in cells)

    def _visit(
        self, server: CachedServer, only: str | None, found: dict[_Key, _Contents]
    ) -> Coroutine[Any, Any, None] | None:
        """Take what is known of a server's windows, and return what is to be waited for, if anything is."""
        listing = server.fresh()
        if listing is None and (server.name, _THE_LIST) not in self._late:
            return self._list_and_read(server, only, found)
        waiting = self._take(server, listing or server.known, only, found)
        return _all(waiting) if waiting else None

    async def _list_and_read(self, server: CachedServer, only: str | None, found: dict[_Key, _Contents]) -> None:
        try:
            listing = await server.listing()
        except SMCPError:
            return  # the server remembers why
        await _all(self._take(server, listing, only, found))

    def _take(
        self, server: CachedServer, listing: ResourceList, only: str | None, found: dict[_Key, _Contents]
    ) -> list[Coroutine[Any, Any, None]]:
        waiting = []
        for uri in _wanted(listing, only):
            key = (server.name, uri)
            cell = self._cell(server, uri)
            if (contents := cell.value) is not None:
                found[key] = contents
            elif key not in self._late:
                waiting.append(self._wait(cell, key, found))
            elif not cell.settled:
                cell.start()
        return waiting

    @staticmethod
    async def _wait(cell: CachedFetch[_Contents], key: _Key, found: dict[_Key, _Contents]) -> None:
        try:
            found[key] = await cell.get()
        except SMCPError:
            return  # the cell remembers why

    def _cell(self, server: CachedServer, uri: str) -> CachedFetch[_Contents]:
        key = (server.name, uri)
        cell = self._cells.get(key)
        if cell is None:
            cell = CachedFetch(partial(self._read, server, uri), pause=self._index.limits.pause)
            self._cells[key] = cell
        return cell

    async def _read(self, server: CachedServer, uri: str) -> _Contents:
        await server.windows_watched()
        key = (server.name, uri)
        if not server.watches(uri) and key in self._cells:
            # Nobody would tell of its next change: this reading serves those who wait for it, and no later ones.
            self._cells[key].expire()
        contents = await server.read(uri)
        if key in self._late:
            self._late.discard(key)
            self._changed()
        return contents

    # What is not there

    def _miss_list(self, server: CachedServer, missing: dict[_Key, str]) -> None:
        key = (server.name, _THE_LIST)
        if server.fresh() is not None:
            self._late.discard(key)
            return
        missing[key] = _reason(server.problem)
        if _does_not_answer(server.problem):
            self._late.add(key)

    def _miss_window(self, key: _Key, missing: dict[_Key, str]) -> None:
        cell = self._cells.get(key)
        error = cell.error if cell is not None else None
        missing[key] = _reason(error)
        if cell is not None and _does_not_answer(error):  # without a cell it was listed just now
            self._late.add(key)

    def _report(self, missing: dict[_Key, str]) -> None:
        for key in missing.keys() - self._missing.keys():
            server, uri = key
            what = uri or "the windows"
            logger.warning("The desktop is without %s of %r: %s", what, server, missing[key], extra={"server": server})
        self._missing = missing

    # What is heard

    def forgotten(self, server: SERVER_NAME) -> None:
        """Nothing that was read from this server holds any more."""
        self._late = {key for key in self._late if key[0] != server}
        self._left_out.pop(server, None)
        dropped = [key for key in self._cells if key[0] == server]
        for key in dropped:
            self._drop(key)
        if dropped:
            self._changed()

    def listed(self, server: SERVER_NAME, before: ResourceList, after: ResourceList) -> None:
        """Compare the windows: other ones are a change, and those that are gone need not be kept."""
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
        """Windows are read when they are watched already."""

    def updated(self, server: SERVER_NAME, uri: str) -> None:
        """A window has new contents."""
        if scheme_of(uri) != WINDOW:
            return
        cell = self._cells.get((server, uri))
        # A server that writes the URI in another way than it lists it may mean any of its windows.
        for expired in [cell] if cell is not None else [c for key, c in self._cells.items() if key[0] == server]:
            expired.expire()
        self._whole = None
        self._changed()

    def _drop(self, key: _Key) -> None:
        self._late.discard(key)
        cell = self._cells.pop(key, None)
        if cell is not None:
            cell.cancel()
            self._whole = None


async def _all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    await asyncio.gather(*work)


def _wanted(listing: ResourceList, only: str | None) -> Sequence[str]:
    if only is not None:
        return [only] if only in listing.windows else []
    if len(listing.windows) <= MAX_WINDOWS:
        return listing.windows
    # The order of the list settles ties, so what is read keeps it.
    first = reading_order([listing.resources[uri] for uri in listing.windows])[:MAX_WINDOWS]
    return [listing.windows[position] for position in sorted(first)]


def _window(server: CachedServer, uri: str, contents: _Contents) -> DesktopWindow:
    resource = server.known.resources[uri]
    return DesktopWindow(server.name, uri, contents, resource.get("annotations"), resource.get("_meta"))


def _does_not_answer(error: SMCPError | None) -> bool:
    return error is None or isinstance(error, TimeoutError)


def _reason(error: SMCPError | None) -> str:
    return "it is still being read" if error is None else error.message
