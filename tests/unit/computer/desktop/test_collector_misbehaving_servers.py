"""The desktop of a Computer whose MCP servers hang, fail, die, come back, or refuse."""

import asyncio
from typing import Any

import pytest

from a2c_smcp.computer.ports import ServerState
from a2c_smcp.errors import InternalError, SMCPError, ToolFailed
from tests.unit.computer.desktop.windows import EDITOR, LOG, STATUS, editor, logger_server, shown, warm
from tests.unit.computer.resource_servers import HANG, FakeServer, Office
from tests.unit.computer.virtual_time import in_virtual_time, now


@pytest.mark.rule("5.5")
@in_virtual_time
async def test_a_server_that_hangs_holds_up_one_reply_for_a_while_and_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hanging = FakeServer("hanging", {f"{EDITOR}/{number}": HANG for number in range(50)})
    async with Office(hanging, logger_server()) as office:
        await office.settle()
        began = now()
        assert await office.collector.desktop() == [shown(LOG, "done")]
        assert now() - began == pytest.approx(office.index.limits.reply)
        for _ in range(10):
            await asyncio.sleep(7)
            began = now()
            assert await office.collector.desktop() == [shown(LOG, "done")]
            assert now() == began
        assert {server for server, _ in office.collector.missing} == {"hanging"}
        assert caplog.records[0].getMessage().startswith("desktop incomplete: missing=window://com.example.editor/")
        assert len(hanging.asked("read")) < 50


@in_virtual_time
async def test_a_late_window_is_told_when_it_arrives() -> None:
    server = logger_server()
    async with warm(server, editor()) as office:
        server.delay[LOG] = 8
        office.change(server, LOG, "slow")
        office.forget_calls()
        assert await office.collector.desktop() == [shown(STATUS, "saved"), shown(EDITOR, "text")]
        await asyncio.sleep(4)
        assert office.pushes == ["desktop"]
        assert shown(LOG, "slow") in await office.collector.desktop()
        assert office.calls() == {"logger": [f"read {LOG}"]}
        assert office.collector.missing == {}


@in_virtual_time
async def test_one_slow_window_does_not_hide_the_others_of_its_server() -> None:
    server = editor()
    server.resources[EDITOR] = HANG
    async with Office(server) as office:
        assert await office.collector.desktop() == [shown(STATUS, "saved")]
        await asyncio.sleep(6)
        office.change(server, STATUS, "changed")
        assert await office.collector.desktop() == [shown(STATUS, "changed")]


@pytest.mark.parametrize(
    "error", [InternalError("broken"), ToolFailed("died"), RuntimeError("a bug"), SMCPError("odd", code=-32603)]
)
@in_virtual_time
async def test_a_window_that_cannot_be_read_hides_no_other_and_is_not_asked_for_all_the_time(error: Exception) -> None:
    server = editor()
    server.resources[EDITOR] = error
    async with Office(server) as office:
        for _ in range(5):
            assert await office.collector.desktop() == [shown(STATUS, "saved")]
        assert server.asked("read") == [f"read {EDITOR}", f"read {STATUS}"]
        assert list(office.collector.missing) == [("editor", EDITOR)]


@in_virtual_time
async def test_a_window_that_could_not_be_read_is_tried_again_after_a_pause() -> None:
    server = logger_server()
    server.resources[LOG] = InternalError("broken")
    async with Office(server) as office:
        assert await office.collector.desktop() == []
        server.resources[LOG] = "mended"
        await asyncio.sleep(office.index.limits.pause)
        assert await office.collector.desktop() == [shown(LOG, "mended")]


@pytest.mark.parametrize("broken", [HANG, InternalError("no list"), RuntimeError("a bug")])
@in_virtual_time
async def test_a_server_without_a_readable_list_hides_no_other(broken: Any) -> None:
    bad = editor()
    bad.broken["list"] = broken
    async with Office(bad, logger_server()) as office:
        assert await office.collector.desktop() == [shown(LOG, "done")]
        assert ("editor", "") in office.collector.missing


