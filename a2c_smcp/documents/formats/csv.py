"""Comma-separated values and their kin: one page with one table, read row by row and given out in windows.

A table that fits one window is the element `tbl-001`. Of a longer one that element is the first window, and
`tbl-001-r201` the window that begins with row 201: `metadata.next` names it. Nothing but one window is ever held.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, TextIO

from a2c_smcp.documents.formats.base import Description, OpenDocument, suffix_of
from a2c_smcp.documents.formats.decoding import encoding_of
from a2c_smcp.documents.formats.elements import clip, size_of_table
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.errors import DocumentError

MAX_BYTES: Final = 256 << 20
MAX_LINE: Final = 1 << 20
WINDOW_ROWS: Final = 200
WINDOW_CHARACTERS: Final = 200_000
TABLE_ID: Final = "tbl-001"

_SAMPLE_ROWS: Final = 50
_DELIMITERS: Final = ",;\t|"
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)
_WINDOW_ID = re.compile(rf"{TABLE_ID}-r([1-9][0-9]{{0,11}})")
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_NUMBER = re.compile(r"[-+]?[\d.,\s]*\d[\d.,\s%]*")


class CsvFormat:
    """Tables as text."""

    def file_type(self, name: str) -> str | None:
        """Accept `.csv`, `.tsv` and `.tab`."""
        return {"csv": "csv", "tsv": "tsv", "tab": "tsv"}.get(suffix_of(name))

    def open(self, path: Path) -> OpenDocument:
        """Find out how the file is written and count its rows."""
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise DocumentError(f"larger than the {MAX_BYTES >> 20} MiB that are read of this file type")
        return CsvDocument(_survey(path))


FORMAT: Final = CsvFormat()


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """How a file is written, and how much it holds."""

    path: Path
    encoding: str
    delimiter: str
    skip: int
    headers: tuple[str, ...] = ()
    rows: int = 0
    columns: int = 0


class CsvDocument:
    """A table in a file; each call reads the rows it needs."""

    def __init__(self, layout: CsvDialect) -> None:
        self._layout = layout
        self._page_count = 1 if layout.columns else 0

    def describe(self) -> Description:
        """Return the size of the table and the names of its columns."""
        layout = self._layout
        size = size_of_table(layout.headers, layout.rows, layout.columns)
        return Description(
            page_count=self._page_count,
            keywords=tuple(name for name in layout.headers[:20] if name),
            summary=clip(size, 200) if layout.columns else "Empty file",
        )

    def entries(self, offset: int, limit: int) -> Sequence[PageEntry]:
        """Return the one page."""
        return [PageEntry(0, self._layout.path.stem, 1)][offset : offset + limit] if self._page_count else []

    def page(self, index: int) -> Page:
        """Return the page with the first window of the table."""
        return Page(index, self._layout.path.stem, (self._window(TABLE_ID, 1),))

    def find(self, element_id: str) -> tuple[int, Element] | None:
        """Return a window of the table."""
        if not self._page_count:
            return None
        if element_id == TABLE_ID:
            return 0, self._window(TABLE_ID, 1)
        match = _WINDOW_ID.fullmatch(element_id)
        first = int(match[1]) if match else 0
        return (0, self._window(element_id, first)) if 1 <= first <= self._layout.rows else None

    def _window(self, element_id: str, first: int) -> Element:
        layout = self._layout
        rows = _read_window(layout, first)
        last = first + len(rows) - 1
        size = size_of_table(layout.headers, layout.rows, layout.columns)
        content: dict[str, Any] = {"headers": list(layout.headers), "rows": rows}
        if first > 1:
            content["row_offset"] = first - 1
        content |= {"total_rows": layout.rows, "total_columns": layout.columns}
        metadata = _metadata(layout, first, last)
        # A page shows no metadata, so the summary has to say where the table goes on.
        following = f" (next: {metadata['next']})" if "next" in metadata else ""
        summary = size if len(rows) == layout.rows else f"Rows {first}–{last}{following} of {size}"
        return Element(element_id, "table", content, clip(summary), metadata)


def _metadata(layout: CsvDialect, first: int, last: int) -> dict[str, Any]:
    header_lines = 1 if layout.headers else 0
    top = 1 if first == 1 else first + header_lines
    bottom = max(last + header_lines, 1)
    metadata: dict[str, Any] = {
        "source_range": f"A{top}:{_column_name(layout.columns)}{bottom}",
        "encoding": layout.encoding,
        "delimiter": layout.delimiter,
    }
    if last < layout.rows:
        metadata["next"] = f"{TABLE_ID}-r{last + 1}"
    return metadata


def _survey(path: Path) -> CsvDialect:
    encoding = encoding_of(path)
    layout = _sniff(path, encoding)
    records = _records(layout)
    first = next(records, [])
    sample = list(islice(records, _SAMPLE_ROWS))
    has_header = _is_header(first, sample)
    rows = (0 if has_header else 1) + len(sample)
    columns = max(map(len, (first, *sample)))
    for record in records:
        rows += 1
        columns = max(columns, len(record))
    headers = tuple(cell.strip() for cell in first) if has_header else ()
    return CsvDialect(path, encoding, layout.delimiter, layout.skip, headers, rows if first else 0, columns)


def _sniff(path: Path, encoding: str) -> CsvDialect:
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        named = _SEPARATOR_LINE.fullmatch(file.readline(MAX_LINE))
    if named:
        return CsvDialect(path, encoding, named[1], skip=1)
    if suffix_of(path.name) in ("tsv", "tab"):
        return CsvDialect(path, encoding, "\t", skip=0)
    candidates = [CsvDialect(path, encoding, delimiter, skip=0) for delimiter in _DELIMITERS]
    return max(candidates, key=_fitness)


def _fitness(layout: CsvDialect) -> tuple[float, int]:
    """Rate a delimiter: the share of rows that agree on a number of columns above one, then that number."""
    widths = Counter(len(record) for record in islice(_records(layout), _SAMPLE_ROWS))
    columns, agreeing = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return (agreeing / widths.total(), columns) if columns > 1 else (0.0, 0)


def _is_header(cells: Sequence[str], sample: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds names: words, or words and years.

    A name may be missing above an index or where lines end in a delimiter. In between, and where names repeat, what is
    below has to be of another kind.
    """
    names = [cell.strip() for cell in cells]
    words = [name for name in names if name and not _NUMBER.fullmatch(name)]
    years = [name for name in names if _YEAR.fullmatch(name)]
    if not words or len(words) + len(years) < sum(map(bool, names)):
        return False
    columns = [[row[at].strip() for row in sample if at < len(row) and row[at].strip()] for at in range(len(names))]
    below = list(zip(names, columns, strict=True))
    if any(name in years and _are_all(_YEAR, column) for name, column in below):
        return False
    inner = names[1:] if names[-1] or columns[-1] else names[1:-1]
    if all(inner) and len({*words, *years}) == len(words) + len(years):
        return True
    return any(name in words and _are_all(_NUMBER, column) for name, column in below)


