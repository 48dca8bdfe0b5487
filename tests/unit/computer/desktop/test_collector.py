"""The desktop of a Computer: what is read when, what is kept, and what is told."""

import asyncio

import pytest

from a2c_smcp.computer.resources.cache import ResourceLimits
from tests.unit.computer.desktop.windows import EDITOR, LOG, STATUS, editor, logger_server, shown, warm
from tests.unit.computer.resource_servers import FakeServer, Office
from tests.unit.computer.virtual_time import in_virtual_time


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
async def test_at_most_a_few_windows_of_a_server_are_read_at_once() -> None:
    server = FakeServer("many", {f"{LOG}/{number}": "text" for number in range(50)})
    server.delay = dict.fromkeys(server.resources, 0.1)
    async with Office(server, limits=ResourceLimits(at_once=8)) as office:
        assert len(await office.collector.desktop()) == 50
        assert server.most_at_once == 8


@in_virtual_time
async def test_of_too_many_windows_those_of_the_highest_priority_are_read_and_the_others_are_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("a2c_smcp.computer.desktop.collector.MAX_WINDOWS", 20)
    uris = [f"{LOG}/{number}" for number in range(25)] + [f"{LOG}/last?priority=100"]
    server = FakeServer("endless", dict.fromkeys(uris, "text"))
    async with warm(server) as office:
        assert await office.collector.desktop() == [shown(uri, "text") for uri in (uris[-1], *uris[:19])]
        assert office.collector.left_out == {"endless": 6}
        assert caplog.text.count("windows left out of the desktop: 6 of 26") == 1
        assert await office.collector.desktop(window=uris[24]) == [shown(uris[24], "text")]
        assert await office.collector.desktop(size=1) == [shown(uris[-1], "text")]


@in_virtual_time
async def test_all_windows_of_a_server_are_shown_where_nothing_is_cut() -> None:
    uris = [f"{LOG}/{number}" for number in range(600)] + [f"{LOG}/last?priority=100"]
    async with warm(FakeServer("many", dict.fromkeys(uris, "text"))) as office:
        assert await office.collector.desktop() == [shown(uri, "text") for uri in (uris[-1], *uris[:-1])]
        assert office.collector.left_out == {}


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
