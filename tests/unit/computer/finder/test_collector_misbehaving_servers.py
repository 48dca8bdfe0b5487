"""The catalogue of a Computer whose MCP servers hang, fail, die, come back, or lie."""

import asyncio
from typing import Any

import pytest

from a2c_smcp.computer.finder.collector import FinderPage
from a2c_smcp.computer.ports import ServerState
from a2c_smcp.errors import DocumentNotFound, InternalError, SMCPError, ToolFailed
from tests.unit.computer.finder.reports import HOST, document, entry, refs, reports, warm
from tests.unit.computer.resource_servers import HANG, Office
from tests.unit.computer.virtual_time import in_virtual_time, now

NO_SUCH_RESOURCE = SMCPError("Unknown resource", code=-32002)


@pytest.mark.rule("7.3", "5.5")
@pytest.mark.parametrize("broken", [InternalError("broken"), ToolFailed("died"), RuntimeError("a bug"), HANG])
@pytest.mark.parametrize("method", ["list", "read"])
@in_virtual_time
async def test_a_server_that_fails_leaves_the_others_intact_and_is_named(method: str, broken: Any) -> None:
    bad = reports("bad", name="bad")
    bad.broken[method] = broken
    async with Office(bad, reports("a")) as office:
        assert await office.finder.find() == FinderPage([entry("a")], 1, ["bad"])


@in_virtual_time
async def test_a_server_that_hangs_holds_up_one_reply_for_a_while_and_no_other() -> None:
    bad = reports("bad", name="bad")
    bad.broken["read"] = HANG
    async with warm(reports("a"), bad) as office:
        for _ in range(10):
            await asyncio.sleep(7)
            began = now()
            assert (await office.finder.find()).unavailable == ["bad"]
            assert now() == began


@in_virtual_time
async def test_late_documents_are_told_when_they_arrive() -> None:
    slow = reports("slow", name="slow")
    slow.delay[HOST] = 8
    async with Office(slow, reports("a")) as office:
        found = await office.finder.find()
        assert (refs(found), found.unavailable) == (["a"], ["slow"])
        office.pushes.clear()
        await asyncio.sleep(4)
        assert office.pushes == ["finder"]
        found = await office.finder.find()
        assert (refs(found), found.unavailable) == (["a", "slow"], [])


@in_virtual_time
async def test_documents_that_are_late_after_an_update_are_shown_as_they_were() -> None:
    server = reports("a", "b")
    async with warm(server) as office:
        office.change(server, f"{HOST}/a", HANG)
        found = await office.finder.find()
        assert (refs(found), found.unavailable) == (["a", "b"], ["reports"])


@in_virtual_time
async def test_a_list_that_was_late_is_waited_for_again_once_it_is_there() -> None:
    server = reports("a")
    async with warm(server) as office:
        server.delay["list"] = 7
        office.index.resources_changed("reports")
        assert (await office.finder.find()).unavailable == ["reports"]
        await asyncio.sleep(3)
        assert (await office.finder.find()).unavailable == []
        server.delay["list"] = 1
        office.index.resources_changed("reports")
        assert (await office.finder.find()).unavailable == []


@in_virtual_time
async def test_a_document_that_does_not_answer_makes_its_server_unavailable_but_hides_no_other() -> None:
    server = reports("a", "b", "c", catalogue=False)
    server.resources[f"{HOST}/b"] = HANG
    async with Office(server) as office:
        await office.finder.find()
        await asyncio.sleep(7)
        found = await office.finder.find()
        assert (refs(found), found.unavailable) == (["a", "c"], ["reports"])
        server.resources[f"{HOST}/b"] = document("b")
        server.calls.clear()
        await asyncio.sleep(20)
        await office.finder.find()
        await office.settle()
        assert refs(await office.finder.find()) == ["a", "b", "c"]
        assert server.calls == [f"read {HOST}/b"]


@pytest.mark.parametrize("error", [DocumentNotFound("gone"), InternalError("cannot parse it")])
@in_virtual_time
async def test_a_document_that_its_server_cannot_give_is_left_out(error: Exception) -> None:
    server = reports("a", "b", catalogue=False)
    server.resources[f"{HOST}/b"] = error
    async with Office(server) as office:
        found = await office.finder.find()
        assert (refs(found), found.unavailable) == (["a"], [])


@in_virtual_time
async def test_a_document_that_is_gone_when_it_is_read_again_is_left_out() -> None:
    server = reports("a", "b")
    async with warm(server) as office:
        office.change(server, f"{HOST}/b", DocumentNotFound("gone"))
        assert refs(await office.finder.find()) == ["a"]


