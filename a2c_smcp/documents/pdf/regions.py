"""Where tables may be by their ruling lines: inside of those that cross, and between parallel ones. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import starmap
from typing import Final, TypeAlias

from a2c_smcp.documents.pdf.graphics import Rule, Rules
from a2c_smcp.documents.pdf.grid import Region
from a2c_smcp.documents.pdf.row_cells import is_divided
from a2c_smcp.documents.pdf.words import Box, Row

_Group: TypeAlias = tuple[float, float, float, float, tuple[Rule, ...], tuple[Rule, ...]]
"""What a region consists of."""

MAX_CROSSINGS: Final = 400_000
"""Pairs of ruling lines that are compared; a page with more is a drawing."""

MAX_BETWEEN: Final = 500.0
"""Points between two rules of one table without a third."""

_TOUCH: Final = 3.0
_LONG: Final = 40.0
"""Points that a rule of a table has at least."""


def crossing_regions(rules: Rules) -> list[Region]:
    """Return the regions of ruling lines that cross or touch one another."""
    across, down = rules.joined()
    if not across or not down or len(across) * len(down) > MAX_CROSSINGS:
        return []
    regions = starmap(Region, crossing_groups(across, down, _TOUCH))
    return _outermost([region for region in regions if region.x1 - region.x0 > 30 and region.y1 - region.y0 > 12])


def crossing_groups(across: list[Rule], down: list[Rule], touch: float) -> list[_Group]:
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


def free_rules(across: list[Rule], down: list[Rule], taken: list[Box], shortest: float, touch: float) -> list[Rule]:
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


def rows_without(rows: list[Row], taken: set[int]) -> list[Row]:
    """Return rows without words that are in tables, told by their ids."""
    left = []
    for row in rows:
        words = [word for word in row.words if id(word) not in taken]
        if len(words) == len(row.words):
            left.append(row)
        elif words:
            left.append(Row(words, row.y0, row.y1, row.size))
    return left