def _are_all(kind: re.Pattern[str], column: Sequence[str]) -> bool:
    return bool(column) and all(map(kind.fullmatch, column))


def _records(layout: CsvDialect) -> Iterator[list[str]]:
    """Yield the records of a file, blank lines left out.

    Raises:
        DocumentError: Too long a line or a cell makes it unsafe to read.
    """
    # Articles and pages of HTML in a cell are longer than the standard library lets them be.
    csv.field_size_limit(max(MAX_LINE, csv.field_size_limit()))
    with layout.path.open(encoding=layout.encoding, errors="replace", newline="") as file:
        reader = csv.reader(_lines(file, layout.skip), delimiter=layout.delimiter)
        while True:
            try:
                record = next(reader, None)
            except csv.Error as error:
                raise DocumentError(f"line {reader.line_num} cannot be read: {error}") from error
            if record is None:
                return
            if record:
                yield record


def _lines(file: TextIO, skip: int) -> Iterator[str]:
    for number in range(1, 1 << 62):
        line = file.readline(MAX_LINE + 1)
        if not line:
            return
        if len(line) > MAX_LINE:
            raise DocumentError(f"line {number} is longer than {MAX_LINE >> 20} MiB")
        if number > skip:
            yield line


def _read_window(layout: CsvDialect, first: int) -> list[list[str]]:
    start = first - 1 + (1 if layout.headers else 0)
    rows: list[list[str]] = []
    characters = 0
    for record in islice(_records(layout), start, start + WINDOW_ROWS):
        characters += sum(map(len, record))
        if rows and characters > WINDOW_CHARACTERS:
            break
        rows.append(record)
    return rows


def _column_name(number: int) -> str:
    name = ""
    while number > 0:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("A") + letter) + name
    return name or "A"
