"""What a tool says of how far it is: seldom enough, never backwards, and only to whoever asked."""

import asyncio
import math
from collections.abc import Mapping
from typing import Any

import pytest

from a2c_smcp.computer.ports import Json, ProgressCallback
from a2c_smcp.computer.tools.completed_calls import CallKey
from a2c_smcp.computer.tools.progress import BURST, LONGEST, RATE_OF_ALL, ProgressReports, advance
from a2c_smcp.messages import ProgressData
from tests.unit.computer.tools.bench import Bench
from tests.unit.computer.tools.fakes import Behaviour, in_virtual_time, request, until

KEY = CallKey("office", "a", "r1")


class Line:
    """Remembers what was told, and when."""

    def __init__(self) -> None:
        self.told: list[tuple[float, str, Mapping[str, Any]]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def send_progress(self, office_id: str, report: Mapping[str, Any]) -> None:
        self.told.append((asyncio.get_running_loop().time(), office_id, report))
        await self.gate.wait()

    @property
    def numbers(self) -> list[float]:
        return [report["progress"] for _, _, report in self.told]


@pytest.mark.parametrize(
    ("before", "said", "report"),
    [
        (None, (1,), {"progress": 1}),
        (None, (1, 2, "half"), {"progress": 1, "total": 2, "message": "half"}),
        (None, (1, math.inf, ""), {"progress": 1}),
        (None, (math.nan, 2, "half"), None),
        (None, (1, None, "x" * 2_000), {"progress": 1, "message": "x" * (LONGEST - 1) + "…"}),
        ({"progress": 1, "total": 2}, (1, 2), None),
        ({"progress": 1}, (1, None, "other words"), {"progress": 1, "message": "other words"}),
        ({"progress": 5, "total": 5}, (0, 3, "the next step"), {"progress": 5, "total": 3, "message": "the next step"}),
    ],
    ids=["number", "all", "no total", "no number", "long", "nothing new", "new words", "backwards"],
)
def test_what_is_told_is_new_finite_short_and_never_goes_back(
    before: ProgressData | None, said: tuple[Any, ...], report: ProgressData | None
) -> None:
    assert advance(before, *said) == report


async def test_a_report_is_sent_at_once_with_whose_it_is() -> None:
    line = Line()
    reports = ProgressReports(lambda: line)
    reports.report(KEY, {"progress": 1, "total": 2, "message": "half"})
    await asyncio.sleep(0)
    told = {"agent": "a", "req_id": "r1", "progress": 1, "total": 2, "message": "half", "number": 1}
    assert [one[1:] for one in line.told] == [("office", told)]


def test_of_many_reports_the_first_few_go_at_once_then_ten_a_second_and_the_latest_always() -> None:
    async def main() -> None:
        line = Line()
        reports = ProgressReports(lambda: line)
        clock = asyncio.get_running_loop().time
        began = clock()
        for step in range(1_000):
            reports.report(KEY, {"progress": step})
            await asyncio.sleep(0.001)
        await asyncio.sleep(1)
        at_once = [moment for moment, *_ in line.told if moment - began < 0.05]
        assert (len(at_once), line.numbers[-1]) == (BURST, 999)
        assert 9 <= len(line.told) - BURST <= 11
        assert line.numbers == sorted(line.numbers)

    in_virtual_time(main())


def test_of_a_call_that_has_ended_nothing_more_is_sent() -> None:
    async def main() -> None:
        line = Line()
        reports = ProgressReports(lambda: line)
        for step in range(20):
            reports.report(KEY, {"progress": step})
            await asyncio.sleep(0)
        reports.end(KEY)
        await asyncio.sleep(1)
        assert line.numbers == [0, 1, 2, 3, 4]

    in_virtual_time(main())


def test_all_calls_together_have_a_budget() -> None:
    async def main() -> None:
        line = Line()
        reports = ProgressReports(lambda: line)
        for step in range(100):
            for call in range(1_000):
                reports.report(CallKey("office", "a", str(call)), {"progress": step})
            await asyncio.sleep(0.1)
        assert len(line.told) == pytest.approx(RATE_OF_ALL * 11, rel=0.02)
        assert len({told["req_id"] for _, _, told in line.told}) == 1_000
        await reports.aclose()

    in_virtual_time(main())


async def test_what_a_slow_line_cannot_take_is_replaced_by_what_comes_after() -> None:
    line = Line()
    reports = ProgressReports(lambda: line)
    line.gate.clear()
    reports.report(KEY, {"progress": 0})
    await until(lambda: len(line.told) == 1)
    for step in range(1, 4):
        reports.report(KEY, {"progress": step})
    reports.end(KEY)
    line.gate.set()
    reports.report(KEY._replace(req_id="r2"), {"progress": 9})
    await until(lambda: len(line.told) == 2)
    assert line.numbers == [0, 9]


async def test_without_a_line_nothing_is_told() -> None:
    reports = ProgressReports(lambda: None)
    reports.report(KEY, {"progress": 1})
    await asyncio.sleep(0)
    await reports.aclose()


def reporting(*steps: float) -> Behaviour:
    """A tool that says how far it is."""

    async def work(_: Json, progress: ProgressCallback) -> Json:
        for step in steps:
            progress(step, 3, None)
            await asyncio.sleep(0)
        return {"content": []}

    return work


FOLLOWED: Any = request() | {"accept_progress": True}


async def test_the_last_words_travel_with_the_result() -> None:
    line = Line()
    calls = Bench(reporting(1, 2, 3), reports=ProgressReports(lambda: line)).calls
    result = await calls.run(FOLLOWED, office="office")
    log = [{"progress": number, "total": 3, "number": number} for number in (1, 2, 3)]
    assert result == {
        "content": [],
        "isError": False,
        "progress": {"progress": 3, "total": 3},
        "progress_log": log,
    }
    assert line.numbers == [1, 2, 3][: len(line.numbers)]


async def test_whoever_asks_again_gets_the_last_word_too() -> None:
    calls = Bench(reporting(1, 3)).calls
    await calls.run(FOLLOWED)
    assert (await calls.run(FOLLOWED))["progress"] == {"progress": 3, "total": 3}


async def test_who_does_not_ask_gets_none_of_it() -> None:
    line = Line()
    calls = Bench(reporting(1, 2, 3), reports=ProgressReports(lambda: line)).calls
    assert (await calls.run(request()), line.told) == ({"content": [], "isError": False}, [])


@pytest.mark.parametrize("odd", ["yes", 1, None, False])
async def test_only_true_asks(odd: Any) -> None:
    asked: Any = {**request(), "accept_progress": odd}
    assert "progress" not in await Bench(reporting(1)).calls.run(asked)


async def test_a_call_that_is_sent_again_is_told_of_from_then_on() -> None:
    gate = asyncio.Event()
    line = Line()

    async def work(_: Json, progress: ProgressCallback) -> Json:
        progress(1, None, None)
        await gate.wait()
        progress(2, None, None)
        return {"content": []}

    bench = Bench(work, reports=ProgressReports(lambda: line))
    first = await bench.running()
    again = asyncio.create_task(bench.calls.run(FOLLOWED))
    await asyncio.sleep(0)
    gate.set()
    assert ("progress" in await first, (await again)["progress"], bench.ran) == (False, {"progress": 2}, 1)


async def test_a_cancelled_call_tells_nothing_more() -> None:
    line = Line()
    kept: list[ProgressCallback] = []

    async def work(_: Json, progress: ProgressCallback) -> Json:
        kept.append(progress)
        progress(1, None, None)
        await asyncio.Event().wait()
        return {}

    bench = Bench(work, reports=ProgressReports(lambda: line))
    call = asyncio.create_task(bench.calls.run(FOLLOWED))
    await until(lambda: len(line.told) == 1)
    assert bench.calls.cancel("a", "r1")
    kept[0](2, None, None)
    await call
    assert line.numbers == [1]
