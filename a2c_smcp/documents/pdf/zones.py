"""Where on a page tables may be at all, told by its lines alone, so that most pages are done with here."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from heapq import nlargest
from itertools import pairwise
from operator import attrgetter
from typing import Final, TypeAlias

from a2c_smcp.documents.pdf.graphics import Paths, Rule, Rules
from a2c_smcp.documents.pdf.layout import Body
from a2c_smcp.documents.pdf.lines import TextLayer
from a2c_smcp.documents.pdf.words import Line

Zone: TypeAlias = tuple[float, float]
"""Heights on a page, from and to."""

MAX_RULES: Final = 400
"""A page with more lines and boxes, and no text that looks like a table, is not searched for rules."""

_ROOMY: Final = 1.25
_TIGHT: Final = 0.95
_TIGHT_WIDE: Final = 1.04
_SHORT: Final = 0.62
_RUN: Final = 4
_STACK: Final = 3
_LONG: Final = 40.0
_GAP: Final = 0.85
_length = attrgetter("length")


def find_zones(layer: TextLayer, lines: list[Line], paths: Paths, body: Body) -> list[Zone]:
    """Return where a page may have tables; nowhere, for most pages."""
    marked, runs = marked_lines(lines, 0.36 * body.width, _SHORT * body.width, 3.2 * body.leading, is_mono=body.mono)
    marked += _aligned(layer, runs, body)
    zones = _joined(marked, body, least=2 if len(paths) > 2 else 3)
    if 2 < len(paths) < MAX_RULES:
        zones += _stacked(layer, lines, paths.thin_rules(), body)
    if not zones and _has_gutter(layer, lines):
        zones = [(0.0, body.height)]
    return zones


def _joined(marked: Sequence[Zone], body: Body, least: int) -> list[Zone]:
    """Return the zones of lines that look like rows, at least so many of them close to one another."""
    if len(marked) < least:
        return []
    zones: list[tuple[float, float, int]] = []
    reach = 3 * body.leading
    for top, bottom in sorted(marked):
        if zones and top - reach <= zones[-1][1]:
            zones[-1] = zones[-1][0], max(zones[-1][1], bottom), zones[-1][2] + 1
        else:
            zones.append((top, bottom, 1))
    return [(top - reach, bottom + reach) for top, bottom, count in zones if count >= least]


def marked_lines(
    lines: list[Line], narrow: float, wide: float, reach: float, *, is_mono: bool
) -> tuple[list[Zone], list[list[Line]]]:
    """Return lines that look like rows, and runs of short ones below one another that begin at one place.

    `narrow` is how wide a cell may be, and `wide` how wide a row without much room; `reach` is how far down a run goes
    on, and `is_mono` whether most text is monospaced.
    """
    marked: list[Zone] = []
    runs: list[list[Line]] = []
    run: list[Line] = []
    heights: dict[int, Line] = {}
    for line in lines:
        x0, size, text = line.x0, line.size, line.text
        width = line.x1 - x0
        # A Latin letter is half as wide as the font is high, a Chinese one as wide, which UTF-8 tells by its length.
        natural = 0.5 * len(text)
        if width >= wide and width <= (_ROOMY * natural + 2) * size:
            continue  # running text, as most lines are
        y0 = line.y0
        is_loose = width > _TIGHT * natural * size
        if is_loose and not text.isascii():
            coded = len(text.encode("utf-8", "replace"))
            natural = 0.5 * natural + 0.25 * coded
            is_loose = width > (_TIGHT_WIDE if coded > 1.6 * len(text) else _TIGHT) * natural * size
        if width > (_ROOMY * natural + 2) * size and " " in text:
            if is_mono or not line.font.mono or not text.isascii():
                marked.append((y0, line.y1))
        elif width < narrow and len(text) < 60:
            row = round((y0 + line.y1) / (2 * size or 1))
            other = heights.get(row) or heights.get(row - 1) or heights.get(row + 1)
            if other is None:
                heights[row] = line
            elif (x0 > other.x1 or other.x0 > line.x1) and not (line.font.mono and other.font.mono and not is_mono):
                marked.append((min(y0, other.y0), max(line.y1, other.y1)))
        # Words with a gap among them are wider than such without, but those of a font for code are wide as well.
        if width < wide and (is_loose or line.font.mono) and " " in text:
            if run and -3 < x0 - run[-1].x0 < 3 and 0 < y0 - run[-1].y0 < reach:
                run.append(line)
            else:
                run = [line]
                runs.append(run)
    return marked, [run for run in runs if len(run) >= _RUN]


def _aligned(layer: TextLayer, runs: Sequence[list[Line]], body: Body) -> list[Zone]:
    """Return the lines of runs whose words begin at one place behind a gap: some are tried."""
    found: list[Zone] = []
    for run in runs:
        middle = run[len(run) // 2]
        if middle.font.mono and not body.mono and layer.font_at(middle, middle.length - 1).mono:
            continue  # code
        places = _places(layer, middle)
        if places and (places & _places(layer, run[0]) or places & _places(layer, run[-1])):
            found += [(line.y0, line.y1) for line in run]
    return found


def _places(layer: TextLayer, line: Line) -> set[int]:
    """Return where words begin behind a gap, in steps of two points that overlap."""
    wide = _GAP * line.size
    starts = [right.x0 for left, right in pairwise(layer.words(line)) if right.x0 - left.x1 > wide]
    return {place for start in starts for place in (round(start / 2), round(start / 2 + 0.5))}


def _stacked(layer: TextLayer, lines: Sequence[Line], rules: Rules, body: Body) -> list[Zone]:
    """Return where three or more rules of one length are, with others across them or text in columns between them."""
    if not stacks_of(rules.across, 0.0, _STACK):
        return []
    across, down = rules.joined()
    zones: list[Zone] = []
    for stack in stacks_of(across, _LONG, _STACK):
        (left, right, top), (_, _, bottom) = stack[0], stack[-1]
        heights = [rule.at for rule in stack]
        crossing = [rule for rule in down if rule.start < bottom and rule.end > top]
        is_grid = any(left + 4 < rule.at < right - 4 and _divides(rule, heights) for rule in crossing)
        if not is_grid:
            is_box = any(abs(rule.at - left) < 4 for rule in crossing)
            if is_box or not _has_columns(layer, lines, stack):
                continue
        zones.append((top - 2 * body.leading, bottom + 2 * body.leading))
    return zones


def stacks_of(rules: list[Rule], shortest: float, least: int) -> list[list[Rule]]:
    """Return longer rules that begin and end at the same places, `least` of them at least."""
    alike: dict[tuple[int, int], list[Rule]] = {}
    for rule in rules:
        if rule.end - rule.start > shortest:
            alike.setdefault((round(rule.start / 4), round(rule.end / 4)), []).append(rule)
    return [stack for stack in alike.values() if len(stack) >= least]


def _divides(rule: Rule, heights: Sequence[float]) -> bool:
    """Whether a rule goes down across three others at least."""
    return bisect_left(heights, rule.end + 3) - bisect_right(heights, rule.start - 3) >= _STACK


def _has_columns(layer: TextLayer, lines: Sequence[Line], stack: Sequence[Rule]) -> bool:
    """Whether the first lines between rules have gaps, or stand side by side."""
    top, bottom = 2 * stack[0].at, 2 * stack[-1].at
    inside = [line for line in lines if top < line.y0 + line.y1 < bottom]
    if any(line.x0 > other.x1 and abs(line.middle - other.middle) < 2 for other, line in pairwise(inside)):
        return True
    return any(_places(layer, line) for line in inside[:3])


def _has_gutter(layer: TextLayer, lines: Sequence[Line]) -> bool:
    """Whether lines go across columns of text: the longest are tried, and two must have a wide gap at one place."""
    long = [line for line in lines if line.length > 40]
    if len(long) < 6:
        return False
    _, wide, size = layer.widest_gap(max(long, key=_length))
    if wide <= 1.2 * size:
        return False
    places: list[float] = []
    for line in nlargest(3, long, key=_length):
        at, wide, size = layer.widest_gap(line)
        if wide > 1.2 * size:
            places.append(at)
    return len(places) > 1 and max(places) - min(places) < 20
