"""What numbers of a sheet mean by their formats."""

import pytest

from a2c_smcp.documents.ooxml.spreadsheet.formats import CellStyle, Kind, iso, kind_of, read_styles
from a2c_smcp.documents.ooxml.xml import parse


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("General", "number"),
        ("0.00", "number"),
        ("#,##0 €", "number"),
        ("0.00E+00", "number"),
        ('0 "days"', "number"),
        ("[Red]0;[Blue]-0", "number"),
        (r"0\d", "number"),
        ("_-* #,##0.00_-", "number"),
        ("yyyy-mm-dd", "date"),
        ("m/d/yy", "date"),
        ("[$-409]mmmm d, yyyy;@", "date"),
        ('yyyy"年"m"月"d"日"', "date"),
        ("mmm", "date"),
        ("h:mm", "time"),
        ("h:mm AM/PM", "time"),
        ("mm:ss.0", "time"),
        ("dd.mm.yyyy hh:mm", "datetime"),
        ("m/d/yy h:mm", "datetime"),
        ("[h]:mm", "duration"),
        ("[mm]:ss", "duration"),
    ],
)
def test_a_format_tells_dates_from_amounts(code: str, kind: Kind) -> None:
    assert kind_of(code) == kind


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (45_413.0, "date", "2024-05-01"),
        (45_413.5, "date", "2024-05-01T12:00:00"),
        (45_413.5625, "datetime", "2024-05-01T13:30:00"),
        (0.34375, "time", "08:15:00"),
        (45_413.34375, "time", "08:15:00"),
        (1.0, "date", "1900-01-01"),
        (59.0, "date", "1900-02-28"),
        (61.0, "date", "1900-03-01"),
        (0.999999, "time", "00:00:00"),
        (1.5, "duration", "PT36H"),
        (0.0, "duration", "PT0S"),
        (-0.25, "duration", "-PT6H"),
        (2_958_465.0, "date", "9999-12-31"),
    ],
)
def test_dates_and_times_are_shown_in_iso_8601(value: float, kind: Kind, text: str) -> None:
    assert iso(value, kind) == text


@pytest.mark.parametrize("value", [-1.0, 2_958_466.0, 1e300, float("inf")])
def test_a_number_that_is_no_date_stays_a_number(value: float) -> None:
    assert iso(value, "date") == value


def test_workbooks_of_the_other_calendar_count_from_1904() -> None:
    assert iso(0, "date", since_1904=True) == "1904-01-01"
    assert iso(43_951, "date", since_1904=True) == "2024-05-01"


def test_styles_know_their_format_and_whether_they_are_bold() -> None:
    root = parse(
        b"""<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy"/></numFmts>
        <fonts><font/><font><b/></font><font><b val="0"/></font></fonts>
        <cellXfs><xf numFmtId="0" fontId="0"/><xf numFmtId="164" fontId="1"/><xf numFmtId="22" fontId="2"/>
        <xf numFmtId="46" fontId="9"/></cellXfs></styleSheet>"""
    )
    assert read_styles(root) == [
        CellStyle(),
        CellStyle("date", True, "yyyy"),
        CellStyle("datetime", False, "yyyy-mm-dd hh:mm"),
        CellStyle("duration", False, "[h]:mm:ss"),
    ]
    assert read_styles(None) == ()
