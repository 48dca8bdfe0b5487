"""Cached lists of what the Computers of an office offer; a Computer that does not reply hides no other."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeAlias, TypeVar

from a2c_smcp.bridge.office_client import OfficeClient
from a2c_smcp.bridge.uris import origin_of
from a2c_smcp.common.pagination import Page, PageLimits, walk
from a2c_smcp.errors import SMCPError
from a2c_smcp.smcp import GetComputerConfigRet, SMCPTool

log = logging.getLogger(__name__)

T = TypeVar("T")

FRESH_SECONDS: Final = 5.0
"""Lifetime of a cached list of resources in seconds: not every MCP server reports changes."""

_LONG_AGO: Final = float("-inf")
_OFFICE: Final = ""
"""Cache key of the office itself; other keys are names of Computers."""


ServerResource: TypeAlias = tuple[str, str]
"""An MCP server and the URI of a resource or template there."""


@dataclass(frozen=True, slots=True)
class ComputerResources:
    """The resources and templates of a Computer, by MCP server and URI, as the server describes them.

    Attributes:
        origins: Scheme and authority of all resources.
    """

    resources: Mapping[ServerResource, dict[str, Any]] = field(default_factory=dict)
    templates: Mapping[ServerResource, dict[str, Any]] = field(default_factory=dict)
    origins: frozenset[str] = frozenset()


class _CachedPerComputer(Generic[T]):
    """A cached value per Computer; concurrent callers share one fetch.

    Attributes:
        changed: Called with the Computer, the previous value and the new one, whenever a value is replaced.
    """

    def __init__(self, fetch: Callable[[str], Awaitable[T]], default: T, fresh: float = float("inf")) -> None:
        self._fetch = fetch
        self._default = default
        self._fresh = fresh
        self.changed: Callable[[str, T, T], None] | None = None
        self._values: dict[str, tuple[float, T]] = {}
        self._fetching: dict[str, asyncio.Task[T]] = {}

    def known(self, computer: str) -> T | None:
        """Return the last value, however old."""
        kept = self._values.get(computer)
        return None if kept is None else kept[1]

    def drop(self, computer: str) -> None:
        """Expire the value; `known` still returns it."""
        self._fetching.pop(computer, None)
        if (kept := self._values.get(computer)) is not None:
            self._values[computer] = (_LONG_AGO, kept[1])

    def forget(self, computer: str) -> None:
        """Remove everything about a Computer."""
        self._fetching.pop(computer, None)
        self._values.pop(computer, None)

    def keep_only(self, computers: Collection[str]) -> None:
        """Remove all other Computers."""
        for computer in [name for name in self._values if name not in computers]:
            del self._values[computer]

    def drop_all(self) -> None:
        """Expire the values of all Computers."""
        for computer in [*self._values, *self._fetching]:
            self.drop(computer)

    async def of(self, computer: str) -> T:
        """Return the value of a Computer, fetched if it has expired; raises the errors of the fetch."""
        kept = self._values.get(computer)
        if kept is not None and kept[0] + self._fresh > time.monotonic():
            return kept[1]
        fetching = self._fetching.get(computer)
        if fetching is None:
            fetching = self._fetching[computer] = asyncio.ensure_future(self._fetch(computer))
            fetching.add_done_callback(lambda done: self._store(computer, done))
        return await asyncio.shield(fetching)

    async def or_last(self, computer: str) -> T:
        """Return the value of a Computer; if the fetch fails, the last known value or the default."""
        try:
            return await self.of(computer)
        except SMCPError as error:
            log.warning("fetch failed: %s computer=%s", error, computer)
            known = self.known(computer)
            return self._default if known is None else known

    async def close(self) -> None:
        """Cancel all fetches."""
        tasks = list(self._fetching.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _store(self, computer: str, done: "asyncio.Task[T]") -> None:
        failed = done.cancelled() or done.exception() is not None
        # The result of a fetch that began before `drop` may be stale.
        if self._fetching.get(computer) is done:
            del self._fetching[computer]
            if not failed:
                last, new = self._values.get(computer), done.result()
                self._values[computer] = (time.monotonic(), new)
                if last is not None and self.changed is not None:
                    self.changed(computer, last[1], new)


class OfficeCatalog:
    """The Computers of an office, with the tools, resources and templates of each."""

    def __init__(self, office: OfficeClient, *, fresh: float = FRESH_SECONDS) -> None:
        self._office = office
        self.tools: _CachedPerComputer[list[SMCPTool]] = _CachedPerComputer(office.get_tools, [])
        self.configs: _CachedPerComputer[GetComputerConfigRet] = _CachedPerComputer(
            office.get_config, {"servers": {}}, fresh
        )
        self.listed: _CachedPerComputer[ComputerResources] = _CachedPerComputer(self._list, ComputerResources(), fresh)
        self.desktops: _CachedPerComputer[list[str]] = _CachedPerComputer(office.get_desktop, [])
        self._members: _CachedPerComputer[list[str]] = _CachedPerComputer(self._list_room, [])
        self._empty = False
        self._kept: tuple[_CachedPerComputer[Any], ...] = (
            self.tools,
            self.configs,
            self.listed,
            self.desktops,
            self._members,
        )

    async def computers(self) -> list[str]:
        """Return the names of the Computers in the office, sorted; raises as `list_room`."""
        names = await self._members.of(_OFFICE)
        for kept in (self.tools, self.configs, self.listed, self.desktops):
            kept.keep_only(names)
        return names

    async def all_tools(self) -> dict[str, list[SMCPTool]]:
        """Return the tools of every Computer."""
        names = await self.computers()
        return dict(zip(names, await asyncio.gather(*map(self.tools.or_last, names)), strict=True))

    async def all_listed(self) -> dict[str, ComputerResources]:
        """Return the resources and templates of every Computer."""
        names = await self.computers()
        return dict(zip(names, await asyncio.gather(*map(self.listed.or_last, names)), strict=True))

    async def instructions(self) -> dict[tuple[str, str], str]:
        """Return the instructions of the MCP servers, by Computer and MCP server."""
        names = await self.computers()
        configs = await asyncio.gather(*map(self.configs.or_last, names))
        return {
            (name, server): text
            for name, config in zip(names, configs, strict=True)
            for server, has in config["servers"].items()
            if isinstance(text := has.get("instructions"), str) and text.strip()
        }

    def came_or_went(self, computer: str) -> None:
        """Remove everything about a Computer that joined or left."""
        self._members.drop(_OFFICE)
        for kept in (self.tools, self.configs, self.listed, self.desktops):
            kept.forget(computer)

    def drop(self) -> None:
        """Expire everything after a lost connection."""
        for kept in self._kept:
            kept.drop_all()

    async def close(self) -> None:
        """Cancel all fetches."""
        for kept in self._kept:
            await kept.close()

    async def _list_room(self, _: str) -> list[str]:
        members = await self._office.list_room()
        names = sorted(member["name"] for member in members if member.get("role") == "computer")
        if not names and not self._empty:
            log.warning("office has no Computer yet: check its name if one is expected")
        self._empty = not names
        return names

    async def _list(self, computer: str) -> ComputerResources:
        config = await self.configs.of(computer)
        servers = [name for name, server in config["servers"].items() if not server.get("disabled")]
        found = await asyncio.gather(*(self._list_server(computer, server) for server in servers))
        resources: dict[ServerResource, dict[str, Any]] = {}
        templates: dict[ServerResource, dict[str, Any]] = {}
        for server, (own, own_templates) in zip(servers, found, strict=True):
            for resource in own:
                resources.setdefault((server, resource["uri"]), resource)
            for template in own_templates:
                templates.setdefault((server, template["uriTemplate"]), template)
        return ComputerResources(resources, templates, frozenset(origin_of(uri) for _, uri in resources))

    async def _list_server(self, computer: str, server: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the resources and templates of an MCP server; empty lists if it cannot list them."""

        async def resources(cursor: str | None) -> Page[dict[str, Any]]:
            page = await self._office.get_resources(computer, server, cursor)
            return page["resources"], page.get("next_cursor")

        async def templates(cursor: str | None) -> Page[dict[str, Any]]:
            page = await self._office.get_resource_templates(computer, server, cursor)
            return page["resource_templates"], page.get("next_cursor")

        return await _pages(resources, "uri", server), await _pages(templates, "uriTemplate", server)


async def _pages(
    ask: Callable[[str | None], Awaitable[Page[dict[str, Any]]]], key: str, server: str
) -> list[dict[str, Any]]:
    def cut(reason: str) -> None:
        log.warning("list truncated: %s mcp_server=%s", reason, server)

    found: list[dict[str, Any]] = []
    try:
        async for page in walk(ask, PageLimits(), cut):
            found += (one for one in page if isinstance(one.get(key), str) and one[key])
    except SMCPError as error:
        log.info("list failed: %s mcp_server=%s", error, server)
    return found
