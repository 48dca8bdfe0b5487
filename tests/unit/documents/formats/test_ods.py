"""OpenDocument workbooks as pages."""

import struct
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.documents.formats.base import Description, Illustrated
from a2c_smcp.documents.formats.ods import FORMAT
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.errors import DocumentError
from tests.unit.documents.odf.workbooks import MIME_TYPE, NAMESPACES, book, cell, row, sheet
from tests.unit.documents.ooxml.office import cells, workbook, worksheet, write


def told(path: Path, index: int = 0) -> list[tuple[str, dict[str, Any]]]:
    """Category and content of all elements of a sheet."""
    return [(element.category, dict(element.content)) for element in FORMAT.open(path).page(index).elements]


def test_a_sheet_is_a_page_with_its_tables(tmp_path: Path) -> None:
    sales = sheet("Sales", row("Region", "Sum"), row("north", 10), row("south", 2.5))
    document = FORMAT.open(book(tmp_path / "book.ods", sales, sheet("Empty")))
    table = Element(
        "p0-tbl-001",
        "table",
        {"headers": ["Region", "Sum"], "rows": [["north", 10], ["south", 2.5]], "total_rows": 2, "total_columns": 2},
        "2 rows × 2 columns: Region, Sum",
        {"source_range": "A1:B3", "sheet": "Sales", "has_formulas": False, "total_rows": 2},
    )
    assert document.describe() == Description("", 2, ("Sales", "Empty"), "2 sheets: Sales, Empty")
    assert [document.page(index) for index in (0, 1)] == [Page(0, "Sales", (table,)), Page(1, "Empty")]
    assert [entry.element_count for entry in document.entries(0, 9)] == [1, 0]
    assert document.find("p0-tbl-001") == (0, table)
    assert [document.find(key) for key in ("p0-tbl-002", "p7-tbl-001", "x", "p0-tbl-001-r9")] == [None] * 4


def test_title_keywords_and_hidden_sheets_are_told(tmp_path: Path) -> None:
    meta = (
        f"<office:document-meta {NAMESPACES}><office:meta><dc:title>Budget</dc:title><dc:subject>Plans</dc:subject>"
        "<meta:keyword>money</meta:keyword><meta:keyword>2020</meta:keyword></office:meta></office:document-meta>"
    )
    styles = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
    hidden = sheet("Old", attributes='table:style-name="ta2"')
    path = book(tmp_path / "book.ods", sheet("New"), hidden, styles=styles, parts={"meta.xml": meta})
    expected = Description("Budget", 2, ("money", "2020"), "Plans. 2 sheets: New, Old (hidden)")
    assert FORMAT.open(path).describe() == expected


def test_a_link_is_a_span_of_its_cell(tmp_path: Path) -> None:
    link = cell('see <text:a xlink:href="http://example.com/">here</text:a>')
    ((_, table),) = told(book(tmp_path / "book.ods", sheet("S", row(1, "a"), row(2, link))))
    span = {"start": 4, "end": 8, "kind": "link", "url": "http://example.com/"}
    assert table["cell_spans"] == [{"row": 2, "column": 1, "spans": [span]}]


def test_formulas_and_comments_follow_their_table(tmp_path: Path) -> None:
    note = (
        "<office:annotation><dc:creator>Ada</dc:creator><dc:date>2020-01-02T03:04:05</dc:date>"
        "<text:p>sure?</text:p></office:annotation>"
    )
    link = cell('see <text:a xlink:href="http://example.com/">here</text:a>')
    total = cell(3, 'table:formula="of:=SUM([.A1:.A2])"', note)
    path = book(tmp_path / "book.ods", sheet("S", row(1, "a"), row(2, "b"), row(total, link)))
    assert told(path)[1:] == [
        ("formula", {"expression": "=SUM(A1:A2)", "value": 3, "location": "A3", "notation": "excel"}),
        (
            "annotation",
            {
                "text": "sure?",
                "annotation_type": "comment",
                "author": "Ada",
                "created": "2020-01-02T03:04:05",
                "target": "A3",
            },
        ),
    ]


def test_cells_and_rows_that_repeat_are_written_out_and_merged_ones_told(tmp_path: Path) -> None:
    merged = cell("Both", 'table:number-columns-spanned="2"') + "<table:covered-table-cell/>"
    path = book(
        tmp_path / "book.ods",
        sheet(
            "S",
            f"<table:table-row>{merged}</table:table-row>",
            row("a", "b"),
            row(cell(7, 'table:number-columns-repeated="2"'), attributes='table:number-rows-repeated="3"'),
            row(attributes='table:number-rows-repeated="1048000"'),
        ),
    )
    ((category, content),) = told(path)
    assert category == "table"
    assert content["rows"] == [[7, 7], [7, 7], [7, 7]]
    assert content["caption"] == "Both"


