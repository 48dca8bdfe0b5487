"""An office of the tests: Computers that are plain data, and events told by hand."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, cast

from a2c_smcp.agent.events import OfficeEvent
from a2c_smcp.agent.progress import ProgressHandler
from a2c_smcp.errors import BadRequest, NotFound, SMCPError
from a2c_smcp.smcp import SMCPTool


def tool(name: str, **fields: Any) -> SMCPTool:
    plain = {"name": name, "description": f"{name} it", "params_schema": {"type": "object"}, "return_schema": None}
    return cast("SMCPTool", plain | fields)


@dataclass
class FakeComputer:
    """What a Computer has; `resources` and `templates` by MCP server, in pages."""

    tools: list[SMCPTool] = field(default_factory=list)
    resources: dict[str, list[list[dict[str, Any]]]] = field(default_factory=dict)
    templates: dict[str, list[list[dict[str, Any]]]] = field(default_factory=dict)
    desktop: list[str] = field(default_factory=list)
    contents: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    clashing: dict[str, dict[str, list[dict[str, Any]]]] = field(default_factory=dict)
    """The contents of URIs that several MCP servers serve, by server."""
    completion: dict[str, Any] = field(default_factory=dict)
    result: Any = field(default_factory=lambda: {"content": []})
    finder: dict[str, Any] = field(default_factory=lambda: {"documents": [], "total_count": 0})
    instructions: dict[str, str] = field(default_factory=dict)
    read_meta: dict[str, Any] = field(default_factory=dict)
    problem: SMCPError | None = None


class FakeOffice:
    """Answers from its Computers, and remembers what it was asked."""

    def __init__(self, **computers: FakeComputer) -> None:
        self.computers = computers
        self.asked: list[tuple[Any, ...]] = []
        self.metas: list[Any] = []
        self.handlers: list[tuple[str, Callable[[OfficeEvent], Awaitable[None] | None]]] = []
        self.connecting: list[Exception | None] = []
        self.closed = False
        self.cancelled = 0
        self.gate: asyncio.Event | None = None

    async def tell(self, kind: str, computer: str | None = None, **data: Any) -> None:
        for wanted, handler in list(self.handlers):
            if wanted in ("*", kind):
                told = handler(OfficeEvent(kind, computer, data))
                if isawaitable(told):
                    await told

    def on(self, kind: str, handler: Callable[[OfficeEvent], Awaitable[None] | None]) -> Callable[[], None]:
        self.handlers.append((kind, handler))
        return lambda: self.handlers.remove((kind, handler))

    async def connect(self) -> None:
        problem = self.connecting.pop(0) if self.connecting else None
        if problem is not None:
            raise problem

    async def close(self) -> None:
        self.closed = True

    async def list_room(self) -> list[Any]:
        self.asked.append(("list_room",))
        return [{"name": "agent", "role": "agent"}, *({"name": n, "role": "computer"} for n in self.computers)]

    def _computer(self, name: str, *question: Any) -> FakeComputer:
        self.asked.append((*question, name))
        if name not in self.computers:
            raise NotFound(f"no {name}")
        computer = self.computers[name]
        if computer.problem is not None:
            raise computer.problem
        return computer

    async def get_tools(self, computer: str) -> list[SMCPTool]:
        return self._computer(computer, "tools").tools

    async def get_config(self, computer: str) -> Any:
        has = self._computer(computer, "config")
        names = {**has.resources, **has.templates, **has.instructions}
        told = {name: {"instructions": text} for name, text in has.instructions.items()}
        return {"servers": {name: {"disabled": False, **told.get(name, {})} for name in names}}

    async def get_desktop(self, computer: str, *, size: int | None = None, window: str | None = None) -> list[str]:
        return self._computer(computer, "desktop").desktop

    async def get_finder(
        self,
        computer: str,
        *,
        keywords: Any = None,
        file_type: str | None = None,
        offset: int = 0,
        limit: int = 20,
    ) -> Any:
        return self._computer(computer, "finder", keywords, file_type, offset, limit).finder

    async def get_resources(self, computer: str, mcp_server: str, cursor: str | None = None) -> Any:
        pages = self._computer(computer, "resources", mcp_server, cursor).resources.get(mcp_server, [[]])
        return _page(pages, cursor, "resources")

    async def get_resource_templates(self, computer: str, mcp_server: str, cursor: str | None = None) -> Any:
        pages = self._computer(computer, "templates", mcp_server, cursor).templates.get(mcp_server, [[]])
        return _page(pages, cursor, "resource_templates")

    async def complete(
        self,
        computer: str,
        mcp_server: str | None,
        ref: Mapping[str, Any],
        argument: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
    ) -> Any:
        assert mcp_server is not None
        has = self._computer(computer, "complete", mcp_server, ref, argument, context)
        return {"completion": has.completion[mcp_server]}

    async def read_result(
        self, computer: str, uri: str, *, mcp_server: str | None = None, meta: Mapping[str, Any] | None = None
    ) -> Any:
        has = self._computer(computer, "read", uri)
        self.metas.append(meta)
        theirs = has.clashing.get(uri, {})
        if mcp_server is None and len(theirs) > 1:
            raise BadRequest("several", details={"mcp_servers": list(theirs)})
        contents = theirs.get(mcp_server or "", has.contents.get(uri))
        if contents is None:
            raise NotFound(f"no {uri}")
        return {"contents": contents, "req_id": "1"} | has.read_meta

    async def subscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> str | None:
        self._computer(computer, "subscribe", uri, mcp_server)
        return mcp_server

    async def unsubscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> None:
        self._computer(computer, "unsubscribe", uri, mcp_server)

    async def call_tool(
        self,
        computer: str,
        tool_name: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float = 60,
        req_id: str | None = None,
        on_progress: ProgressHandler | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Any:
        self.metas.append(meta)
        has = self._computer(computer, "call", tool_name, params, timeout)
        if self.gate is not None:
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        return has.result


def _page(pages: list[list[dict[str, Any]]], cursor: str | None, field_name: str) -> Any:
    index = int(cursor or 0)
    following = {"next_cursor": str(index + 1)} if index + 1 < len(pages) else {}
    return {field_name: pages[index]} | following
