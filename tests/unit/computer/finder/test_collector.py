"""The catalogue of a Computer: what is kept, what is read again, and what is told."""

import asyncio

import pytest

from a2c_smcp.computer.finder.collector import FinderPage
from a2c_smcp.errors import BadRequest
from tests.unit.computer.finder.reports import HOST, document, entry, reports, warm
from tests.unit.computer.resource_servers import FakeServer, Office
from tests.unit.computer.virtual_time import in_virtual_time


@in_virtual_time
async def test_the_documents_are_filtered_ordered_and_cut() -> None:
    async with Office(reports("a", "b"), reports("c", "d", name="slides")) as office:
        found = await office.finder.find(["A", "c"], "pdf", 1, 1, ["reports", "slides"])
        assert found == FinderPage([entry("a")], 2, [])


@in_virtual_time
async def test_a_long_summary_and_many_keywords_are_searched_whole_and_shown_in_part() -> None:
    told = document("long", summary="x" * 10_000 + "needle", keywords=[f"word{number}" for number in range(60)])
    resources = {f"{HOST}/long": told, HOST: {"documents": [told], "total_count": 1}}
    async with Office(FakeServer("reports", resources, listed=[f"{HOST}/long"])) as office:
        for keyword in ("needle", "word59"):
            (found,) = (await office.finder.find([keyword])).documents
            assert found["summary"] == "x" * 3_999 + "…"
            assert found["keywords"] == [f"word{number}" for number in range(50)] + ["…"]
        assert office.finder.left_out == {}


@in_virtual_time
async def test_a_document_that_says_more_than_is_kept_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    told = document("long", summary="x" * 100_000)
    resources = {f"{HOST}/long": told, HOST: {"documents": [told], "total_count": 1}}
    async with Office(FakeServer("reports", resources, listed=[f"{HOST}/long"])) as office:
        await office.finder.find()
        assert office.finder.left_out == {"reports": 1}
        assert "summaries or keywords truncated before searching: documents=1 mcp_server=reports" in caplog.text


@in_virtual_time
async def test_an_argument_of_the_wrong_kind_is_a_bad_request() -> None:
    async with Office(reports("a")) as office:
        with pytest.raises(BadRequest):
            await office.finder.find(offset=-1)


@pytest.mark.rule("6.2")
@in_virtual_time
async def test_a_server_that_cannot_be_subscribed_to_takes_no_part() -> None:
    async with Office(reports("a"), reports("b", name="plain", subscribes=False)) as office:
        assert await office.finder.find() == FinderPage([entry("a")], 1, [])


@pytest.mark.rule("7.3")
@in_virtual_time
async def test_a_warm_catalogue_makes_no_mcp_call() -> None:
    async with warm(reports("a", "b"), reports("c", name="plain", catalogue=False)) as office:
        for offset in range(3):
            await office.finder.find(["a"], offset=offset, history=["plain"])
        await office.settle()
        assert (office.calls(), office.pushes) == ({}, [])


@in_virtual_time
async def test_all_who_ask_at_a_time_share_one_reading() -> None:
    server = reports("a", "b")
    async with Office(server) as office:
        await office.settle()
        server.delay[HOST] = 0.5
        await asyncio.gather(*(office.finder.find() for _ in range(20)))
        assert server.asked("read") == [f"read {HOST}"]


@in_virtual_time
async def test_two_servers_whose_documents_arrive_at_once_are_both_there() -> None:
    many = [f"doc-{number}" for number in range(600)]
    async with Office(reports(*many, name="first"), reports(*many, name="second")) as office:
        assert (await office.finder.find()).total == 1_200
