"""Cells of an OpenDocument sheet: values, words, and formulas as people type them. Pure."""

import re
from datetime import timedelta
from typing import Final

from a2c_smcp.documents.content import Cell
from a2c_smcp.documents.ooxml.spreadsheet.formulas import MAX_FORMULA
from a2c_smcp.documents.ooxml.xml import Node, attribute, local, number
from a2c_smcp.documents.render.values import cell_text

_NAMESPACES: Final = "urn:oasis:names:tc:opendocument:xmlns"
CALC: Final = "{urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0}"
CHART: Final = f"{{{_NAMESPACES}:chart:1.0}}"
DRAW: Final = f"{{{_NAMESPACES}:drawing:1.0}}"
OFFICE: Final = f"{{{_NAMESPACES}:office:1.0}}"
TABLE: Final = f"{{{_NAMESPACES}:table:1.0}}"
TEXT: Final = f"{{{_NAMESPACES}:text:1.0}}"
XLINK: Final = "{http://www.w3.org/1999/xlink}"

MAX_SPACES: Final = 1_000

_DURATION = re.compile(r"(-?)P(?:(\d{1,9})D)?T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:[.,]\d*)?S)?")
_LANGUAGE = re.compile(r"\A\s*(?:[A-Za-z]\w*:)?=*")
# Strings are stepped over; references stand in brackets; the rest are the marks that another notation writes.
_FORMULA = re.compile(r"(\"(?:[^\"]|\"\")*\")|\[((?:'(?:[^']|'')*'|[^\]'])*)\]|([{}|;~])")


def value_of(cell: Node) -> Cell:
    """Return what a cell holds; dates and times in ISO 8601, errors and texts as they are shown."""
    if cell.get(f"{CALC}value-type") == "error":
        return words_of(cell) or None
    match cell.get(f"{OFFICE}value-type"):
        case "float" | "percentage" | "currency":
            return _number(cell.get(f"{OFFICE}value")) if cell.get(f"{OFFICE}value") else words_of(cell) or None
        case "date":
            return (cell.get(f"{OFFICE}date-value") or words_of(cell)).removesuffix("T00:00:00") or None
        case "time":
            return _time(cell.get(f"{OFFICE}time-value") or "") or words_of(cell) or None
        case "boolean":
            return cell.get(f"{OFFICE}boolean-value") == "true"
    return words_of(cell) or cell.get(f"{OFFICE}string-value") or None


def shown_of(cell: Node, value: Cell) -> str | None:
    """Return what a cell shows by its number format, None where that is its value."""
    if isinstance(value, bool) or cell.get(f"{OFFICE}value-type") in (None, "string", "boolean"):
        return None
    words = words_of(cell)
    return words if words and words != cell_text(value) else None


def words_of(node: Node) -> str:
    """Return the paragraphs of a cell, a note or a shape as lines."""
    return "\n".join(paragraph_text(part) for part in node.iterchildren(f"{TEXT}p", f"{TEXT}h")).strip("\n")


def paragraph_text(node: Node) -> str:
    """Return the words of a paragraph; blanks and breaks are elements of their own."""
    parts = [node.text or ""]
    for part in node:
        match local(part):
            case "s":
                parts.append(" " * min(number(attribute(part, "c"), 1), MAX_SPACES))
            case "tab":
                parts.append("\t")
            case "line-break":
                parts.append("\n")
            case "ruby":
                parts += (paragraph_text(base) for base in part.iterchildren(f"{TEXT}ruby-base"))
            case "annotation" | "note":
                pass
            case _:
                parts.append(paragraph_text(part))
        parts.append(part.tail or "")
    return "".join(parts)


def formula_of(written: str) -> str:
    """Return a formula in the notation of Excel: `of:=SUM([.A1:.A3];2)` is `=SUM(A1:A3,2)`."""
    start = _LANGUAGE.match(written)
    body = written[start.end() if start else 0 :][:MAX_FORMULA]
    if written.lstrip().startswith("msoxl:"):
        return f"={body}"
    depth = 0

    def told(match: re.Match[str]) -> str:
        nonlocal depth
        if match[1] is not None:
            return match[1]
        if match[2] is not None:
            return _reference(match[2])
        mark = match[3]
        depth = max(0, depth + {"{": 1, "}": -1}.get(mark, 0))
        if mark in "{}":
            return mark
        return ";" if mark == "|" and depth else mark if mark == "|" else ","

    return f"={_FORMULA.sub(told, body)}"


def address_of(written: str) -> str:
    """Return `Sheet1!A1:B9` for `$Sheet1.$A$1:.$B$9`, without the marks that only matter when copying."""
    return _reference(written).replace("$", "")


def _reference(written: str) -> str:
    sides = [_side(side) for side in _split(written)]
    (sheet, first), rest = sides[0], [cell for _, cell in sides[1:]]
    shown = ":".join([first, *rest])
    return f"{sheet}!{shown}" if sheet else shown


def _split(written: str) -> list[str]:
    """Return the two ends of a range; a quoted name may hold a colon."""
    if "'" not in written and "#" not in written:
        return written.split(":")
    quoted, parts = False, [""]
    for letter in written:
        quoted ^= letter == "'"
        if letter == ":" and not quoted and "#" not in written:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _side(written: str) -> tuple[str, str]:
    sheet, dot, cell = written.rpartition(".")
    return (sheet.removeprefix("$"), cell) if dot else ("", written)


def _number(written: str | None) -> int | float | None:
    try:
        value = float(written or "")
    except ValueError:
        return None
    if value != value or abs(value) == float("inf"):  # noqa: PLR0124 (not a number)
        return None
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def _time(written: str) -> str:
    """Return the time of a day, or a duration where it is longer than one."""
    match = _DURATION.fullmatch(written)
    if not match:
        return ""
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
    try:
        length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        return ""
    if match[1] or length >= timedelta(days=1):
        total = int(length.total_seconds())
        return f"{match[1]}PT{total // 3600}H{total // 60 % 60}M{total % 60}S"
    return f"{length.seconds // 3600:02}:{length.seconds // 60 % 60:02}:{length.seconds % 60:02}"
