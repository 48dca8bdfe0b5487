"""Words on their way into tables: rows, segments between wide gaps, and the gaps that divide columns. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from a2c_smcp.documents.pdf.lines import Line, Word


class Placed(NamedTuple):
    """A word and the line it comes from."""

    word: Word
    line: Line


@dataclass(slots=True)
class Segment:
    """Words of one row without a wide gap between them."""

    words: list[Placed]
    x0: float
    x1: float

    @property
    def text(self) -> str:
        """Its words."""
        return " ".join([placed.word.text for placed in self.words])


_MAX_CENTRED: Final = 5
_left = attrgetter("word.x0")


@dataclass(slots=True)
class Row:
    """Words side by side, from left to right."""

    words: list[Placed]
    y0: float
    y1: float
    size: float

    @property
    def middle(self) -> float:
        """Half way down."""
        return (self.y0 + self.y1) / 2


def rows_of(words: Iterable[Placed]) -> list[Row]:
    """Return words in rows from top to bottom; a raised or lowered sign stays in its row."""
    rows: list[Row] = []
    add = None
    line, top, bottom = None, 0.0, 0.0
    for placed in sorted(words, key=_depth):
        word, own = placed
        if add is not None and own is line and word.y0 == top and word.y1 == bottom:
            add(placed)  # where the word before it in its line has gone
            continue
        line, top, bottom = own, word.y0, word.y1
        for row in rows[-2:]:
            overlap = min(row.y1, bottom) - max(row.y0, top)
            if overlap > 0.5 * min(row.y1 - row.y0, bottom - top):
                row.words.append(placed)
                if own.size >= row.size:
                    row.size = own.size
                    row.y0, row.y1 = top, bottom
                break
        else:
            row = Row([placed], top, bottom, own.size)
            rows.append(row)
        add = row.words.append
    for row in rows:
        if len(row.words) > 1:
            row.words.sort(key=_left)
    rows.sort(key=lambda row: row.y0 + row.y1)
    return rows


def _depth(placed: Placed) -> float:
    word = placed.word
    return word.y0 + word.y1


def with_centred(rows: Sequence[Row]) -> list[Row]:
    """Return rows with those made one whose cells are centred, so that their lines stand half way between others'."""
    whole: list[Row] = []
    chain: list[Row] = []
    for row in rows:
        if chain and row.middle - chain[-1].middle >= 0.85 * max(row.size, chain[-1].size):
            whole += _joined(chain)
            chain = []
        chain.append(row)
    return whole + _joined(chain)


def _joined(chain: list[Row]) -> list[Row]:
    if not 1 < len(chain) <= _MAX_CENTRED or any(_overlap(above, below) for above, below in pairwise(chain)):
        return chain
    words = sorted((placed for row in chain for placed in row.words), key=lambda placed: placed.word.x0)
    return [Row(words, chain[0].y0, chain[-1].y1, max(row.size for row in chain))]


def _overlap(row: Row, other: Row) -> bool:
    """Whether words of two rows share a place from left to right."""
    ends = [(placed.word.x0, placed.word.x1) for placed in row.words]
    return any(x0 < placed.word.x1 and placed.word.x0 < x1 for placed in other.words for x0, x1 in ends)


def segments_of(row: Row, gap: float) -> list[Segment]:
    """Return the parts of a row between gaps wider than `gap` times the size of its text."""
    segments: list[Segment] = []
    for placed in row.words:
        word = placed.word
        if segments and word.x0 - segments[-1].x1 <= gap * max(placed.line.size, 1.0):
            last = segments[-1]
            last.words.append(placed)
            last.x1 = max(last.x1, word.x1)
        else:
            segments.append(Segment([placed], word.x0, word.x1))
    return segments


def column_cuts(rows: Sequence[Sequence[Segment]], size: float, *, least: float = 0.3, fewest: int = 2) -> list[float]:
    """Return where columns of `rows` are divided: gaps that hardly any row crosses, with text on both sides.

    `least` is the share of the rows that must have text on both sides of a cut, `fewest` their number.
    """
    rows = [row for row in rows if row]
    if len(rows) < 2:
        return []
    # Segments of a row do not overlap, so that as many rows as there are open segments cross a place.
    steps: Counter[float] = Counter()
    # A row in one piece is a title across columns, or goes on with a single one.
    divided = [row for row in rows if len(row) > 1]
    counted = divided if len(divided) >= max(2, 0.3 * len(rows)) else rows
    for row in counted:
        for segment in row:
            steps[segment.x0] += 1
            steps[segment.x1] -= 1
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


def text_of_words(words: Sequence[Placed]) -> str:
    """Return the words of a cell, row by row."""
    if len(words) == 1:
        return words[0].word.text
    if not words:
        return ""
    parts: list[str] = []
    previous: Placed | None = None
    for row in rows_of(words):
        for placed in row.words:
            if previous is not None:
                parts.append(_glue(previous, placed))
            parts.append(placed.word.text)
            previous = placed
    return "".join(parts)


def _glue(first: Placed, second: Placed) -> str:
    """Return what stands between two words: nothing where a word was divided, or Chinese wraps."""
    if first.line is not second.line:
        if first.line.joined and first.line.text.endswith(first.word.text):
            return "" if second.word.text[:1].islower() else "-"
        if is_wide(first.word.text[-1]) and is_wide(second.word.text[0]) and second.word.y0 > first.word.y0:
            return ""
    return " "


def is_wide(sign: str) -> bool:
    """Whether a sign is Chinese, Japanese or the like, which wraps anywhere."""
    return "\u2e80" <= sign <= "\u9fff" or "\uf900" <= sign <= "\ufaff" or "\uff00" <= sign <= "\uffef"
