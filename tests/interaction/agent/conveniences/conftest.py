"""One office with a Computer in it that the tests share; they visit it one after the other."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient
from tests.interaction.agent.conveniences.documents_office import documents_process
from tests.interaction.server.conftest import Running


@dataclass(frozen=True)
class Place:
    """An office, and the server it is on."""

    url: str
    office: str


@pytest.fixture(scope="session")
def place(ready: Running) -> Iterator[Place]:
    """An office with a Computer whose documents and tools nobody changes."""
    with documents_process(ready.url, "shared"):
        yield Place(ready.url, "shared")


@pytest.fixture
async def visitor(place: Place) -> AsyncIterator[AsyncSMCPAgentClient]:
    """An Agent in that office."""
    async with AsyncSMCPAgentClient(place.url, name="ada", office_id=place.office) as agent:
        yield agent
