"""The `content` of an element: one shape for each of the 19 categories.

A shape is a TypedDict, so that content is plain JSON everywhere. Keys that a shape does not name are kept, not refused:
a newer author may say more. Types are strict: a heading of level `"1"` and a date object in a cell are mistakes.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NotRequired, TypeAlias

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from a2c_smcp.types import ElementCategory

Cell: TypeAlias = str | int | float | bool | None
"""A value in a table. Dates and durations travel as ISO 8601 strings."""

_Count: TypeAlias = Annotated[int, Field(ge=0)]
_Span: TypeAlias = Annotated[int, Field(ge=1)]
_Pixels: TypeAlias = Annotated[int, Field(ge=0, description="Pixels.")]
_Seconds: TypeAlias = Annotated[float, Field(ge=0, description="Seconds.")]

_shape = with_config(ConfigDict(strict=True, extra="allow", allow_inf_nan=False, use_attribute_docstrings=True))


# Text


@_shape
class TextSpan(TypedDict):
    """A part of a text that is emphasized, code, a link, a picture or a line break. Spans may nest."""

    start: _Count
    """Where it begins in the text, counted in characters (Unicode code points)."""
    end: _Count
    """Where it ends; that character is no part of it."""
    kind: Literal["strong", "emphasis", "strike", "code", "link", "image", "break", "code_block"]
    url: NotRequired[str]
    """Where a link leads, or where a picture is, whose description is the text."""
    title: NotRequired[str]
    language: NotRequired[str]
    """Of a block of code."""


@_shape
class TextContent(TypedDict):
    """A paragraph, or several with blank lines between them."""

    text: str
    spans: NotRequired[list[TextSpan]]


@_shape
class HeadingContent(TypedDict):
    """A heading."""

    level: Annotated[int, Field(ge=1)]
    """1 is the highest."""
    text: str
    spans: NotRequired[list[TextSpan]]


@_shape
class ListContent(TypedDict):
    """A list, ordered or not; items nest."""

    ordered: bool
    items: "list[str | ListItem]"
    start: NotRequired[_Count]
    """The number of the first item of an ordered list; 1 where absent."""


@_shape
class ListItem(TypedDict):
    """A list item that is more than its text."""

    text: str
    spans: NotRequired[list[TextSpan]]
    checked: NotRequired[bool]
    """Present on the items of a task list."""
    children: NotRequired[ListContent]
    """The list inside this item."""


@_shape
class CodeContent(TypedDict):
    """Source code or other preformatted text."""

    text: str
    language: NotRequired[str]


# Tables


@_shape
class MergedCells(TypedDict):
    """Cells shown as one; its value is in the first of them, the others are empty."""

    row: _Count
    """0 is the header line, 1 the first of `rows`."""
    column: _Count
    row_span: _Span
    column_span: _Span


@_shape
class CellSpans(TypedDict):
    """The spans of what a cell shows."""

    row: _Count
    """0 is the header line, 1 the first of `rows`."""
    column: _Count
    spans: list[TextSpan]


@_shape
class TableContent(TypedDict):
    """A table, or the window of a long one that was asked for."""

    headers: list[Cell]
    """Empty where the table has no header line."""
    rows: list[list[Cell]]
    shown_headers: NotRequired[list[str | None]]
    """What the cells of `headers` show by their number formats; null where that is the value."""
    shown_rows: NotRequired[list[list[str | None]]]
    """What the cells of `rows` show by their number formats, like "1,250" for 1250; null where that is the value."""
    cell_spans: NotRequired[list[CellSpans]]
    merged: NotRequired[list[MergedCells]]
    caption: NotRequired[str]
    row_offset: NotRequired[_Count]
    """How many rows of the table come before the first of `rows`; 0 where absent."""
    total_rows: NotRequired[_Count]
    """Rows of the whole table, header line not counted."""
    total_columns: NotRequired[_Count]


@_shape
class PivotValue(TypedDict):
    """A value field of a pivot table."""

    field: str
    function: NotRequired[str]
    """How values are put together: sum, count, average …"""
    name: NotRequired[str]
    """What the pivot table calls it, like "Sum of sales"."""


@_shape
class PivotTableContent(TypedDict):
    """A pivot table: its fields and, where known, what it shows."""

    row_fields: list[str]
    column_fields: list[str]
    values: list[PivotValue]
    filter_fields: NotRequired[list[str]]
    title: NotRequired[str]
    source: NotRequired[str]
    """Where the data comes from, like `Sales!A1:F900`."""
    headers: NotRequired[list[Cell]]
    rows: NotRequired[list[list[Cell]]]
    shown_headers: NotRequired[list[str | None]]
    shown_rows: NotRequired[list[list[str | None]]]
    """As in a table."""


# Pictures


@_shape
class ChartSeries(TypedDict):
    """One series of a chart."""

    name: str
    values: list[int | float | None]
    categories: NotRequired[list[Cell]]
    """The labels, or the x values, of `values`."""
    chart_type: NotRequired[str]
    """Where a combined chart draws this series differently."""


@_shape
class ChartContent(TypedDict):
    """A chart of data."""

    chart_type: str
    """bar, line, pie, scatter …"""
    title: str
    """Empty where the chart has none."""
    data_summary: str
    """What the data says, in a sentence."""
    series: NotRequired[list[ChartSeries]]
    x_title: NotRequired[str]
    y_title: NotRequired[str]
    source: NotRequired[str]
    """Where the data comes from, like `Sales!A1:B5`."""


@_shape
class DiagramNode(TypedDict):
    """A box of a diagram."""

    id: str
    text: str
    parent: NotRequired[str]
    """The id of the node that contains this one."""


@_shape
class DiagramEdge(TypedDict):
    """A connection between two nodes, by their ids."""

    source: str
    target: str
    text: NotRequired[str]


@_shape
class DiagramContent(TypedDict, total=False):
    """A flow chart, an organization chart, an architecture drawing."""

    diagram_type: str
    title: str
    description: str
    nodes: list[DiagramNode]
    edges: list[DiagramEdge]
    source: str
    """The text it is drawn from, like Mermaid."""
    language: str
    """The language of `source`."""


@_shape
class ImageContent(TypedDict, total=False):
    """An embedded or linked picture."""

    alt: str
    url: str
    description: str
    """What it shows, where somebody or something has said so."""
    text: str
    """The text recognized in it."""
    mime_type: str
    width: _Pixels
    height: _Pixels


# Data


@_shape
class FormulaContent(TypedDict):
    """A formula of a sheet or of mathematics."""

    expression: str
    value: NotRequired[Cell]
    """What it gave when the file was saved."""
    shown: NotRequired[str]
    """What its cell shows by its number format, where that is not the value."""
    location: NotRequired[str]
    """The cell it stands in, like `B5`."""
    notation: NotRequired[str]
    """excel, latex, mathml …"""


@_shape
class LinkContent(TypedDict):
    """A link or a cross reference."""

    text: str
    url: str
    title: NotRequired[str]
    spans: NotRequired[list[TextSpan]]
    """Of `text`: emphasis, code, pictures."""


@_shape
class AnnotationReply(TypedDict):
    """An answer to a comment."""

    text: str
    author: NotRequired[str]
    created: NotRequired[str]


@_shape
class AnnotationContent(TypedDict):
    """A comment, a note, a footnote, a marked passage."""

    text: str
    spans: NotRequired[list[TextSpan]]
    annotation_type: NotRequired[str]
    """comment, footnote, endnote, highlight …"""
    author: NotRequired[str]
    created: NotRequired[str]
    """ISO 8601."""
    target: NotRequired[str]
    """What it is about: a passage, a cell or an element id."""
    replies: NotRequired[list[AnnotationReply]]


# Layout


@_shape
class HeaderContent(TypedDict):
    """A page header."""

    text: str
    spans: NotRequired[list[TextSpan]]


@_shape
class FooterContent(TypedDict):
    """A page footer."""

    text: str
    spans: NotRequired[list[TextSpan]]


@_shape
class SeparatorContent(TypedDict, total=False):
    """A rule, a page or section break."""

    separator_type: str
    """line, page_break, section_break …"""


# Media


@_shape
class AudioContent(TypedDict, total=False):
    """Embedded or linked sound."""

    title: str
    url: str
    description: str
    mime_type: str
    duration: _Seconds
    transcript: str


@_shape
class VideoContent(AudioContent, total=False):
    """Embedded or linked moving pictures."""

    width: _Pixels
    height: _Pixels


# Interaction


@_shape
class FormField(TypedDict):
    """One field of a form."""

    name: str
    field_type: str
    """text, checkbox, radio, choice, button, signature, date …"""
    label: NotRequired[str]
    value: NotRequired[Cell | list[Cell]]
    """A list where several options are chosen."""
    options: NotRequired[list[str]]
    required: NotRequired[bool]
    read_only: NotRequired[bool]


@_shape
class FormContent(TypedDict):
    """A form to fill in."""

    fields: list[FormField]
    title: NotRequired[str]
    action: NotRequired[str]
    """Where it is sent."""


@_shape
class WidgetContent(TypedDict):
    """A control of its own: a slicer, a content control, an embedded object."""

    widget_type: str
    name: NotRequired[str]
    label: NotRequired[str]
    value: NotRequired[Cell | list[Cell]]
    description: NotRequired[str]


SHAPES: Final[Mapping[ElementCategory, type]] = {
    "text": TextContent,
    "heading": HeadingContent,
    "list": ListContent,
    "code": CodeContent,
    "table": TableContent,
    "pivot_table": PivotTableContent,
    "chart": ChartContent,
    "diagram": DiagramContent,
    "image": ImageContent,
    "formula": FormulaContent,
    "link": LinkContent,
    "annotation": AnnotationContent,
    "header": HeaderContent,
    "footer": FooterContent,
    "separator": SeparatorContent,
    "audio": AudioContent,
    "video": VideoContent,
    "form": FormContent,
    "widget": WidgetContent,
}
"""The content shape of every category."""
