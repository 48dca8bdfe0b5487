"""Where tables may be that have no ruling lines: where rows of text stand in columns with gaps between them. Pure."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Final

from a2c_smcp.documents.pdf.grid import Region
from a2c_smcp.documents.pdf.row_cells import column_cuts, is_divided, segments_of, with_centred
from a2c_smcp.documents.pdf.words import Row, Segment

_WIDE_GAP: Final = 1.1
_FAR: Final = 2.2
_PASSAGE: Final = 28
_TITLE: Final = 8
_LABEL = re.compile(r"(?:[^\w\s]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4}|[IVX]{1,4})[.)])")
_SECTION = re.compile(r"(?:\d{1,2}|[A-Z](?=\.\d))(?:\.\d{1,2})*\.?")
_TELLING = re.compile(r"\w{3}|\d|^[A-Za-z]{2}$|[\u2e80-\u9fff]")
_LEADER = re.compile(r"(?:\.\s?){4,}|…")


@dataclass(slots=True)
class Spaced:
    """Regions where text stands in columns: those that may be tables, and columns of running text with their cuts."""

    tables: list[Region] = field(default_factory=list)
    columns: list[tuple[Region, list[float]]] = field(default_factory=list)


def spaced_regions(rows: Sequence[Row], leading: float) -> Spaced:
    """Return the regions where rows of text stand in columns with nothing but gaps between them."""
    regions = Spaced()
    run: list[tuple[Row, list[Segment]]] = []
    gaps = 0
    for row in with_centred(rows):
        if not run and not is_divided(row, _WIDE_GAP):
            continue
        segments = segments_of(row, _WIDE_GAP)
        room = row.y0 - run[-1][0].y1 if run else 0.0
        if room > _FAR * leading and (room > 2 * _FAR * leading or not _is_aligned(segments, run)):
            _finish(run, regions)
            run, gaps = [], 0
        if _is_section(row, segments, run):
            _finish(run, regions)
            run, gaps = [], 0
        elif _is_spaced(segments):
            run.append((row, segments))
            gaps = 0
        elif run:
            # One row that fills the first column may be part of the table; two are text again.
            gaps += not _goes_on((row, segments), run)
            if gaps > 1 or _is_item(segments[0]) or not _fits(segments, run):
                _finish(run, regions)
                run, gaps = [], 0
            else:
                run.append((row, segments))
    _finish(run, regions)
    return regions


def _is_aligned(segments: Sequence[Segment], run: Sequence[tuple[Row, list[Segment]]]) -> bool:
    """Whether a row of three or more segments has them where rows above have theirs."""
    places = [segment.x0 for _, above in run for segment in above if len(above) > 2]
    return len(segments) > 2 and sum(any(abs(segment.x0 - x) < 2 for x in places) for segment in segments) > 1


def _is_spaced(segments: Sequence[Segment]) -> bool:
    if len(segments) < 2:
        return False
    if len(segments) == 2:
        first = segments[0].text
        # A label has no blanks; a look at the dots saves most rows the search.
        if len(segments[0].words) == 1 and _LABEL.fullmatch(first):
            return False
        if (first.count(".") > 3 or "…" in first) and _LEADER.search(first):
            return False
    dotted = [segment for segment in segments if segment.words[0].text[0] in ".…"]
    return not any(_LEADER.fullmatch(segment.text) for segment in dotted)


def _is_section(row: Row, segments: Sequence[Segment], run: Sequence[tuple[Row, list[Segment]]]) -> bool:
    """Whether a row is the title of a section: a number, and a word behind it, bold or larger than the rows above."""
    label = row.words[0].text
    if len(segments) > 2 or len(row.words) < 2 or not label[0].isalnum() or not _SECTION.fullmatch(label):
        return False
    if not row.words[1].text[0].isalpha() or (len(segments) == 2 and len(segments[0].words) > 1):
        return False
    is_bold = all(word.line.font.bold for word in row.words)
    is_large = bool(run) and row.size > 1.1 * max(above.size for above, _ in run)
    return is_large or (is_bold and "." in label)


def _is_item(segment: Segment) -> bool:
    """Whether a row begins with the number of a list's item."""
    label = segment.words[0].text
    return label[-1] in ".)" and _LABEL.fullmatch(label) is not None


def _fits(segments: Sequence[Segment], run: Sequence[tuple[Row, list[Segment]]]) -> bool:
    """Whether the one segment of a row stands below a segment of the table."""
    only, above = segments[0], run[-1][1]
    spaced = next(row for _, row in reversed(run) if len(row) > 1)
    if sum(only.x0 < segment.x1 and segment.x0 < only.x1 for segment in spaced) > 1 and len(only.words) > _TITLE:
        return False  # a line of text across the columns
    return any(abs(only.x0 - segment.x0) < 3 or abs(only.x1 - segment.x1) < 3 for segment in above)


