"""The desktop of a Computer: what is read when, what is kept, and what is told."""

import asyncio
from typing import Any

import pytest

from a2c_smcp.computer.desktop.collector import MAX_WINDOWS
from a2c_smcp.computer.index import Limits
from tests.unit.computer.desktop.windows import EDITOR, LOG, STATUS, editor, logger_server, shown, warm
from tests.unit.computer.resource_servers import FakeServer, Office
from tests.unit.computer.virtual_time import in_virtual_time, now


@in_virtual_time
async def test_the_windows_of_all_servers_are_shown() -> None:
    async with Office(editor(), logger_server()) as office:
        assert await office.collector.desktop() == [shown(STATUS, "saved"), shown(EDITOR, "text"), shown(LOG, "done")]


@in_virtual_time
async def test_the_server_called_last_comes_first() -> None:
    async with warm(editor(), logger_server()) as office:
        assert await office.collector.desktop(size=1, history=["editor", "logger"]) == [shown(LOG, "done")]


@pytest.mark.rule("6.2")
@in_virtual_time
async def test_a_server_that_cannot_be_subscribed_to_takes_no_part() -> None:
    async with Office(editor(), FakeServer("plain", {LOG: "done"}, subscribes=False)) as office:
        assert await office.collector.desktop() == [shown(STATUS, "saved"), shown(EDITOR, "text")]
        assert office.servers["plain"].asked("read") == []


@pytest.mark.rule("6.2")
@in_virtual_time
async def test_updates_of_exactly_the_listed_windows_and_documents_are_asked_for() -> None:
    server = FakeServer("mixed", {LOG: "done", "dpe://h/doc": {}, "file:///notes.txt": "…"})
    async with warm(server):
        assert server.subscriptions[-1] == ["dpe://h/doc", LOG]


@in_virtual_time
async def test_windows_are_read_when_their_updates_are_told() -> None:
    server = logger_server()
    async with Office(server) as office:
        await office.collector.desktop()
        assert server.calls == ["list", "subscribe", f"read {LOG}"]


@pytest.mark.rule("6.6")
@in_virtual_time
async def test_a_warm_desktop_makes_no_mcp_call() -> None:
    async with warm(editor(), logger_server()) as office:
        before = await office.collector.desktop()
        assert await office.collector.desktop() == before
        await office.collector.desktop(window=LOG, size=3, history=["logger"])
        await office.settle()
        assert (office.calls(), office.pushes) == ({}, [])


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
async def test_fullscreen_in_the_meta_of_a_resource_counts() -> None:
    async with warm(
        FakeServer("logger", {LOG: "done", EDITOR: "text"}, fields={EDITOR: {"_meta": {"fullscreen": True}}})
    ) as office:
        assert await office.collector.desktop() == [shown(EDITOR, "text")]


@in_virtual_time
async def test_one_window_is_read_alone_when_it_alone_is_wanted() -> None:
    async with Office(editor(), logger_server()) as office:
        await office.settle()
        office.forget_calls()
        assert await office.collector.desktop(window=STATUS) == [shown(STATUS, "saved")]
        assert await office.collector.desktop(window="window://nobody") == []
        assert office.calls() == {"editor": [f"read {STATUS}"]}


@in_virtual_time
async def test_no_windows_are_read_for_a_desktop_of_no_size() -> None:
    async with Office(editor()) as office:
        assert await office.collector.desktop(size=0) == []
        assert office.servers["editor"].asked("read") == []


@in_virtual_time
async def test_all_who_ask_at_a_time_share_one_reading() -> None:
    server = editor()
    async with Office(server) as office:
        server.delay = {"list": 0.1, EDITOR: 0.2, STATUS: 0.2}
        replies = await asyncio.gather(*(office.collector.desktop() for _ in range(20)))
        assert all(reply == replies[0] for reply in replies)
        assert server.calls == ["list", "subscribe", f"read {EDITOR}", f"read {STATUS}"]


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
async def test_at_most_a_few_windows_of_a_server_are_read_at_once() -> None:
    server = FakeServer("many", {f"{LOG}/{number}": "text" for number in range(50)})
    server.delay = dict.fromkeys(server.resources, 0.1)
    async with Office(server, limits=Limits(at_once=8)) as office:
        assert len(await office.collector.desktop()) == 50
        assert server.most_at_once == 8


@in_virtual_time
async def test_more_windows_than_a_desktop_can_hold_are_not_read() -> None:
    server = FakeServer("endless", {f"{LOG}/{number}": "text" for number in range(MAX_WINDOWS + 10)})
    async with warm(server) as office:
        assert len(await office.collector.desktop()) == MAX_WINDOWS


@in_virtual_time
async def test_a_warm_desktop_of_fifty_windows_is_not_organized_again(caplog: pytest.LogCaptureFixture) -> None:
    # Organizing warns of binary contents: the warning shows how often it is done.
    blob = [{"uri": LOG, "mimeType": "image/png", "blob": "AAAA"}]
    async with warm(FakeServer("fifty", {f"{EDITOR}/{number}": blob for number in range(50)})) as office:
        await office.collector.desktop(history=["fifty"])
        caplog.clear()
        for _ in range(3):
            await office.collector.desktop(history=["fifty", "gone"])
        assert caplog.messages == []


@in_virtual_time
async def test_the_views_that_are_kept_are_bounded() -> None:
    async with warm(editor()) as office:
        for size in range(1, 200):
            await office.collector.desktop(size=size)
        assert await office.collector.desktop(size=1) == [shown(STATUS, "saved")]
        assert office.calls() == {}
