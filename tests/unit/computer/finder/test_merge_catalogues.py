"""One catalogue from several of one host."""

import json
from typing import Any

import pytest

from a2c_smcp.computer.finder.summaries import merge_catalogues

URI = "dpe://h"


def contents(value: Any, mime_type: str = "application/json") -> list[dict[str, Any]]:
    return [{"uri": URI, "mimeType": mime_type, "text": value if isinstance(value, str) else json.dumps(value)}]


def merged(*replies: list[dict[str, Any]], missing: list[str] | None = None) -> Any:
    [content] = merge_catalogues(URI, replies, missing or [])
    return json.loads(content["text"])


@pytest.mark.rule("7.6")
def test_documents_are_put_together_and_counts_added() -> None:
    first = contents({"documents": [{"doc_ref": "a"}], "total_count": 1})
    second = contents({"documents": [{"doc_ref": "b"}, {"doc_ref": "c"}], "total_count": 2})
    assert merged(first, second) == {
        "documents": [{"doc_ref": "a"}, {"doc_ref": "b"}, {"doc_ref": "c"}],
        "total_count": 3,
    }


@pytest.mark.parametrize("count", [None, "many", True, 0, -5])
def test_a_count_that_makes_no_sense_is_counted_anew(count: object) -> None:
    assert merged(contents({"documents": [1, 2], "total_count": count}))["total_count"] == 2


def test_a_count_of_more_documents_than_are_shown_is_believed() -> None:
    assert merged(contents({"documents": [1, 2], "total_count": 50}))["total_count"] == 50


def test_servers_that_did_not_answer_are_named() -> None:
    assert merged(contents({"documents": []}), missing=["slow"]) == {
        "documents": [],
        "total_count": 0,
        "unavailable": ["slow"],
    }


def test_texts_of_one_kind_follow_each_other() -> None:
    replies = [contents("# A", "text/markdown"), contents("# B", "text/markdown")]
    assert merge_catalogues(URI, replies) == contents("# A\n\n# B", "text/markdown")


def test_anything_else_stays_side_by_side() -> None:
    replies = [contents("# A", "text/markdown"), [{"uri": URI, "mimeType": "image/png", "blob": "AAAA"}]]
    assert merge_catalogues(URI, replies) == [*replies[0], *replies[1]]
