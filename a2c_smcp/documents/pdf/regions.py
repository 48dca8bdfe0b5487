"""Where tables may be: inside ruling lines that cross, between parallel ones, where text stands in columns. Pure."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, starmap
from statistics import median
from typing import Final, TypeAlias

from a2c_smcp.documents.pdf.cells import column_cuts, is_divided, segments_of, with_centred
from a2c_smcp.documents.pdf.graphics import Rule, Rules
from a2c_smcp.documents.pdf.grid import Region
from a2c_smcp.documents.pdf.native import native
from a2c_smcp.documents.pdf.words import Box, Row, Segment

_Group: TypeAlias = tuple[float, float, float, float, tuple[Rule, ...], tuple[Rule, ...]]
"""What a region consists of."""

MAX_CROSSINGS: Final = 400_000
"""Pairs of ruling lines that are compared; a page with more is a drawing."""

MAX_BETWEEN: Final = 500.0
"""Points between two rules of one table without a third."""

_TOUCH: Final = 3.0
_LONG: Final = 40.0
"""Points that a rule of a table has at least."""
_WIDE_GAP: Final = 1.1
_FAR: Final = 2.2
_PASSAGE: Final = 28
_TITLE: Final = 8
_LABEL = re.compile(r"(?:[^\w\s]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4}|[IVX]{1,4})[.)])")
_TELLING = re.compile(r"\w{3}|\d|^[A-Za-z]{2}$|[\u2e80-\u9fff]")
_LEADER = re.compile(r"(?:\.\s?){4,}|…")


def crossing_regions(rules: Rules) -> list[Region]:
    """Return the regions of ruling lines that cross or touch one another."""
    across, down = rules.joined()
    if not across or not down or len(across) * len(down) > MAX_CROSSINGS:
        return []
    regions = starmap(Region, crossing_groups(across, down, _TOUCH))
    return _outermost([region for region in regions if region.x1 - region.x0 > 30 and region.y1 - region.y0 > 12])


def _crossing_groups(across: list[Rule], down: list[Rule], touch: float) -> list[_Group]:
    """Return rules across and down that cross or touch, and where they are; those down are in order from the left."""
    parents = list(range(len(across) + len(down)))

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    places = [rule.at for rule in down]
    for i, (start, end, at) in enumerate(across):
        low, high, own = at - touch, at + touch, i
        for j in range(bisect_left(places, start - touch), bisect_right(places, end + touch)):
            top, bottom, _ = down[j]
            if top <= high and low <= bottom:
                other = root(len(across) + j)
                parents[own] = other
                own = other
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for i, rule in enumerate(across):
        groups.setdefault(root(i), ([], []))[0].append(rule)
    for j, rule in enumerate(down):
        groups.setdefault(root(len(across) + j), ([], []))[1].append(rule)
    return [_placed(*group) for group in groups.values() if len(group[0]) >= 2 and group[1]]


crossing_groups: Callable[..., list[_Group]] = native.crossing_groups if native else _crossing_groups


def _placed(across: list[Rule], down: list[Rule]) -> _Group:
    x0 = min([rule.start for rule in across] + [rule.at for rule in down])
    x1 = max([rule.end for rule in across] + [rule.at for rule in down])
    y0 = min([rule.at for rule in across] + [rule.start for rule in down])
    y1 = max([rule.at for rule in across] + [rule.end for rule in down])
    return x0, y0, x1, y1, tuple(across), tuple(down)


def _outermost(regions: list[Region]) -> list[Region]:
    """Return regions without those inside others, largest first; a mere box around tables is none itself."""
    if len(regions) < 2:
        return regions
    kept: list[Region] = []
    tables = [region for region in regions if len(region.across) > 2 or len(region.down) > 2]
    for region in sorted(regions, key=lambda region: -(region.x1 - region.x0) * (region.y1 - region.y0)):
        is_box = len(region.across) == len(region.down) == 2
        if is_box and any(_inside(other, region) for other in tables):
            continue
        if not any(_inside(region, other) for other in kept):
            kept.append(region)
    return kept


def _inside(region: Region, other: Region) -> bool:
    return (
        region.x0 >= other.x0 - 2
        and region.x1 <= other.x1 + 2
        and region.y0 >= other.y0 - 2
        and region.y1 <= other.y1 + 2
    )


def parallel_regions(rules: Rules, rows: Sequence[Row], taken: Sequence[Region]) -> list[Region]:
    """Return the regions between ruling lines of one length below each other, with columns of text between them."""
    whole, down = rules.joined()
    boxes = [(region.x0, region.y0, region.x1, region.y1) for region in taken]
    across = free_rules(whole, down, boxes, _LONG, _TOUCH)
    if len(across) < 2:
        return []
    middles = [row.middle for row in rows]
    groups: list[list[Rule]] = []
    for rule in across:
        # Only the nearest rule above of the same length counts: what lies beyond it is another table.
        group = next((group for group in reversed(groups) if _is_like(rule, group[0])), None)
        if group and rule.at - group[-1].at < MAX_BETWEEN and _is_tabular(_between(rows, middles, group[-1], rule)):
            group.append(rule)
        else:
            groups.append([rule])
    regions = []
    for group in groups:
        if len(group) < 2:
            continue
        x0, x1 = min(rule.start for rule in group), max(rule.end for rule in group)
        y0, y1 = _start_of(group[0], rows, middles), _end_of(group[-1], rows, middles)
        inner = [rule for rule in across if y0 - 1 <= rule.at <= y1 + 1 and rule.start >= x0 - 2 and rule.end <= x1 + 2]
        sides = [rule for rule in down if x0 - 2 <= rule.at <= x1 + 2 and rule.start >= y0 - 3 and rule.end <= y1 + 3]
        regions.append(Region(x0, y0, x1, y1, tuple(inner), tuple(sides)))
    return regions


def _free_rules(across: list[Rule], down: list[Rule], taken: list[Box], shortest: float, touch: float) -> list[Rule]:
    """Return longer rules across that are in no box, and no edge of one: those end at rules down on both sides."""
    places = [rule.at for rule in down]
    found = []
    for rule in across:
        start, end, at = rule
        if end - start <= shortest or any(
            y0 - 2 <= at <= y1 + 2 and start < x1 and end > x0 for x0, y0, x1, y1 in taken
        ):
            continue
        if not (_is_crossed(at, start, down, places, touch) and _is_crossed(at, end, down, places, touch)):
            found.append(rule)
    return found


free_rules: Callable[..., list[Rule]] = native.free_rules if native else _free_rules


def _is_crossed(y: float, x: float, down: Sequence[Rule], places: Sequence[float], touch: float) -> bool:
    """Whether a rule goes down through a place; rules are in order from the left."""
    near = down[bisect_right(places, x - touch) : bisect_left(places, x + touch)]
    return any(rule.start - touch <= y <= rule.end + touch for rule in near)


def _is_like(rule: Rule, other: Rule) -> bool:
    return abs(rule.start - other.start) < 6 and abs(rule.end - other.end) < 6


def _start_of(first: Rule, rows: Sequence[Row], middles: Sequence[float]) -> float:
    """Return where a table begins: at its first rule, or above a row of names right over it."""
    above = rows[: bisect_left(middles, first.at)]
    if not above:
        return first.at
    row = above[-1]
    inside = [word for word in row.words if first.start - 3 <= word.x0 and word.x1 <= first.end + 3]
    high = max(row.y1 - row.y0, 1.2 * row.size)
    is_near = len(inside) == len(row.words) and first.at - row.y1 < 0.6 * high
    alone = len(above) < 2 or row.y0 - above[-2].y1 > 0.5 * high
    return row.y0 if is_near and alone and is_divided(row, 1.5) else first.at


def _end_of(last: Rule, rows: Sequence[Row], middles: Sequence[float]) -> float:
    """Return where a table ends: at its last rule, or below rows that follow it closely and in columns as well."""
    end = last.at
    before = bisect_left(middles, last.at)
    pitch = 1.6 * (rows[before - 1].y1 - rows[before - 1].y0) if before else 20.0
    for row in rows[bisect_right(middles, last.at) :]:
        inside = [word for word in row.words if last.start - 3 <= word.x0 and word.x1 <= last.end + 3]
        close = row.y0 - end < pitch - (row.y1 - row.y0)
        if not close or not inside or not is_divided(Row(inside, row.y0, row.y1, row.size), 1.5):
            break
        end = row.y1
    return end


def _between(rows: Sequence[Row], middles: Sequence[float], above: Rule, below: Rule) -> list[Row]:
    found = []
    for row in rows[bisect_left(middles, above.at) : bisect_right(middles, below.at)]:
        if row.words:
            words = [word for word in row.words if above.start - 3 <= (word.x0 + word.x1) / 2 <= above.end + 3]
            if words:
                found.append(Row(words, row.y0, row.y1, row.size))
    return found


def _is_tabular(rows: Sequence[Row]) -> bool:
    """Whether rows between two rules may belong to a table: few, or mostly with gaps."""
    if not rows:
        return True
    spaced = sum([is_divided(row, 0.9) for row in rows])
    return spaced >= 0.4 * len(rows) and rows[-1].y1 - rows[0].y0 < 2_000


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
        if _is_spaced(segments):
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
        if _LABEL.fullmatch(first) or _LEADER.search(first):
            return False
    return not any(segment.words[0].text[0] in ".…" and _LEADER.fullmatch(segment.text) for segment in segments)


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
    spaced = [segments for _, segments in run if len(segments) > 1]
    if len(spaced) < 3 and not (len(spaced) == 2 and min(map(len, spaced)) >= 3):
        return
    size = median(row.size for row, _ in run)
    cuts = column_cuts([segments for _, segments in run], size, least=0.4)
    rows = [row for row, _ in run]
    if not cuts or _is_formula(rows) or _is_numbered_listing(spaced) or _is_contents(spaced, size):
        return
    if _is_text_in_columns(rows, cuts):
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
    if any(len(row) != 2 or not row[1].text.isdecimal() for row in rows):
        return False
    pages = [int(row[1].text) for row in rows]
    return pages == sorted(pages) and median(row[1].x0 - row[0].x1 for row in rows) > 10 * size


def _is_formula(rows: Sequence[Row]) -> bool:
    """Whether rows are of signs rather than words and numbers, or lie over one another as fractions do."""
    if not _is_telling([word.text for row in rows for word in row.words]):
        return True
    pitches = [below.middle - above.middle for above, below in pairwise(rows)]
    return median(pitches) < 0.85 * median(row.size for row in rows)


def _is_telling(words: Sequence[str]) -> bool:
    """Whether two in five are words or numbers, which the first two in five tell mostly."""
    missing = 0.4 * len(words)
    for word in words:
        missing -= _TELLING.search(word) is not None
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


def _is_numbered_listing(rows: Sequence[Sequence[Segment]]) -> bool:
    """Whether lines are numbered on, and nothing else stands in columns: a listing of code."""
    numbers = [int(row[0].text) for row in rows if row[0].text.isascii() and row[0].text.isdecimal()]
    if len(numbers) < max(3, 0.8 * len(rows)):
        return False
    steps = sum(second - first == 1 for first, second in pairwise(numbers))
    return steps >= 0.8 * (len(numbers) - 1) and sum(len(row) > 2 for row in rows) < 0.5 * len(rows)


def _rows_without(rows: list[Row], taken: set[int]) -> list[Row]:
    """Return rows without words that are in tables, told by their ids."""
    left = []
    for row in rows:
        words = [word for word in row.words if id(word) not in taken]
        if len(words) == len(row.words):
            left.append(row)
        elif words:
            left.append(Row(words, row.y0, row.y1, row.size))
    return left


rows_without: Callable[[list[Row], set[int]], list[Row]] = native.rows_without if native else _rows_without
