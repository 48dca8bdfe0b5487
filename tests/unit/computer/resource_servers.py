"""MCP servers that offer resources, as the Computer sees them: small, scripted, and counting what they are asked."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from a2c_smcp.computer.desktop.collector import DesktopCollector
from a2c_smcp.computer.finder.collector import FinderCollector
from a2c_smcp.computer.ports import Json, ProgressCallback, ServerState, ServerStatus
from a2c_smcp.computer.resources.cache import ResourceCache, ResourceLimits
from a2c_smcp.computer.resources.reading import ResourceReader
from a2c_smcp.errors import SMCPError, ToolFailed

HANG = "hang"
"""What a resource, or a method, is set to that never answers."""

DECLARED = {"resources": {"subscribe": True, "listChanged": True}}


class FakeServer:
    """A `ports.Session`.

    `resources` says what each URI holds: a text, something to write as JSON, whole contents, an error to raise, or
    HANG. `listed` are the URIs in its list (by default all), with more fields of the resource in `fields`.
    """

    def __init__(self, name: str, resources: Mapping[str, Any] | None = None, **options: Any) -> None:
        self.name = name
        self.resources: dict[str, Any] = dict(resources or {})
        self.listed: list[Any] | None = options.get("listed")
        self.fields: dict[str, Json] = options.get("fields", {})
        self.templates: list[str] = options.get("templates", [])
        self.page_size: int = options.get("page_size", 1_000)
        self.broken: dict[str, Any] = {}
        self.delay: dict[str, float] = {}
        self.calls: list[str] = []
        self.metas: list[Json | None] = []
        self.answer_meta: Json = {}
        self.subscriptions: list[list[str]] = []
        self.watched: list[str] = []
        self.most_at_once = 0
        self._at_once = 0
        self._status = ServerStatus(
            name,
            "stdio",
            options.get("state", ServerState.RUNNING),
            "2026-02-14T10:30:01Z",
            capabilities=options.get("capabilities", DECLARED),
            subscribes=options.get("subscribes", True),
        )

    @property
    def status(self) -> ServerStatus:
        return self._status

    def become(self, **changes: Any) -> None:
        self._status = replace(self._status, **changes)

    def asked(self, what: str = "") -> list[str]:
        """The calls so far that begin so."""
        return [call for call in self.calls if call.startswith(what)]

    def flush_tools(self) -> None:
        """It has no tools."""

    async def list_tools(self) -> list[Json]:
        return []

    @property
    def instructions(self) -> str | None:
        return None

    async def call_tool(
        self, name: str, arguments: Json, *, progress: ProgressCallback | None = None, meta: Json | None = None
    ) -> Json:
        return {"content": []}

    async def list_resources(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        await self._answer("list", f"list {cursor}" if cursor else "list")
        uris = list(self.resources) if self.listed is None else self.listed
        start = int(cursor or 0)
        end = start + self.page_size
        page = [self._resource(uri) if isinstance(uri, str) else uri for uri in uris[start:end]]
        return page, str(end) if end < len(uris) else None

    def _resource(self, uri: str) -> Json:
        return {"uri": uri, "name": uri.rpartition("/")[2], **self.fields.get(uri, {})}

    async def list_resource_templates(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        await self._answer("templates", "templates")
        return [{"uriTemplate": template, "name": template} for template in self.templates], None

    async def read_resource(self, uri: str) -> list[Json]:
        held = self.resources.get(uri, SMCPError(f"Unknown resource: {uri}", code=-32002))
        await self._answer("read", f"read {uri}", self.broken.get("read", held), self.delay.get(uri, 0))
        if isinstance(held, list):
            return held
        text = held if isinstance(held, str) else json.dumps(held)
        return [{"uri": uri, "mimeType": "text/plain", "text": text}]

    async def read(self, uri: str, *, meta: Json | None = None) -> Json:
        self.metas.append(meta)
        return {"contents": await self.read_resource(uri)} | self.answer_meta

    async def complete(
        self, ref: Json, argument: Json, context: Json | None = None, *, meta: Json | None = None
    ) -> Json:
        await self._answer("complete", f"complete {ref} {argument} {context}")
        return {"values": ["rpt-2026"], "total": 1, "hasMore": False}

    async def subscribe(self, uris: Sequence[str]) -> None:
        await self._answer("subscribe", "subscribe")
        self.subscriptions.append(list(uris))

    async def watch(self, uris: Sequence[str]) -> None:
        await self._answer("watch", "watch")
        self.watched = list(uris)

    async def _answer(self, method: str, call: str, fate: Any = None, delay: float = 0) -> None:
        self.calls.append(call)
        if self._status.state is not ServerState.RUNNING:
            raise ToolFailed(f"{self.name} is not running")
        fate = self.broken.get(method, fate)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await asyncio.sleep(delay or self.delay.get(method, 0))
            if isinstance(fate, str) and fate == HANG:
                await asyncio.Event().wait()
            if isinstance(fate, Exception):
                raise fate
        finally:
            self._at_once -= 1


class Office:
    """A Computer's rooms for resources, wired as its facade wires them, around scripted servers."""

    def __init__(self, *servers: FakeServer, limits: ResourceLimits | None = None) -> None:
        self.servers: dict[str, FakeServer] = {server.name: server for server in servers}
        self.pushes: list[str] = []
        self.index = ResourceCache(self, limits or ResourceLimits())
        self.collector = DesktopCollector(self.index, lambda: self.pushes.append("desktop"))
        self.finder = FinderCollector(self.index, lambda: self.pushes.append("finder"))
        self.reader = ResourceReader(self.index)

    def get(self, name: str) -> FakeServer | None:
        return self.servers.get(name)

    def all(self) -> Mapping[str, FakeServer]:
        return self.servers

    async def __aenter__(self) -> Self:
        for name in self.servers:
            self.index.status_changed(name)  # as the manager does when its servers have started
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.collector.close()
        await self.finder.close()
        await self.index.close()

    def change(self, server: FakeServer, uri: str, holds: Any) -> None:
        """Give a resource new contents, and tell."""
        server.resources[uri] = holds
        self.index.resource_updated(server.name, uri)

    def become(self, server: FakeServer, **changes: Any) -> None:
        """Give a server another status, and tell."""
        server.become(**changes)
        self.index.status_changed(server.name)

    def forget_calls(self) -> None:
        """Count from here."""
        self.pushes.clear()
        for server in self.servers.values():
            server.calls.clear()

    def calls(self) -> dict[str, list[str]]:
        """What each server was asked since, where it was asked anything."""
        return {name: server.calls for name, server in self.servers.items() if server.calls}

    async def settle(self) -> None:
        """Let everything end that goes on in the background, pauses after failures left aside."""
        await asyncio.sleep(1)
