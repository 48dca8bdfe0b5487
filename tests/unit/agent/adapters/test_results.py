"""What a model is told of a result."""

from typing import Any

import pytest

from a2c_smcp.agent.adapters.results import ResultImage, ToolAnswer, read_error, read_result
from a2c_smcp.errors import ConfirmationRequired
from a2c_smcp.smcp import CallToolResult

TEXT = {"type": "text", "text": "hello"}


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (TEXT, "hello"),
        ({"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}}, "file:///a\n\ninside"),
        (
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "application/pdf", "blob": "QUJD"}},
            "[file file:///a, application/pdf, 3 bytes: not shown]",
        ),
        ({"type": "resource_link", "uri": "dpe://h/d", "name": "d", "title": "Plan"}, "[Plan](dpe://h/d)"),
        ({"type": "resource_link", "uri": "dpe://h/d", "name": "d"}, "[d](dpe://h/d)"),
        ({"type": "audio", "mimeType": "audio/wav", "data": "QUJD"}, "[audio, audio/wav, 3 bytes: not shown]"),
        ({"type": "image", "mimeType": "image/svg+xml", "data": "QUJD"}, "[image, image/svg+xml, 3 bytes: not shown]"),
        ({"type": "text"}, "[text, unknown type: not shown]"),
        ({}, "(done, nothing to show)"),
    ],
)
def test_every_kind_of_content_is_told_in_words(item: dict[str, Any], words: str) -> None:
    result: CallToolResult = {"content": [item]}
    assert read_result(result) == ToolAnswer(words, result=result)


@pytest.mark.parametrize(
    "item",
    [
        {"type": "image", "mimeType": "image/png", "data": "QUJD"},
        {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "image/png", "blob": "QUJD"}},
    ],
)
def test_pictures_stay_pictures(item: dict[str, Any]) -> None:
    result: CallToolResult = {"content": [TEXT, item]}
    answer = read_result(result)
    assert answer == ToolAnswer("hello", (ResultImage("image/png", "QUJD"),), result=result)
    assert answer.pictures[0].url == "data:image/png;base64,QUJD"
    assert read_result({"content": [item]}).text == "(1 picture)"


def test_structured_content_is_told_where_there_is_no_text() -> None:
    assert read_result({"content": [], "structuredContent": {"城": 1}}).text == '{"城": 1}'
    assert read_result({"content": [TEXT], "structuredContent": {"a": 1}}).text == "hello"


def test_a_failure_is_told_as_one() -> None:
    failed = read_result({"content": [TEXT], "isError": True})
    assert (failed.text, failed.failed) == ("Error: hello", True)
    assert read_result({"content": [], "isError": True}).text == "Error: the tool failed and did not say why"
    assert read_error(ConfirmationRequired("ask the owner")) == ToolAnswer("Error 4005: ask the owner", failed=True)


def test_a_long_result_is_cut() -> None:
    answer = read_result({"content": [{"type": "text", "text": "word " * 1_000}]}, budget=10)
    assert answer.text == "word word word word word word word…"
