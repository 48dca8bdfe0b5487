"""Values as their number formats show them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.ooxml.spreadsheet.number_formats import BUILT_IN, shown_number, shown_text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (1250, "#,##0", "1,250"),
        (1e16, "#,##0", "10,000,000,000,000,000"),
        (0, "#,##0", "0"),
        (0, "#", ""),
        (1234, "0,000", "1,234"),
        (7, "000", "007"),
        (1.005, "0.00", "1.01"),
        (2.5, "0", "3"),
        (99.99, "0.0", "100.0"),
        (-5, "0.0", "-5.0"),
        (0.5, "#.##", ".5"),
        (1234.5678, "#,##0.###", "1,234.568"),
        (1234567, "#,##0,", "1,235"),
        (1234567, '0.0,,"M"', "1.2M"),
        (0.12, "0%", "12%"),
        (0.12, "+0%;-0%", "+12%"),
        (-0.08, "+0%;-0%;0%", "-8%"),
        (0.1234, "0.0%", "12.3%"),
        (-0.5, "0%", "-50%"),
        (12.5, '0.00"%"', "12.50%"),
        (12, '0" pcs."', "12 pcs."),
        (5, '"Q"0', "Q5"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (3.14159, 'General" units"', "3.14159 units"),
    ],
)
def test_numbers(value: float, code: str, text: str) -> None:
    assert shown_number(value, code) == text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (1234.5, "$#,##0.00", "$1,234.50"),
        (1234.5, '"$"#,##0.00', "$1,234.50"),
        (-1234.5, "$#,##0.00", "-$1,234.50"),
        (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
        (1234.5, "#,##0.00 [$€-407]", "1,234.50 €"),
        (1234.5, "[$¥-804]#,##0.00", "¥1,234.50"),
        (1234.5, '_("CHF"* #,##0.00_);_("CHF"* (#,##0.00)', "CHF1,234.50"),
        (1234.5, BUILT_IN[44], "$1,234.50"),
        (-1234.5, BUILT_IN[44], "$(1,234.50)"),
        (0, BUILT_IN[44], "$-"),
        (-12345.6, r"#,##0.0_);[Red]\(#,##0.0\)", "(12,345.6)"),
    ],
)
def test_currencies(value: float, code: str, text: str) -> None:
    assert shown_number(value, code) == text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (5, "0;(0)", "5"),
        (-5, "0;(0)", "(5)"),
        (0, '0;-0;"none"', "none"),
        (5, ";;;", ""),
        (5, '[Red][<10]"low";[>=10]"high"', "low"),
        (50, '[Red][<10]"low";[>=10]"high"', "high"),
        (-3, "[<100]0.0;0", "-3.0"),
        (1, '[=1]"yes";[=0]"no";0', "yes"),
        (0, '[=1]"yes";[=0]"no";0', "no"),
        (-2, '[=1]"yes";[=0]"no";0', "-2"),
        (3, "[Color10]0", "3"),
        (3, "0;@", "3"),
    ],
)
def test_sections_and_conditions(value: float, code: str, text: str) -> None:
    assert shown_number(value, code) == text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (12345.678, "0.00E+00", "1.23E+04"),
        (12345.678, "##0.0E+0", "12.3E+3"),
        (0.00012, "0.0E-0", "1.2E-4"),
        (9.999e9, "0.0E+0", "1.0E+10"),
        (1e300, "0.00E+00", "1.00E+300"),
        (0, "0.00E+00", "0.00E+00"),
        (0.75, "# ?/?", "3/4"),
        (5.25, "# ?/?", "5 1/4"),
        (5, "# ?/?", "5"),
        (0.999, "# ?/?", "1"),
        (0.333, "# ??/??", "1/3"),
        (5.3, "# ?/8", "5 2/8"),
        (1.5, "?/?", "3/2"),
        (-1.5, "# ?/?", "-1 1/2"),
    ],
)
def test_powers_and_fractions(value: float, code: str, text: str) -> None:
    assert shown_number(value, code) == text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (45413, "yyyy-mm-dd", "2024-05-01"),
        (45413, BUILT_IN[14], "2024-05-01"),
        (45413, "mm/dd/yy;@", "05/01/24"),
        (45413, "d-mmm-yy", "1-May-24"),
        (45413, "mmmmm", "M"),
        (45413, 'yyyy"年"m"月"d"日"', "2024年5月1日"),
        (45413, "[$-409]mmmm d, yyyy;@", "May 1, 2024"),
        (45413, "[$-407]dddd, d. mmmm yyyy", "Mittwoch, 1. Mai 2024"),
        (45413, "[$-804]aaaa", "星期三"),
        (45413.5625, "d/m/yyyy h:mm AM/PM", "1/5/2024 1:30 PM"),
        (45413.75, "yyyy/m/d 上午/下午h:mm", "2024/5/1 下午6:00"),
        (0.5, "h:mm", "12:00"),
        (0.0, "h:mm AM/PM", "12:00 AM"),
        (45413.999999, "hh:mm:ss", "00:00:00"),
        (0.0001, "mm:ss.0", "00:08.6"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (-0.25, "[h]:mm", "-6:00"),
        (0.25, "[m]", "360"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (61, "yyyy-mm-dd", "1900-03-01"),
    ],
)
def test_dates_and_times(value: float, code: str, text: str) -> None:
    assert shown_number(value, code) == text


def test_workbooks_of_the_other_calendar_count_from_1904() -> None:
    assert shown_number(43_951, "dd.mm.yyyy", since_1904=True) == "01.05.2024"


@pytest.mark.parametrize(
    ("value", "code"),
    [(5, "General"), (5, ""), (-1, "yyyy"), (2_958_466, "yyyy"), (1, "[DBNum1]0"), (1, "ggge"), (float("inf"), "0")],
)
def test_what_has_no_text_of_its_own_has_none(value: float, code: str) -> None:
    assert shown_number(value, code) is None


@pytest.mark.parametrize(
    ("code", "text"),
    [("@", "abc"), ('0;0;0;"<"@">"', "<abc>"), ('"Mr. "@', "Mr. abc"), ("0", None), ("General", None), (";;;", "")],
)
def test_texts_have_a_section_of_their_own(code: str, text: str | None) -> None:
    assert shown_text("abc", code) == text


@given(st.floats(), st.text('0#?.,%/E+-@;[]$<>="\\_*ymdhsAMP General年€', max_size=30))
def test_any_format_gives_a_text_or_none(value: float, code: str) -> None:
    shown_number(value, code)
    shown_text("x", code)


@given(st.integers(-(10**14), 10**14))
def test_grouped_numbers_read_back(value: int) -> None:
    assert shown_number(value, "#,##0") == f"{value:,}"
    assert shown_number(value, "#,##0_)") == f"{value:,}"