def test_a_bold_line_alone_is_a_heading(tmp_path: Path) -> None:
    styles = '<style:style style:name="ce1"><style:text-properties fo:font-weight="bold"/></style:style>'
    path = book(tmp_path / "book.ods", sheet("S", row(cell("Title", 'table:style-name="ce1"'))), styles=styles)
    assert told(path) == [("heading", {"level": 2, "text": "Title"})]


def chart(kind: str = "chart:bar", style: str = "") -> str:
    return (
        f"<office:document-content {NAMESPACES}><office:automatic-styles>"
        f'<style:style style:name="ch1"><style:chart-properties {style}/></style:style></office:automatic-styles>'
        f'<office:body><office:chart><chart:chart chart:class="{kind}"><chart:title>'
        "<text:p>Growth</text:p></chart:title>"
        '<chart:plot-area chart:style-name="ch1"><chart:axis chart:dimension="x"><chart:title><text:p>Year</text:p>'
        '</chart:title></chart:axis><chart:series chart:values-cell-range-address="S.B2:S.B3"/></chart:plot-area>'
        f"<table:table><table:table-header-rows>{row(None, 'Sum')}</table:table-header-rows>"
        f"{row('2020', 1)}{row('2021', 4)}</table:table></chart:chart></office:chart></office:body>"
        "</office:document-content>"
    )


def frame(inside: str, attributes: str = "") -> str:
    return f"<draw:frame {attributes}>{inside}</draw:frame>"


@pytest.mark.parametrize(
    ("kind", "style", "chart_type"),
    [
        ("chart:bar", "", "column"),
        ("chart:bar", 'chart:vertical="true"', "bar"),
        ("chart:area", 'chart:stacked="true"', "stacked area"),
        ("chart:bar", 'chart:percentage="true"', "percent stacked column"),
        ("chart:circle", "", "pie"),
    ],
)
def test_a_chart_tells_its_series_from_the_copy_it_carries(
    tmp_path: Path, kind: str, style: str, chart_type: str
) -> None:
    shown = frame('<draw:object xlink:href="./Object 1"/><draw:image xlink:href="./ObjectReplacements/Object 1"/>')
    path = book(
        tmp_path / "book.ods",
        sheet("S", f"<table:shapes>{shown}</table:shapes>"),
        parts={"Object 1/content.xml": chart(kind, style)},
    )
    points = "Sum, 2 points from 1 to 4, lowest 1 (2020), highest 4 (2021)"
    word = chart_type[0].upper() + chart_type[1:]
    assert told(path) == [
        (
            "chart",
            {
                "chart_type": chart_type,
                "title": "Growth",
                "data_summary": f"{word} chart of 1 series: {points}",
                "series": [{"name": "Sum", "values": [1, 4], "categories": ["2020", "2021"]}],
                "x_title": "Year",
                "source": "S!B2:B3",
            },
        )
    ]


def test_pictures_boxes_shapes_and_objects_stand_at_their_cells(tmp_path: Path) -> None:
    size = 'draw:name="logo" svg:width="2.54cm" svg:height="1in"'
    drawn = (
        frame('<draw:image xlink:href="Pictures/logo.png"/><svg:desc>Our logo</svg:desc>', size)
        + frame("<draw:text-box><text:p>boxed</text:p></draw:text-box>")
        + "<draw:g><draw:custom-shape><text:p>shaped</text:p></draw:custom-shape></draw:g>"
        + frame('<draw:object xlink:href="./Object 2"/>', 'draw:name="Sum of all"')
        + '<draw:control draw:name="Button 1"/>'
    )
    path = book(
        tmp_path / "book.ods", sheet("S", row(None, cell(None, "", drawn))), parts={"Pictures/logo.png": b"png"}
    )
    document = FORMAT.open(path)
    elements = document.page(0).elements
    assert [(element.category, element.content, element.metadata["anchor"]) for element in elements] == [
        ("image", {"alt": "Our logo", "mime_type": "image/png", "width": 96, "height": 96}, "B1"),
        ("text", {"text": "boxed"}, "B1"),
        ("text", {"text": "shaped"}, "B1"),
        ("widget", {"widget_type": "embedded object", "name": "Sum of all"}, "B1"),
        ("widget", {"widget_type": "control", "name": "Button 1"}, "B1"),
    ]
    assert isinstance(document, Illustrated)
    assert document.element_image(elements[0].id) == ("image/png", b"png")
    assert [document.element_image(key) for key in (elements[1].id, "p9-img-001", "x")] == [None] * 3


