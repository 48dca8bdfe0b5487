"""The server under test and the peers that talk through it."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from tests.peers.environments import UnavailableError
from tests.peers.peer import Peer, Role, command_of

IMPLEMENTATIONS = ("a2c-smcp-0.1.6", "a2c-smcp-0.4.2", "socket.io-client")
PAIRS = [(agent, computer) for agent in IMPLEMENTATIONS for computer in IMPLEMENTATIONS]
# Those with a real MCP server behind the Computer, or with an SDK that reacts by itself behind the Agent.
SDK_COMPUTERS = [pair for pair in PAIRS if pair[1] != "socket.io-client"]
SDK_AGENTS = [pair for pair in PAIRS if pair[0] != "socket.io-client"]
LATEST = [("a2c-smcp-0.4.2", "a2c-smcp-0.4.2")]
# How each implementation sends its key unless told otherwise.
CREDENTIALS = {"a2c-smcp-0.1.6": "access_token", "a2c-smcp-0.4.2": "token", "socket.io-client": "x-api-key"}


@pytest.fixture(scope="session")
def api_key() -> str:
    """The key that the server wants."""
    return "a-key-for-the-peers-of-this-suite"


@pytest.fixture(scope="session")
def other_key() -> str:
    """Another key that the server takes, of somebody else."""
    return "a-key-for-somebody-else-of-this-suite"


@pytest.fixture(scope="session")
def server_url(api_key: str, other_key: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Our server, as its operator starts it; it must have logged no traceback when the peers are done with it."""
    log = tmp_path_factory.mktemp("server") / "log"
    keys = log.with_name("keys")
    keys.write_text(f"{api_key}\n{other_key}\n")
    keys.chmod(0o600)
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "a2c_smcp.cli", "server", "--port", "0", "--drain", "0", "--json"],
            env=os.environ | {"A2C_SERVER_API_KEY_FILE": str(keys)},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdout is not None
    yield json.loads(process.stdout.readline())["url"]
    process.terminate()
    process.wait(60)
    process.stdout.close()
    assert "Traceback" not in log.read_text(encoding="utf-8")


def credentials(form: str, key: str | None) -> dict[str, Any]:
    """Return the arguments of `connect` that carry `key` in one of the three forms."""
    if key is None:
        return {"headers": {}, "auth": {}}
    if form == "token":
        return {"headers": {}, "auth": {"token": key}}
    return {"headers": {form: key}, "auth": {}}


class Pool:
    """Running peers. A process is costly to start and cheap to connect again, so tests share them in turn."""

    def __init__(self) -> None:
        self._peers: dict[tuple[str, str, int], Peer] = {}

    async def take(self, implementation: str, role: Role, *, copy: int = 0) -> Peer:
        """Return a peer that is not connected and has heard nothing."""
        several = implementation != "socket.io-client"  # one process plays all roles
        identity = (implementation, "" if several else role, copy)
        if identity not in self._peers:
            try:
                command = await asyncio.to_thread(command_of, implementation, role)
            except UnavailableError as error:
                pytest.skip(str(error))
            self._peers[identity] = await Peer.start(command)
        peer = self._peers[identity].role(role) if several else self._peers[identity]
        await peer.ask("close")
        peer.heard()
        return peer

    async def stop(self) -> None:
        await asyncio.gather(*(peer.stop() for peer in self._peers.values()))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def pool() -> AsyncIterator[Pool]:
    running = Pool()
    try:
        yield running
    finally:
        await running.stop()


def pair_id(pair: tuple[str, str]) -> str:
    return "agent {} computer {}".format(*pair)


@dataclass(frozen=True, slots=True)
class Pair:
    """An Agent and a Computer, connected to the server under test and in no office yet."""

    agent: Peer
    computer: Peer
    agent_sdk: str
    computer_sdk: str
    office: str = field(default_factory=lambda: f"office-{uuid4().hex}")
    agent_name: str = field(default_factory=lambda: f"agent-{uuid4().hex[:8]}")
    computer_name: str = field(default_factory=lambda: f"computer-{uuid4().hex[:8]}")

    async def connect(self, url: str, key: str | None) -> None:
        to_agent = credentials(CREDENTIALS[self.agent_sdk], key)
        to_computer = credentials(CREDENTIALS[self.computer_sdk], key)
        await asyncio.gather(
            self.agent.ask("connect", url=url, name=self.agent_name, office=self.office, **to_agent),
            self.computer.ask("connect", url=url, name=self.computer_name, **to_computer),
        )

    async def meet(self) -> None:
        """Seat both. The SDK's Agent asks for no ack, so its coming is known when the Computer hears of it."""
        await self.computer.ask("join", office=self.office)
        await self.agent.ask("join", office=self.office)
        await self.computer.next_event("notify:enter_office")

    async def tool(self, name: str) -> str:
        """Return the name by which the Computer lists its tool `name`: 0.4 puts the MCP server's before it."""
        listed = await self.agent.ask("get_tools", computer=self.computer_name)
        names = [str(tool["name"]) for tool in listed if tool["name"].rpartition("__")[2] == name]
        assert names, f"{self.computer_sdk} lists {listed!r}"
        return names[0]


@pytest_asyncio.fixture(
    loop_scope="session",
    params=PAIRS,
    ids=pair_id,
)
async def pair(request: pytest.FixtureRequest, pool: Pool, server_url: str, api_key: str) -> AsyncIterator[Pair]:
    agent, computer = request.param
    peers = Pair(await pool.take(agent, "agent"), await pool.take(computer, "computer"), agent, computer)
    await peers.connect(server_url, api_key)
    yield peers
    await peers.agent.ask("close")
    await peers.computer.ask("close")
