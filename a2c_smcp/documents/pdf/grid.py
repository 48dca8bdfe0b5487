"""From a region of a page to rows of cells. Pure."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress, pairwise
from typing import Final, TypeAlias

from a2c_smcp.documents.pdf.bands import bands_of, row_groups
from a2c_smcp.documents.pdf.graphics import Rule
from a2c_smcp.documents.pdf.row_cells import (
    Cells,
    column_cuts,
    is_divided,
    rows_of,
    segments_of,
    texts_of,
    with_centred,
)
from a2c_smcp.documents.pdf.words import Row, Segment, Word

_Spans: TypeAlias = dict[tuple[int, int], tuple[int, int, int, int]]
_NEAR: Final = 4.0
_FEW: Final = 6
"""Words that tell nothing of columns."""
_MANY: Final = 20_000
"""Cells that are not looked at one by one."""
_GAP: Final = 0.7
"""What divides the words of a row at least, in sizes of their text."""
_WIDE_GAP: Final = 0.9


@dataclass(slots=True)
class Grid:
    """A table as it was found: words by row and column, and which cells are shown as one."""

    cells: Cells
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    has_header: bool | None = None
    title: list[Word] = field(default_factory=list)
    _texts: list[list[str]] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def texts(self) -> list[list[str]]:
        """What the cells say; ask when all words are there."""
        if self._texts is None:
            self._texts = texts_of(self.cells)
        return self._texts


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a page that may be a table, with the ruling lines in it."""

    x0: float
    y0: float
    x1: float
    y1: float
    across: tuple[Rule, ...] = ()
    down: tuple[Rule, ...] = ()

    def inside(self, words: list[Word]) -> list[Word]:
        """Return the words whose middles are inside."""
        left, right, top, bottom = 2 * self.x0 - 4, 2 * self.x1 + 4, 2 * self.y0 - 2, 2 * self.y1 + 2
        return words_inside(words, left, right, top, bottom)


def words_inside(words: list[Word], left: float, right: float, top: float, bottom: float) -> list[Word]:
    """Return the words whose sides add up to what is between those."""
    return [word for word in words if top <= word.y0 + word.y1 <= bottom and left <= word.x0 + word.x1 <= right]


def grid_of(region: Region, words: list[Word], size: float) -> Grid | None:
    """Return the table in a region; None where it is none."""
    if len(words) < 3:
        return None
    xs = _cuts([rule.at for rule in region.down], region.x0, region.x1)
    ys = _cuts([rule.at for rule in region.across], region.y0, region.y1)
    is_ruled = len(xs) > 2 and len(ys) > 1
    grid = _ruled(region, words, xs, ys, size) if is_ruled else _spaced(region, words, size)
    return _trimmed(grid) if grid else None


# With ruling lines in both directions


def _ruled(region: Region, words: list[Word], xs: list[float], ys: list[float], size: float) -> Grid | None:
    soft = _hidden_columns(words, xs, ys, size)
    cuts = sorted([*xs, *soft])
    ys = _with_hidden_rows(words, cuts, ys)
    height, width = len(ys) - 1, len(cuts) - 1
    if height < 1 or width < 2:
        return None
    spans = spans_of(region.down, region.across, xs, ys, _NEAR) if height * (len(xs) - 1) <= _MANY else {}
    if not spans and not soft:  # as in most tables
        return Grid(words_between(words, xs[1:-1], ys[1:-1]))
    boxes: dict[tuple[int, int, int, int], list[Word]] = {}
    inner_x, inner_y = xs[1:-1], ys[1:-1]
    for word in words:
        row = bisect_right(inner_y, (word.y0 + word.y1) / 2)
        column = bisect_right(inner_x, (word.x0 + word.x1) / 2)
        box = spans.get((row, column), (row, column, 1, 1))
        if box in boxes:
            boxes[box].append(word)
        else:
            boxes[box] = [word]
    cells: Cells = [[[] for _ in range(width)] for _ in range(height)]
    merged = []
    for (top, left, high, wide), inside in boxes.items():
        first, last = cuts.index(xs[left]), cuts.index(xs[left + wide])
        if _fill(cells[top], inside, cuts, first, last) and (high > 1 or wide > 1):
            merged.append((top, first, high, last - first))
    return Grid(cells, sorted(merged))


