"""Tool calls: what runs, and what is refused."""

import logging
from typing import Any

import pytest

from a2c_smcp.computer.config.models import ToolMeta
from a2c_smcp.computer.ports import Json, ServerState
from a2c_smcp.computer.tools.confirmation import Confirmation, Decision
from a2c_smcp.computer.tools.results import interrupted
from a2c_smcp.errors import (
    ConfirmationRequired,
    PageOutOfRange,
    SMCPError,
    ToolDisabled,
    ToolFailed,
    ToolNotFound,
)
from tests.unit.computer.tools.bench import DONE, Bench
from tests.unit.computer.tools.fakes import (
    answering,
    config,
    failing,
    forever,
    free,
    request,
)


async def test_a_call_gives_the_result_of_the_tool() -> None:
    bench = Bench()
    assert await bench.calls.run(request(x=1)) == DONE | {"structuredContent": {"x": 1}}
    assert bench.session.calls == [("echo", {"x": 1})]


async def test_a_listed_name_reaches_the_tool_behind_it() -> None:
    server = config("s", tool_meta={"echo": ToolMeta(alias="say", auto_apply=True)})
    bench = Bench(server=server)
    await bench.calls.run(request("say"))
    await bench.calls.run(request("s__echo", "r2"))
    assert [name for name, _ in bench.session.calls] == ["echo", "echo"]


@pytest.mark.rule("4.1.list", "3.1.tool")
async def test_what_fails_before_the_tool_runs_is_raised_with_its_code() -> None:
    bench = Bench(server=free("s", forbidden_tools=["other"]))
    with pytest.raises(ToolNotFound) as unknown:
        await bench.calls.run(request("ecko"))
    with pytest.raises(ToolDisabled) as forbidden:
        await bench.calls.run(request("other"))
    assert [(error.value.code, error.value.req_id) for error in (unknown, forbidden)] == [(4001, "r1"), (4002, "r1")]
    assert unknown.value.details == {"tool_name": "ecko", "near": ["echo"]}
    assert bench.ran == 0


async def test_a_tool_that_says_it_failed_keeps_its_words() -> None:
    bench = Bench(answering(content=[{"type": "text", "text": "no such file"}], isError=True))
    assert await bench.calls.run(request()) == {
        "content": [{"type": "text", "text": "no such file"}],
        "isError": True,
        "meta": {"code": 4003},
    }


@pytest.mark.parametrize(
    ("error", "meta"),
    [
        (ToolFailed("The MCP server 's' died"), {"code": 4003}),
        (SMCPError("Unknown tool", code=-32602), {"code": 4003, "mcp_code": -32602}),
        (PageOutOfRange(details={"page_count": 3}), {"code": 4202, "details": {"page_count": 3}}),
    ],
)
async def test_a_server_that_fails_under_a_call_is_a_result_that_says_why(error: SMCPError, meta: Json) -> None:
    result = await Bench(failing(error)).calls.run(request())
    assert (result["isError"], result["meta"], result["content"][0]["text"]) == (True, meta, error.message)


async def test_a_server_that_is_down_is_a_result_that_says_so_and_may_be_tried_again() -> None:
    bench = Bench()
    await bench.box.tools()
    bench.session.state = ServerState.WAITING
    assert await bench.calls.run(request()) == {
        "content": [{"type": "text", "text": "The MCP server 's' is not running"}],
        "isError": True,
        "meta": {"code": 4003},
    }
    bench.session.state = ServerState.RUNNING
    assert await bench.calls.run(request()) == DONE
    assert [record["success"] for record in bench.calls.history.records()] == [True]


async def test_a_fault_of_the_computer_itself_is_told_without_its_secrets(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    result = await Bench(failing(KeyError("secret"))).calls.run(request())
    assert result["meta"] == {"code": 500}
    assert "secret" not in str(result)


async def test_a_fault_before_the_tool_runs_is_raised(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.CRITICAL)
    bench = Bench()

    async def broken(_: str) -> Any:
        raise KeyError

    monkeypatch.setattr(bench.box, "resolve", broken)
    with pytest.raises(SMCPError) as caught:
        await bench.calls.run(request())
    assert caught.value.code == 500


@pytest.mark.rule("4.4")
async def test_without_auto_apply_and_nobody_to_ask_nothing_runs() -> None:
    bench = Bench(server=config("s"))
    with pytest.raises(ConfirmationRequired) as caught:
        await bench.calls.run(request())
    assert (caught.value.code, bench.ran, bench.calls.history.records()) == (4005, 0, [])


@pytest.mark.rule("4.4")
async def test_what_the_owner_allows_runs() -> None:
    asked = []

    async def yes(confirmation: Confirmation) -> Decision:
        asked.append((confirmation.agent, confirmation.req_id, confirmation.arguments))
        return Decision.ONCE

    bench = Bench(server=config("s"), confirm=yes)
    await bench.calls.run(request(x=1))
    await bench.calls.run(request(req_id="r2", x=1))
    assert asked == [("a", "r1", {"x": 1}), ("a", "r2", {"x": 1})]
    assert bench.ran == 2


@pytest.mark.rule("4.4")
async def test_always_is_asked_once() -> None:
    asked = []

    async def always(confirmation: Confirmation) -> Decision:
        asked.append(confirmation.req_id)
        return Decision.ALWAYS

    bench = Bench(server=config("s"), confirm=always)
    for number in range(3):
        await bench.calls.run(request(req_id=str(number), x=number))
    assert (asked, bench.ran) == (["0"], 3)


async def test_nobody_is_asked_twice_for_what_was_refused() -> None:
    asked = []

    async def no(confirmation: Confirmation) -> Decision:
        asked.append(confirmation.req_id)
        return Decision.REFUSE

    bench = Bench(server=config("s"), confirm=no)
    for _ in range(2):
        with pytest.raises(ConfirmationRequired):
            await bench.calls.run(request())
    assert (asked, bench.ran) == (["r1"], 0)


async def test_nobody_is_asked_about_a_server_that_is_down() -> None:
    bench = Bench(server=config("s"))
    await bench.box.tools()
    bench.session.state = ServerState.FAILED
    assert (await bench.calls.run(request()))["meta"] == {"code": 4003}


async def test_closing_tells_those_who_wait_and_lets_nobody_in() -> None:
    bench = Bench(forever)
    call = await bench.running()
    await bench.calls.aclose()
    assert await call == interrupted("echo")
    assert bench.session.cancelled == ["echo"]
    with pytest.raises(ToolFailed, match="stopping"):
        await bench.calls.run(request(req_id="r2"))


async def test_closing_with_nothing_running_is_quiet() -> None:
    await Bench().calls.aclose()


async def test_shaping_is_part_of_a_call() -> None:
    server = config("s", default_tool_meta=ToolMeta(auto_apply=True, ret_object_mapper={"y": "x"}))
    result = await Bench(server=server).calls.run(request(x=1))
    assert result["meta"] == {"a2c_ret_object_mapper": '{"y": 1}'}


@pytest.mark.rule("4.9")
async def test_every_call_that_ran_is_in_the_history() -> None:
    bench = Bench(failing(ToolFailed("died")))
    await bench.calls.run(request(x=1))
    (record,) = bench.calls.history.records()
    assert record.pop("timestamp").endswith("+00:00")  # type: ignore[misc]
    assert record == {
        "req_id": "r1",
        "server": "s",
        "tool": "echo",
        "parameters": {"x": 1},
        "timeout": 30,
        "success": False,
        "error": "died",
    }
    assert bench.calls.history.servers() == ["s"]
