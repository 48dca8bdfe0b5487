"""Charts of any Office file: type, titles, series, and a sentence on what the data says."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from a2c_smcp.documents.content import Cell
from a2c_smcp.documents.ooxml.spreadsheet.formats import iso, kind_of
from a2c_smcp.documents.ooxml.xml import Node, attribute, child, children, descendants, local, number, text_of, value_of

MAX_SERIES: Final = 100
MAX_POINTS: Final = 1_000
_TOLD_SERIES: Final = 4

Lookup: TypeAlias = Callable[[str], Sequence[Cell]]
"""Returns the values of a range like `Sales!$B$2:$B$9`, for charts that carry no copy of them."""

_TYPES: Final = {
    "areaChart": "area",
    "area3DChart": "area",
    "barChart": "bar",
    "bar3DChart": "bar",
    "bubbleChart": "bubble",
    "doughnutChart": "doughnut",
    "lineChart": "line",
    "line3DChart": "line",
    "ofPieChart": "pie",
    "pieChart": "pie",
    "pie3DChart": "pie",
    "radarChart": "radar",
    "scatterChart": "scatter",
    "stockChart": "stock",
    "surfaceChart": "surface",
    "surface3DChart": "surface",
}
# Charts of 2016 and later have a part of their own kind.
_NEWER: Final = {
    "boxWhisker": "box and whisker",
    "clusteredColumn": "histogram",
    "paretoLine": "pareto",
    "regionMap": "map",
}


def read_chart(root: Node, lookup: Lookup | None = None) -> dict[str, Any]:
    """Return the content of a chart part, older or newer kind."""
    if "chartex" in root.tag:
        return _newer_chart(root)
    chart = child(root, "chart")
    plot = child(chart, "plotArea")
    groups = [node for node in plot if local(node) in _TYPES] if plot is not None else []
    series: list[dict[str, Any]] = []
    types = [_type_of(group) for group in groups]
    sources: list[str] = []
    for group, kind in zip(groups, types, strict=True):
        for node in children(group, "ser"):
            if len(series) < MAX_SERIES:
                series.append(_series(node, len(series), lookup))
                sources += _sources(node)
                if len(set(types)) > 1:
                    series[-1]["chart_type"] = kind
    content: dict[str, Any] = {
        "chart_type": " and ".join(dict.fromkeys(types)) or "unknown",
        "title": _title(chart, series),
        "data_summary": "",
        "series": series,
        **_axes(plot),
    }
    if sources:
        content["source"] = ", ".join(dict.fromkeys(sources))
    content["data_summary"] = summary_of(content)
    return content


def summary_of(content: dict[str, Any]) -> str:
    """Return what the series of a chart say, in a sentence."""
    series = content["series"]
    told = [_told(one) for one in series[:_TOLD_SERIES]]
    kind = content["chart_type"]
    if not any(one["values"] for one in series):
        names = ", ".join(one["name"] for one in series if one["name"])
        return f"{_a(kind)} chart without data" + (f" for {names}" if names else "")
    count = f"{len(series)} series" if len(series) != 1 else "1 series"
    more = f"; and {len(series) - len(told)} more series" if len(series) > len(told) else ""
    return f"{_a(kind)} chart of {count}: {'; '.join(told)}{more}"


def _told(series: dict[str, Any]) -> str:
    name = series["name"] or "values"
    points = [(value, index) for index, value in enumerate(series["values"]) if value is not None]
    if not points:
        return f"{name} (no values)"
    labels = series.get("categories", [])

    def at(index: int) -> str:
        return f" ({labels[index]})" if index < len(labels) and labels[index] not in (None, "") else ""

    if len(points) == 1:
        return f"{name} {_amount(points[0][0])}{at(points[0][1])}"
    (low, low_at), (high, high_at) = min(points), max(points, key=lambda point: (point[0], -point[1]))
    first, last = points[0][0], points[-1][0]
    return (
        f"{name}, {len(points)} points from {_amount(first)} to {_amount(last)}, "
        f"lowest {_amount(low)}{at(low_at)}, highest {_amount(high)}{at(high_at)}"
    )


def _amount(value: float) -> str:
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else f"{value:.6g}"


def _a(kind: str) -> str:
    return kind[:1].upper() + kind[1:]


def _type_of(group: Node) -> str:
    kind = _TYPES[local(group)]
    if kind == "bar":
        kind = "bar" if value_of(group, "barDir") == "bar" else "column"
    grouping = value_of(group, "grouping")
    return {"stacked": f"stacked {kind}", "percentStacked": f"percent stacked {kind}"}.get(grouping, kind)


def _series(node: Node, index: int, lookup: Lookup | None) -> dict[str, Any]:
    names = _texts(child(node, "tx"), lookup)
    name = " ".join(str(part) for part in names if part is not None).strip() or f"Series {index + 1}"
    values = [_as_number(value) for value in _texts(_first(node, "val", "yVal"), lookup, dates=False)]
    series: dict[str, Any] = {"name": name, "values": values}
    categories = _texts(_first(node, "cat", "xVal"), lookup)
    if categories:
        series["categories"] = list(categories)
    sizes = _texts(child(node, "bubbleSize"), lookup)
    if sizes:
        series["sizes"] = [_as_number(value) for value in sizes]
    return series


def _first(node: Node, *names: str) -> Node | None:
    return next((found for name in names if (found := child(node, name)) is not None), None)


def _texts(node: Node | None, lookup: Lookup | None, *, dates: bool = True) -> Sequence[Cell]:
    """Return the values below a reference or literal: the copy in the chart, else those of the sheet."""
    if node is None:
        return ()
    holder = next((part for part in node if local(part) in _HOLDERS), None)
    if holder is None:
        return (text,) if (text := text_of(node).strip()) else ()
    cache = _first(holder, "numCache", "strCache", "multiLvlStrCache")
    points = _points(cache if cache is not None else holder, dates=dates)
    if points or lookup is None:
        return points
    formula = text_of(child(holder, "f")).strip()
    return list(lookup(formula))[:MAX_POINTS] if formula else ()


_HOLDERS: Final = frozenset({"numRef", "strRef", "numLit", "strLit", "multiLvlStrRef"})


def _points(cache: Node, *, dates: bool = True) -> Sequence[Cell]:
    levels = list(children(cache, "lvl"))
    if levels:  # the last level is the outermost
        parts = [_points(level) for level in reversed(levels)]
        longest = max(map(len, parts), default=0)
        filled = [_filled_down(part, longest) for part in parts]
        return [" / ".join(str(value) for value in values if value is not None) for values in zip(*filled, strict=True)]
    found = {number(point.get("idx"), -1): text_of(child(point, "v")) for point in children(cache, "pt")}
    found = {index: text for index, text in found.items() if 0 <= index < MAX_POINTS}
    count = min(max(number(value_of(cache, "ptCount")), max(found, default=-1) + 1), MAX_POINTS)
    if not found:
        return ()
    read = _reader(cache) if dates else _as_number
    return [read(found[index]) if index in found else None for index in range(count)]


def _reader(cache: Node) -> Callable[[str], Cell]:
    if "num" not in local(cache):
        return str
    kind = kind_of(text_of(child(cache, "formatCode")))

    def read(text: str) -> Cell:
        value = _as_number(text)
        # The labels of a time axis are counted in days; values are left as they are drawn.
        return value if value is None or kind == "number" else iso(value, kind)

    return read


def _filled_down(values: Sequence[Cell], length: int) -> list[Cell]:
    filled: list[Cell] = []
    for index in range(length):
        value = values[index] if index < len(values) else None
        filled.append(filled[-1] if value is None and filled else value)
    return filled


def _as_number(value: Cell) -> int | float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return value
    try:
        read = float(value)
    except ValueError:
        return None
    if read != read or read in (float("inf"), float("-inf")):  # noqa: PLR0124 (not a number)
        return None
    return int(read) if read.is_integer() and "." not in value and abs(read) < 1e15 else read


def _sources(node: Node) -> Iterable[str]:
    for holder in ("val", "yVal"):
        formula = next(descendants(child(node, holder), "f"), None)
        if formula is not None and formula.text:
            yield formula.text.replace("$", "")


def _title(chart: Node | None, series: Sequence[dict[str, Any]]) -> str:
    title = child(chart, "title")
    text = " ".join(rich_text(title).split()) if title is not None else ""
    deleted = value_of(chart, "autoTitleDeleted", default="0") in ("1", "true")
    # A chart of one series is shown under the name of that, unless its author took the title away.
    return text or (series[0]["name"] if title is not None and len(series) == 1 and not deleted else "")


def rich_text(node: Node | None) -> str:
    """Return the words of a title: paragraphs of runs, or the copy of a cell."""
    paragraphs = ["".join(text_of(run) for run in descendants(p, "t")) for p in descendants(node, "p")]
    return "\n".join(filter(None, paragraphs)) or " ".join(text_of(value) for value in descendants(node, "v"))


def _axes(plot: Node | None) -> dict[str, str]:
    titles: dict[str, str] = {}
    if plot is None:
        return titles
    values = 0
    for axis in plot:
        kind = local(axis)
        if kind not in ("catAx", "valAx", "dateAx", "serAx"):
            continue
        text = " ".join(rich_text(child(axis, "title")).split())
        is_x = kind in ("catAx", "dateAx") or (kind == "valAx" and value_of(axis, "axPos") in ("b", "t") and not values)
        values += kind == "valAx"
        if text:
            titles.setdefault("x_title" if is_x else "y_title", text)
    return titles


def _newer_chart(root: Node) -> dict[str, Any]:
    data = {attribute(node, "id"): node for node in descendants(child(root, "chartData"), "data")}
    series = []
    types = []
    for index, node in enumerate(descendants(child(root, "chart"), "series")):
        kind = attribute(node, "layoutId")
        types.append(_NEWER.get(kind, kind))
        name = " ".join(text_of(value) for value in descendants(child(node, "tx"), "v")).strip()
        reference = child(node, "dataId")
        source = data.get(attribute(reference, "val")) if reference is not None else None
        series.append({"name": name or f"Series {index + 1}", **_newer_data(source)})
    content: dict[str, Any] = {
        "chart_type": " and ".join(dict.fromkeys(filter(None, types))) or "unknown",
        "title": " ".join(rich_text(child(root, "chart", "title")).split()),
        "data_summary": "",
        "series": series[:MAX_SERIES],
    }
    content["data_summary"] = summary_of(content)
    return content


def _newer_data(node: Node | None) -> dict[str, Any]:
    values: list[int | float | None] = []
    labels: list[str] = []
    for dimension in node if node is not None else ():
        points = [text_of(point) for point in descendants(dimension, "pt")][:MAX_POINTS]
        if local(dimension) == "numDim" and not values:
            values = [_as_number(point) for point in points]
        elif local(dimension) == "strDim" and not labels:
            labels = points
    return {"values": values, "categories": labels} if labels else {"values": values}
