"""The resource lists of all servers: what is read, kept, cut, and passed on."""

import asyncio
from typing import Any

import pytest

from a2c_smcp.computer.ports import ServerState
from a2c_smcp.computer.resources.cache import ResourceLimits
from a2c_smcp.computer.resources.cached_server import LONGEST_PAUSE
from a2c_smcp.errors import InternalError, ToolFailed
from tests.unit.computer.resource_servers import FakeServer, Office
from tests.unit.computer.virtual_time import in_virtual_time, now

WINDOW = "window://com.example.logger"


async def listed(office: Office, name: str) -> list[str]:
    server = office.index.get(name)
    assert server is not None
    return list((await server.listing()).resources)


def numbered(count: int) -> dict[str, str]:
    return {f"file:///{number}": "…" for number in range(count)}


@in_virtual_time
async def test_all_pages_of_a_list_are_read() -> None:
    server = FakeServer("files", numbered(25), page_size=10)
    async with Office(server) as office:
        assert await listed(office, "files") == list(server.resources)
        assert server.calls == ["list", "list 10", "list 20"]


@in_virtual_time
async def test_a_list_is_read_when_its_server_starts_and_not_again() -> None:
    server = FakeServer("files", numbered(3))
    async with Office(server) as office:
        await office.settle()
        assert server.calls == ["list"]
        await listed(office, "files")
        assert server.calls == ["list"]


@in_virtual_time
async def test_a_server_without_resources_is_not_asked_for_any() -> None:
    server = FakeServer("tools", capabilities={"tools": {}}, subscribes=False)
    async with Office(server) as office:
        await office.settle()
        assert (await listed(office, "tools"), server.calls) == ([], [])


@in_virtual_time
async def test_a_server_that_is_assumed_to_tell_is_asked_even_if_it_declares_nothing() -> None:
    server = FakeServer("modest", {WINDOW: "…"}, capabilities={}, subscribes=True)
    async with Office(server) as office:
        assert await listed(office, "modest") == [WINDOW]


@pytest.mark.rule("6.2")
@in_virtual_time
async def test_servers_that_offer_windows_or_documents_without_declaring_are_named() -> None:
    plain = FakeServer("plain", {WINDOW: "…"}, subscribes=False)
    async with Office(
        plain, FakeServer("files", numbered(1), subscribes=False), FakeServer("good", {WINDOW: "…"})
    ) as office:
        await office.settle()
        assert office.index.undeclared == ["plain"]


@in_virtual_time
async def test_a_flood_of_notices_makes_few_lists() -> None:
    server = FakeServer("files", numbered(3))
    async with Office(server) as office:
        await office.settle()
        office.forget_calls()
        for _ in range(1_000):
            office.index.resources_changed("files")
            await asyncio.sleep(0.001)
        await office.settle()
        assert 2 <= len(server.calls) <= 12


@in_virtual_time
async def test_notices_of_unknown_servers_are_passed_over() -> None:
    async with Office() as office:
        office.index.resources_changed("unknown")
        office.index.status_changed("unknown")
        office.index.resource_updated("unknown", WINDOW)
        assert (office.index.servers(), office.pushes) == ([], [])


# Hostile lists


@in_virtual_time
async def test_a_list_without_end_is_cut_by_its_pages() -> None:
    server = FakeServer("endless", numbered(100), page_size=1)
    async with Office(server, limits=ResourceLimits(pages=10)) as office:
        assert len(await listed(office, "endless")) == 10


@in_virtual_time
async def test_a_list_without_end_is_cut_by_its_resources() -> None:
    server = FakeServer("endless", numbered(100), page_size=7)
    async with Office(server, limits=ResourceLimits(resources=10)) as office:
        assert len(await listed(office, "endless")) == 10


@in_virtual_time
async def test_a_cursor_that_leads_in_circles_is_followed_once() -> None:
    class Circle(FakeServer):
        async def list_resources(self, cursor: str | None = None) -> tuple[list[dict[str, Any]], str | None]:
            page, _ = await super().list_resources(None)
            return page, "again"

    server = Circle("circle", numbered(2))
    async with Office(server) as office:
        assert await listed(office, "circle") == ["file:///0", "file:///1"]
        assert len(server.calls) == 2


