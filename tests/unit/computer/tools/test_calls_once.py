"""One `req_id`, one call: what is not run twice, and what is cancelled."""

import asyncio
from typing import Any

import pytest

from a2c_smcp.computer.tools.call import CallLimits
from a2c_smcp.computer.tools.calls import MAX_EARLY_CANCELS
from a2c_smcp.computer.tools.confirmation import Confirmation, Decision
from a2c_smcp.computer.tools.results import cancelled, interrupted, too_large_to_keep
from a2c_smcp.errors import (
    BadRequest,
    RateLimited,
    ToolNotFound,
)
from tests.unit.computer.tools.bench import DONE, Bench, gated
from tests.unit.computer.tools.fakes import (
    answering,
    config,
    forever,
    request,
    until,
)


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
    for number in range(MAX_EARLY_CANCELS + 1):
        bench.calls.cancel("a", str(number))
    assert await bench.calls.run(request(req_id="0")) == DONE
    assert await bench.calls.run(request(req_id="1")) == cancelled("echo")


async def test_a_call_is_cancelled_while_the_owner_is_being_asked() -> None:
    asking, withdrawn = asyncio.Event(), asyncio.Event()

    async def ponder(_: Confirmation) -> Decision:
        asking.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            withdrawn.set()
            raise
        return Decision.ONCE

    bench = Bench(server=config("s"), confirm=ponder)
    call = bench.start()
    await asking.wait()
    assert bench.calls.cancel("a", "r1")
    assert await call == cancelled("echo")
    await withdrawn.wait()
    assert bench.ran == 0


async def test_a_call_whose_task_somebody_else_cancels_is_answered() -> None:
    bench = Bench(forever)
    call = await bench.running()
    for task in asyncio.all_tasks():
        if task.get_name() == "call echo":
            task.cancel()
    assert await call == interrupted("echo")
