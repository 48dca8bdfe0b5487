"""Telling events to those who listen."""

import asyncio
import gc
import logging
from collections.abc import Awaitable

import pytest

from a2c_smcp.agent.events import EventDispatcher, OfficeEvent
from a2c_smcp.errors import BadRequest

CAP = 60.0


async def test_a_stream_has_the_events_since_it_was_made_in_order() -> None:
    events = EventDispatcher()
    events.emit("connected")
    stream = events.stream()
    events.emit("enter_office", "c", {"office_id": "o"})
    events.emit("leave_office", "c")
    await events.close()
    assert [event async for event in stream] == [
        OfficeEvent("enter_office", "c", {"office_id": "o"}),
        OfficeEvent("leave_office", "c"),
    ]


async def test_a_stream_wakes_whoever_waits() -> None:
    events = EventDispatcher()
    stream = events.stream()
    waiting = asyncio.create_task(anext(stream))
    await asyncio.sleep(0)
    events.emit("joined")
    assert (await asyncio.wait_for(waiting, CAP)).kind == "joined"


async def test_who_is_too_slow_loses_the_oldest_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    events = EventDispatcher(buffer=2)
    stream = events.stream()
    with caplog.at_level(logging.WARNING):
        for number in range(5):
            events.emit("update_config", str(number))
    stream.end()
    assert [event.computer async for event in stream] == ["3", "4"]
    assert (stream.dropped, len(caplog.records)) == (3, 1)


async def test_a_stream_that_is_closed_gives_nothing_more() -> None:
    events = EventDispatcher()
    stream = events.stream()
    events.emit("joined")
    await stream.aclose()
    assert [event async for event in stream] == []


async def test_a_stream_that_is_forgotten_costs_nothing() -> None:
    events = EventDispatcher()
    stream = events.stream()
    assert len(events._streams) == 1
    del stream
    gc.collect()
    assert len(events._streams) == 0


async def test_a_handler_hears_its_kind_one_event_at_a_time() -> None:
    events = EventDispatcher()
    heard: list[str | None] = []
    at_once = 0

    async def handler(event: OfficeEvent) -> None:
        nonlocal at_once
        at_once += 1
        assert at_once == 1
        await asyncio.sleep(0)
        heard.append(event.computer)
        at_once -= 1

    events.on("update_desktop", handler)
    for number in range(3):
        events.emit("update_desktop", str(number))
        events.emit("update_finder", "other")
    await events.close()
    assert heard == ["0", "1", "2"]


async def test_who_unsubscribes_hears_nothing_more() -> None:
    events = EventDispatcher()
    heard: list[str] = []

    def handler(event: OfficeEvent) -> Awaitable[None] | None:
        heard.append(event.kind)
        return None

    ends = events.on("*", handler)
    events.emit("joined")
    await events.close()
    ends()
    ends()
    events.emit("joined")
    await events.close()
    assert heard == ["joined"]


async def test_a_slow_handler_holds_up_neither_the_others_nor_the_end_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("a2c_smcp.agent.events.HANDLER_SECONDS", 0.01)
    events = EventDispatcher()
    heard = asyncio.Event()
    cancelled = asyncio.Event()

    async def slow(_: OfficeEvent) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    events.on("*", slow)
    events.on("*", lambda _: heard.set())
    events.emit("joined")
    await asyncio.wait_for(heard.wait(), CAP)
    await asyncio.wait_for(events.close(), CAP)
    assert cancelled.is_set()


async def test_a_handler_may_close() -> None:
    events = EventDispatcher()
    closed = asyncio.Event()

    async def close(_: OfficeEvent) -> None:
        await events.close()
        closed.set()

    events.on("joined", close)
    events.emit("joined")
    await asyncio.wait_for(closed.wait(), CAP)


def test_a_kind_that_is_none_is_refused() -> None:
    with pytest.raises(BadRequest, match=r"'updates'; there are enter_office, .*, and \* for all"):
        EventDispatcher().on("updates", lambda _: None)
