"""What servers answer, in JSON, with both eras and from any task."""

import asyncio
import json
from typing import Any

import pytest

from a2c_smcp.computer.mcp.session import ServerSession
from a2c_smcp.errors import BadRequest, DocumentNotFound, ElementNotFound, PageOutOfRange, SMCPError, ToolFailed
from tests.interaction.computer.mcp.conftest import CAP, SERVERS, Host, life, modern, older, stdio, text_of
from tests.peers.environments import PATIENCE

pytestmark = pytest.mark.timeout(PATIENCE)


@pytest.fixture(params=["older", "newer"])
async def session(request: pytest.FixtureRequest, host: Host) -> ServerSession:
    """A running server of each era."""
    return await host.running(life("server") if request.param == "older" else modern("server"))


async def test_all_tools_are_listed_as_the_server_sent_them(host: Host) -> None:
    session = await host.running(life("a"))

    tools = await session.list_tools()

    assert [tool["name"] for tool in tools][:6] == ["echo", "wait", "die", "flood", "change", "environment"]
    assert tools[-1] == {"name": "large", "inputSchema": {"type": "object"}, "x-extra": 1}


@pytest.mark.rule("5.5")
async def test_a_tool_with_an_unusable_schema_hides_no_other_and_the_owner_learns_which_and_why(
    host: Host, caplog: pytest.LogCaptureFixture
) -> None:
    session = await host.running(life("a", "--odd-schemas"))

    names = [tool["name"] for tool in await session.list_tools()]
    await session.list_tools()

    assert len(names) == 12
    assert not any(name.startswith("odd") for name in names)
    assert session.status.left_out == [
        "tool 'odd0': inputSchema.required: not a list of strings",
        "tool 'odd1': inputSchema.required: not a list of strings",
        "tool 'odd2': inputSchema.properties.a: not a schema",
        "tool 'odd3': inputSchema.$schema: not a string",
    ]
    assert caplog.text.count("'odd0'") == 1


async def test_a_result_looks_the_same_in_both_eras(session: ServerSession) -> None:
    result = await session.call_tool("echo", {"text": "hello"})

    assert set(result) - {"isError"} == {"content"}
    assert "hello" in text_of(result)


async def test_arguments_that_cannot_be_written_are_refused(session: ServerSession) -> None:
    deep: Any = []
    for _ in range(1_000):
        deep = [deep]

    with pytest.raises(BadRequest, match="cannot be sent to MCP server 'server'"):
        await session.call_tool("echo", {"text": deep})
    assert "hello" in text_of(await session.call_tool("echo", {"text": "hello"}))


async def test_progress_is_told(session: ServerSession) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    await session.call_tool("progress", {}, progress=lambda *step: told.append(step))

    assert told == [(0.0, 3.0, "step 0"), (1.0, 3.0, "step 1"), (2.0, 3.0, "step 2")]


@pytest.mark.rule("4.6", "4.7")
async def test_cancelling_a_call_cancels_it_at_the_server(host: Host) -> None:
    session = await host.running(modern("a"))
    call = asyncio.create_task(session.call_tool("wait", {"name": "this"}))
    await session.call_tool("echo", {})

    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
    async with asyncio.timeout(CAP):
        while text_of(await session.call_tool("cancelled", {})) != "this":
            pass


async def test_many_tasks_ask_at_once(session: ServerSession) -> None:
    texts = [f"call {number}" for number in range(50)]

    answers = await asyncio.gather(*(session.call_tool("echo", {"text": text}) for text in texts))

    assert all(text in text_of(answer) for text, answer in zip(texts, answers, strict=True))


@pytest.mark.rule("2.2.more")
async def test_resources_templates_and_completions_come_as_json(host: Host) -> None:
    await host.running(life("older"), modern("newer"))

    assert await host["older"].list_resources() == ([{"uri": "window://life/main", "name": "main"}], None)
    assert await host["older"].list_resource_templates() == (
        [{"uriTemplate": "window://life/{name}", "name": "any"}],
        None,
    )
    assert await host["newer"].read_resource("window://modern/main") == [
        {"uri": "window://modern/main", "text": "contents"}
    ]
    reference = {"type": "ref/resource", "uri": "dpe://modern/{doc_ref}/pages/{page_index}"}
    assert await host["newer"].complete(
        reference, {"name": "page_index", "value": "1"}, {"arguments": {"doc_ref": "report"}}
    ) == {"values": ["1report"], "total": 1, "hasMore": False}
    assert await host["newer"].complete(reference, {"name": "doc_ref", "value": "x"}) == {
        "values": ["x"],
        "total": 1,
        "hasMore": False,
    }


async def test_a_server_without_tools_or_resources_has_none(host: Host) -> None:
    session = await host.running(life("bare", "--no-tools", "--no-resources"))

    assert (await session.list_tools(), await session.list_resources(), await session.list_resource_templates()) == (
        [],
        ([], None),
        ([], None),
    )


@pytest.mark.rule("3.3")
async def test_document_errors_of_a_server_keep_code_message_and_details(host: Host) -> None:
    session = await host.running(modern("a"))

    with pytest.raises(PageOutOfRange) as failed:
        await session.read_resource("dpe://modern/report/pages/99")

    assert (failed.value.message, failed.value.details) == (
        "Page out of range",
        {"page_index": 99, "page_count": 12},
    )


@pytest.mark.rule("3.3")
async def test_document_errors_of_a_server_on_mcp_1_arrive_the_same(host: Host) -> None:
    script = str(SERVERS / "life_old.py")
    await host.running(stdio("low", *older(script, "low")), stdio("high", *older(script, "high")))

    with pytest.raises(DocumentNotFound) as by_code:
        await host["low"].read_resource("dpe://old/gone")
    with pytest.raises(ElementNotFound) as in_data:
        await host["low"].read_resource("window://old/e1")
    with pytest.raises(DocumentNotFound) as in_text:
        await host["high"].read_resource("dpe://old/gone")

    assert (by_code.value.message, by_code.value.details) == ("Document not found", {"doc_ref": "gone"})
    assert in_data.value.details == {"element_id": "e1"}
    assert "no document gone" in in_text.value.message


async def test_other_errors_keep_the_servers_own_code(host: Host) -> None:
    session = await host.running(life("a"))

    with pytest.raises(SMCPError) as failed:
        await session.call_tool("fail", {"code": -32000, "message": "Own error", "data": [1, 2]})

    assert (failed.value.code, failed.value.message, failed.value.details) == (-32000, "Own error", {"data": [1, 2]})


async def test_an_answer_that_is_no_result_fails_the_request_and_nothing_else(host: Host) -> None:
    session = await host.running(life("odd", "--odd-results"))

    with pytest.raises(ToolFailed, match="not an MCP result"):
        await session.call_tool("echo", {})
    assert len(await session.list_tools()) > 0


@pytest.mark.parametrize("size", [2_000_000, 20_000_000])
async def test_a_large_result_arrives_whole(session: ServerSession, size: int) -> None:
    assert len(text_of(await session.call_tool("large", {"size": size}))) == size


async def test_a_server_gets_a_small_part_of_our_environment_and_what_is_configured(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not for servers")
    monkeypatch.setenv("LANG", "C.UTF-8")
    session = await host.running(life("a", env={"GREETING": "hello"}))

    environment: dict[str, Any] = json.loads(text_of(await session.call_tool("environment", {})))

    assert "AWS_SECRET_ACCESS_KEY" not in environment
    assert (environment["GREETING"], environment["LANG"], "PATH" in environment) == ("hello", "C.UTF-8", True)
