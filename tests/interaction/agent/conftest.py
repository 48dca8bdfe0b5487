"""A server, Computers that answer as they are told, and Agents of both kinds."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient, Backoff, SMCPAgentClient
from a2c_smcp.computer.office import SMCPComputerClient
from tests.interaction.computer.office.fakes import CAP, Scripted
from tests.interaction.server.conftest import Running, run_server, stop_server

COMPUTER = "c"

Agents = Callable[..., AsyncSMCPAgentClient]
Computers = Callable[..., Coroutine[Any, Any, SMCPComputerClient]]


def soon() -> Backoff:
    """Pauses that a test can wait for."""
    return Backoff(base=0.02, longest=0.1)


class Threaded:
    """The blocking client, each call on a thread, so that one test speaks to both kinds."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.client = SMCPAgentClient(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        member = getattr(self.client, name)
        if not callable(member) or name == "on":
            return member

        async def call(*arguments: Any, **options: Any) -> Any:
            return await asyncio.wait_for(asyncio.to_thread(member, *arguments, **options), CAP)

        return call


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Our server; each test uses an office of its own."""
    process, running = run_server("ready", tmp_path_factory.mktemp("ready"))
    yield running
    stop_server(process)


@pytest.fixture
def office(request: pytest.FixtureRequest) -> str:
    """An office of this test's own."""
    return f"office {request.node.nodeid}"[-200:]


@pytest.fixture
async def agent() -> AsyncIterator[Agents]:
    """Make Agents named "a" that try again soon; they are closed when the test ends."""
    made: list[AsyncSMCPAgentClient] = []

    def make(url: str, office_id: str | None = None, **options: Any) -> AsyncSMCPAgentClient:
        settings: dict[str, Any] = {"name": "a", "backoff": soon()} | options
        client = AsyncSMCPAgentClient(url, office_id=office_id, **settings)
        made.append(client)
        return client

    yield make
    await asyncio.gather(*(client.close() for client in made))


@pytest.fixture(params=["async", "blocking"])
async def either(request: pytest.FixtureRequest) -> AsyncIterator[Callable[..., Any]]:
    """Make Agents of one kind or the other, which are awaited alike."""
    made: list[Any] = []

    def make(url: str, office_id: str | None = None, **options: Any) -> Any:
        kind = AsyncSMCPAgentClient if request.param == "async" else Threaded
        settings: dict[str, Any] = {"name": "a", "backoff": soon()} | options
        made.append(kind(url, office_id=office_id, **settings))
        return made[-1]

    yield make
    for client in made:
        await client.close()


@pytest.fixture
async def computer() -> AsyncIterator[Computers]:
    """Let Computers that answer as they are told join an office; they are closed when the test ends."""
    made: list[SMCPComputerClient] = []

    async def make(answerer: Scripted, url: str, office_id: str, name: str = COMPUTER) -> SMCPComputerClient:
        client = SMCPComputerClient(answerer, url=url, office_id=office_id, name=name, backoff=soon())
        made.append(client)
        await client.connect()
        return client

    yield make
    await asyncio.gather(*(client.close() for client in made))
