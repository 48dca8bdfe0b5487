"""Values, words and formulas of OpenDocument cells."""

import pytest
from lxml import etree

from a2c_smcp.documents.odf.cell_values import address_of, formula_of, value_of
from a2c_smcp.documents.ooxml.xml import Node
from tests.unit.documents.odf.workbooks import NAMESPACES, cell


def parsed(written: str) -> Node:
    return etree.fromstring(f"<x {NAMESPACES}>{written}</x>")[0]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("of:=SUM([.A1:.A3];2)", "=SUM(A1:A3,2)"),
        ("of:=[$Sheet2.$B$1]*2", "=Sheet2!$B$1*2"),
        ("of:=SUM(['My: sheet'.A1:.B2])", "=SUM('My: sheet'!A1:B2)"),
        ('of:=IF([.A1]="a;[b]";{1;2|3;4};"|")', '=IF(A1="a;[b]",{1,2;3,4},"|")'),
        ("oooc:=[.A1]+1", "=A1+1"),
        ("msoxl:=SUM(A1,B1)", "=SUM(A1,B1)"),
        ("=[.A1]~[.B1]", "=A1,B1"),
        ("of:=['file:///b.ods'#$Sheet1.A1]", "='file:///b.ods'#$Sheet1!A1"),
        ("of:=1|2", "=1|2"),
    ],
)
def test_a_formula_reads_as_in_excel(written: str, read: str) -> None:
    assert formula_of(written) == read


def test_an_address_loses_the_marks_that_only_matter_when_copying() -> None:
    assert address_of("$Sheet1.$A$1:.$B$9") == "Sheet1!A1:B9"


@pytest.mark.parametrize(
    ("attributes", "inside", "value"),
    [
        ('office:value-type="float" office:value="2.50"', "<text:p>2,50 €</text:p>", 2.5),
        ('office:value-type="percentage" office:value="7"', "", 7),
        ('office:value-type="currency" office:value="1e400"', "", None),
        ('office:value-type="float" office:value="many"', "", None),
        ('office:value-type="float"', "<text:p>#N/A</text:p>", "#N/A"),
        ('office:value-type="date" office:date-value="2021-04-05T00:00:00"', "", "2021-04-05"),
        ('office:value-type="date" office:date-value="2021-04-05T06:07:08"', "", "2021-04-05T06:07:08"),
        ('office:value-type="time" office:time-value="PT13H20M05S"', "<text:p>01:20 PM</text:p>", "13:20:05"),
        ('office:value-type="time" office:time-value="PT30H00M01.5S"', "", "PT30H0M1S"),
        ('office:value-type="time" office:time-value="-PT1H"', "", "-PT1H0M0S"),
        ('office:value-type="time" office:time-value="P999999999DT1H"', "", "PT23999999977H0M0S"),
        ('office:value-type="time" office:time-value="P1DT999999999H"', "", "PT1000000023H0M0S"),
        ('office:value-type="time" office:time-value="soon"', "<text:p>soon</text:p>", "soon"),
        ('office:value-type="boolean" office:boolean-value="true"', "<text:p>WAHR</text:p>", True),
        ('office:value-type="string" office:string-value="kept"', "", "kept"),
        (
            'office:value-type="float" office:value="0" calcext:value-type="error"',
            "<text:p>#DIV/0!</text:p>",
            "#DIV/0!",
        ),
        ("", "", None),
    ],
)
def test_a_value_is_read_by_its_type(attributes: str, inside: str, value: object) -> None:
    node = parsed(f"<table:table-cell {attributes}>{inside}</table:table-cell>")
    assert value_of(node) == value


def test_blanks_breaks_and_spans_of_a_text_are_kept_and_notes_left_out() -> None:
    words = (
        'a<text:s text:c="2"/>b<text:tab/>c<text:line-break/>d <text:span>e</text:span>'
        "<text:ruby><text:ruby-base>f</text:ruby-base><text:ruby-text>g</text:ruby-text></text:ruby>"
        "<office:annotation><text:p>h</text:p></office:annotation>"
    )
    assert value_of(parsed(cell(words + "</text:p><text:p>second"))) == "a  b\tc\nd ef\nsecond"
