"""Tool calls: what runs, what is refused, and what is not run twice."""

import asyncio
import logging
from typing import Any

import pytest

from a2c_smcp.computer.mcp_clients.model import ToolMeta
from a2c_smcp.computer.ports import Json, Progress, ServerState
from a2c_smcp.computer.tools.call import CallLimits
from a2c_smcp.computer.tools.calls import MAX_EARLY, ToolCalls
from a2c_smcp.computer.tools.confirmation import Answer, Confirmation
from a2c_smcp.computer.tools.results import cancelled, interrupted, too_large_to_keep
from a2c_smcp.computer.tools.toolbox import ToolBox
from a2c_smcp.errors import (
    BadRequest,
    ConfirmationRequired,
    PageOutOfRange,
    RateLimited,
    SMCPError,
    ToolDisabled,
    ToolFailed,
    ToolNotFound,
)
from tests.unit.computer.tools.fakes import (
    Behaviour,
    FakeSession,
    FakeSessions,
    answering,
    config,
    failing,
    forever,
    free,
    request,
    until,
)

DONE = {"content": [{"type": "text", "text": "done"}], "structuredContent": {}, "isError": False}


class Bench:
    """A Computer with one server `s` whose tool `echo` runs unasked."""

    def __init__(self, behaviour: Behaviour | None = None, server: Any = None, **options: Any) -> None:
        self.session = FakeSession("s", ["echo", "other"], behaviour)
        self.now = 0.0
        sessions = FakeSessions(self.session)
        self.box = ToolBox(sessions, {"s": server or free("s")})
        self.calls = ToolCalls(sessions, self.box, clock=lambda: self.now, **options)

    def start(self, **fields: Any) -> "asyncio.Task[Json]":
        return asyncio.ensure_future(self.calls.run(request(**fields)))

    async def running(self, **fields: Any) -> "asyncio.Task[Json]":
        """Start a call and return when it has reached the server."""
        self.session.called.clear()
        task = self.start(**fields)
        await self.session.called.wait()
        return task

    @property
    def ran(self) -> int:
        return len(self.session.calls)


def gated(gate: asyncio.Event) -> Behaviour:
    async def wait(arguments: Json, _: Progress) -> Json:
        await gate.wait()
        return {"content": [], "structuredContent": arguments}

    return wait


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


@pytest.mark.rule("4.1.list", "3.1")
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

    async def yes(confirmation: Confirmation) -> Answer:
        asked.append((confirmation.agent, confirmation.req_id, confirmation.arguments))
        return Answer.ONCE

    bench = Bench(server=config("s"), confirm=yes)
    await bench.calls.run(request(x=1))
    await bench.calls.run(request(req_id="r2", x=1))
    assert asked == [("a", "r1", {"x": 1}), ("a", "r2", {"x": 1})]
    assert bench.ran == 2


@pytest.mark.rule("4.4")
async def test_always_is_asked_once() -> None:
    asked = []

    async def always(confirmation: Confirmation) -> Answer:
        asked.append(confirmation.req_id)
        return Answer.ALWAYS

    bench = Bench(server=config("s"), confirm=always)
    for number in range(3):
        await bench.calls.run(request(req_id=str(number), x=number))
    assert (asked, bench.ran) == (["0"], 3)


async def test_nobody_is_asked_twice_for_what_was_refused() -> None:
    asked = []

    async def no(confirmation: Confirmation) -> Answer:
        asked.append(confirmation.req_id)
        return Answer.REFUSE

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


@pytest.mark.rule("4.8")
async def test_the_same_id_while_running_waits_for_the_same_result() -> None:
    gate = asyncio.Event()
    bench = Bench(gated(gate))
    first, second = bench.start(x=1), bench.start(x=1)
    await bench.session.called.wait()
    gate.set()
    assert await first == await second
    assert bench.ran == 1


@pytest.mark.rule("4.8")
async def test_the_same_id_shortly_after_gets_the_same_result() -> None:
    bench = Bench()
    first = await bench.calls.run(request(x=1))
    bench.now = 299
    assert await bench.calls.run(request(x=1)) == first
    assert bench.ran == 1


@pytest.mark.rule("4.8")
async def test_the_same_id_much_later_is_a_new_call() -> None:
    bench = Bench()
    await bench.calls.run(request())
    bench.now = 300
    await bench.calls.run(request())
    assert bench.ran == 2


@pytest.mark.rule("4.8")
async def test_ids_belong_to_their_agent_and_office() -> None:
    bench = Bench()
    await bench.calls.run(request())
    await bench.calls.run(request(agent="b"))
    await bench.calls.run(request(), office="other")
    assert bench.ran == 3


@pytest.mark.rule("4.8")
@pytest.mark.parametrize("other", [request(x=2), request("other", x=1)])
async def test_an_id_cannot_be_used_for_another_call(other: Any) -> None:
    gate = asyncio.Event()
    bench = Bench(gated(gate))
    first = await bench.running(x=1)
    with pytest.raises(BadRequest, match="'r1' belongs to another call"):
        await bench.calls.run(other)
    gate.set()
    await first
    with pytest.raises(BadRequest, match="'r1' belongs to another call"):
        await bench.calls.run(other)
    assert bench.ran == 1


