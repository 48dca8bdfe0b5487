"""An element in one line, from its content alone: what stands in for a summary that nobody wrote."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, Final

from a2c_smcp.documents.content import (
    AnnotationContent,
    ChartContent,
    FormContent,
    ListContent,
    PivotTableContent,
    TableContent,
)
from a2c_smcp.documents.render.values import all_items_of, cell_text, columns, one_line
from a2c_smcp.types import ElementCategory

WIDTH: Final = 120


def gist(category: ElementCategory, content: Mapping[str, Any], width: int = WIDTH) -> str:
    """Return one line of at most `width` characters; empty where the content says nothing in words."""
    told = one_line(_GISTS[category](content))
    return told if len(told) <= width else told[: width - 1].rstrip() + "…"


def _first(*keys: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda content: next((str(content[key]) for key in keys if content.get(key)), "")


def _list(content: ListContent) -> str:
    return "; ".join(item.text for item in islice(all_items_of(content), WIDTH) if item.text)


def _table(content: TableContent) -> str:
    headers, rows = content["headers"], content["rows"]
    name = content.get("caption") or ", ".join(filter(None, map(cell_text, headers)))
    height, width = content.get("total_rows", len(rows)), content.get("total_columns", columns(headers, rows))
    return f"{name} ({height} × {width})".lstrip()


def _pivot_table(content: PivotTableContent) -> str:
    values = ", ".join(value.get("name") or value["field"] for value in content["values"])
    fields = " × ".join(filter(None, [", ".join(content["row_fields"]), ", ".join(content["column_fields"])]))
    told = " / ".join(filter(None, [values, fields]))
    return f"{content['title']}: {told}" if content.get("title") else told


def _chart(content: ChartContent) -> str:
    return content["title"] or content["data_summary"] or content["chart_type"]


def _annotation(content: AnnotationContent) -> str:
    author = content.get("author")
    return f"{author}: {content['text']}" if author else content["text"]


def _form(content: FormContent) -> str:
    names = ", ".join(field.get("label") or field["name"] for field in content["fields"])
    return f"{content['title']}: {names}" if content.get("title") else names


_GISTS: Final[Mapping[ElementCategory, Callable[[Any], str]]] = {
    "text": _first("text"),
    "heading": _first("text"),
    "list": _list,
    "code": _first("text"),
    "table": _table,
    "pivot_table": _pivot_table,
    "chart": _chart,
    "diagram": _first("title", "description", "diagram_type", "source"),
    "image": _first("description", "alt", "text", "url"),
    "formula": _first("expression"),
    "link": _first("text", "url"),
    "annotation": _annotation,
    "header": _first("text"),
    "footer": _first("text"),
    "separator": _first("separator_type"),
    "audio": _first("title", "description", "transcript", "url"),
    "video": _first("title", "description", "transcript", "url"),
    "form": _form,
    "widget": _first("label", "name", "value", "description", "widget_type"),
}
