"""When the desktop is told to have changed: other windows in a list, or an updated window."""

import asyncio
from typing import Any

import pytest

from tests.unit.computer.desktop.windows import EDITOR, LOG, STATUS, editor, logger_server, shown, warm
from tests.unit.computer.resource_servers import FakeServer, Office
from tests.unit.computer.virtual_time import in_virtual_time, now


@in_virtual_time
async def test_after_an_update_only_that_window_is_read_again() -> None:
    server = editor()
    async with warm(server, logger_server()) as office:
        office.change(server, EDITOR, "more text")
        assert await office.collector.desktop() == [
            shown(STATUS, "saved"),
            shown(EDITOR, "more text"),
            shown(LOG, "done"),
        ]
        assert office.calls() == {"editor": [f"read {EDITOR}"]}


@pytest.mark.rule("6.6")
@in_virtual_time
async def test_an_updated_window_is_told_and_any_other_resource_is_not() -> None:
    server = editor()
    async with warm(server) as office:
        office.index.resource_updated("editor", "file:///notes.txt")
        assert office.pushes == []
        office.index.resource_updated("editor", EDITOR)
        assert office.pushes == ["desktop"]


@in_virtual_time
async def test_an_update_in_another_spelling_than_the_list_makes_all_windows_of_the_server_stale() -> None:
    server = editor()
    async with warm(server, logger_server()) as office:
        office.index.resource_updated("editor", "window://COM.example.editor/")
        await office.collector.desktop()
        assert office.calls() == {"editor": [f"read {EDITOR}", f"read {STATUS}"]}


@in_virtual_time
async def test_updates_of_a_server_that_takes_no_part_are_not_told() -> None:
    async with warm(FakeServer("plain", {LOG: "done"}, subscribes=False)) as office:
        office.index.resource_updated("plain", LOG)
        office.index.resource_updated("unknown", LOG)
        assert office.pushes == []


@pytest.mark.rule("6.6")
@in_virtual_time
async def test_a_changed_list_with_the_same_windows_is_not_told() -> None:
    server = editor()
    async with warm(server) as office:
        server.resources["file:///more.txt"] = "no window either"
        office.index.resources_changed("editor")
        await office.settle()
        assert (office.pushes, office.calls()) == ([], {"editor": ["list"]})


@pytest.mark.rule("6.6")
@pytest.mark.parametrize("after", [{EDITOR: "text"}, {EDITOR: "text", STATUS: "saved", LOG: "done"}, {}])
@in_virtual_time
async def test_a_changed_list_with_other_windows_is_told(after: dict[str, Any]) -> None:
    server = editor()
    async with warm(server) as office:
        server.resources = after
        office.index.resources_changed("editor")
        await office.settle()
        assert office.pushes == ["desktop"]
        assert len(await office.collector.desktop()) == len(after)


@pytest.mark.rule("6.6")
@in_virtual_time
async def test_whoever_asks_right_after_a_change_of_the_list_sees_it() -> None:
    server = logger_server()
    async with warm(server) as office:
        server.resources[EDITOR] = "new"
        office.index.resources_changed("logger")
        assert await office.collector.desktop() == [shown(LOG, "done"), shown(EDITOR, "new")]


@in_virtual_time
async def test_another_priority_in_the_list_counts_without_another_reading() -> None:
    server = FakeServer("logger", {LOG: "done", EDITOR: "text"})
    async with warm(server) as office:
        server.fields[EDITOR] = {"annotations": {"priority": 0.9}}
        office.index.resources_changed("logger")
        await office.settle()
        assert await office.collector.desktop() == [shown(EDITOR, "text"), shown(LOG, "done")]
        assert server.asked("read") == []


@in_virtual_time
async def test_a_window_that_changes_while_it_is_read_is_read_again() -> None:
    server = logger_server()
    async with warm(server) as office:
        server.delay[LOG] = 1
        office.change(server, LOG, "first")
        reply = asyncio.create_task(office.collector.desktop())
        await asyncio.sleep(0.5)
        office.change(server, LOG, "second")
        await reply
        assert await office.collector.desktop() == [shown(LOG, "second")]
        assert server.calls == [f"read {LOG}"] * 2


@in_virtual_time
async def test_a_window_that_never_stops_changing_holds_up_no_reply() -> None:
    server = logger_server()
    async with warm(server) as office:
        server.delay[LOG] = 0.1

        async def tick() -> None:
            while True:
                office.change(server, LOG, str(now()))
                await asyncio.sleep(0.03)

        ticking = asyncio.create_task(tick())
        await asyncio.sleep(1)
        began = now()
        assert len(await office.collector.desktop()) == 1
        assert now() - began < 0.25
        ticking.cancel()


@in_virtual_time
async def test_windows_are_read_when_their_updates_are_told() -> None:
    server = logger_server()
    async with Office(server) as office:
        await office.collector.desktop()
        assert server.calls == ["list", "subscribe", f"read {LOG}"]