@pytest.mark.rule("4.8")
async def test_a_call_whose_asker_is_gone_runs_on_and_keeps_its_result() -> None:
    gate = asyncio.Event()
    bench = Bench(gated(gate))
    lost = await bench.running(x=1)
    lost.cancel()
    with pytest.raises(asyncio.CancelledError):
        await lost
    again = bench.start(x=1)
    gate.set()
    assert (await again)["structuredContent"] == {"x": 1}
    assert (bench.ran, bench.session.cancelled) == (1, [])


async def test_an_unknown_name_may_be_tried_again() -> None:
    bench = Bench()
    with pytest.raises(ToolNotFound):
        await bench.calls.run(request("new"))
    bench.session.listed.append({"name": "new"})
    bench.box.tools_changed("s")
    assert await bench.calls.run(request("new")) == DONE


async def test_what_is_too_large_to_keep_is_not_run_again() -> None:
    limits = CallLimits(keep_weight=5_000, keep_entries=2)
    bench = Bench(answering(content=["x" * 10_000]), limits=limits)
    assert (await bench.calls.run(request()))["isError"] is False
    assert await bench.calls.run(request()) == too_large_to_keep()
    assert bench.ran == 1


async def test_each_who_waits_has_a_result_of_its_own_to_add_to() -> None:
    bench = Bench()
    (await bench.calls.run(request()))["req_id"] = "r1"
    assert await bench.calls.run(request()) == DONE


@pytest.mark.parametrize("params", [{"x": {1, 2}}, {"x": object()}])
async def test_arguments_that_are_not_json_are_refused(params: Any) -> None:
    with pytest.raises(BadRequest, match="not JSON"):
        await Bench().calls.run(request(**params))


async def test_too_many_calls_at_once_are_refused() -> None:
    bench = Bench(forever, limits=CallLimits(running=1))
    first = await bench.running()
    with pytest.raises(RateLimited):
        await bench.calls.run(request(req_id="r2"))
    bench.calls.cancel("a", "r1")
    await first


@pytest.mark.rule("4.7")
async def test_a_cancel_reaches_the_server_and_the_agent_is_told() -> None:
    bench = Bench(forever)
    call = await bench.running()
    assert bench.calls.cancel("a", "r1")
    assert await call == cancelled("echo")
    await until(lambda: bench.session.cancelled == ["echo"])
    assert await bench.calls.run(request()) == cancelled("echo")
    assert bench.ran == 1


@pytest.mark.rule("4.7")
async def test_a_call_is_cancelled_only_by_its_own_agent() -> None:
    gate = asyncio.Event()
    bench = Bench(gated(gate))
    call = await bench.running()
    assert not bench.calls.cancel("b", "r1")
    assert not bench.calls.cancel("a", "r1", office="other")
    gate.set()
    assert (await call)["isError"] is False


@pytest.mark.rule("4.7")
async def test_a_cancel_of_a_finished_or_unknown_call_is_ignored() -> None:
    bench = Bench()
    first = await bench.calls.run(request())
    assert not bench.calls.cancel("a", "r1")
    assert not bench.calls.cancel("a", "never")
    assert await bench.calls.run(request()) == first


@pytest.mark.rule("4.7")
async def test_a_cancel_that_overtakes_its_call_counts() -> None:
    bench = Bench()
    bench.calls.cancel("a", "r1")
    assert await bench.calls.run(request()) == cancelled("echo")
    assert await bench.calls.run(request()) == cancelled("echo")
    assert bench.ran == 0


async def test_a_cancel_is_not_remembered_for_long() -> None:
    bench = Bench()
    bench.calls.cancel("a", "r1")
    bench.now = 10
    assert await bench.calls.run(request()) == DONE


async def test_only_so_many_early_cancels_are_remembered() -> None:
    bench = Bench()
    for number in range(MAX_EARLY + 1):
        bench.calls.cancel("a", str(number))
    assert await bench.calls.run(request(req_id="0")) == DONE
    assert await bench.calls.run(request(req_id="1")) == cancelled("echo")


async def test_a_call_is_cancelled_while_the_owner_is_being_asked() -> None:
    asking, withdrawn = asyncio.Event(), asyncio.Event()

    async def ponder(_: Confirmation) -> Answer:
        asking.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            withdrawn.set()
            raise
        return Answer.ONCE

    bench = Bench(server=config("s"), confirm=ponder)
    call = bench.start()
    await asking.wait()
    assert bench.calls.cancel("a", "r1")
    assert await call == cancelled("echo")
    await withdrawn.wait()
    assert bench.ran == 0


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


async def test_a_call_whose_task_somebody_else_cancels_is_answered() -> None:
    bench = Bench(forever)
    call = await bench.running()
    for task in asyncio.all_tasks():
        if task.get_name() == "call echo":
            task.cancel()
    assert await call == interrupted("echo")


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
