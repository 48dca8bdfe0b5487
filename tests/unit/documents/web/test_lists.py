"""Lists as badly as people write them."""

from typing import Any

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.elements import ElementMaker
from a2c_smcp.documents.web.page import elements_of_html


def lists(html: str) -> list[dict[str, Any]]:
    found = [e for e in elements_of_html(html, ElementMaker()) if e.category == "list"]
    for element in found:
        validate_content("list", dict(element.content))
    return [dict(element.content) for element in found]


@pytest.mark.parametrize(
    ("html", "items"),
    [
        ("<ul><li>a<ul><li>b</ul></ul>", [{"text": "a", "children": {"ordered": False, "items": ["b"]}}]),
        ("<ul><li>a</li><ul><li>b</ul></ul>", ["a", "b"]),
        (
            "<ul><li><div>a<div><ol><li>b</ol></div></div></ul>",
            [{"text": "a", "children": {"ordered": True, "items": ["b"]}}],
        ),
        ("<ul>loose<li>a</ul>", ["loose", "a"]),
        ("<ul><li><img src=x alt=Pictured></ul>", ["Pictured"]),
        ("<ul><li><p>one</p><p>two</p></ul>", ["one\ntwo"]),
        (
            "<ul><li>see <a href='https://x.org'>this</a></ul>",
            [{"text": "see this", "spans": [{"start": 4, "end": 8, "kind": "link", "url": "https://x.org"}]}],
        ),
    ],
)
def test_items(html: str, items: list[Any]) -> None:
    assert lists(html) == [{"ordered": False, "items": items}]


def test_a_long_list_becomes_several_that_go_on_counting() -> None:
    found = lists("<ol>" + "".join(f"<li>i{n}" for n in range(700)) + "</ol>")
    assert [(len(content["items"]), content.get("start", 1)) for content in found] == [(300, 1), (300, 301), (100, 601)]


def test_lists_nested_without_end_keep_their_text() -> None:
    [content] = lists("<ul><li>z" * 60)
    assert str(content).count("z") == 60


def test_terms_in_divisions_and_stray_text() -> None:
    assert lists("<dl><div><dt>a<dd>b</div></dl>") == [
        {"ordered": False, "items": [{"text": "a", "children": {"ordered": False, "items": ["b"]}}]}
    ]
    stray = elements_of_html("<dl>stray<dt>a<dd>b</dl>", ElementMaker())
    assert [element.content["text"] for element in stray] == ["stray", "a", "b"]
