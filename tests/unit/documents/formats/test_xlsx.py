"""Workbooks: a sheet is a page, its regions are tables, and a long sheet is never held."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Description, Illustrated, OpenDocument
from a2c_smcp.documents.formats.xlsx import FORMAT
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.errors import DocumentError
from tests.unit.documents.ooxml.office import (
    CHART,
    DRAWING,
    MAIN,
    NAMESPACES,
    RELATIONSHIPS,
    cells,
    core,
    relationships,
    workbook,
    worksheet,
)

NOTHING: Mapping[str, str | bytes] = MappingProxyType({})
SHEET_RELS = "xl/worksheets/_rels/sheet1.xml.rels"


def page(document: OpenDocument, index: int = 0) -> Page:
    found = document.page(index)
    for element in found.elements:
        validate_content(element.category, element.content)
        assert document.find(element.id) == (index, element)
    return found


def told(document: OpenDocument, category: str, index: int = 0) -> list[dict[str, Any]]:
    return [dict(element.content) for element in page(document, index).elements if element.category == category]


def one_sheet(folder: Path, rows: str, after: str = "", parts: Mapping[str, str | bytes] = NOTHING) -> OpenDocument:
    return FORMAT.open(workbook(folder / "book.xlsx", {"S": worksheet(rows, after)}, parts))


@pytest.mark.rule("7.2.categories")
def test_a_table_is_an_element_with_its_source(tmp_path: Path) -> None:
    rows = cells((1, {"A": "Region", "B": "Sum"}), (2, {"A": "north", "B": 10}), (3, {"A": "south", "B": 2.5}))
    document = one_sheet(tmp_path, rows)
    table = Element(
        "p0-tbl-001",
        "table",
        {
            "headers": ["Region", "Sum"],
            "rows": [["north", 10], ["south", 2.5]],
            "total_rows": 2,
            "total_columns": 2,
        },
        "2 rows × 2 columns: Region, Sum",
        {"source_range": "A1:B3", "sheet": "S", "has_formulas": False, "total_rows": 2},
    )
    assert document.page(0) == Page(0, "S", (table,))
    assert document.find("p0-tbl-001") == (0, table)


def test_the_catalogue_knows_properties_and_sheets(tmp_path: Path) -> None:
    sheets = {"Sales": worksheet(""), "Old": worksheet(""), "Deep": worksheet("")}
    path = workbook(
        tmp_path / "book.xlsx",
        sheets,
        {"docProps/core.xml": core(title="Report", keywords="a, b", subject="All sales")},
        states={"Old": "hidden", "Deep": "veryHidden"},
    )
    document = FORMAT.open(path)
    told = "All sales. 3 sheets: Sales, Old (hidden), Deep (very hidden)"
    assert document.describe() == Description("Report", 3, ("a", "b"), told)
    assert list(document.entries(1, 5)) == [PageEntry(1, "Old (hidden)", 0), PageEntry(2, "Deep (very hidden)", 0)]


def test_values_keep_their_types(tmp_path: Path) -> None:
    styles = f'<styleSheet xmlns="{MAIN}"><cellXfs><xf/><xf numFmtId="14"/></cellXfs></styleSheet>'
    strings = (
        f'<sst xmlns="{MAIN}"><si><t>plain</t></si><si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>x</t></rPh></si></sst>'
    )
    row = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="b"><v>1</v></c><c r="D1" s="1">'
        '<v>45413</v></c><c r="E1" t="e"><v>#DIV/0!</v></c><c r="F1" t="str"><v>a_x000A_b</v></c><c><v>1.5E3</v></c>'
        '<c t="d"><v>2024-05-01T10:00:00</v></c><c r="I1" t="s"><v>99</v></c><c r="J1" t="n"><v>oops</v></c></row>'
    )
    document = one_sheet(tmp_path, row, "", {"xl/styles.xml": styles, "xl/sharedStrings.xml": strings})
    values = [1, "rich", True, "2024-05-01", "#DIV/0!", "a\nb", 1500.0, "2024-05-01T10:00:00"]
    assert told(document, "table")[0]["rows"] == [values]
    assert told(document, "text") == [{"text": "oops"}]


def test_regions_are_told_apart_with_their_ranges(tmp_path: Path) -> None:
    rows = cells(
        (1, {"A": "a", "B": "b", "E": "c", "F": "d"}),
        (2, {"A": 1, "B": 2, "E": 3, "F": 4}),
        (5, {"A": "Total"}),
    )
    elements = page(one_sheet(tmp_path, rows)).elements
    assert [(element.category, element.metadata["source_range"]) for element in elements] == [
        ("table", "A1:B2"),
        ("table", "E1:F2"),
        ("text", "A5"),
    ]


def test_a_bold_cell_alone_is_a_heading(tmp_path: Path) -> None:
    fonts = "<fonts><font/><font><b/></font></fonts>"
    styles = f'<styleSheet xmlns="{MAIN}">{fonts}<cellXfs><xf/><xf fontId="1"/></cellXfs></styleSheet>'
    row = '<row r="1"><c r="A1" s="1" t="inlineStr"><is><t>Title</t></is></c></row>'
    document = one_sheet(tmp_path, row, "", {"xl/styles.xml": styles})
    assert told(document, "heading") == [{"level": 2, "text": "Title"}]


def test_a_few_lines_beside_a_table_and_sentences_are_text(tmp_path: Path) -> None:
    rows = cells(
        (1, {"A": "ACME"}), (2, {"A": "Budget"}), (4, {"A": "a", "B": "b"}), (5, {"A": 1, "B": 2}), (7, {"A": "x" * 50})
    )
    assert told(one_sheet(tmp_path, rows), "text") == [{"text": "ACME\nBudget"}, {"text": "x" * 50}]
    assert told(one_sheet(tmp_path, cells((1, {"A": "ACME"}), (2, {"A": "Budget"}))), "text") == []


def test_formulas_tell_expression_value_and_place(tmp_path: Path) -> None:
    rows = (
        '<row r="1"><c r="A1"><v>2</v></c><c r="B1"><f t="shared" ref="B1:B2" si="0">A1*2</f><v>4</v></c></row>'
        '<row r="2"><c r="A2"><v>3</v></c><c r="B2"><f t="shared" si="0"/><v>6</v></c></row>'
    )
    elements = [element for element in page(one_sheet(tmp_path, rows)).elements if element.category == "formula"]
    assert [element.content for element in elements] == [
        {"expression": "=A1*2", "value": 4, "location": "B1", "notation": "excel"},
        {"expression": "=A2*2", "value": 6, "location": "B2", "notation": "excel"},
    ]
    assert elements[0].summary == "B1: =A1*2 → 4"


def test_many_formulas_are_told_in_runs(tmp_path: Path) -> None:
    rows = cells(*((number, {"A": number, "B": (f"A{number}+1", number + 1)}) for number in range(1, 151)))
    document = one_sheet(tmp_path, rows)
    assert told(document, "formula") == [
        {"expression": "=A1+1", "value": 2, "location": "B1:B150", "notation": "excel"}
    ]


def test_a_formula_that_was_never_calculated_is_shown_itself(tmp_path: Path) -> None:
    rows = '<row r="1"><c r="A1"><v>2</v></c><c r="B1"><f>A1*2</f></c></row>'
    document = one_sheet(tmp_path, rows)
    assert told(document, "table")[0]["rows"] == [[2, "=A1*2"]]
    assert told(document, "formula")[0]["value"] is None


def test_merged_cells_links_and_choices_come_from_below_the_rows(tmp_path: Path) -> None:
    after = (
        '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>'
        '<dataValidations><dataValidation type="list" sqref="B2"><formula1>"yes,no"</formula1></dataValidation>'
        "</dataValidations>"
        '<hyperlinks><hyperlink ref="B1" r:id="x" tooltip="go"/><hyperlink ref="B3" location="S!A1"/></hyperlinks>'
    )
    rows = cells((1, {"A": "a", "B": "site"}), (2, {"A": "both", "B": "yes"}), (3, {"B": "up"}))
    document = one_sheet(tmp_path, rows, after, {SHEET_RELS: relationships({"x:hyperlink": "https://example.org/"})})
    assert told(document, "table")[0]["merged"] == [{"row": 1, "column": 0, "row_span": 2, "column_span": 1}]
    site = {"start": 0, "end": 4, "kind": "link", "url": "https://example.org/", "title": "go"}
    assert told(document, "table")[0]["cell_spans"] == [
        {"row": 0, "column": 1, "spans": [site]},
        {"row": 2, "column": 1, "spans": [{"start": 0, "end": 2, "kind": "link", "url": "#S!A1"}]},
    ]
    assert told(document, "link") == []
    assert told(document, "widget") == [
        {"widget_type": "dropdown", "name": "B2", "options": ["yes", "no"], "description": "yes, no", "value": "yes"}
    ]


def test_what_is_printed_above_and_below_begins_and_ends_the_page(tmp_path: Path) -> None:
    after = (
        '<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;14Report &amp;A&amp;RR&amp;&amp;D</oddHeader>'
        "<oddFooter>&amp;CPage &amp;P of &amp;N</oddFooter><firstFooter>&amp;KFF0000Draft</firstFooter></headerFooter>"
    )
    document = one_sheet(tmp_path, cells((1, {"A": "a"})), after)
    assert [(element.category, dict(element.content)) for element in page(document).elements] == [
        ("header", {"text": "Report S\nR&D"}),
        ("text", {"text": "a"}),
        ("footer", {"text": "Draft\nPage [page] of [pages]"}),
    ]


def test_comments_and_threads_are_annotations(tmp_path: Path) -> None:
    parts = {
        SHEET_RELS: relationships({"c:comments": "../comments.xml", "t:threadedComment": "../thread.xml"}),
        "xl/comments.xml": (
            f'<comments xmlns="{MAIN}"><authors><author>Ann</author></authors><commentList>'
            '<comment ref="A1" authorId="0"><text><r><t>Ann:</t></r><r><t>\nlook</t></r></text></comment>'
            '<comment ref="B1" authorId="0"><text><t>[Threaded comment]</t></text></comment></commentList></comments>'
        ),
        "xl/thread.xml": (
            '<ThreadedComments><threadedComment ref="B1" dT="2024-05-01T10:00:00" personId="p" id="1"><text>why?</text>'
            '</threadedComment><threadedComment ref="B1" personId="q" id="2" parentId="1"><text>so</text>'
            "</threadedComment></ThreadedComments>"
        ),
    }
    document = one_sheet(tmp_path, cells((1, {"A": 1, "B": 2})), "", parts)
    assert told(document, "annotation") == [
        {"text": "look", "annotation_type": "comment", "author": "Ann", "target": "A1"},
        {
            "text": "why?",
            "created": "2024-05-01T10:00:00",
            "annotation_type": "comment",
            "replies": [{"text": "so"}],
            "target": "B1",
        },
    ]


def test_declared_tables_keep_their_names_and_headers(tmp_path: Path) -> None:
    rows = cells((1, {"A": 1, "B": 2}), (2, {"A": 3, "B": 4}), (3, {"A": 5, "B": 6}))
    table = f'<table xmlns="{MAIN}" ref="A2:B3" displayName="Sales" headerRowCount="1"/>'
    parts = {SHEET_RELS: relationships({"t:table": "../tables/t.xml"}), "xl/tables/t.xml": table}
    first, second = told(one_sheet(tmp_path, rows, "", parts), "table")
    assert (first["headers"], first["rows"]) == ([], [[1, 2]])
    assert (second["caption"], second["headers"], second["rows"]) == ("Sales", [3, 4], [[5, 6]])


def test_pivot_tables_tell_fields_source_and_what_they_show(tmp_path: Path) -> None:
    pivot = (
        f'<pivotTableDefinition xmlns="{MAIN}" name="P"><location ref="A1:B2"/><pivotFields><pivotField/>'
        '<pivotField name="Turnover"/></pivotFields><rowFields><field x="0"/><field x="-2"/></rowFields>'
        '<pageFields><pageField fld="1"/></pageFields><dataFields><dataField name="Mean" fld="1" subtotal="average"/>'
        "</dataFields></pivotTableDefinition>"
    )
    cache = (
        f'<pivotCacheDefinition xmlns="{MAIN}"><cacheSource><worksheetSource ref="A1:B9" sheet="Data"/></cacheSource>'
        '<cacheFields><cacheField name="Region"/><cacheField name="Sum"/></cacheFields></pivotCacheDefinition>'
    )
    parts = {
        SHEET_RELS: relationships({"p:pivotTable": "../pivot.xml"}),
        "xl/pivot.xml": pivot,
        "xl/_rels/pivot.xml.rels": relationships({"c:pivotCacheDefinition": "cache.xml"}),
        "xl/cache.xml": cache,
    }
    document = one_sheet(tmp_path, cells((1, {"A": "Region", "B": "Mean"}), (2, {"A": "north", "B": 3})), "", parts)
    assert told(document, "table") == []
    assert told(document, "pivot_table") == [
        {
            "row_fields": ["Region"],
            "column_fields": [],
            "values": [{"field": "Turnover", "function": "average", "name": "Mean"}],
            "filter_fields": ["Turnover"],
            "title": "P",
            "source": "Data!A1:B9",
            "headers": ["Region", "Mean"],
            "rows": [["north", 3]],
        }
    ]


def test_drawings_are_charts_pictures_and_text_at_their_anchors(tmp_path: Path) -> None:
    anchor = "<xdr:oneCellAnchor><xdr:from><xdr:col>{}</xdr:col><xdr:row>0</xdr:row></xdr:from>{}</xdr:oneCellAnchor>"
    picture = (
        '<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="1" name="Picture 1" descr="A duck"/></xdr:nvPicPr><xdr:blipFill>'
        '<a:blip r:embed="i"/></xdr:blipFill><xdr:spPr><a:xfrm>'
        '<a:ext cx="952500" cy="476250"/></a:xfrm></xdr:spPr></xdr:pic>'
    )
    chart = (
        '<xdr:graphicFrame><a:graphic><a:graphicData><c:chart r:id="c"/></a:graphicData></a:graphic></xdr:graphicFrame>'
    )
    text = "<xdr:sp><xdr:txBody><a:p><a:r><a:t>a box</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
    data = (
        f'<c:chartSpace xmlns:c="{CHART}" xmlns:a="{DRAWING}"><c:chart><c:plotArea><c:lineChart><c:ser><c:val>'
        "<c:numRef><c:f>S!$A$1:$B$1</c:f></c:numRef></c:val></c:ser></c:lineChart></c:plotArea></c:chart></c:chartSpace>"
    )
    drawn = anchor.format(9, text) + anchor.format(5, picture) + anchor.format(7, chart)
    parts: dict[str, str | bytes] = {
        SHEET_RELS: relationships({"d:drawing": "../drawings/d.xml"}),
        "xl/drawings/d.xml": f"<xdr:wsDr {NAMESPACES}>{drawn}</xdr:wsDr>",
        "xl/drawings/_rels/d.xml.rels": relationships({"i:image": "../media/duck.png", "c:chart": "../charts/c.xml"}),
        "xl/charts/c.xml": data,
        "xl/media/duck.png": b"\x89PNG",
    }
    document = FORMAT.open(workbook(tmp_path / "book.xlsx", {"S": worksheet(cells((1, {"A": 4, "B": 7})))}, parts))
    assert [(element.id, element.summary, element.metadata.get("anchor")) for element in page(document).elements] == [
        ("p0-tbl-001", "1 row × 2 columns", None),
        ("p0-img-001", "A duck", "F1"),
        ("p0-chart-001", "Line chart of 1 series: Series 1, 2 points from 4 to 7, lowest 4, highest 7", "H1"),
        ("p0-txt-001", "a box", "J1"),
    ]
    assert told(document, "image") == [{"alt": "A duck", "mime_type": "image/png", "width": 100, "height": 50}]
    assert isinstance(document, Illustrated)
    assert document.element_image("p0-img-001") == ("image/png", b"\x89PNG")
    assert document.element_image("p0-tbl-001") is None


def test_controls_of_the_older_kind_are_widgets_at_the_end(tmp_path: Path) -> None:
    parts = {
        SHEET_RELS: relationships({"c:control": "../activeX/activeX1.xml"}),
        "xl/activeX/activeX1.xml": '<ocx classid="{8BD21D50-EC42-11CE-9E0D-00AA006002F3}"/>',
    }
    found = page(one_sheet(tmp_path, cells((1, {"A": "words"})), parts=parts))
    assert [(element.category, element.content) for element in found.elements] == [
        ("text", {"text": "words"}),
        ("widget", {"widget_type": "radio"}),
    ]


def test_a_sheet_in_too_many_pieces_is_one_table_under_its_columns(tmp_path: Path) -> None:
    rows = cells(*((number, {"A" if number % 4 == 1 else "C": number}) for number in range(1, 801, 2)))
    document = one_sheet(tmp_path, rows)
    first, second, *_ = page(document).elements
    assert (first.content["headers"], first.content["total_rows"]) == (["A", "C"], 400)
    assert first.metadata["source_range"] == "A1:C799"
    assert (first.metadata["next"], second.id) == ("p0-tbl-001-r101", "p0-tbl-001-r101")


@pytest.mark.parametrize("element_id", ["", "x", "p9-tbl-001", "p0-tbl-009", "p-tbl-001", "p0-tbl-001-r9", "pp-1"])
def test_an_unknown_id_finds_nothing(tmp_path: Path, element_id: str) -> None:
    assert one_sheet(tmp_path, cells((1, {"A": 1, "B": 2}))).find(element_id) is None


def test_strict_workbooks_are_read_like_the_others(tmp_path: Path) -> None:
    path = workbook(tmp_path / "book.xlsx", {"S": worksheet(cells((1, {"A": "a"})))})
    strict = tmp_path / "strict.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(strict, "w") as new:
        for name in old.namelist():
            new.writestr(
                name,
                old.read(name)
                .replace(MAIN.encode(), b"http://purl.oclc.org/ooxml/spreadsheetml/main")
                .replace(RELATIONSHIPS.encode(), b"http://purl.oclc.org/ooxml/officeDocument/relationships"),
            )
    assert FORMAT.open(strict).page(0) == FORMAT.open(path).page(0)


def test_another_kind_of_document_is_named(tmp_path: Path) -> None:
    kind = '<Override PartName="/xl/workbook.xml" ContentType="x.wordprocessingml.y"/>'
    parts = {
        "xl/workbook.xml": f"<w:document {NAMESPACES}/>",
        "[Content_Types].xml": f"<Types>{kind}</Types>",
    }
    with pytest.raises(DocumentError, match=r"not a workbook: it is a Word document; give it the ending \.docx"):
        FORMAT.open(workbook(tmp_path / "book.xlsx", {}, parts))


def test_a_sheet_whose_part_is_missing_is_an_empty_page(tmp_path: Path) -> None:
    sheets = '<sheets><sheet name="Gone" r:id="x"/></sheets>'
    root = f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONSHIPS}">{sheets}</workbook>'
    path = workbook(tmp_path / "book.xlsx", {}, {"xl/workbook.xml": root})
    assert FORMAT.open(path).page(0) == Page(0, "Gone")


@pytest.mark.parametrize(
    ("name", "kind"), [("a.XLSX", "xlsx"), ("a.xlsm", "xlsm"), ("a.xltx", "xlsx"), ("a.xls", None)]
)
def test_files_are_known_by_their_endings(name: str, kind: str | None) -> None:
    assert FORMAT.file_type(name) == kind
