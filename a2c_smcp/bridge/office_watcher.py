"""Translates events of the office into MCP notifications: invalidates caches, finds what changed, notifies clients."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Final, TypeAlias

from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ToolsListChanged

from a2c_smcp.agent.events import OfficeEvent
from a2c_smcp.bridge.office_catalog import ComputerResources, OfficeCatalog, ServerResource
from a2c_smcp.bridge.office_client import OfficeClient
from a2c_smcp.bridge.uris import (
    DOCUMENT,
    WINDOW,
    ResourceAddress,
    concerned,
    is_changed,
    parse_address,
    scheme_of,
    windows_of,
)
from a2c_smcp.errors import BadRequest, NotFound, RateLimited, SMCPError
from a2c_smcp.web.mcp_changes import McpChangeNotifier

log = logging.getLogger(__name__)

BURST_SECONDS: Final = 0.05
"""Seconds in which changes of one Computer are collected."""

SUBSCRIBE_SECONDS: Final = 5.0
"""Seconds for a Computer to make a subscription."""

Subscription: TypeAlias = tuple[str, str | None, str]
"""A subscription of the Agent: Computer, MCP server if named, and URI."""


class OfficeWatcher:
    """Follows the events of an office.

    Args:
        office: Where to subscribe to resources that are neither windows nor documents.
        burst: Seconds in which changes of one Computer are collected.

    Attributes:
        notifier: Keeps the subscriptions of the clients and notifies them.
        missed: Whether events may have been missed because the Agent was not in the office.
    """

    def __init__(self, office: OfficeClient, catalog: OfficeCatalog, *, burst: float = BURST_SECONDS) -> None:
        self._office = office
        self._catalog = catalog
        self._burst = burst
        self._noted: dict[str, set[str]] = {}
        self._windows: dict[str, set[str]] = {}
        self._working: dict[str, asyncio.Task[None]] = {}
        self._updated: dict[str, set[ServerResource]] = {}
        self._subscriptions_held: set[Subscription] = set()
        self._ending: asyncio.Task[None] | None = None
        self.notifier = McpChangeNotifier(on_subscribe=self._prepare, on_unsubscribe=self._unsubscribe_soon)
        self.missed = False
        catalog.listed.changed = self._list_changed
        catalog.desktops.changed = self._desktop_changed

    async def on_event(self, event: OfficeEvent) -> None:
        """Handle an event of the office."""
        computer = event.computer
        if event.kind == "joined":
            await self._on_joined()
        elif computer is None:
            return
        elif event.kind in ("enter_office", "leave_office"):
            self._catalog.came_or_went(computer)
            self._note(computer, "office")
        elif event.kind == "update_tool_list":
            self._catalog.tools.drop(computer)
            self._note(computer, "tools")
        elif event.kind == "update_desktop":
            self._catalog.desktops.drop(computer)
            self._note(computer, "desktop")
        elif event.kind == "update_resources":
            server = event.data.get("mcp_server") or ""
            self._updated.setdefault(computer, set()).update((server, uri) for uri in event.data.get("uris", ()))
            self._note(computer, "resources")
            if event.data.get("list_changed"):
                self._catalog.listed.drop(computer)
                self._note(computer, "list")
        elif event.kind in ("update_finder", "update_config"):
            if event.kind == "update_config":
                self._catalog.configs.drop(computer)
            self._catalog.listed.drop(computer)
            self._note(computer, "documents" if event.kind == "update_finder" else "list")

    async def close(self) -> None:
        """Stop following, and end the streams of clients."""
        tasks = [*self._working.values(), *([self._ending] if self._ending is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.notifier.close()

    async def _on_joined(self) -> None:
        self._catalog.drop()
        if not self.missed:
            return
        self.missed = False
        self.notifier.publish(ToolsListChanged())
        self.notifier.publish(ResourcesListChanged())
        self._publish_updates(self.notifier.subscriptions)

    def _subscribed(self) -> list[tuple[str, ResourceAddress]]:
        return [(uri, parse_address(uri)) for uri in self.notifier.subscriptions]

    def _publish_updates(self, uris: Iterable[str]) -> None:
        for uri in uris:
            self.notifier.publish(ResourceUpdated(uri=uri))

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
                    self._notify(computer, noted)
                    await self._read_again(computer, noted)
                except (SMCPError, ConnectionError) as error:
                    # It may be leaving; if it rejoins, clients are notified then.
                    log.info("reading changes failed: %s computer=%s", error, computer)
        finally:
            del self._working[computer]

    def _notify(self, computer: str, noted: set[str]) -> None:
        subscriptions = self._subscribed()
        if noted & {"office", "tools"}:
            self.notifier.publish(ToolsListChanged())
        if noted & {"office", "listed"}:
            self.notifier.publish(ResourcesListChanged())
        uris = self._windows.pop(computer, set())
        updated = self._updated.pop(computer, set())
        uris.update(uri for uri, address in subscriptions if _is_of(address, computer, updated))
        if "office" in noted:
            uris.update(concerned(subscriptions, computer))
        if "documents" in noted:
            # The event does not name the document, so all subscribers of documents are notified.
            uris.update(concerned(subscriptions, computer, lambda uri: scheme_of(uri) == DOCUMENT))
        self._publish_updates(sorted(uris))

    async def _read_again(self, computer: str, noted: set[str]) -> None:
        """Read what may have changed, if a client has seen it before; changes found are noted."""
        catalog = self._catalog
        if "office" in noted:
            for _, address in self._subscribed():
                await self._subscribe(address, computer)
        if "desktop" in noted:
            if catalog.desktops.known(computer) is None:
                self._note(computer, "list")
            await catalog.desktops.of(computer)
        if noted & {"documents", "list"} and catalog.listed.known(computer) is not None:
            catalog.listed.drop(computer)
            await catalog.listed.of(computer)

    def _list_changed(self, computer: str, before: ComputerResources, after: ComputerResources) -> None:
        if before != after:
            self._note(computer, "listed")

    def _desktop_changed(self, computer: str, last: list[str], new: list[str]) -> None:
        before, after = windows_of(last), windows_of(new)
        uris = concerned(self._subscribed(), computer, lambda uri: is_changed(before, after, uri))
        self._windows.setdefault(computer, set()).update(uris)
        # The list of windows may have changed, including windows that the desktop does not show.
        self._note(computer, "list" if before.keys() != after.keys() or before == after else "windows")

    async def _prepare(self, uri: str) -> None:
        """Read a desktop before its changes can be compared, or subscribe at the Computer to another resource.

        Raises:
            SMCPError: The Computer refused the subscription.
        """
        address = parse_address(uri)
        if scheme_of(address.uri) == DOCUMENT:
            return
        try:
            computers = await self._catalog.computers()
        except (SMCPError, ConnectionError):
            return
        meant = [name for name in computers if address.computer in (None, name)]
        if scheme_of(address.uri) == WINDOW:
            await asyncio.gather(*map(self._catalog.desktops.or_last, meant))
        else:
            await asyncio.gather(*(self._subscribe(address, name) for name in meant))

    async def _subscribe(self, address: ResourceAddress, computer: str) -> None:
        """Subscribe to a resource at a Computer if that is not done yet.

        Raises:
            SMCPError: The client named the Computer, and it refused. Errors of Computers that do not support this,
                and time-outs, are only logged.
        """
        held = (computer, address.server, address.uri)
        if (
            address.computer not in (None, computer)
            or scheme_of(address.uri) in (WINDOW, DOCUMENT)
            or held in self._subscriptions_held
        ):
            return
        try:
            async with asyncio.timeout(SUBSCRIBE_SECONDS):
                await self._office.subscribe_resource(computer, address.uri, mcp_server=address.server)
        except (NotFound, RateLimited, BadRequest) as error:
            ambiguous = "mcp_servers" in (error.details or {})
            if address.computer is not None and (ambiguous or not isinstance(error, BadRequest)):
                raise
            log.info("subscription failed: %s computer=%s", error, computer)
        except (SMCPError, ConnectionError, TimeoutError) as error:
            log.info("subscription failed: %s computer=%s", str(error) or "time-out", computer)
        else:
            self._subscriptions_held.add(held)

    def _unsubscribe_soon(self) -> None:
        if self._ending is None and self._subscriptions_held:
            self._ending = asyncio.get_running_loop().create_task(self._end_unused())

    async def _end_unused(self) -> None:
        """End the subscriptions that no client needs any more."""
        try:
            await asyncio.sleep(self._burst)
            wanted = [address for _, address in self._subscribed()]
            for computer, server, uri in list(self._subscriptions_held):
                if not any(
                    address.uri == uri and address.server == server and address.computer in (None, computer)
                    for address in wanted
                ):
                    self._subscriptions_held.discard((computer, server, uri))
                    try:
                        await self._office.unsubscribe_resource(computer, uri, mcp_server=server)
                    except (SMCPError, ConnectionError) as error:
                        log.info("unsubscribe failed: %s computer=%s", error, computer)
        finally:
            self._ending = None


def _is_of(address: ResourceAddress, computer: str, updated: set[ServerResource]) -> bool:
    return address.computer in (None, computer) and any(
        address.uri == uri and address.server in (None, server or address.server) for server, uri in updated
    )
