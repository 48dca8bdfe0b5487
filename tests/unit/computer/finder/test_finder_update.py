"""When the catalogue is told to have changed: other documents in a list, or an updated document."""

import asyncio

import pytest

from a2c_smcp.computer.finder.server_documents import FEW
from tests.unit.computer.finder.reports import HOST, document, entry, refs, reports, warm
from tests.unit.computer.resource_servers import FakeServer, Office
from tests.unit.computer.virtual_time import in_virtual_time, now


@pytest.mark.rule("7.5")
@in_virtual_time
async def test_an_updated_document_is_told_and_read_alone() -> None:
    server = reports("a", "b")
    async with warm(server, reports("c", name="others")) as office:
        office.change(server, f"{HOST}/a", document("a", title="New"))
        assert office.pushes == ["finder"]
        assert (await office.finder.find(["new"])).documents == [entry("a", title="New")]
        assert office.calls() == {"reports": [f"read {HOST}/a"]}


@pytest.mark.parametrize("part", ["pages/0", "elements/tbl-001"])
@in_virtual_time
async def test_an_update_within_a_document_is_one_of_the_document(part: str) -> None:
    server = reports("a", "b")
    async with warm(server) as office:
        office.index.resource_updated("reports", f"{HOST}/a/{part}")
        await office.finder.find()
        assert (office.pushes, office.calls()) == (["finder"], {"reports": [f"read {HOST}/a"]})


@in_virtual_time
async def test_an_updated_catalogue_is_read_again() -> None:
    server = reports("a", "b")
    async with warm(server) as office:
        office.change(server, HOST, {"documents": [document("a", title="New"), document("b")]})
        assert (await office.finder.find(["new"])).total == 1
        assert office.calls() == {"reports": [f"read {HOST}"]}


@pytest.mark.parametrize("uri", [f"{HOST}/a/chapters/7", f"{HOST}/unheard-of"])
@in_virtual_time
async def test_an_update_that_names_no_known_document_makes_the_catalogue_stale(uri: str) -> None:
    async with warm(reports("a", "b")) as office:
        office.index.resource_updated("reports", uri)
        await office.finder.find()
        assert (office.pushes, office.calls()) == (["finder"], {"reports": [f"read {HOST}"]})


@in_virtual_time
async def test_an_updated_catalogue_that_is_none_means_all_documents() -> None:
    async with warm(reports("a", "b", catalogue=False)) as office:
        office.index.resource_updated("reports", HOST)
        await office.finder.find()
        assert office.calls() == {"reports": [f"read {HOST}/a", f"read {HOST}/b"]}


@in_virtual_time
async def test_many_updated_documents_are_read_by_their_catalogue() -> None:
    doc_refs = [f"doc-{number}" for number in range(FEW + 1)]
    async with warm(reports(*doc_refs)) as office:
        for doc_ref in doc_refs:
            office.index.resource_updated("reports", f"{HOST}/{doc_ref}")
        await office.finder.find()
        assert office.calls() == {"reports": [f"read {HOST}"]}


@in_virtual_time
async def test_an_updated_document_that_only_the_catalogue_names_is_read_alone() -> None:
    server = reports("a", "b", listed=[f"{HOST}/a"])
    async with warm(server) as office:
        office.change(server, f"{HOST}/b", document("b", title="New"))
        assert (await office.finder.find(["new"])).total == 1
        assert office.calls() == {"reports": [f"read {HOST}/b"]}


@in_virtual_time
async def test_a_document_that_changes_while_it_is_read_is_read_again() -> None:
    server = reports("a")
    async with warm(server) as office:
        server.delay[f"{HOST}/a"] = 1
        office.change(server, f"{HOST}/a", document("a", title="First"))
        asking = asyncio.create_task(office.finder.find())
        await asyncio.sleep(0.5)
        office.change(server, f"{HOST}/a", document("a", title="Second"))
        await asking
        assert (await office.finder.find(["second"])).total == 1
        assert server.calls == [f"read {HOST}/a"] * 2


@pytest.mark.rule("7.5")
@in_virtual_time
async def test_updates_of_other_schemes_and_of_servers_that_take_no_part_are_not_told() -> None:
    async with warm(reports("a"), reports("b", name="plain", subscribes=False)) as office:
        office.index.resource_updated("reports", "file:///data/a.pdf")
        office.index.resource_updated("plain", f"{HOST}/b")
        assert office.pushes == []


@pytest.mark.rule("7.5")
@in_virtual_time
async def test_a_changed_list_with_the_same_documents_is_not_told() -> None:
    server = reports("a")
    async with warm(server) as office:
        server.listed = [f"{HOST}/a", "file:///notes.txt"]
        office.index.resources_changed("reports")
        await office.settle()
        await office.finder.find()
        assert (office.pushes, office.calls()) == ([], {"reports": ["list"]})


