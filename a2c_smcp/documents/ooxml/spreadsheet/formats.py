"""What the numbers of a sheet mean: number formats tell dates and times from amounts. Pure."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from a2c_smcp.documents.content import Cell
from a2c_smcp.documents.ooxml.spreadsheet.number_formats import BUILT_IN, shown_number, shown_text
from a2c_smcp.documents.ooxml.xml import Node, attribute, child, children, is_on, number
from a2c_smcp.documents.render.values import cell_text

Kind: TypeAlias = Literal["number", "date", "time", "datetime", "duration"]

_ISO_DATE: Final = "yyyy-mm-dd"
_NOT_CODE = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_MINUTES = re.compile(r"h[^ymd]*?m+|m+[^ymdh]*?s", re.IGNORECASE)
_LAST_SERIAL: Final = 2_958_465.999
"""The end of 9999-12-31."""


@dataclass(frozen=True, slots=True)
class CellStyle:
    """What a cell's style says of its content."""

    kind: Kind = "number"
    bold: bool = False
    code: str = ""
    """The number format; empty for General."""


PLAIN: Final = CellStyle()


def kind_of(code: str) -> Kind:
    """Return what a number format shows."""
    first = _NOT_CODE.sub("", code).partition(";")[0]
    if _ELAPSED.search(first):
        return "duration"
    if "general" in first.lower():
        return "number"
    words = first.lower().replace("am/pm", "h").replace("a/p", "h")
    has_time = bool(re.search("[hs]", words))
    without_minutes = _MINUTES.sub("", words) if has_time else words
    has_date = bool(re.search("[ymdge]", without_minutes)) and not re.search(r"[0#?]e[+-]", words)
    if has_date:
        return "datetime" if has_time else "date"
    return "time" if has_time else "number"


def read_styles(root: Node | None) -> Sequence[CellStyle]:
    """Return the cell styles of a workbook, in the order of their indexes."""
    if root is None:
        return ()
    codes = BUILT_IN | {
        number(attribute(node, "numFmtId")): attribute(node, "formatCode")
        for node in children(child(root, "numFmts"), "numFmt")
    }
    bold = [_is_bold(font) for font in children(child(root, "fonts"), "font")]
    styles = []
    for node in children(child(root, "cellXfs"), "xf"):
        format_id, font = number(attribute(node, "numFmtId")), number(attribute(node, "fontId"))
        styles.append(style_of(codes.get(format_id, ""), bold=0 <= font < len(bold) and bold[font]))
    return styles


def style_of(code: str, *, bold: bool = False) -> CellStyle:
    """Return the style of cells with a number format."""
    is_general = code.lower() in ("", "general")
    return CellStyle("number" if is_general else kind_of(code), bold, "" if is_general else code)


def shown_as(value: Cell, number: float | None, style: CellStyle, *, since_1904: bool = False) -> str | None:
    """Return what a cell shows where that is not its value; `number` is the number as it is stored, if it is one."""
    if not style.code or style.code == _ISO_DATE:
        return None
    if number is not None:
        text = shown_number(number, style.code, since_1904=since_1904)
    else:
        text = shown_text(value, style.code) if isinstance(value, str) else None
    return None if text is None or text == cell_text(value) else text


def iso(value: float, kind: Kind, *, since_1904: bool = False) -> str | float:
    """Return a number as its format means it: dates and times in ISO 8601."""
    if kind == "number" or not math.isfinite(value):
        return value
    if kind == "duration":
        return _duration(value)
    if not 0 <= value < _LAST_SERIAL - (1_463 if since_1904 else 0):
        return value
    day = value + 1_462 if since_1904 else value
    # There was no 29 February 1900, but sheets count it as day 60.
    if not since_1904 and day < 60:
        day += 1
    seconds = round(day * 86_400, 3)
    moment = datetime(1899, 12, 30) + timedelta(seconds=seconds)  # noqa: DTZ001 (sheets know no time zone)
    moment = (moment + timedelta(microseconds=500_000)).replace(microsecond=0)
    if kind == "time" or (kind == "datetime" and value < 1):
        return moment.time().isoformat()
    if kind == "date" and moment.time() == moment.time().min:
        return moment.date().isoformat()
    return moment.isoformat()


def _duration(value: float) -> str:
    sign, seconds = ("-" if value < 0 else ""), round(abs(value) * 86_400)
    hours, minutes = divmod(seconds // 60, 60)
    parts = ((hours, "H"), (minutes, "M"), (seconds % 60, "S"))
    return f"{sign}PT{''.join(f'{amount}{unit}' for amount, unit in parts if amount) or '0S'}"


def _is_bold(font: Node) -> bool:
    mark = child(font, "b")
    return mark is not None and is_on(mark.get("val"))
