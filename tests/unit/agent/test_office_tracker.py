"""What is hard to time on a real line: things that happen at the same moment."""

import asyncio
from typing import Any

import pytest

from a2c_smcp.agent.events import EventDispatcher, OfficeEvent
from a2c_smcp.agent.office_tracker import DESKTOP, TOOLS, OfficeTracker
from a2c_smcp.agent.office_view import ComputerView, OfficeView
from a2c_smcp.common.backoff import Backoff
from a2c_smcp.errors import NotFound, RequestTimeout
from a2c_smcp.messages import SessionInfo

CAP = 60.0


class Stage:
    """A tracker office whose answers come when they are told to."""

    def __init__(self) -> None:
        self.office, self.events = OfficeView(), EventDispatcher()
        soon = Backoff(0.001, 0.01)
        self.tracker = OfficeTracker(
            self.office, self.events, enabled=True, members=self._members, read=self._read, retry=soon
        )
        self.listings: asyncio.Queue[asyncio.Future[list[SessionInfo]]] = asyncio.Queue()
        self.reads: asyncio.Queue[tuple[str, str, asyncio.Future[Any]]] = asyncio.Queue()
        self.stream = self.events.stream()

    async def _members(self) -> list[SessionInfo]:
        answer: asyncio.Future[list[SessionInfo]] = asyncio.get_running_loop().create_future()
        self.listings.put_nowait(answer)
        return await answer

    async def _read(self, computer: str, aspect: str) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.reads.put_nowait((computer, aspect, answer))
        return await answer

    async def listing(self) -> "asyncio.Future[list[SessionInfo]]":
        return await asyncio.wait_for(self.listings.get(), CAP)

    async def read(self) -> tuple[str, str, "asyncio.Future[Any]"]:
        return await asyncio.wait_for(self.reads.get(), CAP)

    def hear(self, event: str, computer: str) -> None:
        self.tracker.on_notification(f"notify:{event}", {"computer": computer})


async def nothing() -> None: ...


def member(name: str) -> SessionInfo:
    return {"role": "computer", "name": name}


async def test_who_comes_or_goes_while_the_list_is_on_its_way_counts_as_told_last() -> None:
    stage = Stage()
    joining = asyncio.ensure_future(stage.tracker.joined("o") or nothing())
    answer = await stage.listing()
    answer.set_result([{"role": "agent", "name": "a"}, member("stays"), member("goes")])
    stage.hear("leave_office", "goes")
    stage.hear("enter_office", "comes")
    await joining
    assert list(stage.office.computers) == ["stays", "comes"]
    await stage.tracker.close()


async def test_an_office_that_is_empty_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    stage = Stage()
    with caplog.at_level("INFO", "a2c_smcp.agent"):
        joining = asyncio.ensure_future(stage.tracker.joined("o") or nothing())
        (await stage.listing()).set_result([{"role": "agent", "name": "a"}])
        await joining
    assert caplog.messages == ["office has no Computer yet: check its name if one is expected"]
    await stage.tracker.close()


async def test_without_a_list_the_seat_is_told_all_the_same() -> None:
    stage = Stage()
    joining = asyncio.ensure_future(stage.tracker.joined("o") or nothing())
    (await stage.listing()).set_exception(RequestTimeout("late"))
    await joining
    assert stage.stream.take() == OfficeEvent("joined", None, {"office_id": "o", "computers": []})
    await stage.tracker.close()


async def test_a_list_that_failed_is_asked_for_again_until_it_comes() -> None:
    stage = Stage()
    joining = asyncio.ensure_future(stage.tracker.joined("o") or nothing())
    (await stage.listing()).set_exception(RequestTimeout("late"))
    await joining
    (await stage.listing()).set_exception(ConnectionError("gone"))
    answer = await stage.listing()
    stage.hear("leave_office", "goes")  # heard while the list is on its way: later than the list
    answer.set_result([member("desk"), member("goes")])
    computer, aspect, read = await stage.read()
    assert (computer, aspect) == ("desk", TOOLS)
    read.set_result([])
    await stage.tracker.settled()
    assert stage.office.computers == {"desk": ComputerView("desk", tools=[])}
    kinds = [(event.kind, event.computer) for event in iter(stage.stream.take, None)]
    assert kinds == [("joined", None), ("leave_office", "goes"), ("enter_office", "desk"), ("update_tool_list", "desk")]
    await stage.tracker.close()