def test_pivot_tables_named_ranges_filters_and_choices_are_told(tmp_path: Path) -> None:
    after = (
        '<table:database-ranges><table:database-range table:name="People" table:target-range-address="S.A1:S.B2"/>'
        "</table:database-ranges><table:data-pilot-tables>"
        '<table:data-pilot-table table:name="Pilot" table:target-range-address="P.A1:P.B2">'
        '<table:source-cell-range table:cell-range-address="S.A1:S.B2"/>'
        '<table:data-pilot-field table:source-field-name="name" table:orientation="row"/>'
        '<table:data-pilot-field table:source-field-name="age" table:orientation="data" table:function="average"/>'
        "</table:data-pilot-table></table:data-pilot-tables>"
    )
    before = (
        '<table:content-validations><table:content-validation table:name="v1" '
        'table:condition=\'of:cell-content-is-in-list("Ada";"Bob")\'/></table:content-validations>'
    )
    people = sheet("S", row("name", "age"), row(cell("Ada", 'table:content-validation-name="v1"'), 36))
    pivot = sheet("P", row("name", "Average"), row("Ada", 36))
    path = book(tmp_path / "book.ods", people, pivot, before=before, after=after)
    widget = {
        "widget_type": "dropdown",
        "name": "v1",
        "options": ["Ada", "Bob"],
        "description": "Ada, Bob",
        "value": "Ada",
    }
    (table, listed), (_, chosen) = told(path)
    assert (table, listed["caption"], listed["headers"], chosen) == ("table", "People", ["name", "age"], widget)
    assert told(path, 1) == [
        (
            "pivot_table",
            {
                "row_fields": ["name"],
                "column_fields": [],
                "values": [{"field": "age", "function": "average"}],
                "title": "Pilot",
                "source": "S!A1:B2",
                "headers": ["name", "Average"],
                "rows": [["Ada", 36]],
            },
        )
    ]


def test_a_long_sheet_is_read_in_windows(tmp_path: Path) -> None:
    rows = (row(number, f"row {number}") for number in range(1, 12_001))
    document = FORMAT.open(book(tmp_path / "book.ods", sheet("Long", row("n", "text"), *rows)))
    (first,) = document.page(0).elements
    assert (first.content["total_rows"], first.metadata["next"]) == (12_000, "p0-tbl-001-r101")
    found = document.find("p0-tbl-001-r11901")
    assert found is not None
    assert found[1].content["rows"] == [[number, f"row {number}"] for number in range(11_901, 12_001)]
    assert found[1].metadata["source_range"] == "A11902:B12001"


def test_a_million_rows_that_repeat_cost_no_more_than_a_window(tmp_path: Path) -> None:
    wide = cell(1, 'table:number-columns-repeated="20000"')
    path = book(tmp_path / "book.ods", sheet("S", row(wide, attributes='table:number-rows-repeated="2000000"')))
    (first,) = FORMAT.open(path).page(0).elements
    assert (first.content["total_rows"], first.content["total_columns"]) == (1_048_576, 16_384)
    assert len(first.content["rows"]) == 2


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"content.xml": f"<office:document-content {NAMESPACES}/>"}, "an OpenDocument file of another kind"),
        ({"other.xml": "<x/>"}, "it is a ZIP archive of something else"),
        ({"content.xml": "<cut"}, r"damaged: its part 'content\.xml' is not valid XML"),
        ({"content.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'}, "it defines XML entities"),
        ({"content.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'.encode("utf-16")}, "it defines XML entities"),
        (
            {"content.xml": b"\x01\x02", "META-INF/manifest.xml": "<file-entry><encryption-data/></file-entry>"},
            "password-protected",
        ),
    ],
)
def test_what_is_no_workbook_is_refused_with_the_reason(
    tmp_path: Path, parts: dict[str, str | bytes], reason: str
) -> None:
    with pytest.raises(DocumentError, match=reason):
        FORMAT.open(write(tmp_path / "book.ods", {"mimetype": MIME_TYPE, **parts}))


def test_a_bomb_is_measured_as_it_comes_out(tmp_path: Path) -> None:
    path = write(tmp_path / "book.ods", {"mimetype": MIME_TYPE, "content.xml": b" " * (20 << 20)})
    path.write_bytes(path.read_bytes().replace(struct.pack("<L", 20 << 20), struct.pack("<L", 100)))
    with pytest.raises(DocumentError, match=r"its part 'content\.xml' is larger than it says"):
        FORMAT.open(path)


def test_a_workbook_of_excel_under_this_name_is_read_as_what_it_is(tmp_path: Path) -> None:
    path = workbook(tmp_path / "book.ods", {"S": worksheet(cells((1, {"A": "words"})))})
    assert told(path) == [("text", {"text": "words"})]


@pytest.mark.parametrize(("name", "kind"), [("a.ODS", "ods"), ("a.ots", "ods"), ("a.odt", None)])
def test_files_are_known_by_their_endings(name: str, kind: str | None) -> None:
    assert FORMAT.file_type(name) == kind
