"""What the Computers of an office offer, kept until it changes; one Computer that does not answer hides no other."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeAlias, TypeVar

from a2c_smcp.bridge.office import Office
from a2c_smcp.bridge.uris import origin_of
from a2c_smcp.common.pagination import Page, PageLimits, walk
from a2c_smcp.errors import SMCPError
from a2c_smcp.smcp import GetComputerConfigRet, SMCPTool

log = logging.getLogger(__name__)

T = TypeVar("T")

FRESH: Final = 5.0
"""Seconds for which a list of resources is believed: not every MCP server tells when its list changes."""

_LONG_AGO: Final = float("-inf")
_ROOM: Final = ""
"""The office itself, where the rest is about one Computer."""


Own: TypeAlias = tuple[str, str]
"""An MCP server and what it calls a resource or a template."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The resources and templates of a Computer, by MCP server and URI, or template, as their server describes them.

    Attributes:
        origins: Scheme and authority of all resources.
    """

    resources: Mapping[Own, dict[str, Any]] = field(default_factory=dict)
    templates: Mapping[Own, dict[str, Any]] = field(default_factory=dict)
    origins: frozenset[str] = frozenset()


class _Kept(Generic[T]):
    """A value per Computer, asked for once however many want it, and again when it was dropped or is old.

    Attributes:
        changed: Told the Computer, the last value and the new one, whenever a new one follows another.
    """

    def __init__(self, ask: Callable[[str], Awaitable[T]], otherwise: T, fresh: float = float("inf")) -> None:
        self._ask = ask
        self._otherwise = otherwise
        self._fresh = fresh
        self.changed: Callable[[str, T, T], None] | None = None
        self._values: dict[str, tuple[float, T]] = {}
        self._asking: dict[str, asyncio.Task[T]] = {}

    def known(self, computer: str) -> T | None:
        """The last value, however old."""
        kept = self._values.get(computer)
        return None if kept is None else kept[1]

    def drop(self, computer: str) -> None:
        """What is kept is true no more; the last value is still known."""
        self._asking.pop(computer, None)
        if (kept := self._values.get(computer)) is not None:
            self._values[computer] = (_LONG_AGO, kept[1])

    def forget(self, computer: str) -> None:
        """Keep nothing of a Computer, not even its last value."""
        self._asking.pop(computer, None)
        self._values.pop(computer, None)

    def keep_only(self, computers: Collection[str]) -> None:
        """Forget every other Computer."""
        for computer in [name for name in self._values if name not in computers]:
            del self._values[computer]

    def drop_all(self) -> None:
        """The same for every Computer."""
        for computer in [*self._values, *self._asking]:
            self.drop(computer)

    async def of(self, computer: str) -> T:
        """Return the value of a Computer; raises what asking raises."""
        kept = self._values.get(computer)
        if kept is not None and kept[0] + self._fresh > time.monotonic():
            return kept[1]
        asking = self._asking.get(computer)
        if asking is None:
            asking = self._asking[computer] = asyncio.ensure_future(self._ask(computer))
            asking.add_done_callback(lambda done: self._store(computer, done))
        return await asyncio.shield(asking)

    async def or_last(self, computer: str) -> T:
        """Return the value of a Computer, the last one that is known if it does not answer, or none."""
        try:
            return await self.of(computer)
        except SMCPError as error:
            log.warning("%s could not be asked: %s", computer, error)
            known = self.known(computer)
            return self._otherwise if known is None else known

    async def close(self) -> None:
        """Ask no more."""
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _store(self, computer: str, done: "asyncio.Task[T]") -> None:
        failed = done.cancelled() or done.exception() is not None
        # An answer to a question from before a change may be from before it, too.
        if self._asking.get(computer) is done:
            del self._asking[computer]
            if not failed:
                last, new = self._values.get(computer), done.result()
                self._values[computer] = (time.monotonic(), new)
                if last is not None and self.changed is not None:
                    self.changed(computer, last[1], new)


class Directory:
    """What is in an office: Computers, and the tools, resources and templates of each."""

    def __init__(self, office: Office, *, fresh: float = FRESH) -> None:
        self._office = office
        self.tools: _Kept[list[SMCPTool]] = _Kept(office.get_tools, [])
        self.configs: _Kept[GetComputerConfigRet] = _Kept(office.get_config, {"servers": {}}, fresh)
        self.listed: _Kept[Listed] = _Kept(self._list, Listed(), fresh)
        self.desktops: _Kept[list[str]] = _Kept(office.get_desktop, [])
        self._members: _Kept[list[str]] = _Kept(self._list_room, [])
        self._empty = False
        self._kept: tuple[_Kept[Any], ...] = (self.tools, self.configs, self.listed, self.desktops, self._members)

    async def computers(self) -> list[str]:
        """Return the names of the Computers in the office, in order; raises what asking raises."""
        names = await self._members.of(_ROOM)
        for kept in (self.tools, self.configs, self.listed, self.desktops):
            kept.keep_only(names)
        return names

    async def all_tools(self) -> dict[str, list[SMCPTool]]:
        """Return the tools of every Computer."""
        names = await self.computers()
        return dict(zip(names, await asyncio.gather(*map(self.tools.or_last, names)), strict=True))

    async def all_listed(self) -> dict[str, Listed]:
        """Return the resources and templates of every Computer."""
        names = await self.computers()
        return dict(zip(names, await asyncio.gather(*map(self.listed.or_last, names)), strict=True))

    async def instructions(self) -> dict[tuple[str, str], str]:
        """Return what the MCP servers tell models about themselves, by Computer and MCP server."""
        names = await self.computers()
        configs = await asyncio.gather(*map(self.configs.or_last, names))
        return {
            (name, server): text
            for name, config in zip(names, configs, strict=True)
            for server, has in config["servers"].items()
            if isinstance(text := has.get("instructions"), str) and text.strip()
        }

    def came_or_went(self, computer: str) -> None:
        """A Computer joined or left: whatever is known of it is about another run of it."""
        self._members.drop(_ROOM)
        for kept in (self.tools, self.configs, self.listed, self.desktops):
            kept.forget(computer)

    def drop(self) -> None:
        """The seat was lost: anything may have changed."""
        for kept in self._kept:
            kept.drop_all()

    async def close(self) -> None:
        """Ask no more."""
        for kept in self._kept:
            await kept.close()

    async def _list_room(self, _: str) -> list[str]:
        members = await self._office.list_room()
        names = sorted(member["name"] for member in members if member.get("role") == "computer")
        if not names and not self._empty:
            log.warning("office has no Computer yet: check its name if one is expected")
        self._empty = not names
        return names

    async def _list(self, computer: str) -> Listed:
        config = await self.configs.of(computer)
        servers = [name for name, server in config["servers"].items() if not server.get("disabled")]
        found = await asyncio.gather(*(self._list_server(computer, server) for server in servers))
        resources: dict[Own, dict[str, Any]] = {}
        templates: dict[Own, dict[str, Any]] = {}
        for server, (own, own_templates) in zip(servers, found, strict=True):
            for resource in own:
                resources.setdefault((server, resource["uri"]), resource)
            for template in own_templates:
                templates.setdefault((server, template["uriTemplate"]), template)
        return Listed(resources, templates, frozenset(origin_of(uri) for _, uri in resources))

    async def _list_server(self, computer: str, server: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return what one MCP server lists; nothing of what it cannot list, as when it is down."""

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
        log.warning("list cut: %s mcp_server=%s", reason, server)

    found: list[dict[str, Any]] = []
    try:
        async for page in walk(ask, PageLimits(), cut):
            found += (one for one in page if isinstance(one.get(key), str) and one[key])
    except SMCPError as error:
        log.info("list failed: %s mcp_server=%s", error, server)
    return found
