"""The front of the renderers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.content import SHAPES
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.documents.render import RENDERERS, json, markdown, renderer_for, text
from a2c_smcp.documents.render.values import UNSAFE
from a2c_smcp.errors import BadRequest
from a2c_smcp.types import CATEGORIES, ElementCategory
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


@st.composite
def elements(draw: st.DrawFn) -> Element:
    category: ElementCategory = draw(st.sampled_from(CATEGORIES))
    return Element("e", category, draw(st.from_type(SHAPES[category])), draw(st.text()))


@pytest.mark.rule("7.2.categories")
@pytest.mark.parametrize("name", RENDERERS)
@given(element=elements())
def test_every_format_renders_whatever_a_shape_allows(name: str, element: Element) -> None:
    renderer = renderer_for(name)
    page = renderer.render_page(REPORT, Page(0, "", (element,)))
    alone = renderer.render_element(REPORT, 0, element)
    assert UNSAFE.search(page + alone) is None
