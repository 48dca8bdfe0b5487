"""MCP servers that need no process, and time that needs no waiting."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar, cast

from a2c_smcp.computer.config.models import BaseMCPServerConfig, ToolMeta
from a2c_smcp.computer.ports import Json, McpSession, ProgressCallback, ServerState, ServerStatus
from a2c_smcp.errors import SMCPError, ToolFailed
from a2c_smcp.messages import ToolCallReq
from a2c_smcp.types import SERVER_NAME

T = TypeVar("T")

Behaviour = Callable[[Json, ProgressCallback], Awaitable[Json]]


class FakeSession:
    """A server whose tools are functions. It counts what it is asked, and notices what is cancelled."""

    def __init__(self, name: SERVER_NAME, tools: Sequence[Json | str] = (), behaviour: Behaviour | None = None) -> None:
        self.name = name
        self.listed: list[Json] = [{"name": tool} if isinstance(tool, str) else tool for tool in tools]
        self.behaviour = behaviour or echo
        self.state = ServerState.RUNNING
        self.listings = 0
        self.listing_error: Exception | None = None
        self.listing_gate: asyncio.Event | None = None
        self.calls: list[tuple[str, Json]] = []
        self.metas: list[Json | None] = []
        self.cancelled: list[str] = []
        self.called = asyncio.Event()

    @property
    def status(self) -> ServerStatus:
        return ServerStatus(self.name, "stdio", self.state, "2026-01-01T00:00:00Z")

    def flush_tools(self) -> None:
        """Nothing is ever left to tell."""

    async def list_tools(self) -> list[Json]:
        self._check_running()
        self.listings += 1
        tools = list(self.listed)
        if self.listing_gate is not None:
            await self.listing_gate.wait()
        if self.listing_error is not None:
            raise self.listing_error
        return tools

    @property
    def instructions(self) -> str | None:
        return None

    async def call_tool(
        self, name: str, arguments: Json, *, progress: ProgressCallback | None = None, meta: Json | None = None
    ) -> Json:
        self._check_running()
        self.metas.append(meta)
        self.calls.append((name, arguments))
        self.called.set()
        try:
            return await self.behaviour(arguments, progress or (lambda *_: None))
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise

    async def list_resources(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        raise NotImplementedError

    async def list_resource_templates(self, cursor: str | None = None) -> tuple[list[Json], str | None]:
        raise NotImplementedError

    async def read_resource(self, uri: str) -> list[Json]:
        raise NotImplementedError

    async def read(self, uri: str, *, meta: Json | None = None) -> Json:
        raise NotImplementedError

    async def complete(
        self, ref: Json, argument: Json, context: Json | None = None, *, meta: Json | None = None
    ) -> Json:
        raise NotImplementedError

    async def subscribe(self, uris: Sequence[str]) -> None:
        raise NotImplementedError

    async def watch(self, uris: Sequence[str]) -> None:
        raise NotImplementedError

    def _check_running(self) -> None:
        if self.state is not ServerState.RUNNING:
            raise ToolFailed(f"The MCP server {self.name!r} is not running")


class FakeSessions:
    """The servers of a Computer."""

    def __init__(self, *sessions: FakeSession) -> None:
        self.by_name = {session.name: session for session in sessions}

    def get(self, name: SERVER_NAME) -> McpSession | None:
        return self.by_name.get(name)

    def all(self) -> Mapping[SERVER_NAME, McpSession]:
        return dict(self.by_name)


async def echo(arguments: Json, _: ProgressCallback) -> Json:
    return {"content": [{"type": "text", "text": "done"}], "structuredContent": arguments}


async def forever(_: Json, __: ProgressCallback) -> Json:
    await asyncio.Event().wait()
    raise AssertionError


def failing(error: SMCPError | Exception) -> Behaviour:
    async def fail(_: Json, __: ProgressCallback) -> Json:
        raise error

    return fail


def answering(**raw: Any) -> Behaviour:
    async def answer(_: Json, __: ProgressCallback) -> Json:
        return raw

    return answer


def config(name: SERVER_NAME, **fields: Any) -> BaseMCPServerConfig:
    return BaseMCPServerConfig(name=name, **fields)


def free(name: SERVER_NAME, **fields: Any) -> BaseMCPServerConfig:
    """A server whose tools run unasked."""
    return config(name, default_tool_meta=ToolMeta(auto_apply=True), **fields)


def request(
    tool: str = "echo", req_id: str = "r1", agent: str = "a", timeout: float = 30, **params: Any
) -> ToolCallReq:
    made = {"agent": agent, "req_id": req_id, "computer": "c", "tool_name": tool, "params": params, "timeout": timeout}
    return cast("ToolCallReq", made)


class _Skipping(selectors.SelectSelector):
    """Instead of waiting for a timer it moves the clock there. What waits for a socket is still waited for."""

    loop: "VirtualLoop"

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout is not None and timeout > 0:
            self.loop.now += timeout
        return ready if ready or timeout is not None else super().select(None)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which hours pass at once, in the right order."""

    def __init__(self) -> None:
        selector = _Skipping()
        selector.loop = self
        self.now = 1000.0
        super().__init__(selector)

    def time(self) -> float:
        return self.now


def in_virtual_time(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def until(condition: Callable[[], bool]) -> None:
    """Let others run until something holds; the cap of the test ends what never does."""
    while not condition():
        await asyncio.sleep(0)
