"""Charts of OpenDocument: type, titles, and the series from the copy of the data that a chart carries."""

from collections.abc import Sequence
from typing import Any, Final

from a2c_smcp.documents.content import Cell
from a2c_smcp.documents.odf.cell_values import TABLE, address_of, value_of, words_of
from a2c_smcp.documents.ooxml.charts import MAX_POINTS, MAX_SERIES, summary_of
from a2c_smcp.documents.ooxml.xml import Node, attribute, child, children, descendants, number, text_of

_TYPES: Final = {
    "bar": "column",
    "circle": "pie",
    "ring": "doughnut",
    "filled-radar": "radar",
    "gantt": "bar",
}
_CELLS: Final = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")


def read_chart(root: Node, chart: Node) -> dict[str, Any]:
    """Return the content of a chart; `root` is that of its part, where the styles are."""
    plot = child(chart, "plot-area")
    table = _Copy(child(chart, "table"))
    style = _style(root, plot)
    nodes = list(children(plot, "series"))[:MAX_SERIES]
    own = _kind(chart, style)
    domains = len(list(children(nodes[0], "domain"))) if nodes else 0
    series = [_series(node, index, table, domains) for index, node in enumerate(nodes)]
    kinds = [_kind(node, style) if attribute(node, "class") else own for node in nodes]
    if len(set(kinds)) > 1:
        for one, kind in zip(series, kinds, strict=True):
            one["chart_type"] = kind
    content: dict[str, Any] = {
        "chart_type": " and ".join(dict.fromkeys(kinds)) or own,
        "title": _title(chart),
        "data_summary": "",
        "series": series,
    }
    for axis in children(plot, "axis"):
        if title := _title(axis):
            content.setdefault("x_title" if attribute(axis, "dimension") == "x" else "y_title", title)
    sources = [address_of(attribute(node, "values-cell-range-address")) for node in nodes]
    if any(sources):
        content["source"] = ", ".join(dict.fromkeys(filter(None, sources)))
    content["data_summary"] = summary_of(content)
    return content


class _Copy:
    """The table inside a chart: a column for the labels and one for each series, with the ranges they come from."""

    def __init__(self, table: Node | None) -> None:
        self.header: list[Cell] = []
        self.columns: list[list[Cell]] = []
        self.sources: dict[str, int] = {}
        if table is None:
            return
        rows = [_cells(row) for row in list(descendants(table, "table-row"))[: MAX_POINTS + 1]]
        self.header = [value for value, _ in rows[0]] if rows else []
        width = max(map(len, rows), default=0)
        self.columns = [[row[column][0] if column < len(row) else None for row in rows[1:]] for column in range(width)]
        for row in rows[:2]:
            for column, (_, source) in enumerate(row):
                if source:
                    self.sources.setdefault(source, column)

    def column(self, source: str, otherwise: int) -> list[Cell]:
        at = self.sources.get(source, otherwise) if source else otherwise
        return self.columns[at] if 0 <= at < len(self.columns) else []


def _cells(row: Node) -> list[tuple[Cell, str]]:
    found: list[tuple[Cell, str]] = []
    for cell in row.iterchildren(*_CELLS):
        repeated = min(max(1, number(cell.get(f"{TABLE}number-columns-repeated"), 1)), MAX_SERIES + 2 - len(found))
        source = next((text_of(node) for node in descendants(cell, "desc")), "")
        found += [(value_of(cell), source)] * repeated
    return found


def _series(node: Node, index: int, table: _Copy, domains: int) -> dict[str, Any]:
    at = index + 1 + domains
    values = table.column(attribute(node, "values-cell-range-address"), at)
    label = table.sources.get(attribute(node, "label-cell-address"), at)
    named = table.header[label] if 0 <= label < len(table.header) else None
    series: dict[str, Any] = {
        "name": str(named) if named not in (None, "") else f"Series {index + 1}",
        "values": [
            value if isinstance(value, int | float) and not isinstance(value, bool) else None for value in values
        ],
    }
    domain = child(node, "domain")
    across = table.column(attribute(domain, "cell-range-address") if domain is not None else "", 1 if domains else 0)
    if any(value not in (None, "") for value in across):
        series["categories"] = across
    return series


def _kind(node: Node, style: Node | None) -> str:
    written = attribute(node, "class").rpartition(":")[2] or "unknown"
    kind = _TYPES.get(written, written)
    if style is None:
        return kind
    if written == "bar" and attribute(style, "vertical") == "true":
        kind = "bar"
    if attribute(style, "percentage") == "true":
        return f"percent stacked {kind}"
    return f"stacked {kind}" if attribute(style, "stacked") == "true" else kind


def _style(root: Node, plot: Node | None) -> Node | None:
    name = attribute(plot, "style-name") if plot is not None else ""
    styles: Sequence[Node] = list(children(child(root, "automatic-styles"), "style"))
    found = next((style for style in styles if name and attribute(style, "name") == name), None)
    return child(found, "chart-properties")


def _title(node: Node) -> str:
    title = child(node, "title")
    return " ".join(words_of(title).split()) if title is not None else ""
