"""Where on a page tables may be at all, told by its lines alone, so that most pages are done with here."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final, TypeAlias

from a2c_smcp.documents.pdf.graphics import Rule, Rules
from a2c_smcp.documents.pdf.layout import Body
from a2c_smcp.documents.pdf.lines import Line, TextLayer

Zone: TypeAlias = tuple[float, float]
"""Heights on a page, from and to."""

_ROOMY: Final = 1.25
_SHORT: Final = 0.62
_RUN: Final = 4


def zones_of(layer: TextLayer, lines: Sequence[Line], body: Body, least: int) -> list[Zone]:
    """Return where lines have room between their words, or short ones stand side by side or begin alike."""
    marked = _marked(lines, body)
    marked += _aligned(layer, lines, body)
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


def _marked(lines: Sequence[Line], body: Body) -> list[Zone]:
    marked: list[Zone] = []
    heights: dict[int, Line] = {}
    narrow = 0.36 * body.width
    for line in lines:
        width, size, text = line.x1 - line.x0, line.size, line.text
        is_code = line.font.mono and not body.mono and text.isascii()
        # A Latin letter is half as wide as the font is high, a Chinese one as wide, which UTF-8 tells by its length.
        natural = len(text) / 2 if text.isascii() else (len(text) + len(text.encode("utf-8", "replace"))) / 4
        if width > (_ROOMY * natural + 2) * size and " " in text:
            if not is_code:
                marked.append((line.y0, line.y1))
        elif width < narrow and len(text) < 60:
            row = round((line.y0 + line.y1) / (2 * size or 1))
            other = heights.get(row) or heights.get(row - 1) or heights.get(row + 1)
            if other is None:
                heights[row] = line
            elif (line.x0 > other.x1 or other.x0 > line.x1) and not (is_code and other.font.mono):
                marked.append((min(line.y0, other.y0), max(line.y1, other.y1)))
    return marked


def _aligned(layer: TextLayer, lines: Sequence[Line], body: Body) -> list[Zone]:
    """Return the lines of runs of short ones whose words begin or end at one place behind a gap: some are tried."""
    found: list[Zone] = []
    for run in _runs(lines, body):
        places: list[set[int]] = []
        for line in (run[0], run[len(run) // 2], run[-1]):
            words = layer.words(line)
            wide = 0.85 * line.size
            gaps = [(left.x1, right.x0) for left, right in pairwise(words) if right.x0 - left.x1 > wide]
            places.append({place for _, start in gaps for place in (round(start / 2), round(start / 2 + 0.5))})
        first, middle, last = places
        if (first & middle) or (middle & last) or (first & last):
            found += [(line.y0, line.y1) for line in run]
    return found


def _runs(lines: Sequence[Line], body: Body) -> Iterator[list[Line]]:
    """Yield lines below one another that begin at one place and are short, as those of a narrow table are."""
    wide = _SHORT * body.width
    run: list[Line] = []
    for line in lines:
        if line.x1 - line.x0 < wide and " " in line.text:
            if run and abs(line.x0 - run[-1].x0) < 3 and 0 < line.y0 - run[-1].y0 < 2.5 * body.leading:
                run.append(line)
                continue
            if len(run) >= _RUN:
                yield run
            run = [line]
        else:
            if len(run) >= _RUN:
                yield run
            run = []
    if len(run) >= _RUN:
        yield run


def stacked_zones(rules: Rules, body: Body) -> list[Zone]:
    """Return where at least three rules of one length stand below each other, and are no edges of boxes."""
    across, down = rules.joined()
    alike = sorted((rule for rule in across if rule.end - rule.start > 40), key=_ends)
    zones: list[Zone] = []
    for _, group in groupby(alike, key=_ends):
        stack = list(group)
        top, bottom = stack[0].at, stack[-1].at
        is_box = any(abs(rule.at - stack[0].start) < 4 and rule.start < bottom and rule.end > top for rule in down)
        if len(stack) >= 3 and not is_box:
            zones.append((top - 2 * body.leading, bottom + 2 * body.leading))
    return zones


def _ends(rule: Rule) -> tuple[int, int]:
    return round(rule.start / 4), round(rule.end / 4)


def has_gutter(layer: TextLayer, lines: Sequence[Line]) -> bool:
    """Whether lines go across columns of text: some are tried, and two must have a wide gap at one place."""
    long = [line for line in lines if line.length > 40]
    if len(long) < 6:
        return False
    places: list[float] = []
    for part in (1, 2, 3):
        at, wide, size = layer.widest_gap(long[len(long) * part // 4])
        if wide > 1.2 * size:
            places.append(at)
        elif part == 2 and not places:
            return False
    return len(places) > 1 and max(places) - min(places) < 20
