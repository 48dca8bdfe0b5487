"""What cells show stands beside their values, whichever program wrote the workbook."""

from pathlib import Path

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.ods import FORMAT as ODS
from a2c_smcp.documents.formats.xlsx import FORMAT as XLSX
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.render.markdown import element_markdown
from a2c_smcp.documents.search import passage_of
from tests.unit.documents.odf.workbooks import book, row, sheet
from tests.unit.documents.ooxml.office import workbook, worksheet

STYLES = """<styleSheet><numFmts><numFmt numFmtId="164" formatCode="+0%;-0%"/>
<numFmt numFmtId="165" formatCode="[$€-407]\\ #,##0.00"/><numFmt numFmtId="166" formatCode="dd.mm.yyyy"/></numFmts>
<cellXfs><xf numFmtId="0"/><xf numFmtId="3"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/></cellXfs>
</styleSheet>"""
ROWS = """<row r="1"><c r="A1" t="inlineStr"><is><t>Quarter</t></is></c>
<c r="B1" t="inlineStr"><is><t>Sales</t></is></c>
<c r="C1" t="inlineStr"><is><t>Growth</t></is></c></row>
<row r="2"><c r="A2" s="4"><v>45413</v></c><c r="B2" s="1"><v>1250</v></c>
<c r="C2" s="2"><f>B2/B3</f><v>0.12</v></c></row>
<row r="3"><c r="A3" t="inlineStr"><is><t>Q2</t></is></c><c r="B3" s="3"><v>1380</v></c><c r="C3"><v>7</v></c></row>"""


@pytest.fixture
def table(tmp_path: Path) -> Element:
    path = workbook(tmp_path / "book.xlsx", {"S": worksheet(ROWS)}, {"xl/styles.xml": STYLES})
    found = XLSX.open(path).page(0).elements[0]
    validate_content("table", found.content)
    return found


def test_a_table_has_values_and_what_they_show(table: Element) -> None:
    assert table.content["rows"] == [["2024-05-01", 1250, 0.12], ["Q2", 1380, 7]]
    assert table.content["shown_rows"] == [["01.05.2024", "1,250", "+12%"], [None, "€ 1,380.00", None]]
    assert (table.metadata["source_range"], table.metadata["has_formulas"]) == ("A1:C3", True)


def test_markdown_has_what_cells_show(table: Element) -> None:
    assert element_markdown(table).splitlines()[2:] == ["| 01.05.2024 | 1,250 | +12% |", "| Q2 | € 1,380.00 | 7 |"]


def test_both_are_found(table: Element) -> None:
    passage = passage_of(0, table)
    assert passage is not None
    assert {"1,250", "1250", "0.12", "+12%"} <= set(passage.body.split())


def test_a_formula_has_what_its_cell_shows(tmp_path: Path) -> None:
    path = workbook(tmp_path / "book.xlsx", {"S": worksheet(ROWS)}, {"xl/styles.xml": STYLES})
    found = next(element for element in XLSX.open(path).page(0).elements if element.category == "formula")
    assert (found.content["value"], found.content["shown"]) == (0.12, "+12%")
    assert found.summary == "C2: =B2/B3 → +12%"


def test_a_number_alone_reads_as_it_is_shown(tmp_path: Path) -> None:
    sheet = worksheet('<row r="1"><c r="A1" s="3"><v>1234.5</v></c></row>')
    path = workbook(tmp_path / "book.xlsx", {"S": sheet}, {"xl/styles.xml": STYLES})
    assert XLSX.open(path).page(0).elements[0].content == {"text": "€ 1,234.50"}


def test_an_opendocument_cell_shows_its_words(tmp_path: Path) -> None:
    def number(value: str, words: str, kind: str = "float") -> str:
        return (
            f'<table:table-cell office:value-type="{kind}" office:value="{value}"><text:p>{words}</text:p>'
            "</table:table-cell>"
        )

    shown = row(number("1250", "1,250"), number("0.12", "12%", "percentage"), number("3", "3"))
    path = book(tmp_path / "book.ods", sheet("S", row("a", "b", "c"), shown))
    found = ODS.open(path).page(0).elements[0]
    assert (found.content["rows"], found.content["shown_rows"]) == ([[1250, 0.12, 3]], [["1,250", "12%", None]])
    assert found.metadata["has_formulas"] is False
