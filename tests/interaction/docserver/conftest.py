"""Servers that several tests share."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.interaction.docserver.processes import OPEN_KITCHEN, process, url_of


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kitchen() -> AsyncIterator[str]:
    """The URL of the example's server."""
    async with process("-c", OPEN_KITCHEN) as server:
        yield await url_of(server)