def _fill(row: list[list[Word]], words: list[Word], cuts: list[float], first: int, last: int) -> bool:
    """Put the words of a ruled cell into the columns that gaps divide it into; whether they stayed together."""
    inner = cuts[first + 1 : last]
    if not inner:
        row[first] += words
        return True
    lines = rows_of(words)
    # One passage across all stays whole; pieces far apart are cells of their own.
    if not any(is_divided(line, 1.1) for line in lines):
        row[first] += words
        return True
    cells, _ = divided(lines, inner, _GAP)
    for line in cells:
        for column, cell in enumerate(line):
            row[first + column] += cell
    return False


def _cuts(positions: Sequence[float], first: float, last: float) -> list[float]:
    """Return distinct positions in order, the borders among them."""
    cuts: list[float] = []
    for position in sorted([first, last, *positions]):
        if first - _NEAR <= position <= last + _NEAR and (not cuts or position - cuts[-1] > _NEAR):
            cuts.append(position)
    if cuts and last - cuts[-1] > 0.1 and len(cuts) > 1 and last - cuts[-1] <= _NEAR:
        cuts[-1] = last
    return cuts


def words_between(words: list[Word], xs: list[float], ys: list[float]) -> Cells:
    """Return words by row and column, which cuts divide."""
    cells: Cells = [[[] for _ in range(len(xs) + 1)] for _ in range(len(ys) + 1)]
    for word in words:
        row = cells[bisect_right(ys, (word.y0 + word.y1) / 2)]
        row[bisect_right(xs, (word.x0 + word.x1) / 2)].append(word)
    return cells


def _hidden_columns(words: list[Word], xs: list[float], ys: list[float], size: float) -> list[float]:
    """Return where only gaps divide ruled columns, in the whole table or between two rules."""
    found: list[float] = []
    for rows in gapped_rows(words, xs, ys, _FEW, _WIDE_GAP):
        cuts = column_cuts([segments_of(row, _WIDE_GAP) for row in rows], size, least=0.6)
        found += [cut for cut in cuts if all(abs(cut - other) > 3 * _NEAR for other in [*found, *xs])]
    return sorted(found)


def gapped_rows(words: list[Word], xs: list[float], ys: list[float], few: int, gap: float) -> list[list[Row]]:
    """Return the rows of each column, and those between two rules of one, that mostly have gaps among their words."""
    found: list[list[Row]] = []
    for column in words_between(words, xs, [])[0][1:-1]:
        if len(column) < few:
            continue
        bands = [band for (band,) in words_between(column, [], ys)[1:-1]]
        for band in [column, *bands] if len(ys) > 2 else bands:
            rows = rows_of(band) if len(band) >= few else []
            if len(rows) >= 3 and sum([is_divided(row, gap) for row in rows]) >= 0.6 * len(rows):
                found.append(rows)
    return found


def _with_hidden_rows(words: list[Word], xs: list[float], ys: list[float]) -> list[float]:
    """Return the cuts with those between rows of text that no line divides."""
    rows = rows_of(words)
    bands = bands_of(rows, ys)
    if len(bands) == len(rows):  # as in half of all tables, a rule is between each two
        return ys
    cells, _ = divided(rows, xs[1:-1], _GAP)
    groups = row_groups(rows, cells, bands)
    if len(groups) == len(bands):  # no group has lines of two bands
        return ys
    found = list(ys)
    for group, following in pairwise(groups):
        above, below = rows[group[-1]], rows[following[0]]
        if bisect_right(ys, above.middle) >= bisect_left(ys, below.middle):  # no rule is between them
            found.append((above.y1 + below.y0) / 2)
    return sorted(found)


