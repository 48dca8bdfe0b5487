"""The clock of a call, and what an observer is told."""

import asyncio
import logging
from typing import Any

import pytest

from a2c_smcp.computer.ports import Json, ProgressCallback
from a2c_smcp.computer.tools.call import CallLimits
from a2c_smcp.computer.tools.calls import ToolCalls
from a2c_smcp.computer.tools.confirmation import Confirmation, Decision
from a2c_smcp.computer.tools.progress import CallEvent, CallStage
from a2c_smcp.computer.tools.results import timed_out
from a2c_smcp.errors import ConfirmationRequired, ToolNotFound, ToolTimeout
from tests.unit.computer.tools.bench import Bench
from tests.unit.computer.tools.fakes import (
    Behaviour,
    FakeSessions,
    answering,
    config,
    forever,
    free,
    in_virtual_time,
    request,
)


def steps(pauses: list[float]) -> Behaviour:
    """A tool that reports progress after each pause."""

    async def work(_: Json, progress: ProgressCallback) -> Json:
        for number, pause in enumerate(pauses):
            await asyncio.sleep(pause)
            progress(number, len(pauses), "step")
        return {"content": []}

    return work


async def timed(calls: ToolCalls, timeout: float) -> tuple[Json, float]:
    loop = asyncio.get_running_loop()
    start = loop.time()
    result = await calls.run(request(timeout=timeout))
    return result, loop.time() - start


@pytest.mark.rule("4.6")
def test_on_time_out_the_call_is_cancelled_at_the_server_and_the_agent_is_told() -> None:
    async def main() -> None:
        bench = Bench(forever)
        result, seconds = await timed(bench.calls, 30)
        assert result == timed_out("echo", 30)
        assert result["meta"] == {"timeout": True, "a2c_timeout": True, "code": 4004}
        assert seconds == pytest.approx(30)
        await asyncio.sleep(0)
        assert bench.session.cancelled == ["echo"]
        (record,) = bench.calls.history.records()
        assert (record["success"], record["error"]) == (
            False,
            "The tool 'echo' did not finish within 30 s and was cancelled",
        )

    in_virtual_time(main())


def test_the_agent_is_told_in_time_although_the_server_does_not_stop() -> None:
    async def main() -> None:
        stopped = asyncio.Event()

        async def stubborn(_: Json, __: ProgressCallback) -> Json:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.sleep(1000)
                stopped.set()
            return {"content": [{"type": "text", "text": "too late"}]}

        bench = Bench(stubborn)
        result, seconds = await timed(bench.calls, 30)
        assert result["meta"]["timeout"]
        assert seconds == pytest.approx(30)
        await stopped.wait()
        assert await bench.calls.run(request(timeout=30)) == result

    in_virtual_time(main())


def test_progress_extends_the_time() -> None:
    async def main() -> None:
        result, seconds = await timed(Bench(steps([20] * 10)).calls, 30)
        assert not result["isError"]
        assert seconds == pytest.approx(200)

    in_virtual_time(main())


def test_without_further_progress_the_extended_time_ends() -> None:
    async def main() -> None:
        result, seconds = await timed(Bench(steps([20, 20, 31])).calls, 30)
        assert result["meta"]["timeout"]
        assert seconds == pytest.approx(70)

    in_virtual_time(main())


@pytest.mark.parametrize(
    ("timeout", "limits", "ends"),
    [
        (30, CallLimits(), 300),
        (30, CallLimits(extension=2), 60),
        (600, CallLimits(), 3600),
        (7200, CallLimits(), 7200),
        (30, CallLimits(extension=0), 30),
    ],
)
def test_progress_extends_the_time_up_to_a_cap(timeout: float, limits: CallLimits, ends: float) -> None:
    async def main() -> None:
        result, seconds = await timed(Bench(steps([7] * 2000), limits=limits).calls, timeout)
        assert result["meta"]["timeout"]
        assert seconds == pytest.approx(ends)

    in_virtual_time(main())


def test_progress_after_the_end_is_ignored() -> None:
    async def main() -> None:
        kept: list[ProgressCallback] = []

        async def keep(_: Json, progress: ProgressCallback) -> Json:
            kept.append(progress)
            return {"content": []}

        bench = Bench(keep)
        await bench.calls.run(request())
        kept[0](1, None, None)
        assert bench.stages == ["started", "done"]

    in_virtual_time(main())


@pytest.mark.rule("4.4")
@pytest.mark.parametrize(("timeout", "confirm", "ends"), [(30, 120, 30), (600, 120, 120)])
def test_a_question_expires_with_the_request_or_before_it(timeout: float, confirm: float, ends: float) -> None:
    async def main() -> None:
        async def silent(confirmation: Confirmation) -> Decision:
            assert confirmation.seconds == pytest.approx(ends)
            await asyncio.Event().wait()
            return Decision.ONCE

        bench = Bench(server=config("s"), confirm=silent, limits=CallLimits(confirm=confirm))
        loop = asyncio.get_running_loop()
        start = loop.time()
        with pytest.raises(ConfirmationRequired) as caught:
            await bench.calls.run(request(timeout=timeout))
        assert loop.time() - start == pytest.approx(ends)
        assert caught.value.details == {"tool_name": "echo", "mcp_server": "s", "reason": "expired"}
        assert bench.session.calls == []
        assert bench.stages == ["asked", "refused"]

    in_virtual_time(main())


