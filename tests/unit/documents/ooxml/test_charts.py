"""Charts tell their type, titles, data, and a sentence on it."""

from typing import Any

import pytest

from a2c_smcp.documents.content import Cell, validate_content
from a2c_smcp.documents.ooxml.charts import MAX_POINTS, read_chart
from a2c_smcp.documents.ooxml.xml import parse
from tests.unit.documents.ooxml.office import CHART, DRAWING


def chart(plot: str, before: str = "") -> dict[str, Any]:
    inside = f"<c:chart>{before}<c:plotArea>{plot}</c:plotArea></c:chart>"
    xml = f'<c:chartSpace xmlns:c="{CHART}" xmlns:a="{DRAWING}">{inside}</c:chartSpace>'
    return validate_content("chart", read_chart(parse(xml.encode())))


def cache(kind: str, values: list[str], code: str = "") -> str:
    points = "".join(f'<c:pt idx="{at}"><c:v>{value}</c:v></c:pt>' for at, value in enumerate(values) if value)
    style = f"<c:formatCode>{code}</c:formatCode>" if code else ""
    return (
        f"<c:{kind}Ref><c:f>S!$A$1:$A$9</c:f><c:{kind}Cache>{style}"
        f'<c:ptCount val="{len(values)}"/>{points}</c:{kind}Cache></c:{kind}Ref>'
    )


def series(name: str, values: list[str], labels: str = "") -> str:
    return (
        f"<c:ser><c:tx>{cache('str', [name])}</c:tx>{f'<c:cat>{labels}</c:cat>' if labels else ''}"
        f"<c:val>{cache('num', values)}</c:val></c:ser>"
    )


def title(text: str) -> str:
    return f"<c:title><c:tx><c:rich><a:p><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx></c:title>"


def test_a_chart_tells_its_series_and_what_they_say() -> None:
    labels = cache("str", ["Jan", "Feb", "Mar"])
    found = chart(
        f'<c:barChart><c:barDir val="col"/>{series("Sales", ["3", "1.5", "8"], labels)}</c:barChart>'
        f'<c:catAx>{title("Month")}</c:catAx><c:valAx>{title("kEUR")}<c:axPos val="l"/></c:valAx>',
        title("Sales by month"),
    )
    assert found == {
        "chart_type": "column",
        "title": "Sales by month",
        "data_summary": "Column chart of 1 series: Sales, 3 points from 3 to 8, lowest 1.5 (Feb), highest 8 (Mar)",
        "series": [{"name": "Sales", "values": [3, 1.5, 8], "categories": ["Jan", "Feb", "Mar"]}],
        "x_title": "Month",
        "y_title": "kEUR",
        "source": "S!A1:A9",
    }


@pytest.mark.parametrize(
    ("plot", "kind"),
    [
        ('<c:barChart><c:barDir val="bar"/></c:barChart>', "bar"),
        ('<c:bar3DChart><c:barDir val="col"/><c:grouping val="stacked"/></c:bar3DChart>', "stacked column"),
        ('<c:areaChart><c:grouping val="percentStacked"/></c:areaChart>', "percent stacked area"),
        ("<c:ofPieChart/>", "pie"),
        ("<c:stockChart/>", "stock"),
        ("<c:lineChart/><c:areaChart/>", "line and area"),
        ("", "unknown"),
    ],
)
def test_the_type_is_told_in_a_word(plot: str, kind: str) -> None:
    assert chart(plot)["chart_type"] == kind


def test_a_combined_chart_tells_how_each_series_is_drawn() -> None:
    found = chart(f"<c:lineChart>{series('a', ['1'])}</c:lineChart><c:areaChart>{series('b', ['2'])}</c:areaChart>")
    assert [(one["name"], one["chart_type"]) for one in found["series"]] == [("a", "line"), ("b", "area")]


def test_gaps_in_the_data_are_kept() -> None:
    found = chart(f"<c:lineChart>{series('a', ['1', '', '3', 'NaN'])}</c:lineChart>")
    assert found["series"][0]["values"] == [1, None, 3, None]