def spans_of(
    down: Sequence[Rule], across: Sequence[Rule], xs: Sequence[float], ys: Sequence[float], near: float
) -> _Spans:
    """Return, for each cell that is part of a larger one: its row, column, row span and column span.

    Cells are one where no rule divides them, and together they make a rectangle.
    """
    height, width = len(ys) - 1, len(xs) - 1
    at_x, at_y = _ruled_parts(down, xs, ys, near), _ruled_parts(across, ys, xs, near)
    ruled_x, ruled_y = list(map(any, at_x)), list(map(any, at_y))
    if all(map(all, compress(at_x[1:-1], ruled_x[1:]))) and all(map(all, compress(at_y[1:-1], ruled_y[1:]))):
        return {}  # as in most tables, rules go from one end to the other
    spans: _Spans = {}
    for top in range(height):
        for left in range(width):
            if (top, left) in spans:
                continue
            right = left
            while (
                right + 1 < width and ruled_x[right + 1] and not at_x[right + 1][top] and (top, right + 1) not in spans
            ):
                right += 1
            bottom = top
            while bottom + 1 < height and ruled_y[bottom + 1] and not any(at_y[bottom + 1][left : right + 1]):
                if any(at_x[c][bottom + 1] for c in range(left + 1, right + 1)):
                    break
                bottom += 1
            if right > left or bottom > top:
                span = (top, left, bottom - top + 1, right - left + 1)
                spans |= {(r, c): span for r in range(top, bottom + 1) for c in range(left, right + 1)}
    return spans


def _ruled_parts(
    rules: Sequence[Rule], places: Sequence[float], across: Sequence[float], near: float
) -> list[list[bool]]:
    """Return, for each place where rules may be, between which of the cuts across them one is."""
    middles = [(first + second) / 2 for first, second in pairwise(across)]
    parts = [[False] * len(middles) for _ in places]
    for start, end, at in rules:
        first, last = bisect_left(middles, start - 1), bisect_right(middles, end + 1)
        for number in range(bisect_left(places, at - near), bisect_right(places, at + near)):
            parts[number][first:last] = [True] * (last - first)
    return parts


# With gaps between columns


def _spaced(region: Region, words: list[Word], size: float) -> Grid | None:
    rows = rows_of(words)
    segments = [segments_of(row, _GAP) for row in with_centred(rows)]
    cuts = column_cuts(segments, size, fewest=1 if region.across and len(rows) <= 3 else 2)
    cuts = sorted([*cuts, *(rule.at for rule in region.down if region.x0 + _NEAR < rule.at < region.x1 - _NEAR)])
    cuts = [cut for number, cut in enumerate(cuts) if not number or cut - cuts[number - 1] > _NEAR]
    if not cuts or len(rows) < 2:
        return None
    cells, merged = divided(rows, cuts, _GAP)
    groups = row_groups(rows, cells, bands_of(rows, [rule.at for rule in region.across]))
    joined: Cells = [
        [[word for number in group for word in cells[number][column]] for column in range(len(cuts) + 1)]
        for group in groups
    ]
    first_of = {group[0]: number for number, group in enumerate(groups)}
    kept = [(first_of[row], column, 1, span) for row, column, span in merged if row in first_of]
    return Grid(joined, kept, _ruled_header(region, rows, groups))


def divided(rows: list[Row], cuts: list[float], gap: float) -> tuple[Cells, list[tuple[int, int, int]]]:
    """Return the words of rows by column; a segment across several columns stays whole, in the first of them."""
    segments = [segments_of(row, gap) for row in rows]
    cells: Cells = []
    merged: list[tuple[int, int, int]] = []
    starts: list[float] = []
    for number, row in enumerate(segments):
        line: list[list[Word]] = [[] for _ in range(len(cuts) + 1)]
        for segment in row:
            first, last = bisect_right(cuts, segment.x0 + 1), bisect_right(cuts, segment.x1 - 1)
            if first == last:
                line[first] += segment.words
                continue
            starts = starts or _starts(segments, cuts)
            if _fits_words(segment, cuts, starts):
                for word in segment.words:
                    line[bisect_right(cuts, (word.x0 + word.x1) / 2)].append(word)
            else:
                line[first] += segment.words
                merged.append((number, first, last - first + 1))
        cells.append(line)
    return cells, merged


