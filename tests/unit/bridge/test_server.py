"""The bridge before an office of the tests, asked by a real MCP client in this process."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, MCPError, types

from a2c_smcp.bridge.server import Bridge, BridgeSettings
from a2c_smcp.errors import ConfirmationRequired, InternalError
from a2c_smcp.web.mcp_changes import SubscriptionLimits
from tests.unit.bridge.fakes import FakeComputer, FakeOffice, tool

ERAS = ["legacy", "2026-07-28"]
DOCUMENT = {"uri": "dpe://h/plan", "title": "The plan", "file_type": "pdf", "doc_ref": "plan"}


@asynccontextmanager
async def client_of(office: FakeOffice, era: str = "legacy", **settings: Any) -> AsyncIterator[Client]:
    bridge = Bridge(office, "lab", BridgeSettings(**settings))
    unsubscribe = bridge.subscribe()
    bridge.on_joined()
    try:
        async with Client(bridge.server, mode=era) as client:
            yield client
    finally:
        unsubscribe()
        await bridge.close()


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_client_is_told_what_the_office_can_do(era: str) -> None:
    async with client_of(FakeOffice(), era) as client:
        can = client.server_capabilities
        assert can == types.ServerCapabilities(
            tools=types.ToolsCapability(list_changed=True),
            resources=types.ResourcesCapability(list_changed=True, subscribe=True),
            completions=types.CompletionsCapability(),
        )
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.title) == ("a2c", "Office lab")


@pytest.mark.parametrize("era", ERAS)
async def test_a_refused_call_has_its_code_and_its_details(era: str) -> None:
    desk = FakeComputer([tool("shred")])
    async with client_of(FakeOffice(desk=desk), era) as client:
        await client.list_tools()
        desk.problem = ConfirmationRequired("Nobody is there to ask", details={"reason": "nobody"})
        with pytest.raises(MCPError) as caught:
            await client.call_tool("desk__shred")
    error = caught.value
    assert (error.code, error.message, error.data) == (4005, "Nobody is there to ask", {"reason": "nobody"})


async def test_what_must_stay_here_does_not_reach_a_client() -> None:
    desk = FakeComputer([tool("x")])
    async with client_of(FakeOffice(desk=desk)) as client:
        await client.list_tools()
        desk.problem = InternalError("token=abcdef123456 at /home/ada/secret.txt", details={"password": "hunter2"})
        with pytest.raises(MCPError) as caught:
            await client.call_tool("desk__x")
    told = json.dumps([caught.value.message, caught.value.data])
    assert not [secret for secret in ("abcdef123456", "/home/ada", "hunter2") if secret in told]


@pytest.mark.parametrize(
    ("problem", "code", "told"),
    [
        (ConnectionError("closed"), 4103, "The connection to the office 'lab' was lost: closed"),
        (KeyError("/home/ada"), 500, "tools/call failed in the bridge (KeyError); see its log"),
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_whatever_happens_a_client_gets_an_answer(problem: Exception, code: int, told: str, era: str) -> None:
    class Broken(FakeOffice):
        async def call_tool(self, *arguments: Any, **options: Any) -> Any:
            raise problem

    async with client_of(Broken(desk=FakeComputer([tool("x")])), era) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("desk__x")
    assert (caught.value.code, caught.value.message) == (code, told)


async def test_a_call_is_made_with_the_bridges_own_time_out() -> None:
    office = FakeOffice(
        desk=FakeComputer([tool("x")], result={"content": [], "isError": True, "meta": {"timeout": True}})
    )
    async with client_of(office, call_timeout=7) as client:
        result = await client.call_tool("desk__x", {"a": 1})
    assert office.asked[-1] == ("call", "x", {"a": 1}, 7, "desk")
    assert (result.is_error, result.meta) == (True, {"timeout": True})


async def test_a_request_waits_for_the_seat_for_a_while() -> None:
    office = FakeOffice(desk=FakeComputer([tool("x")]))
    async with client_of(office, patience=0.01) as client:
        await office.tell("disconnected", problem="the cable")
        with pytest.raises(MCPError, match=r"'lab' cannot be reached now \(the cable\)") as caught:
            await client.list_tools()
        await office.tell("joined")
        assert [one.name for one in (await client.list_tools()).tools] == ["desk__x"]
    assert caught.value.code == 4103


async def test_one_odd_resource_does_not_spoil_the_list() -> None:
    odd: dict[str, Any] = {"uri": "x://1", "name": "odd", "size": "big", "annotations": 3, "mimeType": "text/plain"}
    nameless: dict[str, Any] = {"uri": "x://2"}
    office = FakeOffice(desk=FakeComputer(resources={"a": [[odd, nameless]]}))
    async with client_of(office) as client:
        found = (await client.list_resources()).resources
    assert [(one.uri, one.name, one.mime_type) for one in found] == [
        ("a2c://desk/@a/x/1", "odd", "text/plain"),
        ("a2c://desk/@a/x/2", "x://2", None),
    ]


async def test_a_uri_that_names_no_computer_is_looked_for() -> None:
    contents = {"uri": "dpe://h/plan/pages/1", "text": "page one"}
    desk = FakeComputer(resources={"a": [[{"uri": "x://1", "name": "x"}]]})
    laptop = FakeComputer(
        resources={"b": [[{"uri": "dpe://h/plan", "name": "plan"}]]}, contents={contents["uri"]: [contents]}
    )
    office = FakeOffice(desk=desk, laptop=laptop)
    async with client_of(office) as client:
        read: Any = await client.read_resource(contents["uri"])
        assert (read.contents[0].uri, read.contents[0].text) == ("dpe://h/plan/pages/1", "page one")
        assert [asked for asked in office.asked if asked[0] == "read"] == [("read", contents["uri"], "laptop")]
        with pytest.raises(MCPError) as caught:
            await client.read_resource("other://nothing")
    assert caught.value.code == 404


async def test_a_cancelled_call_is_given_up() -> None:
    office = FakeOffice(desk=FakeComputer([tool("x")]))
    office.gate = asyncio.Event()
    async with client_of(office) as client:
        with pytest.raises(MCPError):
            await client.call_tool("desk__x", read_timeout_seconds=2)
        async with asyncio.timeout(60):
            while not office.cancelled:
                await asyncio.sleep(0.01)


async def test_a_model_can_read_the_office_with_tools() -> None:
    picture = {"uri": "x://p", "mimeType": "image/png", "blob": "AAAA"}
    desk = FakeComputer(
        [tool("a2c_read")],
        desktop=["window://board\n\nhello"],
        finder={"documents": [DOCUMENT], "total_count": 1},
        contents={"x://p": [picture], "dpe://h/plan": [{"uri": "dpe://h/plan", "text": "{}"}]},
    )
    office = FakeOffice(desk=desk)
    async with client_of(office, reading_tools=True, plain_names=True) as client:
        names = [one.name for one in (await client.list_tools()).tools]
        desktop: Any = await client.call_tool("a2c_desktop", {"computer": "desk", "size": 2})
        found = await client.call_tool("a2c_find_documents", {"keywords": ["plan"], "limit": 5})
        read: Any = await client.call_tool("a2c_read", {"uri": "a2c://desk/x/p"})
    assert names == ["a2c_desktop", "a2c_find_documents", "a2c_read", "desk__a2c_read"]
    assert desktop.content[0].text == "[desk] window://board\n\nhello"
    assert found.structured_content == {
        "documents": [DOCUMENT | {"computer": "desk", "uri": "a2c://desk/dpe/h/plan"}],
        "total_count": 1,
    }
    assert (read.content[0].data, read.content[0].mime_type) == ("AAAA", "image/png")
    assert ("finder", ["plan"], None, 0, 5, "desk") in office.asked


@pytest.mark.parametrize(
    ("name", "arguments", "code", "words"),
    [
        ("a2c_desktop", {"computer": "nobody"}, 404, "There is no Computer 'nobody' in this office"),
        ("a2c_find_documents", {"keywords": "plan"}, 400, "keywords must be of type list"),
        ("a2c_read", {"uri": "x://p"}, 400, "a2c://desk/@"),
        ("a2c_read", {"uri": "a2c://desk/x/none"}, 404, ""),
    ],
)
async def test_a_model_reads_what_it_asked_wrongly(name: str, arguments: dict[str, Any], code: int, words: str) -> None:
    both = FakeComputer(resources={"server": [[{"uri": "x://p", "name": "p"}]]})
    async with client_of(FakeOffice(desk=both, den=both), reading_tools=True) as client:
        result: Any = await client.call_tool(name, arguments)
    assert (result.is_error, result.meta) == (True, {"code": code})
    assert words in result.content[0].text


async def test_without_being_asked_for_there_are_no_tools_of_its_own() -> None:
    async with client_of(FakeOffice()) as client:
        assert (await client.list_tools()).tools == []


@pytest.mark.filterwarnings("ignore:.*resources/(un)?subscribe")
async def test_a_client_may_subscribe_to_a_bounded_number_of_resources() -> None:
    async with client_of(FakeOffice(desk=FakeComputer())) as client:
        for number in range(SubscriptionLimits().uris):
            await client.subscribe_resource(f"note://desk/{number}")
        await client.subscribe_resource("note://desk/0")  # again is none more
        with pytest.raises(MCPError, match="1000 resources at a time") as caught:
            await client.subscribe_resource("note://desk/one-more")
        assert caught.value.code == 429
        await client.unsubscribe_resource("note://desk/0")
        with pytest.raises(MCPError, match="characters"):
            await client.subscribe_resource("note://" + "x" * 10_000)
        await client.subscribe_resource("note://desk/one-more")


async def test_a_stream_may_name_a_bounded_number_of_resources() -> None:
    async with client_of(FakeOffice(desk=FakeComputer()), "2026-07-28") as client:
        uris = [f"note://desk/{number}" for number in range(SubscriptionLimits().uris + 1)]
        with pytest.raises(MCPError, match="1000 resources at a time"):
            async with client.listen(resource_subscriptions=uris):
                pass
