"""The JSON of levels 0 to 3."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from pydantic import TypeAdapter

from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.render.json import (
    catalogue_json,
    document_json,
    document_with_pages_json,
    dumps,
    element_json,
    page_json,
    render_catalogue,
    render_document,
    render_document_with_pages,
    render_element,
    render_page,
)
from a2c_smcp.documents.render.replies import (
    CatalogueReply,
    DocumentPagesReply,
    DocumentReply,
    ElementReply,
    PageReply,
)
from tests.unit.documents.render.annual_report import CHART, CONTRACT, ENTRIES, HEADING, PAGE, REPORT, TABLE
from tests.unit.documents.render.strategies import json_values

GOLDEN = Path(__file__).parents[3] / "data" / "golden" / "dpe"
BARE = Document("h", "d", "file:///d.txt", "txt", "D", 0)


def printed(name: str) -> str:
    """The example of the specification, with its keys in their order and without its line breaks."""
    example = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return json.dumps(example, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.rule("7.2.level0")
def test_the_catalogue_is_as_printed() -> None:
    assert render_catalogue([REPORT, CONTRACT]) == printed("level0")


@pytest.mark.rule("7.2.level1")
def test_the_document_is_as_printed() -> None:
    assert render_document(REPORT) == printed("level1-metadata")


@pytest.mark.rule("7.2.level1")
def test_the_document_with_its_page_index_is_as_printed() -> None:
    assert render_document_with_pages(REPORT, ENTRIES, 0, 20) == printed("level1-pages")


@pytest.mark.rule("7.2.level2")
def test_the_page_is_as_printed() -> None:
    assert render_page(REPORT, PAGE) == printed("level2")


@pytest.mark.rule("7.2.level3")
def test_the_element_is_as_printed() -> None:
    assert render_element(REPORT, 0, TABLE) == printed("level3")


@pytest.mark.rule("7.2.level0", "7.2.level1", "7.2.level2", "7.2.level3")
@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("level0", CatalogueReply),
        ("level1-metadata", DocumentReply),
        ("level1-pages", DocumentPagesReply),
        ("level2", PageReply),
        ("level3", ElementReply),
    ],
)
def test_what_the_specification_prints_has_the_type_of_its_reply(name: str, reply: Any) -> None:
    example = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert TypeAdapter(reply).validate_python(example) == example


@pytest.mark.rule("7.2.level0")
def test_an_empty_catalogue_has_no_documents() -> None:
    assert catalogue_json([]) == {"documents": [], "total_count": 0}


@pytest.mark.rule("7.2.level1")
def test_what_is_not_known_of_a_document_is_left_out() -> None:
    assert document_json(BARE) == {
        "doc_ref": "d",
        "uri": "dpe://h/d",
        "file_uri": "file:///d.txt",
        "file_type": "txt",
        "title": "D",
        "page_count": 0,
    }


@pytest.mark.rule("7.2.level1")
def test_the_page_index_tells_its_window_and_the_whole() -> None:
    reply = document_with_pages_json(REPORT, [PageEntry(11, "附录", 1)], 11, 5)
    assert reply["pages"] == [
        {
            "page_index": 11,
            "title": "附录",
            "element_count": 1,
            "uri": "dpe://com.example.docs/rpt-2026/pages/11",
            "doc_ref": "rpt-2026",
        }
    ]
    assert (reply["page_offset"], reply["page_limit"], reply["page_total"]) == (11, 5, 12)


@pytest.mark.rule("7.2.level2")
def test_categories_select_elements_in_reading_order_and_are_what_is_counted() -> None:
    reply = page_json(REPORT, PAGE, ["chart", "heading"])
    assert [element["element_id"] for element in reply["elements"]] == [HEADING.id, CHART.id]
    assert reply["element_count"] == 2


@pytest.mark.rule("7.2.level2")
def test_a_page_leaves_out_the_totals_of_a_table_that_is_all_there() -> None:
    table = Element("t", "table", {"headers": ["a"], "rows": [[1]], "total_rows": 1, "total_columns": 1})
    assert page_json(BARE, Page(0, "", (table,)))["elements"][0]["content"] == {"headers": ["a"], "rows": [[1]]}


@pytest.mark.parametrize("window", [{"total_rows": 100_000}, {"row_offset": 99, "total_rows": 100}, {"row_offset": 1}])
def test_a_page_says_when_a_table_has_more_rows(window: dict[str, int]) -> None:
    table = Element("t", "table", {"headers": ["a"], "rows": [[1]], **window})
    assert page_json(BARE, Page(0, "", (table,)))["elements"][0]["content"] == table.content


@pytest.mark.rule("7.2.level3")
@pytest.mark.parametrize(
    ("given", "totals"),
    [
        ({"headers": ["a"], "rows": [[1, 2], []]}, (2, 2)),
        ({"headers": [], "rows": []}, (0, 0)),
        ({"headers": ["a"], "rows": [[1]], "total_rows": 100_000, "total_columns": 40}, (100_000, 40)),
        ({"headers": ["a"], "rows": [[1]], "row_offset": 7}, (8, 1)),
    ],
)
def test_an_element_that_is_a_table_says_how_large_it_is(given: dict[str, Any], totals: tuple[int, int]) -> None:
    content = element_json(BARE, 0, Element("t", "table", given))["content"]
    assert (content["total_rows"], content["total_columns"]) == totals
    assert list(content)[-2:] == ["total_rows", "total_columns"]


@pytest.mark.rule("7.2.level3")
def test_an_element_without_metadata_has_no_such_key() -> None:
    assert element_json(BARE, 4, Element("a/b", "text", {"text": "x"}, "s")) == {
        "element_id": "a/b",
        "category": "text",
        "doc_ref": "d",
        "page_index": 4,
        "uri": "dpe://h/d/elements/a%2Fb",
        "summary": "s",
        "content": {"text": "x"},
    }


def test_text_is_written_as_it_is_and_compactly() -> None:
    assert dumps({"title": "年报\n"}) == '{"title":"年报\\n"}'


def test_json_can_be_written_for_people() -> None:
    assert dumps({"a": [1]}, indent=2) == '{\n  "a": [\n    1\n  ]\n}'


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\x00b", "a\ufffdb"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("one\r\ntwo\rthree\x0bfour\x0cfive\x85six", "one\ntwo\nthree\nfour\nfive\nsix"),
        ("tab\tstays", "tab\tstays"),
        ("\x1b[31m\x9b", "\ufffd[31m\ufffd"),
        ("C:\\reports\\u0000", "C:\\reports\\u0000"),
    ],
)
def test_characters_that_no_reader_can_use_are_replaced(text: str, written: str) -> None:
    assert json.loads(dumps({text: [{"deep": text}]})) == {written: [{"deep": written}]}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_cannot_write_become_null(number: float) -> None:
    assert dumps({"rows": [[number, 1.5, True]]}) == '{"rows":[[null,1.5,true]]}'


@given(json_values)
def test_any_content_becomes_json_that_a_strict_reader_takes(value: Any) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(dumps({"content": value}).encode("utf-8"), parse_constant=refuse)


@given(json_values)
def test_a_reply_says_the_same_with_and_without_room(value: Any) -> None:
    assert json.loads(dumps({"content": value})) == json.loads(dumps({"content": value}, indent=2))
