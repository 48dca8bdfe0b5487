"""Words on their way into tables: rows, segments between wide gaps, and the gaps that divide columns. Pure."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Final, TypeAlias

from a2c_smcp.documents.pdf.words import Row, Segment, Word

Cells: TypeAlias = list[list[list[Word]]]
"""Words by row and column."""

_MAX_CENTRED: Final = 5
_left, _depth = attrgetter("x0"), itemgetter(0)


def rows_of(words: list[Word]) -> list[Row]:
    """Return words in rows from top to bottom; a raised or lowered sign stays in its row."""
    rows: list[Row] = []
    strips = _strips(words)
    strips.sort(key=_depth)
    for _, strip in strips:
        word = strip[0]
        top, bottom, size = word.y0, word.y1, word.line.size
        for row in rows[-2:]:
            y0, y1 = row.y0, row.y1
            overlap = (y1 if y1 < bottom else bottom) - (y0 if y0 > top else top)
            if overlap > 0.5 * (y1 - y0) or overlap > 0.5 * (bottom - top):
                row.words += strip
                if size >= row.size:
                    row.y0, row.y1, row.size = top, bottom, size
                break
        else:
            rows.append(Row(strip, top, bottom, size))
    for row in rows:
        if len(row.words) > 1:
            row.words.sort(key=_left)
    if len(rows) < len(strips):  # a row stands where its largest words do
        rows.sort(key=lambda row: row.y0 + row.y1)
    return rows


def _strips(words: Iterable[Word]) -> list[tuple[float, list[Word]]]:
    """Return the words of each line that stand at one height, which belong to one row, and how far down they are."""
    strips: list[tuple[float, list[Word]]] = []
    strip: list[Word] = []
    line, top, bottom = None, 0.0, 0.0
    for word in words:
        own = word.line
        if own is line and word.y0 == top and word.y1 == bottom:
            strip.append(word)
        else:
            line, top, bottom = own, word.y0, word.y1
            strip = [word]
            strips.append((top + bottom, strip))
    return strips


def with_centred(rows: Sequence[Row]) -> list[Row]:
    """Return rows with those made one whose cells are centred, so that their lines stand half way between others'."""
    whole: list[Row] = []
    chain: list[Row] = []
    above = 0.0
    for row in rows:
        middle = (row.y0 + row.y1) / 2
        if chain and middle - above >= 0.85 * max(row.size, chain[-1].size):
            whole += _joined(chain) if len(chain) > 1 else chain
            chain = []
        chain.append(row)
        above = middle
    return whole + _joined(chain)


def _joined(chain: list[Row]) -> list[Row]:
    if not 1 < len(chain) <= _MAX_CENTRED or any(_overlap(above, below) for above, below in pairwise(chain)):
        return chain
    words = sorted((word for row in chain for word in row.words), key=lambda word: word.x0)
    return [Row(words, chain[0].y0, chain[-1].y1, max(row.size for row in chain))]


def _overlap(row: Row, other: Row) -> bool:
    """Whether words of two rows share a place from left to right."""
    ends = [(word.x0, word.x1) for word in row.words]
    return any(x0 < word.x1 and word.x0 < x1 for word in other.words for x0, x1 in ends)


def segments_of(row: Row, gap: float) -> list[Segment]:
    """Return the parts of a row between gaps wider than `gap` times the size of its text."""
    segments: list[Segment] = []
    words: list[Word] = []
    end, line, room = 0.0, None, 0.0
    for word in row.words:
        own = word.line
        if own is not line:
            line, size = own, own.size
            room = gap * (size if size > 1.0 else 1.0)
        x1 = word.x1
        if words and word.x0 - end <= room:
            words.append(word)
            if x1 > end:
                segments[-1].x1 = end = x1
        else:
            words, end = [word], x1
            segments.append(Segment(words, word.x0, x1))
    return segments