def test_labels_of_a_time_axis_are_dates() -> None:
    labels = cache("num", ["45413", "45414"], "yyyy-mm-dd")
    found = chart(f"<c:lineChart>{series('a', ['1', '2'], labels)}</c:lineChart>")
    assert found["series"][0]["categories"] == ["2024-05-01", "2024-05-02"]


def test_labels_of_several_levels_are_joined() -> None:
    level = '<c:lvl><c:pt idx="{}"><c:v>{}</c:v></c:pt><c:pt idx="{}"><c:v>{}</c:v></c:pt></c:lvl>'
    inner, outer = level.format(0, "Q1", 1, "Q2"), '<c:lvl><c:pt idx="0"><c:v>2024</c:v></c:pt></c:lvl>'
    labels = f"<c:multiLvlStrRef><c:multiLvlStrCache>{inner}{outer}</c:multiLvlStrCache></c:multiLvlStrRef>"
    found = chart(f"<c:lineChart>{series('a', ['1', '2'], labels)}</c:lineChart>")
    assert found["series"][0]["categories"] == ["2024 / Q1", "2024 / Q2"]


def test_a_chart_of_one_series_is_shown_under_its_name() -> None:
    assert chart(f"<c:pieChart>{series('Sales', ['1'])}</c:pieChart>", "<c:title/>")["title"] == "Sales"
    assert chart(f"<c:pieChart>{series('Sales', ['1'])}</c:pieChart>")["title"] == ""


def test_what_is_not_copied_into_the_chart_is_looked_up() -> None:
    asked: list[str] = []

    def lookup(reference: str) -> list[Cell]:
        asked.append(reference)
        return [1, 2]

    xml = (
        f'<c:chartSpace xmlns:c="{CHART}"><c:chart><c:plotArea><c:lineChart><c:ser><c:val><c:numRef><c:f>S!A1:A2</c:f>'
        "</c:numRef></c:val></c:ser></c:lineChart></c:plotArea></c:chart></c:chartSpace>"
    )
    assert read_chart(parse(xml.encode()), lookup)["series"] == [{"name": "Series 1", "values": [1, 2]}]
    assert asked == ["S!A1:A2"]


def test_a_claim_of_endless_points_is_cut() -> None:
    xml = series("a", ["1"]).replace('ptCount val="1"', 'ptCount val="999999999"')
    assert len(chart(f"<c:lineChart>{xml}</c:lineChart>")["series"][0]["values"]) == MAX_POINTS


def test_a_chart_without_data_says_so() -> None:
    found = chart("<c:lineChart><c:ser/></c:lineChart>")
    assert found["data_summary"] == "Line chart without data for Series 1"


def test_charts_of_the_newer_kind_are_read() -> None:
    xml = """<cx:chartSpace xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex"><cx:chartData>
    <cx:data id="0"><cx:strDim type="cat"><cx:lvl><cx:pt idx="0">a</cx:pt><cx:pt idx="1">b</cx:pt></cx:lvl></cx:strDim>
    <cx:numDim type="val"><cx:lvl><cx:pt idx="0">5</cx:pt><cx:pt idx="1">-2</cx:pt></cx:lvl></cx:numDim></cx:data>
    </cx:chartData><cx:chart><cx:plotArea><cx:plotAreaRegion><cx:series layoutId="waterfall">
    <cx:tx><cx:txData><cx:v>Cash</cx:v></cx:txData></cx:tx><cx:dataId val="0"/></cx:series></cx:plotAreaRegion>
    </cx:plotArea></cx:chart></cx:chartSpace>"""
    assert validate_content("chart", read_chart(parse(xml.encode()))) == {
        "chart_type": "waterfall",
        "title": "",
        "data_summary": "Waterfall chart of 1 series: Cash, 2 points from 5 to -2, lowest -2 (b), highest 5 (a)",
        "series": [{"name": "Cash", "values": [5, -2], "categories": ["a", "b"]}],
    }