@in_virtual_time
async def test_templates_without_end_are_cut() -> None:
    class Endless(FakeServer):
        async def list_resource_templates(self, cursor: str | None = None) -> tuple[list[dict[str, Any]], str | None]:
            self.calls.append("templates")
            return [{"uriTemplate": "a{b}"}] * 4, f"{cursor}+"

    server = Endless("endless")
    async with Office(server, limits=ResourceLimits(resources=10, pages=100)) as office:
        indexed = office.index.get("endless")
        assert indexed is not None
        assert len(await indexed.templates()) == 10
        assert len(server.asked("templates")) == 3
    async with Office(server, limits=ResourceLimits(pages=2)) as office:
        indexed = office.index.get("endless")
        assert indexed is not None
        assert len(await indexed.templates()) == 8


@in_virtual_time
async def test_a_list_whose_pages_drip_is_cut_when_its_time_is_over() -> None:
    server = FakeServer("slow", numbered(100), page_size=1)
    server.delay["list"] = 9
    async with Office(server) as office:
        assert len(await listed(office, "slow")) == 6
        assert now() == office.index.limits.listing


# Servers that do not say that they tell of changes


@in_virtual_time
async def test_a_list_of_a_server_that_does_not_promise_to_tell_is_read_again_in_the_background_when_it_is_old() -> (
    None
):
    server = FakeServer("modest", {WINDOW: "…"}, capabilities={"resources": {"subscribe": True}})
    async with Office(server) as office:
        await office.collector.desktop()
        await asyncio.sleep(office.index.limits.max_age)
        server.resources["window://new"] = "new"
        office.forget_calls()
        assert len(await office.collector.desktop()) == 1
        await office.settle()
        assert (office.pushes, server.asked("list")) == (["desktop"], ["list"])
        assert len(await office.collector.desktop()) == 2


@in_virtual_time
async def test_a_list_of_a_server_that_promises_to_tell_never_grows_old() -> None:
    server = FakeServer("good", {WINDOW: "…"})
    async with Office(server) as office:
        await office.collector.desktop()
        office.forget_calls()
        await asyncio.sleep(1_000_000)
        await office.collector.desktop()
        assert office.calls() == {}


# Failures


@in_virtual_time
async def test_a_list_that_fails_is_tried_again_after_growing_pauses_while_the_server_runs() -> None:
    server = FakeServer("broken", {WINDOW: "…"})
    server.broken["list"] = InternalError("broken")
    async with Office(server) as office:
        await asyncio.sleep(60 * 60)
        assert 60 * 60 / LONGEST_PAUSE < len(server.calls) < 60 * 60 / LONGEST_PAUSE + 10
        office.become(server, state=ServerState.FAILED)
        office.forget_calls()
        await asyncio.sleep(60 * 60)
        assert server.calls == []


@in_virtual_time
async def test_a_failure_is_remembered_for_a_while() -> None:
    server = FakeServer("broken", {WINDOW: "…"})
    server.broken["list"] = InternalError("broken")
    async with Office(server) as office:
        for _ in range(5):
            with pytest.raises(InternalError):
                await listed(office, "broken")
        assert server.calls == ["list"]


@in_virtual_time
async def test_a_server_that_is_not_running_has_no_list() -> None:
    server = FakeServer("down", {WINDOW: "…"}, state=ServerState.STARTING)
    async with Office(server) as office:
        with pytest.raises(ToolFailed):
            await listed(office, "down")
        assert server.calls == []


@in_virtual_time
async def test_a_list_that_was_begun_before_a_restart_does_not_count_after_it() -> None:
    server = FakeServer("logger", {WINDOW: "…"})
    server.delay["list"] = 2
    async with Office(server) as office:
        await asyncio.sleep(1)
        server.resources = {"window://after": "…"}
        office.become(server, restarts=1)
        assert await listed(office, "logger") == ["window://after"]
        assert office.pushes == ["desktop"]


@in_virtual_time
async def test_a_server_that_dies_while_it_is_listed_is_nobodys_trouble() -> None:
    server = FakeServer("logger", {WINDOW: "…"})
    server.delay["list"] = 2
    server.broken["list"] = ToolFailed("died")
    async with Office(server) as office:
        await asyncio.sleep(1)
        office.become(server, state=ServerState.WAITING)
        await asyncio.sleep(2)
        assert office.pushes == []


# Subscriptions


