"""An office with Computers, and the bridge before it, in this process or as the program that clients start."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from a2c_smcp.agent import AsyncSMCPAgentClient, Backoff
from a2c_smcp.bridge import Bridge, BridgeSettings, HttpSettings, run, serve_http
from a2c_smcp.computer import Computer, ComputerConfig, parse_config
from tests.interaction.server.conftest import Running, run_server, stop_server

CAP = 60.0
"""Seconds after which a wait has failed."""

ERAS = ["legacy", "2026-07-28"]
ROOT = Path(__file__).parents[3]
SERVER = Path(__file__).parent / "desk_server.py"


def desk_config(host: str = "office", **settings: Any) -> ComputerConfig:
    """A configuration with one `desk_server.py`."""
    parameters = {"command": sys.executable, "args": [str(SERVER), host]}
    server = {"type": "stdio", "server_parameters": parameters, "default_tool_meta": {"auto_apply": True}}
    return parse_config({"servers": {"desk": server | settings}}).config


@asynccontextmanager
async def computer_in(relay: Running, office: str, name: str = "desk", **options: Any) -> AsyncIterator[Computer]:
    """A Computer that has taken its seat."""
    async with Computer(desk_config(**options), name=name) as computer:
        await asyncio.wait_for(computer.settled(), CAP)
        await computer.connect(relay.url, office)
        yield computer


@asynccontextmanager
async def bridge_to(
    url: str, office: str, settings: BridgeSettings | None = None, http: HttpSettings | None = None
) -> AsyncIterator[str]:
    """The bridge over HTTP, in this process; yields where it listens."""
    backoff = Backoff(base=0.05, longest=0.2)
    agent = AsyncSMCPAgentClient(url, name="bridge", office_id=office, live=False, backoff=backoff)
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def transport(bridge: Bridge) -> None:
        await serve_http(bridge, http or HttpSettings(), listening.set_result)

    serving = asyncio.create_task(run(Bridge(agent, office, settings), agent, transport))
    try:
        await first_of(serving, listening)
        yield listening.result()
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


@asynccontextmanager
async def connected(server: Any, **options: Any) -> AsyncIterator[Client]:
    """A client that is opened and closed by one task, as its library demands; fixtures use several."""
    ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    enough = asyncio.Event()

    async def own() -> None:
        async with Client(server, **options) as client:
            ready.set_result(client)
            await enough.wait()

    owner = asyncio.create_task(own())
    try:
        await first_of(owner, ready)
        yield ready.result()
    finally:
        enough.set()
        await owner


async def first_of(task: "asyncio.Task[None]", ready: "asyncio.Future[Any]") -> None:
    """Wait until something is ready; if the task that prepares it ends before, raise its problem."""
    awaited: list[asyncio.Future[Any]] = [task, ready]
    await asyncio.wait(awaited, timeout=CAP, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        await task


def program(relay: Running, office: str, *options: str) -> StdioServerParameters:
    """The bridge as clients start it."""
    arguments = ["-m", "a2c_smcp.cli", "mcp", "--url", relay.url, "--office", office, "--name", "bridge", *options]
    return StdioServerParameters(command=sys.executable, args=arguments, cwd=ROOT, env=dict(os.environ))


@dataclass
class Heard:
    """Notifications that a client got, whichever way its era has."""

    queue: "asyncio.Queue[tuple[str, str]]" = field(default_factory=asyncio.Queue)

    async def take(self, message: Any) -> None:
        """The message handler of a client."""
        name = type(message).__name__.removesuffix("Notification")
        if name in ("ToolListChanged", "ResourceListChanged", "ResourceUpdated"):
            params = getattr(message, "params", None)
            self.queue.put_nowait((name, getattr(params, "uri", None) or ""))

    async def until(self, name: str, uri: str = "") -> None:
        """Wait for a notification; others may come before it."""
        async with asyncio.timeout(CAP):
            while await self.queue.get() != (name, uri):
                pass


class Signs:
    """The progress that a client was told of a call."""

    def __init__(self) -> None:
        self.told: list[tuple[float, float | None, str | None]] = []
        self._news = asyncio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """The progress callback of a client."""
        self.told.append((progress, total, message))
        self._news.set()

    async def until(self, count: int) -> None:
        """Wait until so many signs have come."""
        async with asyncio.timeout(CAP):
            while len(self.told) < count:
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def listening(client: Client, era: str, heard: Heard, *uris: str) -> AsyncIterator[None]:
    """Listen to changes of the lists and of these resources, in the way of the era."""
    if era == "legacy":
        for uri in uris:
            with pytest.warns(match="resources/subscribe"):
                await client.subscribe_resource(uri)
        yield
        return
    async with client.listen(
        tools_list_changed=True, resources_list_changed=True, resource_subscriptions=list(uris)
    ) as stream:

        async def follow() -> None:
            names = {"ToolsListChanged": "ToolListChanged", "ResourcesListChanged": "ResourceListChanged"}
            async for event in stream:
                name = type(event).__name__
                heard.queue.put_nowait((names.get(name, name), getattr(event, "uri", "")))

        following = asyncio.create_task(follow())
        try:
            yield
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)


@pytest.fixture(scope="session")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The Server."""
    process, running = run_server("ready", tmp_path_factory.mktemp("relay"))
    yield running
    stop_server(process)


@pytest.fixture
def office(request: pytest.FixtureRequest) -> str:
    """An office of this test's own."""
    return f"office {request.node.nodeid}"[-200:]


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """The two eras of MCP."""
    return str(request.param)


async def give_up(call: "asyncio.Task[Any]") -> None:
    """Want the answer to a call no more."""
    call.cancel()
    await asyncio.wait([call], timeout=CAP)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something that no notification tells of holds."""
    async with asyncio.timeout(CAP):
        while not await holds():
            await asyncio.sleep(0.02)


def text_of(result: Any) -> str:
    """The text of a tool's result."""
    return str(result.content[0].text)
