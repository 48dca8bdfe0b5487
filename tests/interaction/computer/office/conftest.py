"""Servers, Computers and Agents for the tests of the connection."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import pytest

from a2c_smcp.computer.office import Backoff, RequestHandler, SMCPComputerClient
from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Running, run_server, stop_server

Seat = Callable[..., Coroutine[Any, Any, SMCPComputerClient]]
Agents = Callable[..., Coroutine[Any, Any, Client]]


@pytest.fixture(scope="session", params=["ready", "stock"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Our server, and our namespace in a stock one; each test uses an office of its own."""
    process, running = run_server(request.param, tmp_path_factory.mktemp("server"))
    yield running
    stop_server(process)


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Our server alone."""
    process, running = run_server("ready", tmp_path_factory.mktemp("ready"))
    yield running
    stop_server(process)


@pytest.fixture
def office(request: pytest.FixtureRequest) -> str:
    """An office of this test's own."""
    return f"office {request.node.nodeid}"[-200:]


@pytest.fixture
async def computer() -> AsyncIterator[Callable[..., SMCPComputerClient]]:
    """Make Computers named "c" that try again soon; they are closed when the test ends."""
    made: list[SMCPComputerClient] = []

    def make(answerer: RequestHandler, url: str, office_id: str | None = None, **options: Any) -> SMCPComputerClient:
        settings: dict[str, Any] = {"name": "c", "backoff": Backoff(base=0.02, longest=0.1)} | options
        client = SMCPComputerClient(answerer, url=url, office_id=office_id, **settings)
        made.append(client)
        return client

    yield make
    await asyncio.gather(*(client.close() for client in made))


@pytest.fixture
async def agent() -> AsyncIterator[Agents]:
    """Make Agents named "a" in an office; they are closed when the test ends."""
    made: list[Client] = []

    async def make(url: str, office_id: str, name: str = "a") -> Client:
        client = Client(url)
        made.append(client)
        await client.connect()
        assert await client.join("agent", name, office_id) == (True, None)
        return client

    yield make
    await asyncio.gather(*(client.close() for client in made), return_exceptions=True)