def is_divided(row: Row, gap: float) -> bool:
    """Whether `segments_of` would return more than one part of a row, in less time."""
    line, room, end = None, 0.0, row.words[0].x1
    for word in row.words:
        own = word.line
        if own is not line:
            line, size = own, own.size
            room = gap * (size if size > 1.0 else 1.0)
        if word.x0 - end > room:
            return True
        x1 = word.x1
        end = x1 if x1 > end else end
    return False


def column_cuts(rows: Sequence[Sequence[Segment]], size: float, *, least: float = 0.3, fewest: int = 2) -> list[float]:
    """Return where columns of `rows` are divided: gaps that hardly any row crosses, with text on both sides.

    `least` is the share of the rows that must have text on both sides of a cut, `fewest` their number.
    """
    rows = [row for row in rows if row]
    if len(rows) < 2:
        return []
    # Segments of a row do not overlap, so that as many rows as there are open segments cross a place.
    steps: dict[float, int] = {}
    # A row in one piece is a title across columns, or goes on with a single one.
    divided = [row for row in rows if len(row) > 1]
    counted = divided if len(divided) >= max(2, 0.3 * len(rows)) else rows
    for row in counted:
        for segment in row:
            steps[segment.x0] = steps.get(segment.x0, 0) + 1
            steps[segment.x1] = steps.get(segment.x1, 0) - 1
    # A title or a note across the table may cross every gap: one row in eight, and one in a small table.
    tolerated = max(1 if len(rows) >= 4 else 0, len(rows) // 8)
    gaps: list[list[tuple[float, float, int]]] = []
    crossing = 0
    for left, right in pairwise(sorted(steps)):
        crossing += steps[left]
        if crossing <= tolerated:
            if gaps and gaps[-1][-1][1] == left:
                gaps[-1].append((left, right, crossing))
            else:
                gaps.append([(left, right, crossing)])
    needed = max(fewest, least * len(rows))
    cuts = []
    for gap in gaps:
        left, right = gap[0][0], gap[-1][1]
        if right - left < max(3.0, 0.45 * size):
            continue
        both = sum(row[0].x1 <= right and row[-1].x0 >= left and len(row) > 1 for row in rows)
        if both >= needed:
            cuts.append(_least_crossed(gap))
    return cuts


def _least_crossed(gap: Sequence[tuple[float, float, int]]) -> float:
    """Return the middle of the widest part of a gap that the fewest rows cross."""
    fewest = min(crossing for _, _, crossing in gap)
    parts: list[list[float]] = []
    for left, right, crossing in gap:
        if crossing == fewest:
            if parts and parts[-1][1] == left:
                parts[-1][1] = right
            else:
                parts.append([left, right])
    left, right = max(parts, key=lambda part: part[1] - part[0])
    return (left + right) / 2


def text_of_words(words: list[Word]) -> str:
    """Return the words of a cell, row by row."""
    if len(words) == 1:
        return words[0].text
    parts: list[str] = []
    previous: Word | None = None
    for row in rows_of(words):
        for word in row.words:
            if previous is not None:
                parts.append(_glue(previous, word))
            parts.append(word.text)
            previous = word
    return "".join(parts)


def texts_of(cells: Cells) -> list[list[str]]:
    """Return what cells say, by row and column."""
    return [[text_of_words(cell) if cell else "" for cell in row] for row in cells]


def _glue(first: Word, second: Word) -> str:
    """Return what stands between two words: nothing where a word was divided, or Chinese wraps."""
    if first.line is not second.line:
        if first.line.joined and first.line.text.endswith(first.text):
            return "" if second.text[:1].islower() else "-"
        if is_wide(first.text[-1]) and is_wide(second.text[0]) and second.y0 > first.y0:
            return ""
    return " "


def is_wide(sign: str) -> bool:
    """Whether a sign is Chinese, Japanese or the like, which wraps anywhere."""
    return "\u2e80" <= sign <= "\u9fff" or "\uf900" <= sign <= "\ufaff" or "\uff00" <= sign <= "\uffef"
