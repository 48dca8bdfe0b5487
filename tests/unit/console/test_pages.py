"""Documents as the console shows them."""

from typing import Any

import pytest

from a2c_smcp.console.pages import element_view, page_view, readable
from a2c_smcp.errors import ToolFailed


def test_an_element_is_shown_as_its_category_reads() -> None:
    content = {"headers": ["a", "b"], "rows": [["1", "<b>2</b>"]]}
    view = element_view({"element_id": "t1", "category": "table", "summary": "s", "content": content})
    assert "content" not in view
    assert view["html"].startswith("<table>\n<thead>\n<tr>\n<th>a</th>")
    assert "&lt;b&gt;2&lt;/b&gt;" in view["html"]


@pytest.mark.parametrize(
    ("category", "content"),
    [
        ("table", {"rows": "none"}),
        ("hologram", {"depth": 3}),
        ("text", "plain"),
        (None, None),
        ("heading", {"text": 1}),
    ],
)
def test_what_another_server_made_of_a_category_is_shown_as_it_is(category: Any, content: Any) -> None:
    html = element_view({"element_id": "e", "category": category, "content": content})["html"]
    assert html.startswith('<pre><code class="language-json">')


def test_a_page_is_shown_with_the_elements_it_really_has() -> None:
    page = {"page_index": 0, "title": "One", "elements": [{"element_id": "x", "category": "text"}, "nonsense", None]}
    assert [element["element_id"] for element in page_view(page)["elements"]] == ["x"]
    assert page_view({"elements": 7})["elements"] == []


@pytest.mark.parametrize("contents", [[], [{}], [{"text": "no JSON"}], [{"text": "[1]"}], [{"text": None}]])
def test_a_resource_that_is_no_json_object_is_a_failure_of_its_server(contents: Any) -> None:
    with pytest.raises(ToolFailed):
        readable(contents)
