"""What clients hear when something changes in the office, in both eras."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from mcp import Client

from tests.interaction.bridge.conftest import CAP, Heard, bridge_to, computer_in, connected, listening, text_of, until
from tests.interaction.server.conftest import Running

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFFICE = "changing"
BOARD = "a2c://desk/window/office/board?priority=50"


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(relay: Running) -> AsyncIterator[str]:
    """Where the bridge to an office with the Computer `desk` listens."""
    async with computer_in(relay, OFFICE), bridge_to(relay.url, OFFICE) as listens:
        yield listens


@pytest_asyncio.fixture(loop_scope="module")
async def client(url: str, era: str, heard: Heard) -> AsyncIterator[Client]:
    async with connected(url, mode=era, message_handler=heard.take) as opened:
        await opened.list_resources()
        yield opened


@pytest.mark.parametrize("uri", [BOARD, "window://office/board?priority=50"])
async def test_a_window_that_changes_is_told_to_its_subscribers(
    client: Client, era: str, heard: Heard, uri: str
) -> None:
    async with listening(client, era, heard, uri):
        await client.call_tool("desk__write", {"text": f"news for {era} {uri}"})
        await heard.until("ResourceUpdated", uri)
    read = await client.read_resource(BOARD)
    assert read.contents[0].text == f"news for {era} {uri}"  # type: ignore[union-attr]


async def test_a_document_that_changes_is_told_to_its_subscribers(client: Client, era: str, heard: Heard) -> None:
    uri = "a2c://desk/dpe/office/plan"
    async with listening(client, era, heard, uri):
        await client.call_tool("desk__touch")
        await heard.until("ResourceUpdated", uri)


async def test_a_new_document_changes_the_list(client: Client, era: str, heard: Heard) -> None:
    async with listening(client, era, heard):
        await client.call_tool("desk__add_document", {"text": f"minutes-{era}"})
        await heard.until("ResourceListChanged")
    assert f"a2c://desk/@desk/dpe/office/minutes-{era}" in [
        one.uri for one in (await client.list_resources()).resources
    ]


async def test_a_new_tool_changes_the_list(client: Client, era: str, heard: Heard) -> None:
    async with listening(client, era, heard):
        await client.call_tool("desk__add_tool", {"text": f"shred-{era}"})
        await heard.until("ToolListChanged")
    assert f"desk__shred-{era}" in [tool.name for tool in (await client.list_tools()).tools]


async def test_a_computer_that_comes_and_goes_changes_both_lists(
    client: Client, relay: Running, era: str, heard: Heard
) -> None:
    async with listening(client, era, heard):
        async with computer_in(relay, OFFICE, "laptop"):
            await heard.until("ToolListChanged")
            await heard.until("ResourceListChanged")
            assert "laptop__echo" in [tool.name for tool in (await client.list_tools()).tools]
        await heard.until("ToolListChanged")
        await heard.until("ResourceListChanged")
    assert not [tool for tool in (await client.list_tools()).tools if tool.name.startswith("laptop")]
    assert not [one for one in (await client.list_resources()).resources if one.uri.startswith("a2c://laptop")]


async def test_who_has_unsubscribed_hears_no_more(url: str, heard: Heard) -> None:
    other = Heard()
    async with (
        Client(url, mode="legacy", message_handler=heard.take) as leaving,
        Client(url, mode="legacy", message_handler=other.take) as staying,
        listening(leaving, "legacy", heard, BOARD),
        listening(staying, "legacy", other, BOARD),
    ):
        with pytest.warns(match="resources/unsubscribe"):
            await leaving.unsubscribe_resource(BOARD)
        await staying.call_tool("desk__write", {"text": "news"})
        await other.until("ResourceUpdated", BOARD)
        await leaving.call_tool("desk__add_tool", {"text": "x"})
        await heard.until("ToolListChanged")
        assert ("ResourceUpdated", BOARD) not in list(heard.queue._queue)  # type: ignore[attr-defined]


async def test_calls_wait_for_a_seat_that_is_taken_soon(relay: Running, office: str, era: str) -> None:
    async with bridge_to(relay.url, office) as url, Client(url, mode=era) as client:
        assert (await client.list_tools()).tools == []
        async with computer_in(relay, office):

            async def there() -> bool:
                return bool((await client.list_tools()).tools)

            await until(there)
            result = await asyncio.wait_for(client.call_tool("desk__echo", {"text": "hi"}), CAP)
            assert text_of(result) == "hi"
