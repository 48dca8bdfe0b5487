"""From notifications of the office to those of MCP: what is kept is dropped, what changed is found out and told."""

import asyncio
import logging
from typing import Final, TypeAlias

from a2c_smcp.agent.events import OfficeEvent
from a2c_smcp.bridge.changes import DOCUMENT, WINDOW, concerned, is_changed, scheme_of, windows_of
from a2c_smcp.bridge.directory import Directory, Listed, Own
from a2c_smcp.bridge.news import News
from a2c_smcp.bridge.office import Office
from a2c_smcp.bridge.uris import Place
from a2c_smcp.errors import BadRequest, NotFound, RateLimited, SMCPError

log = logging.getLogger(__name__)

BURST: Final = 0.05
SUBSCRIBED_WITHIN: Final = 5.0
"""Seconds that a client waits for a Computer to subscribe for it."""

Held: TypeAlias = tuple[str, str | None, str]
"""A Computer, the MCP server that was named, and the URI: a subscription of the Agent's."""


class Watcher:
    """Follows an office.

    Args:
        office: Where to subscribe to resources that are neither windows nor documents.
        burst: Seconds in which changes of one Computer make one telling.

    Attributes:
        news: Who is told.
        missed: Whether something may have happened that nobody heard of, because there was no seat.
    """

    def __init__(self, office: Office, directory: Directory, *, burst: float = BURST) -> None:
        self._office = office
        self._directory = directory
        self._burst = burst
        self._noted: dict[str, set[str]] = {}
        self._windows: dict[str, set[str]] = {}
        self._working: dict[str, asyncio.Task[None]] = {}
        self._updated: dict[str, set[Own]] = {}
        self._held: set[Held] = set()
        self._letting_go: asyncio.Task[None] | None = None
        self.news = News(self._look, self._let_go_soon)
        self.missed = False
        directory.listed.changed = self._list_changed
        directory.desktops.changed = self._desktop_changed

    async def heard(self, event: OfficeEvent) -> None:
        """Take an event of the office."""
        computer = event.computer
        if event.kind == "joined":
            await self._arrived()
        elif computer is None:
            return
        elif event.kind in ("enter_office", "leave_office"):
            self._directory.came_or_went(computer)
            self._note(computer, "office")
        elif event.kind == "update_tool_list":
            self._directory.tools.drop(computer)
            self._note(computer, "tools")
        elif event.kind == "update_desktop":
            self._directory.desktops.drop(computer)
            self._note(computer, "desktop")
        elif event.kind == "update_resources":
            server = event.data.get("mcp_server") or ""
            self._updated.setdefault(computer, set()).update((server, uri) for uri in event.data.get("uris", ()))
            self._note(computer, "resources")
            if event.data.get("list_changed"):
                self._directory.listed.drop(computer)
                self._note(computer, "list")
        elif event.kind in ("update_finder", "update_config"):
            if event.kind == "update_config":
                self._directory.configs.drop(computer)
            self._directory.listed.drop(computer)
            self._note(computer, "documents" if event.kind == "update_finder" else "list")

    async def close(self) -> None:
        """Follow no more."""
        tasks = [*self._working.values(), *([self._letting_go] if self._letting_go is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.news.close()

    async def _arrived(self) -> None:
        self._directory.drop()
        if not self.missed:
            return
        self.missed = False
        await self.news.tools_changed()
        await self.news.resources_changed()
        await self.news.updated([uri for uri, _ in self.news.subscriptions()])

    def _note(self, computer: str, what: str) -> None:
        self._noted.setdefault(computer, set()).add(what)
        if computer not in self._working:
            self._working[computer] = asyncio.get_running_loop().create_task(self._work(computer))

    async def _work(self, computer: str) -> None:
        try:
            while computer in self._noted:
                await asyncio.sleep(self._burst)
                noted = self._noted.pop(computer)
                try:
                    await self._tell(computer, noted)
                    await self._look_again(computer, noted)
                except (SMCPError, ConnectionError) as error:
                    # It may be on its way out; should it come back, it is told of as a newcomer.
                    log.info("what changed on %s could not be found out: %s", computer, error)
        finally:
            del self._working[computer]

    async def _tell(self, computer: str, noted: set[str]) -> None:
        subscriptions = self.news.subscriptions()
        if noted & {"office", "tools"}:
            await self.news.tools_changed()
        if noted & {"office", "listed"}:
            await self.news.resources_changed()
        uris = self._windows.pop(computer, set())
        updated = self._updated.pop(computer, set())
        uris.update(uri for uri, place in subscriptions if _is_of(place, computer, updated))
        if "office" in noted:
            uris.update(concerned(subscriptions, computer))
        if "documents" in noted:
            # The notification does not say which document; its subscribers must not miss it.
            uris.update(concerned(subscriptions, computer, lambda uri: scheme_of(uri) == DOCUMENT))
        await self.news.updated(sorted(uris))

    async def _look_again(self, computer: str, noted: set[str]) -> None:
        """Read what may have changed, if anybody has seen it before; what is found out is noted."""
        directory = self._directory
        if "office" in noted:
            for _, place in self.news.subscriptions():
                await self._hold(place, computer)
        if "desktop" in noted:
            if directory.desktops.known(computer) is None:
                self._note(computer, "list")
            await directory.desktops.of(computer)
        if noted & {"documents", "list"} and directory.listed.known(computer) is not None:
            directory.listed.drop(computer)
            await directory.listed.of(computer)

    def _list_changed(self, computer: str, before: Listed, after: Listed) -> None:
        if before != after:
            self._note(computer, "listed")

    def _desktop_changed(self, computer: str, last: list[str], new: list[str]) -> None:
        before, after = windows_of(last), windows_of(new)
        uris = concerned(self.news.subscriptions(), computer, lambda uri: is_changed(before, after, uri))
        self._windows.setdefault(computer, set()).update(uris)
        # Other windows may have come or gone: those that it shows, or those that it does not show.
        self._note(computer, "list" if before.keys() != after.keys() or before == after else "windows")

    async def _look(self, place: Place) -> None:
        """Know a desktop before somebody waits for its changes, and subscribe to what is no window and no document.

        Raises:
            SMCPError: The Computer refused the subscription.
        """
        if scheme_of(place.uri) == DOCUMENT:
            return
        try:
            computers = await self._directory.computers()
        except (SMCPError, ConnectionError):
            return
        meant = [name for name in computers if place.computer in (None, name)]
        if scheme_of(place.uri) == WINDOW:
            await asyncio.gather(*map(self._directory.desktops.or_last, meant))
        else:
            await asyncio.gather(*(self._hold(place, name) for name in meant))

    async def _hold(self, place: Place, computer: str) -> None:
        """Subscribe to a resource at a Computer, unless that is done.

        Raises:
            SMCPError: The client named the Computer, and that refused. What an older Computer does not understand, and
                what a slow one does not answer, is passed over.
        """
        held = (computer, place.server, place.uri)
        if place.computer not in (None, computer) or scheme_of(place.uri) in (WINDOW, DOCUMENT) or held in self._held:
            return
        try:
            async with asyncio.timeout(SUBSCRIBED_WITHIN):
                await self._office.subscribe_resource(computer, place.uri, mcp_server=place.server)
        except (NotFound, RateLimited, BadRequest) as error:
            ambiguous = "mcp_servers" in (error.details or {})
            if place.computer is not None and (ambiguous or not isinstance(error, BadRequest)):
                raise
            log.info("subscription not made computer=%s reason=%s", computer, error)
        except (SMCPError, ConnectionError, TimeoutError) as error:
            log.info("subscription not made computer=%s reason=%s", computer, str(error) or "no answer")
        else:
            self._held.add(held)

    def _let_go_soon(self) -> None:
        if self._letting_go is None and self._held:
            self._letting_go = asyncio.get_running_loop().create_task(self._let_go())

    async def _let_go(self) -> None:
        """End the subscriptions that no client wants any more."""
        try:
            await asyncio.sleep(self._burst)
            wanted = [place for _, place in self.news.subscriptions()]
            for computer, server, uri in list(self._held):
                if not any(
                    place.uri == uri and place.server == server and place.computer in (None, computer)
                    for place in wanted
                ):
                    self._held.discard((computer, server, uri))
                    try:
                        await self._office.unsubscribe_resource(computer, uri, mcp_server=server)
                    except (SMCPError, ConnectionError) as error:
                        log.info("subscription not ended computer=%s reason=%s", computer, error)
        finally:
            self._letting_go = None


def _is_of(place: Place, computer: str, updated: set[Own]) -> bool:
    return place.computer in (None, computer) and any(
        place.uri == uri and place.server in (None, server or place.server) for server, uri in updated
    )
