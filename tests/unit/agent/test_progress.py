"""Hearing how far a call is."""

import asyncio
import logging
from typing import Any

import pytest

from a2c_smcp.agent.progress import BUFFER, ProgressRouter, ToolProgress, progress_of
from a2c_smcp.messages import CallToolResult
from tests.unit.computer.virtual_time import in_virtual_time, now

REPORT = {"agent": "a", "computer": "c", "req_id": "r", "progress": 1, "total": 2, "message": "half"}


@pytest.mark.parametrize(
    ("payload", "report"),
    [
        (REPORT, ToolProgress(1, 2, "half")),
        ({"progress": 0.5}, ToolProgress(0.5)),
        ({"progress": 1, "total": None, "message": None}, ToolProgress(1)),
        ({"progress": 1, "total": float("inf"), "message": 7}, ToolProgress(1)),
        ({"progress": True}, None),
        ({"progress": "1"}, None),
        ({"progress": float("nan")}, None),
        ({}, None),
        (None, None),
        ([1], None),
    ],
)
def test_a_report_is_read_from_whatever_comes(payload: object, report: ToolProgress | None) -> None:
    assert progress_of(payload) == report


async def test_two_who_wait_for_one_call_are_both_told() -> None:
    router = ProgressRouter()
    first: list[ToolProgress] = []
    second: list[ToolProgress] = []
    async with router.route("c", "r", first.append), router.route("c", "r", second.append):
        router.dispatch(REPORT)
    assert first == second == [ToolProgress(1, 2, "half")]


async def test_after_the_end_of_a_call_nothing_is_heard() -> None:
    router = ProgressRouter()
    told: list[ToolProgress] = []
    async with router.route("c", "r", told.append):
        pass
    router.dispatch(REPORT)
    assert (told, router._calls) == ([], {})


async def test_the_last_word_is_taken_out_of_the_result_and_told_once() -> None:
    told: list[ToolProgress] = []
    result: CallToolResult = {"content": [], "progress": {"progress": 1, "total": 2, "message": "half"}}
    router = ProgressRouter()
    async with router.route("c", "r", told.append) as receiver:
        router.dispatch(REPORT)
        assert receiver.finish(result) == {"content": []}
    assert told == [ToolProgress(1, 2, "half")]


async def test_a_call_that_is_given_up_does_not_wait_for_who_listens() -> None:
    began = asyncio.Event()

    async def slow(_: ToolProgress) -> None:
        began.set()
        await asyncio.Event().wait()

    router = ProgressRouter()

    async def call() -> None:
        async with router.route("c", "r", slow):
            router.dispatch(REPORT)
            await asyncio.Event().wait()

    calling = asyncio.create_task(call())
    await began.wait()
    calling.cancel()
    await asyncio.wait([calling])
    assert calling.cancelled()


@in_virtual_time
async def test_a_result_waits_a_second_for_who_is_slow_to_hear_what_came_before_it() -> None:
    async def slow(_: ToolProgress) -> None:
        await asyncio.Event().wait()

    router = ProgressRouter()
    async with router.route("c", "r", slow):
        router.dispatch(REPORT)
    assert now() == pytest.approx(1)


@in_virtual_time
async def test_who_is_too_slow_misses_the_oldest_and_hears_the_latest() -> None:
    told: list[float] = []

    async def slow(report: ToolProgress) -> None:
        await asyncio.sleep(0.001)
        told.append(report.progress)

    router = ProgressRouter()
    async with router.route("c", "r", slow):
        for step in range(2 * BUFFER):
            router.dispatch(REPORT | {"progress": step})
    assert told == list(range(BUFFER, 2 * BUFFER))


async def test_a_mistake_is_logged_and_the_next_report_is_told(caplog: pytest.LogCaptureFixture) -> None:
    told: list[float] = []

    def touchy(report: ToolProgress) -> None:
        told.append(report.progress)
        raise ValueError("oops")

    router = ProgressRouter()
    with caplog.at_level(logging.ERROR):
        async with router.route("c", "r", touchy):
            router.dispatch(REPORT)
            router.dispatch(REPORT | {"progress": 2})
    assert (told, [record.message for record in caplog.records]) == ([1, 2], ["a handler of progress failed"] * 2)


@pytest.mark.parametrize("odd", [REPORT | {"computer": 1}, REPORT | {"req_id": None}, "r", None])
async def test_what_is_no_notification_is_ignored(odd: Any) -> None:
    told: list[ToolProgress] = []
    router = ProgressRouter()
    async with router.route("c", "r", told.append):
        router.dispatch(odd)
    assert told == []


@pytest.mark.parametrize("heard", [[], [1], [1, 2], [1, 2, 3]])
async def test_reports_that_the_result_overtook_are_heard_once_and_in_order(heard: list[int]) -> None:
    router = ProgressRouter()
    told: list[float] = []
    result: Any = {"content": [], "progress": {"progress": 3}}
    result["progress_log"] = [{"progress": number, "number": number} for number in (1, 2, 3)]
    async with router.route("c", "r", lambda report: told.append(report.progress)) as receiver:
        for number in heard:
            router.dispatch(REPORT | {"progress": number, "number": number, "total": None, "message": None})
        assert receiver.finish(result) == {"content": []}
    assert told == [1, 2, 3]


@pytest.mark.parametrize("log", [None, 7, "x", [None, 7, {}], {"a": 1}])
async def test_a_log_that_is_none_is_ignored(log: object) -> None:
    told: list[ToolProgress] = []
    result: Any = {"content": [], "progress_log": log}
    async with ProgressRouter().route("c", "r", told.append) as receiver:
        assert receiver.finish(result) == {"content": []}
    assert told == []
