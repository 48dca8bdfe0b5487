"""The front of the renderers."""

import pytest

from a2c_smcp.documents.render import RENDERERS, json, markdown, renderer_for, text
from a2c_smcp.errors import BadRequest
from tests.unit.documents.render.annual_report import CONTRACT, ENTRIES, PAGE, REPORT, TABLE


def test_each_format_has_its_renderer_and_its_mime_type() -> None:
    assert {name: renderer.MIME_TYPE for name, renderer in RENDERERS.items()} == {
        "json": "application/json",
        "markdown": "text/markdown",
        "text": "text/plain",
    }


def test_a_renderer_is_found_by_the_word_of_the_query() -> None:
    assert [renderer_for("json"), renderer_for("markdown"), renderer_for("text")] == [json, markdown, text]


def test_an_unknown_format_is_refused_with_those_that_exist() -> None:
    with pytest.raises(BadRequest, match="There is no format 'yaml'; the formats are json, markdown, text"):
        renderer_for("yaml")


@pytest.mark.rule("7.2.level0", "7.2.level1", "7.2.level2", "7.2.level3")
@pytest.mark.parametrize("name", RENDERERS)
def test_every_format_renders_every_level(name: str) -> None:
    renderer = renderer_for(name)
    rendered = [
        renderer.render_catalogue([REPORT, CONTRACT]),
        renderer.render_document(REPORT),
        renderer.render_document_with_pages(REPORT, ENTRIES, 0, 20),
        renderer.render_page(REPORT, PAGE, categories=["table"]),
        renderer.render_element(REPORT, 0, TABLE),
    ]
    expected = ["A1 合同", "2026 年度报告", "收入分析", "1,420", "1,420"]
    assert [word in level for word, level in zip(expected, rendered, strict=True)] == [True] * 5
