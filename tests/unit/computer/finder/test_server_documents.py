"""How the documents of an MCP server are read: by its catalogue, one by one, or both."""

import json
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer.finder.collector import FinderPage
from a2c_smcp.computer.finder.server_documents import LONG
from a2c_smcp.computer.resources.cache import ResourceLimits
from tests.unit.computer.finder.reports import HOST, document, entry, refs, reports, warm
from tests.unit.computer.resource_servers import FakeServer, Office
from tests.unit.computer.virtual_time import in_virtual_time

LEVEL_0 = json.loads((Path(__file__).parents[3] / "data/golden/dpe/level0.json").read_text(encoding="utf-8"))


@pytest.mark.rule("7.3")
@in_virtual_time
async def test_the_example_of_the_specification() -> None:
    listed = [entry["uri"] for entry in LEVEL_0["documents"]]
    async with Office(FakeServer("docs", {HOST: LEVEL_0}, listed=listed)) as office:
        newest_first = [{**entry, "server": "docs"} for entry in reversed(LEVEL_0["documents"])]
        assert await office.finder.find() == FinderPage(newest_first, 2, [])  # type: ignore[arg-type]


@pytest.mark.rule("7.3")
@in_virtual_time
async def test_a_catalogue_is_read_once_for_all_documents_of_its_host() -> None:
    server = reports("a", "b", "c")
    async with Office(server) as office:
        await office.settle()
        assert refs(await office.finder.find()) == ["a", "b", "c"]
        assert server.asked("read") == [f"read {HOST}"]


@pytest.mark.rule("7.3")
@in_virtual_time
async def test_without_a_catalogue_the_documents_are_read_one_by_one_in_parallel() -> None:
    server = reports(*(f"doc-{number:02}" for number in range(30)), catalogue=False)
    server.delay = dict.fromkeys(server.resources, 0.1)
    async with Office(server, limits=ResourceLimits(at_once=8)) as office:
        found = await office.finder.find(limit=100)
        assert [entry["doc_ref"] for entry in found.documents] == [f"doc-{number:02}" for number in range(30)]
        assert server.most_at_once == 8


@pytest.mark.parametrize(
    "level_0",
    ["no JSON", {"documents": "many"}, [1, 2], "[" * 100_000, '{"documents": [NaN]}', [{"blob": "AAAA"}], [], [None]],
)
@in_virtual_time
async def test_what_is_no_catalogue_leads_to_the_documents_themselves(level_0: Any) -> None:
    server = reports("a", "b", catalogue=False)
    server.resources[HOST] = level_0
    async with Office(server) as office:
        assert refs(await office.finder.find()) == ["a", "b"]


@in_virtual_time
async def test_the_catalogue_is_not_tried_again_where_there_is_none() -> None:
    server = reports("a", catalogue=False)
    async with warm(server) as office:
        server.resources[f"{HOST}/b"] = document("b")
        server.listed = [f"{HOST}/a", f"{HOST}/b"]
        office.index.resources_changed("reports")
        assert refs(await office.finder.find()) == ["a", "b"]
        assert server.asked("read") == [f"read {HOST}/b"]


@pytest.mark.rule("7.3")
@in_virtual_time
async def test_listed_documents_and_those_of_the_catalogue_are_united() -> None:
    server = reports("both", "listed")
    server.resources[HOST] = {"documents": [document("both"), document("catalogued")], "total_count": 2}
    async with Office(server) as office:
        assert refs(await office.finder.find()) == ["both", "catalogued", "listed"]
        assert server.asked("read") == [f"read {HOST}", f"read {HOST}/listed"]


@in_virtual_time
async def test_entries_that_are_no_documents_of_the_host_are_dropped() -> None:
    server = reports("a")
    foreign = [document("x", uri="dpe://elsewhere/x"), document("y", uri=f"{HOST}/y/pages/0"), document("z", uri=7)]
    server.resources[HOST] = {"documents": [None, 3, {}, *foreign, document("a"), document("a", title="again")]}
    async with Office(server) as office:
        assert (await office.finder.find()).documents == [entry("a")]


@in_virtual_time
async def test_a_server_of_two_hosts_offers_the_documents_of_both() -> None:
    other = {"documents": [{"doc_ref": "b", "title": "B"}], "total_count": 1}
    server = FakeServer("two", {f"{HOST}/a": document("a"), "dpe://other/b": "no JSON", "dpe://other": other})
    async with Office(server) as office:
        assert refs(await office.finder.find()) == ["a", "b"]


@in_virtual_time
async def test_a_document_without_readable_metadata_is_known_by_what_the_list_says() -> None:
    fields = {
        f"{HOST}/a": {
            "name": "a.pdf",
            "title": "A report",
            "description": "About A",
            "annotations": {"lastModified": "2026-01-15T08:30:00Z"},
        }
    }
    async with Office(FakeServer("reports", {f"{HOST}/a": "# A"}, fields=fields)) as office:
        assert (await office.finder.find()).documents == [
            {
                "doc_ref": "a",
                "uri": f"{HOST}/a",
                "file_uri": "",
                "file_type": "",
                "title": "A report",
                "page_count": 0,
                "summary": "About A",
                "last_modified": "2026-01-15T08:30:00Z",
                "server": "reports",
            }
        ]


@in_virtual_time
async def test_a_large_catalogue_is_taken_apart_beside_the_event_loop() -> None:
    documents = [document(f"doc-{number}", summary="x" * 100) for number in range(6_000)]
    catalogue = json.dumps({"documents": documents, "total_count": len(documents)})
    assert len(catalogue) > LONG
    async with Office(FakeServer("reports", {HOST: catalogue})) as office:
        assert (await office.finder.find()).total == 6_000
