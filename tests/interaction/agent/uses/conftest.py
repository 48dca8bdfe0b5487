"""One office with a Computer in it that the tests share; they visit it one after the other."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient
from tests.interaction.agent.uses.documents_office import ROOT
from tests.interaction.server.conftest import Running


@dataclass(frozen=True)
class Place:
    """An office, and the server it is on."""

    url: str
    office: str


@pytest.fixture(scope="session")
def place(ready: Running) -> Iterator[Place]:
    """An office with a Computer whose documents and tools nobody changes."""
    module = "tests.interaction.agent.uses.documents_office"
    process = subprocess.Popen(
        [sys.executable, "-m", module, ready.url, "shared"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield Place(ready.url, "shared")
        process.terminate()


@pytest.fixture
async def visitor(place: Place) -> AsyncIterator[AsyncSMCPAgentClient]:
    """An Agent in that office."""
    async with AsyncSMCPAgentClient(place.url, name="ada", office_id=place.office) as agent:
        yield agent
