"""The aggregation of the guide, over clients of the official SDK and sessions of this package."""

import json
from typing import Any

import mcp.types as t
import pytest
from mcp import Client
from mcp.server.lowlevel import Server

from a2c_smcp.computer.finder import FinderAggregator
from tests.unit.computer.finder.reports import HOST, document, entry, reports

LISTED = [f"{HOST}/a", "file:///notes.txt", HOST, f"{HOST}/b", f"{HOST}/b/pages/0"]


async def list_resources(ctx: Any, params: Any) -> t.ListResourcesResult:
    start = int(params.cursor or 0) if params else 0
    page = [t.Resource(uri=uri, name=uri) for uri in LISTED[start : start + 2]]
    following = str(start + 2) if start + 2 < len(LISTED) else None
    return t.ListResourcesResult(resources=page, next_cursor=following)


async def read_resource(ctx: Any, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
    text = json.dumps(document(params.uri.rpartition("/")[2]))
    return t.ReadResourceResult(contents=[t.TextResourceContents(uri=params.uri, text=text)])


async def subscribe(ctx: Any, params: Any) -> t.EmptyResult:
    return t.EmptyResult()


def server(**more: Any) -> Server[Any]:
    return Server("reports", on_list_resources=list_resources, on_read_resource=read_resource, **more)


@pytest.mark.rule("7.3")
async def test_the_documents_of_clients_of_the_official_sdk_are_collected() -> None:
    async with Client(server(on_subscribe_resource=subscribe), mode="legacy") as client:
        assert await FinderAggregator({"reports": client}).collect_documents() == [entry("a"), entry("b")]


async def test_a_server_that_cannot_be_subscribed_to_takes_no_part() -> None:
    async with Client(server(), mode="legacy") as client:
        assert await FinderAggregator({"reports": client}).collect_documents() == []


async def test_the_documents_of_sessions_are_collected() -> None:
    assert await FinderAggregator({"reports": reports("a", "b")}).collect_documents() == [entry("a"), entry("b")]


def test_the_cache_of_uris_tells_whether_they_changed() -> None:
    aggregator = FinderAggregator({})
    assert [aggregator.update_uri_cache(uris) for uris in ({"a"}, {"a"}, {"a", "b"}, set(), set())] == [
        True,
        False,
        True,
        True,
        False,
    ]