def _starts(segments: Sequence[Sequence[Segment]], cuts: Sequence[float]) -> list[float]:
    """Return where the text of each column mostly begins; nowhere where it is no one place."""
    places: list[Counter[float]] = [Counter() for _ in range(len(cuts) + 1)]
    for row in segments:
        for segment in row:
            places[bisect_right(cuts, segment.x0 + 1)][round(segment.x0)] += 1
    common = [count.most_common(1)[0] if count else (0.0, 0) for count in places]
    return [place if times > 2 else -1e9 for place, times in common]


def _fits_words(segment: Segment, cuts: Sequence[float], starts: Sequence[float]) -> bool:
    """Whether the words of a segment tell where to divide it: by a wide gap at each cut, or where a column begins."""
    is_at_start = abs(segment.x0 - starts[bisect_right(cuts, segment.x0 + 1)]) < 1.5
    for cut, start in zip(cuts, starts[1:], strict=True):
        if not segment.x0 + 1 < cut < segment.x1 - 1:
            continue
        if is_at_start and any(abs(word.x0 - start) < 1 for word in segment.words[1:]):
            continue
        if any(word.x0 < cut < word.x1 for word in segment.words):
            return False
        left = max(word.x1 for word in segment.words if word.x1 <= cut)
        right = min(word.x0 for word in segment.words if word.x0 >= cut)
        if right - left < 0.4 * segment.words[0].line.size:
            return False
    return True


def _ruled_header(region: Region, rows: Sequence[Row], groups: Sequence[Sequence[int]]) -> bool | None:
    """Whether a rule stands between the first row and the rest, and not between all."""
    if len(groups) < 2:
        return None
    above, below = rows[groups[0][-1]].middle, rows[groups[1][0]].middle
    return True if any(above < rule.at < below for rule in region.across) else None


# Both


def split_at_headers(grid: Grid) -> list[Grid]:
    """Return a grid as the tables it consists of: each begins with the same header, under a title of its own."""
    texts = grid.texts
    header = texts[0] if sum(map(bool, texts[0])) > 1 else []
    starts = [number for number, row in enumerate(texts) if row == header]
    if len(starts) < 2:
        return [grid]
    tables = []
    for start, end in pairwise([*starts, len(texts)]):
        stop = end - 1 if end < len(texts) and sum(map(bool, texts[end - 1])) == 1 else end
        title = grid.cells[start - 1] if start and sum(map(bool, texts[start - 1])) == 1 else []
        merged = [
            (top - start, left, high, wide)
            for top, left, high, wide in grid.merged
            if start <= top and top + high <= stop
        ]
        tables.append(Grid(grid.cells[start:stop], merged, True, [word for cell in title for word in cell]))
    return tables


def _trimmed(grid: Grid) -> Grid | None:
    """Return a grid without empty rows and columns; None where too little is left."""
    height = len(grid.cells)
    width = len(grid.cells[0]) if height else 0
    if min(height, width) > 1 and all(map(any, grid.cells)) and all(map(any, zip(*grid.cells, strict=True))):
        return grid
    rows = [number for number in range(height) if any(grid.cells[number])]
    columns = [number for number in range(width) if any(row[number] for row in grid.cells)]
    if len(rows) < 2 or len(columns) < 2:
        return None
    cells = [[grid.cells[row][column] for column in columns] for row in rows]
    merged = []
    for top, left, row_span, column_span in grid.merged:
        if top in rows and left in columns:
            high = sum(top <= row < top + row_span for row in rows)
            wide = sum(left <= column < left + column_span for column in columns)
            if high > 1 or wide > 1:
                merged.append((rows.index(top), columns.index(left), high, wide))
    return Grid(cells, merged, grid.has_header)
