"""Servers that several tests share."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.interaction.docserver.processes import process, url_of


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kitchen() -> AsyncIterator[str]:
    """The URL of the example's server."""
    async with process("examples/own_server.py", "--http", "127.0.0.1:0") as server:
        yield await url_of(server)