@in_virtual_time
async def test_the_windows_come_back_and_are_told_once_a_list_can_be_read_again() -> None:
    server = logger_server()
    async with warm(server) as office:
        server.broken["list"] = InternalError("a bad moment")
        office.index.resources_changed("logger")
        await office.settle()
        assert (await office.collector.desktop(), office.pushes) == ([], ["desktop"])
        server.broken.clear()
        await asyncio.sleep(office.index.limits.pause)
        assert office.pushes == ["desktop", "desktop"]
        assert await office.collector.desktop() == [shown(LOG, "done")]


@in_virtual_time
async def test_a_list_that_is_late_leaves_the_windows_as_they_were() -> None:
    server = logger_server()
    async with warm(server) as office:
        server.broken["list"] = HANG
        office.index.resources_changed("logger")
        assert await office.collector.desktop() == [shown(LOG, "done")]
        began = now()
        assert await office.collector.desktop() == [shown(LOG, "done")]
        assert now() == began


@pytest.mark.rule("5.5")
@in_virtual_time
async def test_the_windows_of_a_server_that_died_are_gone_and_told() -> None:
    server = logger_server()
    async with warm(server, editor()) as office:
        office.become(server, state=ServerState.WAITING)
        assert set(office.pushes) == {"desktop"}
        assert await office.collector.desktop() == [shown(STATUS, "saved"), shown(EDITOR, "text")]
        assert office.calls() == {}


@in_virtual_time
async def test_a_server_that_came_back_is_read_anew() -> None:
    server = logger_server()
    async with warm(server) as office:
        office.become(server, state=ServerState.WAITING)
        server.resources[LOG] = "after the restart"
        office.become(server, state=ServerState.RUNNING, restarts=1, since="2026-02-14T10:31:00Z")
        await office.settle()
        assert await office.collector.desktop() == [shown(LOG, "after the restart")]


@in_virtual_time
async def test_a_status_that_says_nothing_new_changes_nothing() -> None:
    server = logger_server()
    async with warm(server) as office:
        office.become(server, problem="a line of garbage on standard output")
        await office.collector.desktop()
        assert (office.calls(), office.pushes) == ({}, [])


@in_virtual_time
async def test_a_server_that_is_removed_takes_its_windows_along() -> None:
    async with warm(logger_server(), editor()) as office:
        del office.servers["logger"]
        office.index.status_changed("logger")
        assert set(office.pushes) == {"desktop"}
        assert await office.collector.desktop() == [shown(STATUS, "saved"), shown(EDITOR, "text")]


@in_virtual_time
async def test_a_server_that_is_replaced_under_its_name_is_read_anew() -> None:
    async with warm(logger_server()) as office:
        office.servers["logger"] = FakeServer("logger", {EDITOR: "another server"})
        assert await office.collector.desktop() == [shown(EDITOR, "another server")]


@in_virtual_time
async def test_the_last_reply_before_a_cancelled_one_is_not_spoiled() -> None:
    server = logger_server()
    async with warm(server) as office:
        server.delay[LOG] = 1
        office.change(server, LOG, "new")
        asking = asyncio.create_task(office.collector.desktop())
        await asyncio.sleep(0.5)
        asking.cancel()
        assert await office.collector.desktop() == [shown(LOG, "new")]
        assert server.calls == [f"read {LOG}"]


@in_virtual_time
async def test_a_server_that_refuses_subscriptions_is_still_kept_in_mind() -> None:
    server = logger_server()
    server.broken["subscribe"] = SMCPError("Method not found", code=-32601)
    async with warm(server) as office:
        assert await office.collector.desktop() == [shown(LOG, "done")]
        await asyncio.sleep(1_000)
        assert office.calls() == {}


@in_virtual_time
async def test_a_window_whose_updates_are_not_told_is_read_each_time() -> None:
    server = logger_server()
    server.broken["subscribe"] = ToolFailed("it died under the request")
    async with warm(server) as office:
        server.resources[LOG] = "changed without a word"
        assert await office.collector.desktop() == [shown(LOG, "changed without a word")]


@in_virtual_time
async def test_subscribing_is_tried_again() -> None:
    server = logger_server()
    server.broken["subscribe"] = HANG
    async with warm(server):
        server.broken.clear()
        await asyncio.sleep(60)
        assert server.subscriptions == [[LOG]]
