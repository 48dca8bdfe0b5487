"""The tables of a page: found only where its text looks like one, so that other pages do not pay for it."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, Final

from a2c_smcp.documents.pdf.graphics import Paths, Rule
from a2c_smcp.documents.pdf.grid import Grid, Region, grid_of, split_at_headers
from a2c_smcp.documents.pdf.layout import Body, text_of
from a2c_smcp.documents.pdf.lines import TextLayer
from a2c_smcp.documents.pdf.regions import crossing_regions, parallel_regions, rows_without
from a2c_smcp.documents.pdf.row_cells import rows_of, text_of_words
from a2c_smcp.documents.pdf.spaced import spaced_regions
from a2c_smcp.documents.pdf.words import Box, Line, Row, Word
from a2c_smcp.documents.pdf.zones import Zone, find_zones

MAX_WORDS: Final = 20_000
"""A page with more words is not searched for tables."""

_CAPTION = re.compile(r"(?:table|tab\.|tabelle|tableau|tabla|表)\s*[\dIVXA-Z]", re.IGNORECASE)
_NUMERIC = re.compile(r"[-+(]?[$€£¥]?\s*\d[\d.,\s]*[%)]?[KMB]?")
_COMMENT = re.compile(r"#|//|/\*|%{1,2}$|;;|--$|\\$|[\"”]$")
_LEVEL: Final = 1.5
_NOWHERE: Final = 1e9
_FIGURES = re.compile(r"[\d.,%()+-]{2,}")


@dataclass(slots=True)
class Table:
    """A table and its place."""

    content: dict[str, Any]
    box: Box


def find_tables(
    layer: TextLayer, lines: list[Line], paths: Paths, pictures: Sequence[Box], body: Body
) -> tuple[list[Table], list[Line]]:
    """Return the tables of a page, and the lines that are in none."""
    zones = find_zones(layer, lines, paths, body)
    if not zones or _is_drawing(lines, len(paths)):
        return [], lines
    rules = paths.rules()
    framed = [region for region in crossing_regions(rules) if _touches(region, zones)]
    zones += [(region.y0, region.y1) for region in framed]
    wide = [rule.at for rule in rules.across if rule.end - rule.start > 0.3 * body.width]
    if wide:  # rules may be the only sign of the rows whose text is not roomy
        zones.append((min(wide) - 2 * body.leading, max(wide) + 2 * body.leading))
    words = _words(layer, _lines_in(zones, lines))
    if not 4 <= len(words) <= MAX_WORDS:
        return [], lines
    words = _split_at_rules(layer, words, rules.down)
    search = _Search(words, body, pictures)
    search.add(framed)
    rows = rows_of(words)
    search.add(parallel_regions(rules, rows, search.regions))
    free = [row for row in rows_without(rows, search.taken) if not _is_code(layer, row, body)]
    spaced = spaced_regions(free, body.leading)
    search.add(spaced.tables)
    for region, cuts in spaced.columns:
        lines = _split_at_columns(lines, words, region, cuts)
    return _finished(search, lines, words) if search.found else ([], lines)


def _lines_in(zones: Sequence[Zone], lines: Sequence[Line]) -> list[Line]:
    """Return the lines that run from left to right in zones."""
    united: list[Zone] = []
    for top, bottom in sorted(zones):
        if united and top <= united[-1][1]:
            united[-1] = united[-1][0], max(united[-1][1], bottom)
        else:
            united.append((top, bottom))
    inside: list[Line] = []
    for line in lines:
        y0, y1 = line.y0, line.y1
        for top, bottom in united:
            if top <= y1 and y0 <= bottom:
                if y1 - y0 <= 2 * line.size or line.is_upright:
                    inside.append(line)
                break
    return inside


def _words(layer: TextLayer, lines: Sequence[Line]) -> list[Word]:
    """Return the words of lines; where one goes over two heights, as beside a centred cell, each at its own."""
    high = [number for number, line in enumerate(lines) if line.y1 - line.y0 >= _LEVEL * line.size and " " in line.text]
    asked = list(lines)
    for number in high:  # words are measured one by one in lines that do not run from left to right
        line = lines[number]
        asked[number] = replace(line, x1=line.x0, y1=line.y0 + 3 * line.size)
    found = layer.words_of(asked)
    for number in high:
        line, words = lines[number], found[number]
        if any(word.y1 - word.y0 >= _LEVEL * line.size for word in words):
            # Some fonts of signs have boxes that tell nothing of where the signs are.
            found[number] = layer.words(line)
        else:
            for word in words:
                word.line = line
    return list(chain.from_iterable(found))


def _is_code(layer: TextLayer, row: Row, body: Body) -> bool:
    """Whether all of a row is set like code: a line is known by its middle, and its end may be in another font."""
    ends: list[int] = []
    last: Line | None = None
    for word in row.words:
        line = word.line
        if line is not last:
            if not line.font.mono:
                return False
            ends.append(line.position + line.length - 1)
            last = line
    if not body.mono and all(font.mono for font in layer.fonts_at(ends)):
        return True
    return any(_COMMENT.match(word.text) for word in row.words)


def _split_at_rules(layer: TextLayer, words: list[Word], rules: Sequence[Rule]) -> list[Word]:
    """Return words with numbers cut in two that a ruling line crosses: cells so close that no blank is between them."""
    if not rules:
        return words
    crossed = words_across(words, sorted([rule.at for rule in rules]), 1.4)
    numbers = [word for word in crossed if not (text := word.text)[0].isalpha() and _FIGURES.fullmatch(text)]
    places = sorted({round(rule.at, 1) for rule in rules}) if numbers else []
    cuts = {id(word): at for word in numbers if (at := _crossing(word, rules, places)) is not None}
    if not cuts:
        return words
    divided: list[Word] = []
    for word in words:
        divided += layer.cut(word, cuts[id(word)]) if id(word) in cuts else (word,)
    return divided


def words_across(words: list[Word], places: list[float], border: float) -> list[Word]:
    """Return the words that have one of the places inside, away from their ends, as few have."""
    return [word for word in words if bisect_right(places, word.x0 + border) < bisect_left(places, word.x1 - border)]


def _crossing(word: Word, rules: Sequence[Rule], places: Sequence[float]) -> float | None:
    """Return the first place in a word where a rule goes down through it."""
    number = bisect_right(places, word.x0 + 1.5)
    at = places[number] if number < len(places) else _NOWHERE
    middle = (word.y0 + word.y1) / 2
    if at < word.x1 - 1.5 and any(abs(rule.at - at) < 0.1 and rule.start <= middle <= rule.end for rule in rules):
        return at
    return None


def _is_drawing(lines: Sequence[Line], paths: int) -> bool:
    """Whether a page has far more lines and boxes than the words on it could need for tables."""
    return paths > 300 and paths > 8 * sum([line.text.count(" ") + 1 for line in lines])


def _split_at_columns(lines: list[Line], words: list[Word], region: Region, cuts: Sequence[float]) -> list[Line]:
    """Return lines with those cut in pieces that go across columns of running text."""
    pieces: dict[int, dict[int, list[Word]]] = {}
    for word in region.inside(words):
        column = bisect_right(cuts, (word.x0 + word.x1) / 2)
        pieces.setdefault(id(word.line), {}).setdefault(column, []).append(word)
    divided: list[Line] = []
    for line in lines:
        own = pieces.get(id(line), {})
        if len(own) > 1 and sum(map(len, own.values())) == len(line.text.split()):
            divided += [_rest(line, own[column]) for column in sorted(own)]
        else:
            divided.append(line)
    return divided


def _touches(region: Region, zones: Sequence[tuple[float, float]]) -> bool:
    return any(top <= region.y1 and region.y0 <= bottom for top, bottom in zones)


class _Search:
    """Collects the regions of a page that turn out to be tables."""

    def __init__(self, words: list[Word], body: Body, pictures: Sequence[Box]) -> None:
        self._words, self._body, self._pictures = words, body, pictures
        self.found: list[tuple[Region, Grid]] = []
        self.taken: set[int] = set()

    @property
    def regions(self) -> list[Region]:
        """Where tables were found."""
        return [region for region, _ in self.found]

    def add(self, regions: Sequence[Region]) -> None:
        """Look at regions, and keep those that are tables."""
        for region in regions:
            if any(_overlap(region, other) for other in self.regions) or self._is_picture(region):
                continue
            inside = region.inside(self._words)
            if self._is_listing(region, inside):
                continue
            grid = grid_of(region, inside, self._body.size)
            if (
                grid
                and _is_table(grid, is_ruled=bool(region.across or region.down))
                and not _is_numbered_code(grid, region)
            ):
                self.found.append((region, grid))
                self.taken.update(map(id, inside))

    def _is_picture(self, region: Region) -> bool:
        """Whether pictures lie under a region: its words are their labels."""
        area = (region.x1 - region.x0) * (region.y1 - region.y0)
        shared = sum(
            max(0.0, min(region.x1, x1) - max(region.x0, x0)) * max(0.0, min(region.y1, y1) - max(region.y0, y0))
            for x0, y0, x1, y1 in self._pictures
        )
        return 0.25 * area < shared

    def _is_listing(self, region: Region, words: list[Word]) -> bool:
        """Whether a frame without columns holds code."""
        is_framed = bool(region.down) or 0 < len(region.across) < 3
        if self._body.mono or not is_framed or any(region.x0 + 4 < rule.at < region.x1 - 4 for rule in region.down):
            return False
        return sum(word.line.font.mono for word in words) >= 0.45 * len(words)


def _overlap(region: Region, other: Region) -> bool:
    return (
        min(region.x1, other.x1) - max(region.x0, other.x0) > 2
        and min(region.y1, other.y1) - max(region.y0, other.y0) > 2
    )


def _is_table(grid: Grid, *, is_ruled: bool) -> bool:
    """Whether enough cells are filled, and few with whole passages: else it is a drawing or a page's layout."""
    height, width = len(grid.cells), len(grid.cells[0])
    filled = [len(cell) for row in grid.cells for cell in row if cell]
    covered = sum(row_span * column_span - 1 for _, _, row_span, column_span in grid.merged)
    if len(filled) < 3 or len(filled) + covered < (0.2 if is_ruled else 0.4) * height * width:
        return False
    # A single column with something beside it now and then is text, a listing or the labels of a drawing.
    full = sum([sum(map(bool, row)) > 1 for row in grid.cells])
    if full < max(2, 0.34 * height):
        return False
    return len(filled) > 6 or sorted(filled)[len(filled) // 2] <= 40


def _is_numbered_code(grid: Grid, region: Region) -> bool:
    """Whether a second column beside numbers that go on has words in a font for code, or stands in a box of its own."""
    if len(grid.cells[0]) != 2:
        return False
    numbers = [row[0][0].text for row in grid.cells if row[0]]
    counted = sum(first.isdecimal() and second == str(int(first) + 1) for first, second in pairwise(numbers))
    if counted < 0.5 * len(numbers):
        return False
    code = [word.line.font.mono for row in grid.cells for word in row[1]]
    is_boxed = bool(region.down) and not any(region.x0 + 4 < rule.at < region.x1 - 4 for rule in region.down)
    return is_boxed or sum(code) >= 0.2 * len(code)


def _finished(search: _Search, lines: list[Line], words: list[Word]) -> tuple[list[Table], list[Line]]:
    beside = words_beside(words, search.taken)
    left: list[Line] = []
    for line in lines:
        own = beside.get(id(line))
        if own is None:
            left.append(line)
        elif own:
            left.append(_rest(line, own))
    tables = []
    for region, grid in search.found:
        caption = _caption(region, left)
        if caption:
            left = [line for line in left if line not in caption]
        pieces = split_at_headers(grid)
        for piece in pieces:
            box = (region.x0, region.y0, region.x1, region.y1) if len(pieces) == 1 else _box(piece)
            tables.append(Table(_content(piece, caption), box))
            caption = []
    return tables, left


def words_beside(words: list[Word], taken: set[int]) -> dict[int, list[Word]]:
    """Return the other words of each line with words in tables, which are told by their ids, by its own."""
    beside: dict[int, list[Word]] = {id(word.line): [] for word in words if id(word) in taken}
    for word in words:
        if id(word.line) in beside and id(word) not in taken:
            beside[id(word.line)].append(word)
    return beside


def _box(grid: Grid) -> Box:
    words = [word for row in grid.cells for cell in row for word in cell]
    return (
        min(word.x0 for word in words),
        min(word.y0 for word in words),
        max(word.x1 for word in words),
        max(word.y1 for word in words),
    )


def _rest(line: Line, own: Sequence[Word]) -> Line:
    """Return what is left of a line when the words inside tables are gone."""
    return Line(
        " ".join(word.text for word in own),
        min(word.x0 for word in own),
        line.y0,
        max(word.x1 for word in own),
        line.y1,
        line.size,
        line.font,
        line.position,
        line.length,
        joined=line.joined,
    )


def _caption(region: Region, lines: Sequence[Line]) -> list[Line]:
    """Return the lines of a caption right above or below a table."""
    for line in lines:
        near = 0 <= region.y0 - line.y1 < 2.5 * line.size or 0 <= line.y0 - region.y1 < 2.5 * line.size
        if near and line.x0 < region.x1 and line.x1 > region.x0 and _CAPTION.match(line.text):
            return [line]
    return []


def _content(grid: Grid, caption: list[Line]) -> dict[str, Any]:
    texts = grid.texts
    has_header = grid.has_header if grid.has_header is not None else _begins_with_header(grid, texts)
    content: dict[str, Any] = {
        "headers": texts[0] if has_header else [],
        "rows": texts[1:] if has_header else texts,
    }
    if grid.merged:
        shift = 0 if has_header else 1
        content["merged"] = [
            {"row": top + shift, "column": left, "row_span": high, "column_span": wide}
            for top, left, high, wide in grid.merged
        ]
    if caption or grid.title:
        content["caption"] = " ".join(filter(None, [text_of(caption) if caption else "", text_of_words(grid.title)]))
    return content


def _begins_with_header(grid: Grid, texts: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: by its weight, or by words above numbers; else where it is complete."""
    first, rest = texts[0], texts[1:]
    if not rest or sum(map(bool, first)) < 0.5 * len(first):
        return False
    if any(_NUMERIC.fullmatch(text) for text in first if text):
        return False
    if all(any(word.line.font.bold for word in cell) for cell in grid.cells[0] if cell):
        below = [word.line.font.bold for row in grid.cells[1:] for cell in row for word in cell]
        if sum(below) < 0.5 * len(below):
            return True
    return all(first) or len(first) > 2
