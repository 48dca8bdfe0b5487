"""What a plain MCP client sees of an office with two Computers that have the same things, in both eras."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client, MCPError, types
from mcp.client.streamable_http import streamable_http_client

from a2c_smcp.bridge import BridgeSettings
from tests.interaction.bridge.conftest import ERAS, Signs, bridge_to, computer_in, connected, give_up, text_of, until
from tests.interaction.server.conftest import Running

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE_TEMPLATE = "a2c://desk/@desk/dpe/office/{doc_ref}/pages/{page_index}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(relay: Running) -> AsyncIterator[str]:
    """Where the bridge to an office with the Computers `desk` and `my laptop` listens."""
    async with AsyncExitStack() as stack:
        for name in ("desk", "my laptop"):
            await stack.enter_async_context(computer_in(relay, "town", name))
        settings = BridgeSettings(page=4, progress=0.05)
        yield await stack.enter_async_context(bridge_to(relay.url, "town", settings))


@pytest_asyncio.fixture(loop_scope="module", params=ERAS)
async def client(request: pytest.FixtureRequest, url: str) -> AsyncIterator[Client]:
    async with connected(url, mode=request.param) as opened:
        yield opened


async def all_tools(client: Client) -> list[types.Tool]:
    found: list[types.Tool] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return found


async def refusal(client: Client, uri: str) -> tuple[int, Any]:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    return caught.value.code, caught.value.data


@pytest.mark.rule("4.3")
async def test_the_tools_of_every_computer_are_there_page_by_page(client: Client) -> None:
    tools = await all_tools(client)
    places = {(tool.meta["a2c/computer"], tool.meta["a2c/tool"]) for tool in tools if tool.meta}
    own = ["echo", "write", "touch", "add_document", "add_tool", "wait", "pause", "count", "picture", "large", "link"]
    assert places == {(computer, tool) for computer in ("desk", "my laptop") for tool in own}
    assert len({tool.name for tool in tools}) == len(tools) == 22


async def test_a_tool_keeps_what_its_server_says_of_it(client: Client) -> None:
    echo = next(tool for tool in await all_tools(client) if tool.name == "desk__echo")
    assert echo.annotations == types.ToolAnnotations(title="Echo", read_only_hint=True)
    assert (echo.title, echo.description) == ("Echo", "Say it again")
    assert echo.input_schema["required"] == ["text"]
    assert echo.output_schema == {"type": "object", "properties": {"text": {"type": "string"}}}


async def test_a_call_reaches_the_computer_that_the_name_says(client: Client) -> None:
    laptop = next(t.name for t in await all_tools(client) if t.meta and t.meta["a2c/computer"] == "my laptop")
    assert laptop.startswith("my-laptop__")
    result = await client.call_tool("desk__echo", {"text": "你好"})
    assert (text_of(result), result.structured_content, result.is_error) == ("你好", {"text": "你好"}, False)


async def test_binary_contents_arrive_byte_for_byte(client: Client) -> None:
    result: Any = await client.call_tool("desk__picture")
    read: Any = await client.read_resource("a2c://desk/blob/picture")
    assert base64.b64decode(result.content[0].data) == bytes(range(256))
    assert (read.contents[0].mime_type, base64.b64decode(read.contents[0].blob)) == ("image/png", bytes(range(256)))


async def test_a_link_in_a_result_can_be_read(client: Client) -> None:
    result: Any = await client.call_tool("desk__link")
    assert result.content[0].uri == "a2c://desk/@desk/dpe/office/plan"
    read: Any = await client.read_resource(result.content[0].uri)
    assert json.loads(read.contents[0].text)["doc_ref"] == "plan"


@pytest.mark.parametrize("mode", ERAS)
async def test_large_results_arrive_whole(url: str, mode: str) -> None:
    transport = streamable_http_client(url, max_sse_event_size=None)
    async with Client(transport, mode=mode) as client:
        result = await client.call_tool("desk__large", {"size": 3_000_000})
        assert text_of(result) == "x" * 3_000_000


async def test_windows_and_documents_of_every_computer_are_resources(client: Client) -> None:
    found: list[types.Resource] = []
    cursor: str | None = None
    while True:
        page = await client.list_resources(cursor=cursor)
        assert len(page.resources) <= 4
        found += page.resources
        cursor = page.next_cursor
        if cursor is None:
            break
    own = ["blob/picture", "dpe/office/plan", "dpe/office/report", "window/office/board?priority=50"]
    assert [one.uri for one in found] == [
        f"a2c://{name}/@desk/{uri}" for name in ("desk", "my%20laptop") for uri in own
    ]
    whose = {"a2c/computer": "desk", "a2c/mcp_server": "desk"}
    assert (found[3].name, found[3].title, found[3].meta) == ("board", "The board", whose)


async def test_a_cursor_of_somebody_else_is_a_wrong_parameter(client: Client) -> None:
    with pytest.raises(MCPError) as caught:
        await client.list_resources(cursor="somebody else's")
    assert caught.value.code == types.INVALID_PARAMS


@pytest.mark.rule("3.3")
async def test_errors_come_with_the_code_and_the_data_of_the_server(client: Client) -> None:
    assert await refusal(client, "a2c://desk/dpe/office/nothing") == (4201, {"doc_ref": "nothing"})
    assert await refusal(client, "a2c://desk/dpe/office/plan/pages/9") == (4202, {"page_index": 9, "page_count": 3})
    assert (await refusal(client, "a2c://desk/dpe/office/plan?depth=all"))[0] == 4204
    assert (await refusal(client, "a2c://nobody/dpe/office/plan"))[0] == 404
    assert (await refusal(client, "a2c:desk"))[0] == 400


async def test_an_unknown_tool_is_answered_with_those_that_are_near(client: Client) -> None:
    with pytest.raises(MCPError) as caught:
        await client.call_tool("echo", {})
    assert caught.value.code == 4001
    assert "desk__echo" in caught.value.data["near"]


async def test_a_uri_that_two_computers_have_must_say_which(client: Client) -> None:
    theirs = [f"a2c://{name}/dpe/office/plan" for name in ("desk", "my%20laptop")]
    assert await refusal(client, "dpe://office/plan") == (400, {"uris": theirs})


async def test_templates_are_read_and_completed_with_what_was_chosen_before(client: Client) -> None:
    templates = (await client.list_resource_templates()).resource_templates
    assert PAGE_TEMPLATE in [one.uri_template for one in templates]
    ref = types.ResourceTemplateReference(uri=PAGE_TEMPLATE)
    documents = await client.complete(ref, {"name": "doc_ref", "value": "re"})
    pages = await client.complete(ref, {"name": "page_index", "value": "1"}, {"doc_ref": "report"})
    assert (documents.completion.values, pages.completion.values) == (["report"], ["1", "10", "11"])
    read: Any = await client.read_resource("a2c://desk/dpe/office/report/pages/10")
    assert (read.contents[0].uri, json.loads(read.contents[0].text)["page"]) == (
        "a2c://desk/dpe/office/report/pages/10",
        "10",
    )


@pytest.mark.rule("4.7")
async def test_a_cancelled_call_is_cancelled_at_the_computers_server(client: Client) -> None:
    before = int(text_of(await client.call_tool("desk__count")))
    signs = Signs()
    call = asyncio.create_task(client.call_tool("desk__wait", progress_callback=signs))
    await signs.until(1)
    await give_up(call)

    async def cancelled() -> bool:
        return int(text_of(await client.call_tool("desk__count"))) == before + 1

    await until(cancelled)


async def test_a_running_tool_gives_signs_of_life(client: Client) -> None:
    signs = Signs()
    call = asyncio.create_task(client.call_tool("desk__wait", progress_callback=signs))
    await signs.until(3)
    await give_up(call)
    numbers = [progress for progress, _, _ in signs.told]
    assert numbers == sorted(set(numbers))
    assert {told[1:] for told in signs.told[:3]} == {(None, "wait is running on desk (0 s)")}


async def test_many_clients_share_the_one_seat(url: str) -> None:
    async def ask(mode: str, text: str) -> str:
        async with Client(url, mode=mode) as client:
            return text_of(await client.call_tool("desk__echo", {"text": text}))

    answers = await asyncio.gather(*(ask(mode, f"{mode} {n}") for mode in ERAS for n in range(5)))
    assert answers == [f"{mode} {n}" for mode in ERAS for n in range(5)]
