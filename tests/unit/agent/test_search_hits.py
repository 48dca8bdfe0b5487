"""What a search in texts asks and what it finds."""

from typing import Any

import pytest

from a2c_smcp.agent.search_hits import SearchHit, merge_hits, query_keywords, read_hits, search_arguments, search_tools
from a2c_smcp.smcp import SMCPTool


def tool(name: str, **properties: Any) -> SMCPTool:
    return {"name": name, "description": "", "params_schema": {"properties": properties}, "return_schema": None}


def test_tools_that_search_are_known_by_their_name_qualified_or_not() -> None:
    tools = [tool(name) for name in ("search_documents", "docs__search_documents", "my_search_documents", "search")]
    assert [found["name"] for found in search_tools(tools)] == ["search_documents", "docs__search_documents"]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"query": {}}, {"query": "q"}),
        ({"query": {}, "limit": {}}, {"query": "q", "limit": 50}),
        ({"query": {}, "limit": {"maximum": 20}}, {"query": "q", "limit": 20}),
    ],
)
def test_the_limit_is_one_that_the_tool_takes(properties: dict[str, Any], expected: dict[str, Any]) -> None:
    assert search_arguments(tool("search_documents", **properties), "q", 50) == expected


def test_the_best_of_each_server_comes_first_and_each_place_once() -> None:
    def hits(*uris: str) -> list[SearchHit]:
        return [SearchHit(uri, "", "") for uri in uris]

    assert merge_hits([hits("a", "b", "c"), hits("x", "a"), []], 4) == hits("a", "x", "b", "c")
    assert merge_hits([hits("a", "b", "c"), hits("x")], 2) == hits("a", "x")
    assert merge_hits([], 5) == []


@pytest.mark.parametrize(
    "told",
    [
        {"structuredContent": {"hits": [{"uri": "dpe://h/d", "snippet": "s"}]}},
        {"structuredContent": {"result": [{"uri": "dpe://h/d", "text": "s"}]}},
        {"content": [{"type": "text", "text": '{"results": [{"uri": "dpe://h/d", "summary": "s"}]}'}]},
        {"content": [{"type": "text", "text": '[{"uri": "dpe://h/d", "snippet": "s"}, {"uri": "dpe://h"}, 3]'}]},
    ],
)
def test_hits_are_read_from_any_usual_form(told: Any) -> None:
    assert list(read_hits(told)) == [SearchHit("dpe://h/d", "", "s")]


def test_what_tells_no_hits_has_none() -> None:
    for text in ("not JSON", "{}", '"a"', "[]"):
        assert list(read_hits({"content": [{"type": "text", "text": text}]})) == []


def test_a_query_is_its_whole_and_its_words() -> None:
    assert query_keywords(" big blue  sea ") == ["big blue  sea", "big", "blue", "sea"]
    assert query_keywords("收入") == ["收入"]
    assert query_keywords(" ") == []