@pytest.mark.rule("7.5")
@in_virtual_time
async def test_a_changed_list_with_other_documents_is_told_and_only_its_server_read() -> None:
    server = reports("a")
    async with warm(server, reports("c", name="others")) as office:
        server.resources |= reports("a", "b").resources
        server.listed = [f"{HOST}/a", f"{HOST}/b"]
        office.index.resources_changed("reports")
        await office.settle()
        assert office.pushes == ["finder"]
        assert refs(await office.finder.find()) == ["a", "b", "c"]
        assert office.servers["others"].calls == []


@pytest.mark.rule("7.5")
@in_virtual_time
async def test_the_list_of_one_server_never_overwrites_that_of_another() -> None:
    first, second = reports("a", name="first"), reports("b", name="second")
    async with warm(first, second) as office:
        first.listed, second.listed = [], [f"{HOST}/b"]
        office.index.resources_changed("first")
        office.index.resources_changed("second")
        await office.settle()
        assert office.pushes == ["finder"]
        assert refs(await office.finder.find()) == ["b"]


@in_virtual_time
async def test_a_document_that_is_gone_from_the_list_is_gone_without_a_catalogue() -> None:
    server = reports("a", "b", catalogue=False)
    async with warm(server) as office:
        server.listed = [f"{HOST}/b"]
        office.index.resources_changed("reports")
        assert refs(await office.finder.find()) == ["b"]
        assert server.asked("read") == []


@in_virtual_time
async def test_documents_of_a_host_that_is_gone_from_the_list_are_gone() -> None:
    server = FakeServer("two", {f"{HOST}/a": document("a"), "dpe://other/b": {"title": "B"}})
    async with warm(server) as office:
        server.listed = [f"{HOST}/a"]
        office.index.resources_changed("two")
        assert refs(await office.finder.find()) == ["a"]


@in_virtual_time
async def test_a_catalogue_that_names_unlisted_documents_is_looked_at_again_when_the_list_was_changed() -> None:
    server = reports("a", "b", listed=[HOST])
    async with warm(server) as office:
        server.resources[HOST] = {"documents": [document("a"), document("b"), document("c")]}
        office.index.resources_changed("reports")
        await office.settle()
        assert (office.pushes, office.calls()) == (["finder"], {"reports": ["list", f"read {HOST}"]})
        assert refs(await office.finder.find()) == ["a", "b", "c"]


@in_virtual_time
async def test_a_catalogue_read_before_updates_were_told_is_looked_at_once_more() -> None:
    server = reports("a")
    server.delay["subscribe"] = 3
    async with Office(server) as office:
        assert (await office.finder.find()).total == 1
        assert now() == 0
        server.resources[HOST] = {"documents": [document("a", title="Changed unheard")]}
        office.pushes.clear()
        await asyncio.sleep(4)
        assert (office.pushes, server.asked("read")) == (["finder"], [f"read {HOST}"] * 2)
        assert (await office.finder.find(["unheard"])).total == 1


@in_virtual_time
async def test_a_catalogue_that_proves_to_be_the_same_is_not_told_again() -> None:
    server = reports("a")
    server.delay = {"subscribe": 0.3, HOST: 0.5}
    async with Office(server) as office:
        await office.finder.find()
        office.pushes.clear()
        await asyncio.sleep(4)
        assert (office.pushes, server.asked("read")) == ([], [f"read {HOST}"] * 2)


@in_virtual_time
async def test_documents_that_are_read_one_by_one_wait_until_their_updates_are_told() -> None:
    server = reports("a", catalogue=False)
    server.delay["subscribe"] = 1
    async with Office(server) as office:
        assert (await office.finder.find()).total == 1
        await office.settle()
        assert server.calls == ["list", "subscribe", f"read {HOST}", f"read {HOST}/a"]


@in_virtual_time
async def test_an_update_is_told_before_anybody_asked_for_the_catalogue() -> None:
    async with Office(reports("a")) as office:
        await office.settle()
        office.forget_calls()
        office.index.resource_updated("reports", f"{HOST}/a")
        assert (office.pushes, office.calls()) == (["finder"], {})


@in_virtual_time
async def test_an_update_at_an_unknown_host_is_told_and_costs_no_reading() -> None:
    async with warm(reports("a")) as office:
        office.index.resource_updated("reports", "dpe://elsewhere/x")
        await office.finder.find()
        assert (office.pushes, office.calls()) == (["finder"], {})