@pytest.mark.rule("4.4")
def test_a_late_answer_runs_nothing() -> None:
    async def main() -> None:
        answered = asyncio.Event()

        async def slow(_: Confirmation) -> Decision:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                answered.set()
            return Decision.ALWAYS

        bench = Bench(server=config("s"), confirm=slow)
        with pytest.raises(ConfirmationRequired):
            await bench.calls.run(request(timeout=30))
        await answered.wait()
        await bench.calls.aclose()
        assert (bench.session.calls, bench.calls.consent.standing()) == ([], [])

    in_virtual_time(main())


async def test_a_call_that_is_cancelled_at_the_last_moment_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    route = await bench.box.resolve("echo")

    async def cancelling(_: str) -> Any:
        bench.calls.cancel("a", "r1")
        return route

    monkeypatch.setattr(bench.box, "resolve", cancelling)
    assert (await bench.calls.run(request()))["meta"]["cancelled"]
    await bench.calls.aclose()
    assert bench.session.calls == []


def test_a_tool_has_its_whole_time_after_the_owner_said_yes() -> None:
    async def main() -> None:
        async def slow(_: Confirmation) -> Decision:
            await asyncio.sleep(29)
            return Decision.ONCE

        result, seconds = await timed(Bench(steps([29]), config("s"), confirm=slow).calls, 30)
        assert not result["isError"]
        assert seconds == pytest.approx(58)

    in_virtual_time(main())


def test_a_name_that_cannot_be_looked_up_in_time_runs_nothing() -> None:
    async def main() -> None:
        bench = Bench()
        bench.session.listing_gate = asyncio.Event()
        with pytest.raises(ToolTimeout):
            await bench.calls.run(request(timeout=2))
        bench.session.listing_gate.set()
        await bench.box.tools()
        assert bench.session.calls == []

    in_virtual_time(main())


async def test_an_observer_sees_every_step() -> None:
    async def yes(_: Confirmation) -> Decision:
        return Decision.ONCE

    bench = Bench(steps([0, 0]), config("s"), confirm=yes)
    await bench.calls.run(request())
    assert bench.stages == ["asked", "started", "progress", "progress", "done"]
    assert [event.progress for event in bench.events[2:4]] == [(0, 2, "step"), (1, 2, "step")]
    last = bench.events[-1]
    assert last == CallEvent(CallStage.DONE, "a", "r1", "echo", "s", "echo", last.seconds, None, None)
    assert last.arguments == request()["params"]
    assert last.result is not None
    assert not last.result.get("isError")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ([{"type": "text", "text": "no such file"}], "no such file"),
        ([{"type": "image"}], "The tool failed"),
        ([], "The tool failed"),
    ],
)
async def test_an_observer_is_told_why_a_tool_failed(content: Any, error: str) -> None:
    bench = Bench(answering(content=content, isError=True))
    await bench.calls.run(request())
    assert [(str(event.stage), event.error) for event in bench.events] == [("started", None), ("failed", error)]


async def test_an_observer_sees_what_led_nowhere() -> None:
    bench = Bench()
    with pytest.raises(ToolNotFound):
        await bench.calls.run(request("x"))
    (event,) = bench.events
    assert event == CallEvent(
        CallStage.REFUSED, "a", "r1", "x", None, None, event.seconds, "There is no tool 'x'", None
    )


async def test_an_observer_that_fails_spoils_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)

    def fail(_: CallEvent) -> None:
        raise ConnectionError

    assert (await Bench(observer=fail).calls.run(request()))["isError"] is False


async def test_nobody_needs_to_watch() -> None:
    assert (await Bench(observer=None).calls.run(request()))["isError"] is False


async def test_a_result_is_safe_from_a_cancel_while_it_is_shaped() -> None:
    bench = Bench(server=free("s", vrl=".a = 1"))

    class Shaper:
        def concerns(self, _: Any) -> bool:
            return True

        async def shape(self, result: Json, *_: Any) -> Json:
            assert not bench.calls.cancel("a", "r1")
            return {**result, "meta": {"shaped": True}}

    bench.calls._services = type(bench.calls._services)(
        FakeSessions(bench.session),
        bench.box,
        bench.calls.consent,
        Shaper(),  # type: ignore[arg-type]
        bench.calls.history,
        bench.calls.limits,
        None,
    )
    assert (await bench.calls.run(request()))["meta"] == {"shaped": True}
