"""Real MCP servers, a manager that hosts them, and somebody who listens."""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer.config.models import (
    ComputerConfig,
    MCPServerConfig,
    MCPServerStdioConfig,
    MCPServerStdioParameters,
    MCPServerStreamableHttpConfig,
    MCPServerStreamableHttpParameters,
    MCPSSEConfig,
    MCPSSEParameters,
)
from a2c_smcp.computer.mcp.manager import ServerManager
from a2c_smcp.computer.mcp.restarts import RestartPolicy
from a2c_smcp.computer.mcp.server_run import Timing
from a2c_smcp.computer.mcp.session import ServerSession
from a2c_smcp.computer.ports import ServerState
from tests.interaction.ports import free_port
from tests.peers.environments import UnavailableError, directory_of, interpreter_of

SERVERS = Path(__file__).parents[2] / "mcp_servers"
CAP = 60.0
# Failures follow each other fast, so that no test waits for a pause of the product.
QUICK = Timing(restarts=RestartPolicy(first=0.01, most=0.02, failures=5, health=30.0), grace=1.0)


class Ears:
    """A listener that remembers, and can be waited on."""

    def __init__(self) -> None:
        self.heard: Counter[tuple[str, ...]] = Counter()
        self._pulse = asyncio.Event()

    def tools_changed(self, server: str) -> None:
        self._hear("tools", server)

    def resources_changed(self, server: str) -> None:
        self._hear("resources", server)

    def resource_updated(self, server: str, uri: str) -> None:
        self._hear("updated", server, uri)

    def status_changed(self, server: str) -> None:
        self._hear("status", server)

    def _hear(self, *what: str) -> None:
        self.heard[what] += 1
        self._pulse.set()

    async def until(self, true: Callable[[], bool], *, within: float = CAP) -> None:
        """Wait until something that comes with a notification is true."""
        async with asyncio.timeout(within):
            while not true():
                self._pulse.clear()
                await self._pulse.wait()


class Host:
    """A manager under test."""

    def __init__(self, manager: ServerManager, ears: Ears) -> None:
        self.manager = manager
        self.ears = ears
        self.heard = ears.heard

    async def apply(self, *servers: MCPServerConfig, **more: Any) -> Any:
        return await self.manager.apply(config(*servers, **more))

    async def host(self, *servers: MCPServerConfig) -> ServerSession:
        """Apply, wait until none is starting, and return the first session."""
        await self.apply(*servers)
        async with asyncio.timeout(CAP):
            await self.manager.settled()
        return self[servers[0].name]

    async def running(self, *servers: MCPServerConfig) -> ServerSession:
        """Apply, wait until all run, and return the first session."""
        await self.apply(*servers)
        for server in servers:
            await self.becomes(server.name, ServerState.RUNNING)
        return self[servers[0].name]

    def __getitem__(self, name: str) -> ServerSession:
        session = self.manager.get(name)
        assert session is not None
        return session

    async def becomes(self, name: str, state: ServerState) -> None:
        await self.ears.until(lambda: self[name].status.state is state)


def config(*servers: MCPServerConfig, **more: Any) -> ComputerConfig:
    return ComputerConfig(servers={server.name: server for server in servers}, **more)


def stdio(name: str, command: str, *args: str, **settings: Any) -> MCPServerStdioConfig:
    env = settings.pop("env", None)
    parameters = MCPServerStdioParameters(command=command, args=list(args), env=env)
    return MCPServerStdioConfig(name=name, server_parameters=parameters, **settings)


def life(name: str, *flags: str, **settings: Any) -> MCPServerStdioConfig:
    """The small server of the older era, which misbehaves as the flags say."""
    return stdio(name, sys.executable, "-I", "-S", str(SERVERS / "life_server.py"), *flags, **settings)


def modern(name: str, **settings: Any) -> MCPServerStdioConfig:
    return stdio(name, sys.executable, str(SERVERS / "life_modern.py"), "stdio", **settings)


def streamable(name: str, url: str, **parameters: Any) -> MCPServerStreamableHttpConfig:
    return MCPServerStreamableHttpConfig(
        name=name, server_parameters=MCPServerStreamableHttpParameters(url=url, **parameters)
    )


def sse(name: str, url: str, **parameters: Any) -> MCPSSEConfig:
    return MCPSSEConfig(name=name, server_parameters=MCPSSEParameters(url=url, **parameters))


def text_of(result: dict[str, Any]) -> str:
    text: str = result["content"][0]["text"]
    return text


async def gone(pid: int, *, within: float = CAP) -> None:
    """Wait until a process has ended, whoever its parent is."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        async with asyncio.timeout(within):
            await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def lives(pid: int) -> bool:
    """Whether a process is there and not a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
async def hosts() -> AsyncIterator[Callable[..., Host]]:
    """Make managers, which are closed when the test ends."""
    async with contextlib.AsyncExitStack() as stack:
        made: list[ServerManager] = []

        def make(timing: Timing = QUICK, **options: Any) -> Host:
            ears = Ears()
            manager = ServerManager(ears, timing=timing, **options)
            made.append(manager)
            stack.push_async_callback(manager.close)
            return Host(manager, ears)

        yield make


@pytest.fixture
def host(hosts: Callable[..., Host]) -> Host:
    return hosts()


class HttpServer:
    """A process that serves MCP over HTTP, which can be killed and started again on its port."""

    def __init__(self, *command: str, port: int = 0, env: dict[str, str] | None = None) -> None:
        self.command = command
        self.env = env
        self.port = port
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*self.command, *(["--port", str(self.port)] if self.env is None else [])],
            stdout=subprocess.PIPE,
            env=None if self.env is None else os.environ | self.env | {"PORT": str(self.port)},
            stderr=subprocess.STDOUT if self.env is not None else None,
            text=True,
        )
        assert process.stdout is not None
        for line in process.stdout:
            if self.env is None:
                self.port = int(line)
                break
            if "port" in line:
                break
        return process

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def start_again(self) -> None:
        self.process = self._start()

    def url(self, path: str = "/mcp") -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@pytest.fixture
def http_server() -> Iterator[Callable[..., HttpServer]]:
    """Start the server of both eras over HTTP."""
    made: list[HttpServer] = []

    def make(*flags: str) -> HttpServer:
        made.append(HttpServer(sys.executable, str(SERVERS / "life_modern.py"), "http", *flags, port=free_port()))
        return made[-1]

    yield make
    for server in made:
        server.kill()


def npm(package: str) -> list[str]:
    """Return the command of an MCP server from npm, installed on first use."""
    try:
        directory = directory_of("socket.io-client")
    except UnavailableError as error:
        pytest.skip(str(error))
    main = directory / "node_modules" / "@modelcontextprotocol" / package / "dist" / "index.js"
    return [str(interpreter_of("socket.io-client")), str(main)]


def older(*arguments: str) -> list[str]:
    """Return a command in the environment with `mcp` 1.x, made on first use."""
    try:
        return [str(interpreter_of("mcp-1")), *arguments]
    except UnavailableError as error:
        pytest.skip(str(error))