@in_virtual_time
async def test_subscriptions_follow_the_list_and_only_when_it_differs() -> None:
    server = FakeServer("mixed", {WINDOW: "…", "dpe://h/a": {}})
    async with Office(server) as office:
        await office.settle()
        office.index.resources_changed("mixed")
        await office.settle()
        del server.resources["dpe://h/a"]
        office.index.resources_changed("mixed")
        await office.settle()
        assert server.subscriptions == [[WINDOW], ["dpe://h/a", WINDOW], [WINDOW]]


@in_virtual_time
async def test_after_a_restart_the_session_is_asked_again_which_tells_when_it_has_renewed_them() -> None:
    server = FakeServer("logger", {WINDOW: "…"})
    async with Office(server) as office:
        await office.settle()
        office.become(server, restarts=1)
        server.delay["subscribe"] = 1
        await office.collector.desktop()
        assert server.calls == ["list", "subscribe", "list", "subscribe", f"read {WINDOW}"]


@in_virtual_time
async def test_a_restart_without_windows_ends_the_subscriptions_of_before() -> None:
    server = FakeServer("logger", {WINDOW: "…"})
    async with Office(server) as office:
        await office.settle()
        server.resources.clear()
        office.become(server, restarts=1)
        await office.settle()
        assert server.subscriptions == [[WINDOW], []]


@in_virtual_time
async def test_one_can_wait_until_lists_and_subscriptions_are_up_to_date() -> None:
    server = FakeServer("logger", {WINDOW: "…"})
    server.delay = {"list": 2, "subscribe": 1}
    async with Office(server) as office:
        await office.index.settled()
        assert (server.calls, now()) == (["list", "subscribe"], 3)


@in_virtual_time
async def test_a_server_that_takes_no_part_is_not_subscribed_to() -> None:
    server = FakeServer("plain", {WINDOW: "…"}, subscribes=False)
    async with Office(server) as office:
        await office.settle()
        assert server.asked("subscribe") == []


@in_virtual_time
async def test_a_server_that_dies_before_it_is_subscribed_to_holds_up_nobody() -> None:
    server = FakeServer("logger", {WINDOW: "…"})
    server.delay["subscribe"] = 100
    async with Office(server) as office:
        await asyncio.sleep(0.05)
        office.become(server, state=ServerState.WAITING)
        server.delay.clear()
        office.become(server, state=ServerState.RUNNING, restarts=1)
        await asyncio.sleep(60)
        assert len(await office.collector.desktop()) == 1


@in_virtual_time
async def test_closing_ends_everything() -> None:
    server = FakeServer("logger", {WINDOW: "…", "dpe://h/a": {}})
    server.delay = {"list": 1, "subscribe": 1}
    async with Office(server) as office:
        await asyncio.sleep(1.5)
        told = list(office.pushes)
    assert len(asyncio.all_tasks()) == 1
    await asyncio.sleep(100)
    assert office.pushes == told


# Taking part


@pytest.mark.rule("6.2")
@in_virtual_time
async def test_what_a_server_lists_that_takes_no_part_is_not_told() -> None:
    server = FakeServer("plain", {WINDOW: "…", "dpe://h/a": {}}, subscribes=False)
    async with Office(server) as office:
        await office.settle()
        server.resources.clear()
        office.index.resources_changed("plain")
        await office.settle()
        assert office.pushes == []


@pytest.mark.rule("6.2")
@in_virtual_time
async def test_a_server_that_begins_to_take_part_is_told_and_so_is_its_end() -> None:
    server = FakeServer("plain", {WINDOW: "…"}, subscribes=False)
    async with Office(server) as office:
        await office.settle()
        office.become(server, subscribes=True)
        await office.settle()
        assert (office.pushes, len(await office.collector.desktop())) == (["desktop"], 1)
        office.pushes.clear()
        office.become(server, subscribes=False)
        await office.settle()
        assert (set(office.pushes), await office.collector.desktop()) == ({"desktop"}, [])


@in_virtual_time
async def test_what_servers_say_after_the_end_is_not_looked_into() -> None:
    server = FakeServer("files", numbered(3))
    async with Office(server) as office:
        await office.settle()
    office.forget_calls()
    office.become(server, state=ServerState.STOPPED)
    office.index.resources_changed("files")
    assert (office.index.servers(), asyncio.all_tasks()) == ([], {asyncio.current_task()})
