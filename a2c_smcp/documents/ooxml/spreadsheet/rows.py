"""The rows of a sheet as a stream: values, formulas and styles of the rows that are wanted, and no others."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape as unescape_xml
from typing import Final, NamedTuple

from a2c_smcp.documents.content import Cell
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.spreadsheet.formats import PLAIN, CellStyle, iso, shown_as
from a2c_smcp.documents.ooxml.spreadsheet.formulas import Formula, moved, readable
from a2c_smcp.documents.ooxml.spreadsheet.pieces import Pieces
from a2c_smcp.documents.ooxml.spreadsheet.references import MAX_COLUMN, MAX_ROW, column_number, parse_cell
from a2c_smcp.documents.ooxml.xml import Node, children, local, number, text_of

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_LETTERS = re.compile(r"[A-Za-z]{1,3}")
_FILLED = re.compile(rb"<(?:\w+:)?(?:v|f|is)[\s/>]")
# A formula that others share, not those that only refer to it, and the cell it stands in.
_SHARED = re.compile(rb"""<(?:[\w.-]+:)?f(\s[^>]*?\bt\s*=\s*["']shared["'][^>]*(?<!/))>(?!</)(<!\[CDATA|[^<]+)""")
_GROUP = re.compile(rb"""\ssi\s*=\s*["']([^"']*)""")
_CELL_BEFORE = re.compile(rb"""<(?:[\w.-]+:)?c\s[^>]*?\br\s*=\s*["']([A-Za-z]{1,3}[0-9]{1,7})["'][^>]*>\s*\Z""")
_NEAR: Final = 1_000
_INTEGER = re.compile(r"[-+]?[0-9]{1,15}")


class _Raw(NamedTuple):
    column: int
    type: str
    text: str
    style: int
    formula: str


@dataclass(slots=True)
class RawRow:
    """A row as it is written: strings are still numbers in a list elsewhere."""

    number: int
    cells: list[_Raw]


@dataclass(slots=True)
class SheetRow:
    """A row that holds something."""

    number: int
    values: dict[int, Cell] = field(default_factory=dict)
    formulas: list[Formula] = field(default_factory=list)
    bold: set[int] = field(default_factory=set)
    shown: dict[int, str] = field(default_factory=dict)
    """What cells show by their number formats, where that is not their value."""
    calculates: bool = False
    """Whether a formula stands in the row that `formulas` does not tell."""


@dataclass(frozen=True, slots=True)
class NumberContext:
    """How the numbers of a workbook are to be read."""

    styles: Sequence[CellStyle] = ()
    strings_part: str = ""
    since_1904: bool = False


class RowReader:
    """Reads rows from the top of a sheet on; `pieces` is used up by it."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._shared: dict[str, tuple[int, int, str]] = {}
        self.last_row = 0
        """The number of the last row that was read or passed over."""
        self._batches = pieces.batches()
        self._current: Iterator[RawRow] = iter(())

    def rows(self, first: int = 1) -> Iterator[RawRow]:
        """Yield the rows from number `first` on; batches of earlier rows are passed over unread."""
        for batch in self._batches:
            last = self._last_in(batch) if first > 1 else 0
            if 0 < last < first:
                self._note_shared(batch)
                self.last_row = last
            elif not _FILLED.search(batch):  # rows that are only formatted, which may be a million
                self.last_row = max(last or self._last_in(batch), self.last_row)
            else:
                self._current = self._rows_in(batch)
                yield from (row for row in self._current if row.number >= first)

    def _note_shared(self, batch: bytes) -> None:
        """Remember the formulas that rows further down share, of rows that are passed over."""
        if b"shared" not in batch:
            return
        for match in _SHARED.finditer(batch):
            cell = _CELL_BEFORE.search(batch, max(0, match.start() - _NEAR), match.start())
            place = parse_cell(cell[1].decode("ascii", "replace")) if cell else None
            group = _GROUP.search(match[1])
            if place is None or group is None or match[2].lstrip().startswith(b"<"):
                for _ in self._rows_in(batch):  # written in another way, so it has to be parsed
                    pass
                return
            self._shared[unescape_xml(group[1].decode())] = (*place, unescape_xml(match[2].decode("utf-8", "replace")))

    def end(self) -> int:
        """Pass over the rest and return the number of the last row in it that holds something, 0 if none does."""
        last = max((row.number for row in self._current), default=0)
        filled: tuple[bytes, int] | None = None
        for batch in self._batches:
            if _FILLED.search(batch):
                filled = batch, self.last_row
            self.last_row = self._last_in(batch)
        if filled is None:
            return last
        batch, self.last_row = filled
        return max((row.number for row in self._rows_in(batch)), default=last)

    def _rows_in(self, batch: bytes) -> Iterator[RawRow]:
        for node in self._pieces.tree(batch):
            row = self._row(node) if local(node) == "row" else None
            if row is not None and row.cells:
                yield row

    def _last_in(self, batch: bytes) -> int:
        told = self._pieces.last_attribute(batch, b"r")
        return number(told.decode("ascii", "replace")) if told else self.last_row + self._pieces.count(batch)

    def _row(self, node: Node) -> RawRow:
        row_number = number(node.get("r"), self.last_row + 1)
        # A number that goes back or too far is a mistake of the writer: order is what the file has.
        if not self.last_row < row_number <= MAX_ROW:
            row_number = self.last_row + 1
        self.last_row = row_number
        cells: list[_Raw] = []
        column = 0
        for cell in node:
            reference = cell.get("r")
            letters = _LETTERS.match(reference) if reference else None
            column = column_number(letters[0]) if letters else column + 1
            if column > MAX_COLUMN:
                break
            raw = self._cell(cell, row_number, column)
            if raw is not None:
                cells.append(raw)
        return RawRow(row_number, cells)

    def _cell(self, cell: Node, row: int, column: int) -> _Raw | None:
        text, formula, kind = "", "", cell.get("t") or "n"
        for part in cell:
            match local(part):
                case "v":
                    text = part.text or ""
                case "f":
                    formula = self._formula(part, row, column)
                case "is":
                    text, kind = string_of(part), "inlineStr"
        return _Raw(column, kind, text, number(cell.get("s")), formula) if text or formula else None

    def _formula(self, node: Node, row: int, column: int) -> str:
        text, group = node.text or "", node.get("si")
        if node.get("t") != "shared" or group is None:
            return text
        if text:
            self._shared[group] = (row, column, text)
            return text
        master = self._shared.get(group)
        return moved(master[2], row - master[0], column - master[1]) if master else ""


def finish(rows: Iterable[RawRow], package: Package, reading: NumberContext) -> list[SheetRow]:
    """Return rows with their strings looked up and their numbers read; rows that show nothing are left out."""
    raw = list(rows)
    wanted = {number(cell.text, -1) for row in raw for cell in row.cells if cell.type == "s"}
    strings = read_strings(package, reading.strings_part, wanted - {-1})
    return [row for row in (_finish_row(row, strings, reading) for row in raw) if row.values]


def read_strings(package: Package, part: str, wanted: set[int]) -> Mapping[int, str]:
    """Return the shared strings of those indexes; the list is read only as far as the last of them."""
    found: dict[int, str] = {}
    if not wanted or part not in package:
        return found
    last, start = max(wanted), 0
    pieces = Pieces(package, part, "si")
    for batch in pieces.batches():
        count = pieces.count(batch)
        if any(index in wanted for index in range(start, start + count)):
            for index, node in enumerate(pieces.tree(batch), start):
                if index in wanted:
                    found[index] = string_of(node)
        start += count
        if start > last:
            break
    return found


def string_of(node: Node) -> str:
    """Return the text of a string item; how to pronounce it is left out."""
    parts: list[str] = []
    for part in node:
        match local(part):
            case "t":
                parts.append(part.text or "")
            case "r":
                parts += (text_of(run) for run in children(part, "t"))
    return unescape("".join(parts))


def unescape(text: str) -> str:
    """Return text with `_x000A_` and its like as the characters they stand for."""
    if "_x" not in text:
        return text
    text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text).replace("\r\n", "\n").replace("\r", "\n")
    # Characters beyond the first plane are escaped in halves.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _finish_row(raw: RawRow, strings: Mapping[int, str], reading: NumberContext) -> SheetRow:
    row = SheetRow(raw.number)
    styles = reading.styles
    for cell in raw.cells:
        style = styles[cell.style] if 0 <= cell.style < len(styles) else PLAIN
        value = _value(cell, strings, style, reading)
        if cell.formula:
            formula = Formula(raw.number, cell.column, readable(cell.formula), value)
            row.formulas.append(formula)
            # Programs that only write leave the result to whoever opens the file first.
            value = formula.expression if value is None else value
        if value is not None and value != "":
            row.values[cell.column] = value
            if style.code:
                _show(row, cell, value, style, reading)
            if style.bold:
                row.bold.add(cell.column)
    return row


def _show(row: SheetRow, cell: _Raw, value: Cell, style: CellStyle, reading: NumberContext) -> None:
    number_ = _float(cell.text) if cell.type == "n" else None
    text = shown_as(value, number_, style, since_1904=reading.since_1904)
    if text is not None:
        row.shown[cell.column] = text


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _value(cell: _Raw, strings: Mapping[int, str], style: CellStyle, reading: NumberContext) -> Cell:
    text = cell.text
    match cell.type:
        case "s":
            return strings.get(number(text, -1))
        case "n":
            return _number(text, style, reading)
        case "b":
            return text.strip() in {"1", "true"}
        case "str":
            return unescape(text)
        case "d":
            return text.removesuffix("T00:00:00") if style.kind == "date" else text
        case _:
            return text


def _number(text: str, style: CellStyle, reading: NumberContext) -> Cell:
    if not text:
        return None
    if style.kind == "number" and _INTEGER.fullmatch(text):
        return int(text)
    value = _float(text)
    if value is None:
        return text
    read = iso(value, style.kind, since_1904=reading.since_1904)
    return read if isinstance(read, str) or abs(read) < _HUGE else text


_HUGE: Final = float("inf")