@in_virtual_time
async def test_a_server_all_of_whose_documents_are_gone_is_not_unavailable() -> None:
    server = reports("a", catalogue=False)
    server.resources[f"{HOST}/a"] = DocumentNotFound("gone")
    async with Office(server) as office:
        assert await office.finder.find() == FinderPage([], 0, [])


@in_virtual_time
async def test_a_catalogue_that_fails_for_a_moment_is_tried_again() -> None:
    server = reports("a", "b")
    async with warm(server) as office:
        good = server.resources[HOST]
        office.change(server, HOST, InternalError("a bad moment"))
        found = await office.finder.find()
        assert (refs(found), found.unavailable) == (["a", "b"], ["reports"])
        server.resources[HOST] = good
        await asyncio.sleep(office.index.limits.pause)
        office.forget_calls()
        assert (await office.finder.find()).unavailable == []
        assert office.calls() == {"reports": [f"read {HOST}"]}


@in_virtual_time
async def test_a_catalogue_that_is_no_longer_offered_gives_way_to_the_documents() -> None:
    server = reports("a", "b")
    async with warm(server) as office:
        office.change(server, HOST, NO_SUCH_RESOURCE)
        assert (await office.finder.find()).unavailable == ["reports"]
        await asyncio.sleep(office.index.limits.pause)
        office.forget_calls()
        assert (await office.finder.find()).unavailable == []
        assert office.calls() == {"reports": [f"read {HOST}", f"read {HOST}/a", f"read {HOST}/b"]}


@in_virtual_time
async def test_a_failure_is_not_asked_for_all_the_time() -> None:
    server = reports("a")
    server.broken["read"] = InternalError("broken")
    async with warm(server) as office:
        for _ in range(5):
            assert (await office.finder.find()).unavailable == ["reports"]
        assert office.calls() == {}


@pytest.mark.parametrize("state", [ServerState.STARTING, ServerState.WAITING, ServerState.FAILED])
@in_virtual_time
async def test_a_server_that_is_not_up_is_named_unavailable(state: ServerState) -> None:
    async with Office(reports("a"), reports("b", name="down", state=state, subscribes=False)) as office:
        assert await office.finder.find() == FinderPage([entry("a")], 1, ["down"])


@pytest.mark.parametrize("state", [ServerState.DISABLED, ServerState.STOPPED])
@in_virtual_time
async def test_a_server_that_was_stopped_on_purpose_is_not(state: ServerState) -> None:
    async with Office(reports("b", name="down", state=state)) as office:
        assert await office.finder.find() == FinderPage([], 0, [])


@in_virtual_time
async def test_a_server_that_is_known_to_take_no_part_is_not_missed_when_it_dies() -> None:
    server = reports("a", subscribes=False)
    async with warm(server) as office:
        office.become(server, state=ServerState.WAITING)
        assert (await office.finder.find()).unavailable == []


@in_virtual_time
async def test_the_documents_of_a_server_that_died_are_gone_and_told_and_come_back() -> None:
    server = reports("a")
    async with warm(server) as office:
        office.become(server, state=ServerState.WAITING)
        assert set(office.pushes) == {"finder"}
        assert await office.finder.find() == FinderPage([], 0, ["reports"])
        office.pushes.clear()
        office.become(server, state=ServerState.RUNNING, restarts=1)
        await office.settle()
        assert office.pushes == ["finder"]
        assert await office.finder.find() == FinderPage([entry("a")], 1, [])


@in_virtual_time
async def test_a_server_that_is_removed_takes_its_documents_along() -> None:
    async with warm(reports("a"), reports("b", name="other")) as office:
        del office.servers["other"]
        assert await office.finder.find() == FinderPage([entry("a")], 1, [])
        assert set(office.pushes) == {"finder"}


@in_virtual_time
async def test_documents_that_vanish_while_they_are_put_in_order_do_not_come_back() -> None:
    server = reports("a")
    async with Office(server) as office:
        await office.settle()
        server.delay[HOST] = 1
        asking = asyncio.create_task(office.finder.find())
        await asyncio.sleep(0.5)
        server.listed = []
        office.index.resources_changed("reports")
        await asking
        assert await office.finder.find() == FinderPage([], 0, [])


@in_virtual_time
async def test_what_could_not_be_read_for_a_bug_is_read_again() -> None:
    server = reports("a", "b")
    async with warm(server) as office:
        office.change(server, HOST, RuntimeError("a bug"))
        assert (await office.finder.find()).unavailable == ["reports"]
        server.resources[HOST] = {"documents": [document("a"), document("b", title="Mended")]}
        await asyncio.sleep(office.index.limits.pause)
        assert (await office.finder.find(["mended"])).total == 1
