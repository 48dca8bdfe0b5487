"""A server and an office with a Computer, which the examples visit one after the other."""

from collections.abc import Iterator

import pytest

from tests.interaction.agent.conveniences.documents_office import documents_process
from tests.interaction.server.conftest import run_server, stop_server

OFFICE = "examples"


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the server of that office is."""
    process, running = run_server("ready", tmp_path_factory.mktemp("examples"))
    try:
        with documents_process(running.url, OFFICE):
            yield running.url
    finally:
        stop_server(process)