async def test_news_end_the_pause_before_the_next_try() -> None:
    stage = Stage()
    stage.tracker._retry = Backoff(base=1_000, longest=1_000)
    stage.office.enter("desk")
    stage.tracker.refresh("desk", TOOLS)
    (await stage.read())[2].set_exception(RequestTimeout("late"))
    await stage.tracker.settled()
    stage.tracker.refresh("desk", TOOLS)
    (await stage.read())[2].set_result(["new"])
    await stage.tracker.settled()
    view = stage.office.computers["desk"]
    assert (str(view.tools), view.stale) == ("['new']", frozenset())
    await stage.tracker.close()


async def test_a_view_that_the_user_has_read_is_not_read_again() -> None:
    stage = Stage()
    stage.tracker._retry = Backoff(base=1_000, longest=1_000)
    stage.office.enter("desk")
    stage.tracker.refresh("desk", TOOLS)
    (await stage.read())[2].set_exception(RequestTimeout("late"))
    await stage.tracker.settled()
    stage.tracker.record("desk", TOOLS, stage.tracker.version("desk", TOOLS), ["new"])
    async with asyncio.timeout(CAP):
        while stage.tracker._reading:
            await asyncio.sleep(0)
    view = stage.office.computers["desk"]
    assert (str(view.tools), view.stale) == ("['new']", frozenset())
    await stage.tracker.close()


async def test_a_computer_that_leaves_while_it_is_read_stays_away() -> None:
    stage = Stage()
    stage.hear("enter_office", "c")
    _, _, answer = await stage.read()
    stage.hear("leave_office", "c")
    if not answer.done():
        answer.set_result(["t"])
    await asyncio.wait_for(stage.tracker.settled(), CAP)
    assert dict(stage.office.computers) == {}
    assert [event.kind for event in (stage.stream.take(), stage.stream.take()) if event] == [
        "enter_office",
        "leave_office",
    ]
    assert stage.stream.take() is None


async def test_a_computer_that_comes_back_while_it_is_read_is_read_anew() -> None:
    stage = Stage()
    stage.hear("enter_office", "c")
    await stage.read()
    stage.hear("leave_office", "c")
    stage.hear("enter_office", "c")
    computer, aspect, answer = await stage.read()
    tools: list[Any] = ["new"]
    answer.set_result(tools)
    await asyncio.wait_for(stage.tracker.settled(), CAP)
    assert (computer, aspect, stage.office.computers["c"].tools) == ("c", TOOLS, tools)


async def test_an_old_answer_does_not_replace_a_newer_one() -> None:
    stage = Stage()
    stage.office.enter("c")
    mark = stage.tracker.version("c", DESKTOP)
    stage.hear("update_desktop", "c")
    _, _, answer = await stage.read()
    answer.set_result(["new"])
    await asyncio.wait_for(stage.tracker.settled(), CAP)
    stage.tracker.record("c", DESKTOP, mark, ["old"])
    assert stage.office.computers["c"] == ComputerView("c", desktop=["new"])


async def test_news_during_a_reading_make_one_more_reading() -> None:
    stage = Stage()
    stage.office.enter("c")
    for _ in range(10):
        stage.hear("update_desktop", "c")
    _, _, first = await stage.read()
    for _ in range(10):
        stage.hear("update_desktop", "c")
    first.set_exception(NotFound("gone for a moment"))
    _, _, second = await stage.read()
    second.set_result(["new"])
    await asyncio.wait_for(stage.tracker.settled(), CAP)
    assert stage.reads.empty()
    assert [stage.stream.take(), stage.stream.take(), stage.stream.take()] == [
        OfficeEvent("update_desktop", "c", {"problem": "gone for a moment"}),
        OfficeEvent("update_desktop", "c", {"desktop": ["new"]}),
        None,
    ]


async def test_another_office_begins_with_nothing() -> None:
    stage = Stage()
    stage.office.enter("c")
    stage.hear("update_desktop", "c")
    await stage.read()
    stage.tracker.reset()
    await asyncio.wait_for(stage.tracker.settled(), CAP)
    assert dict(stage.office.computers) == {}


async def test_an_agent_that_comes_or_goes_is_told_and_is_no_computer() -> None:
    stage = Stage()
    stage.tracker.on_notification("notify:enter_office", {"office_id": "o", "agent": "b"})
    assert stage.stream.take() == OfficeEvent("enter_office", None, {"office_id": "o", "agent": "b"})
    assert dict(stage.office.computers) == {}