def _goes_on(row: tuple[Row, list[Segment]], run: Sequence[tuple[Row, list[Segment]]]) -> bool:
    """Whether the one segment of a row goes on with a column of the rows above that is not the first."""
    only, (above, segments) = row[1][0], run[-1]
    left = min(line.words[0].x0 for line, _ in run)
    away = abs(only.x0 - segments[-1].x0)
    reach = 2.6 if away < 1 else 1.6
    is_near = row[0].middle - above.middle < reach * max(row[0].size, above.size)
    return is_near and away < 3 and only.x0 > left + 3


def _finish(run: list[tuple[Row, list[Segment]]], regions: Spaced) -> None:
    while run and len(run[-1][1]) < 2 and not (len(run) > 1 and _goes_on(run[-1], run[:-1])):
        run.pop()
    divided = [part for part in run if len(part[1]) > 1]
    spaced = [segments for _, segments in divided]
    if len(spaced) < 3 and not (len(spaced) == 2 and min(map(len, spaced)) >= 3):
        return
    size = median([row.size for row, _ in run])
    rows = [row for row, _ in run]
    if _is_numbered_listing(run) or _is_numbered_listing(divided) or _is_contents(spaced, size) or _is_formula(rows):
        return
    cuts = column_cuts([segments for _, segments in run], size, least=0.4)
    if not cuts or _is_text_in_columns(rows, cuts):
        return
    x0 = min(row.words[0].x0 for row in rows)
    x1 = max(word.x1 for row in rows for word in row.words)
    region = Region(x0 - 1, rows[0].y0 - 1, x1 + 1, rows[-1].y1 + 1)
    if _is_prose(spaced, cuts):
        regions.columns.append((region, cuts))
    else:
        regions.tables.append(region)


def _is_prose(rows: Sequence[Sequence[Segment]], cuts: Sequence[float]) -> bool:
    """Whether what looks like columns is text set in columns, or notes beside it: pieces that fill them."""
    if len(cuts) > 2:
        return False
    columns: list[list[Segment]] = [[] for _ in range(len(cuts) + 1)]
    for row in rows:
        for segment in row:
            columns[bisect_right(cuts, segment.x0 + 1)].append(segment)
    lengths = [len(segment.text) for column in columns for segment in column]
    return median(lengths) > _PASSAGE and all(_is_filled(column) for column in columns)


def _is_filled(column: Sequence[Segment]) -> bool:
    """Whether most pieces of a column are as long as it is wide."""
    widths = [segment.x1 - segment.x0 for segment in column]
    words = [len(segment.words) for segment in column]
    full = sum(width > 0.8 * max(widths) for width in widths)
    return bool(column) and full > 0.6 * len(widths) and median(words) > 2


def _is_contents(rows: Sequence[Sequence[Segment]], size: float) -> bool:
    """Whether rows are titles with the numbers of pages far right of them."""
    pages: list[int] = []
    for row in rows:
        page = row[1].words[0].text
        if len(row) != 2 or len(row[1].words) > 1 or not page.isdecimal():
            return False
        pages.append(int(page))
    return pages == sorted(pages) and median([row[1].x0 - row[0].x1 for row in rows]) > 10 * size


def _is_formula(rows: Sequence[Row]) -> bool:
    """Whether rows are of signs rather than words and numbers, or lie over one another as fractions do."""
    if not _is_telling([word.text for row in rows for word in row.words]):
        return True
    pitches = [below.middle - above.middle for above, below in pairwise(rows)]
    return median(pitches) < 0.85 * median([row.size for row in rows])


def _is_telling(words: Sequence[str]) -> bool:
    """Whether two in five are words or numbers, which the first two in five tell mostly."""
    missing = 0.4 * len(words)
    for word in words:
        missing -= (len(word) > 2 and word.isalpha()) or _TELLING.search(word) is not None
        if missing <= 0:
            return True
    return False


def _is_text_in_columns(rows: Sequence[Row], cuts: Sequence[float]) -> bool:
    """Whether the file writes the columns one after the other, as it does with text that flows through them.

    Then what stands right of a line comes later than the next line on the left. Cells of a table come row by row.
    """
    if len(cuts) > 3:
        return False
    for cut in cuts:
        later = pairs = 0
        lefts = [[word.line.position for word in row.words if word.x1 <= cut] for row in rows]
        for row, left, below in zip(rows, lefts, lefts[1:], strict=False):
            if left and below:
                right = [word.line.position for word in row.words if word.x0 >= cut]
                if right:
                    pairs += 1
                    later += min(right) > max(below) or max(right) < min(left)
        if pairs > 1 and later >= 0.7 * pairs:
            return True
    return False


def _is_numbered_listing(run: Sequence[tuple[Row, list[Segment]]]) -> bool:
    """Whether lines are numbered on, and nothing else stands in columns: a listing of code."""
    labels = [row.words[0].text for row, _ in run]
    numbers = [int(label) for label in labels if label.isascii() and label.isdecimal()]
    if len(numbers) < max(3, 0.8 * len(run)):
        return False
    steps = sum([second - first == 1 for first, second in pairwise(numbers)])
    return steps >= 0.8 * (len(numbers) - 1) and sum([len(segments) > 2 for _, segments in run]) < 0.5 * len(run)
