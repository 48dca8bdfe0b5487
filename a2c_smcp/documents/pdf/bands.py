"""Which lines of text make one row of a table where no rule tells: wrapped cells, centred ones, entries of their own.

A line is wrapped where its first word had no room in the line above. Entries of their own leave room, are numbers, or
stand further apart than the lines of a cell. Pure.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

from a2c_smcp.documents.pdf.row_cells import Cells, is_wide
from a2c_smcp.documents.pdf.words import Row, Word

_NUMBER = re.compile(r"[-+−–(]?[$€£¥]?\s*\d[\d.,\s%/:]*[)%]?[KMBx*†]?|[-–—×✓✗]|\([Xx×]\)|n/?a", re.IGNORECASE)
_MAX_HEADER: Final = 6
_COMPLETE: Final = 4
_FAR: Final = 1.9
"""How far lines of one cell may be apart, in sizes of their text."""
_MOSTLY: Final = 0.6
_APART: Final = 1.22
"""How much further than usual the next row of a table is, where rows have more room than lines."""


class _Looks:
    """What the columns of a table look like."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._columns = looks_of(cells)
        self.widths = [width for width, _ in self._columns]
        """How wide the text of each is."""

    @cached_property
    def key(self) -> int | None:
        """The first that most lines fill: a line without it has no row of its own."""
        most = _MOSTLY * len(self._cells)
        return next((column for column, (_, filled) in enumerate(self._columns) if filled >= most), None)

    @cached_property
    def is_large(self) -> bool:
        """Whether the entries of the first begin with a capital letter, so that a small one goes on."""
        large = sum([not row[0][0].text[0].islower() for row in self._cells if row[0]])
        return large > 0.7 * self._columns[0][1]


def looks_of(cells: Cells) -> list[tuple[float, int]]:
    """Return how wide the text of each column is, and in how many rows it has some."""
    columns = [[row[column] for row in cells if row[column]] for column in range(len(cells[0]))]
    return [(max([words[-1].x1 - words[0].x0 for words in column], default=0.0), len(column)) for column in columns]


def row_groups(rows: Sequence[Row], cells: Cells, bands: list[list[int]]) -> list[list[int]]:
    """Return which lines of text make one row of the table, by their numbers; `bands` are those between two rules."""
    if len(bands) == len(rows):
        return bands
    body = bands[1:]
    usual = _median(list(map(len, body))) if body else 0
    least = 2 if len(body) >= 5 and usual <= 3 else 1 if len(body) >= 2 and usual <= 2 else 0
    looks = _Looks(cells)
    groups: list[list[int]] = []
    for number, band in enumerate(bands):
        if len(band) > 1 and _is_header(cells, bands, number):
            widths = _Looks([cells[line] for line in band]).widths
            if least < 2 or _are_entries(cells, band, widths, least):
                groups += _header_groups(rows, cells, band, widths)
            else:
                groups.append(band)
        elif len(band) == 1 or (
            least and (not _are_entries(cells, band, looks.widths, least) or _is_centred(rows, cells, band))
        ):
            groups.append(band)
        else:
            lines = _line_groups([rows[number] for number in band], [cells[number] for number in band], looks)
            groups += [[band[number] for number in group] for group in lines]
    return groups


def bands_of(rows: Sequence[Row], rules: Sequence[float]) -> list[list[int]]:
    """Return the numbers of lines by what rules they stand between, whose heights are told."""
    bands: dict[int, list[int]] = {}
    places = sorted(rules)
    for number, row in enumerate(rows):
        bands.setdefault(bisect_right(places, (row.y0 + row.y1) / 2), []).append(number)
    return list(bands.values())


def _are_entries(cells: Cells, band: Sequence[int], widths: Sequence[float], least: int) -> bool:
    """Whether lines between two rules are rows of their own: numbers below numbers, or most leave room for the next.

    `least` is in how many columns there must be room.
    """
    if len(band) >= _COMPLETE:
        filled = [sum(map(bool, cells[number])) for number in band]
        if sum(count == max(filled) > 1 for count in filled) >= 0.8 * len(band):
            return True  # cells seldom wrap into as many lines as one another
    roomy = pairs = 0
    for above, below in pairwise(band):
        shared = [column for column in range(len(widths)) if cells[above][column] and cells[below][column]]
        if any(_is_number(cells[above][column]) and _is_number(cells[below][column]) for column in shared):
            return True
        if shared == [0] and _is_title(cells[above], cells[below]):
            return True
        if len(shared) > 1:
            pairs += 1
            rooms = [_has_room(cells[above][column], cells[below][column], widths[column]) for column in shared]
            roomy += sum(rooms) >= least
    return roomy >= 0.5 * pairs > 0


def _is_header(cells: Cells, bands: Sequence[Sequence[int]], number: int) -> bool:
    """Whether lines between two rules name columns: the first, and those below names for several columns each."""
    if len(bands[number]) > _MAX_HEADER or len(bands) == 1:
        return False
    if not number:
        return True
    first = cells[bands[0][0]]
    is_wide = len(bands[0]) == 1 and sum(map(bool, first)) < 0.7 * len(first)
    return number == 1 < len(bands) - 1 and is_wide and not any(_is_number(c) for line in bands[1] for c in cells[line])


def _header_groups(rows: Sequence[Row], cells: Cells, band: Sequence[int], widths: Sequence[float]) -> list[list[int]]:
    """Return which lines above the first rule make one row: names are wrapped, or stand below one for several."""
    groups = [[band[0]]]
    for above, below in pairwise(band):
        own = [column for column, cell in enumerate(cells[below]) if cell]
        shared = [column for column in own if cells[above][column]]
        count = sum(map(bool, cells[above]))
        is_title = len(own) == count == 1
        is_part = count == 1 and len(own) > 2 and shared
        is_wrapped = not any(_has_room(cells[above][column], cells[below][column], widths[column]) for column in shared)
        if _are_level(rows[above], rows[below]) or (
            is_wrapped and not is_title and (is_part or len(shared) >= 0.6 * len(own))
        ):
            groups[-1].append(below)
        else:
            groups.append([below])
    return groups


def _are_level(above: Row, below: Row) -> bool:
    """Whether lines are too close to be below one another: cells of different heights, side by side."""
    return below.middle - above.middle < 0.7 * min(above.size, below.size)


def _is_title(above: Sequence[Sequence[Word]], below: Sequence[Sequence[Word]]) -> bool:
    """Whether a line of the first column alone looks different from the row above it."""
    first, second = above[0][0].line, below[0][0].line
    return not any(below[1:]) and (first.font.bold != second.font.bold or abs(first.size - second.size) > 0.5)


def _line_groups(rows: Sequence[Row], cells: Cells, looks: _Looks) -> list[list[int]]:
    """Return which lines between two rules make one row."""
    pitches = [below.middle - above.middle for above, below in pairwise(rows)]
    tight = _tight(pitches, [row.y1 - row.y0 for row in rows])
    apart = sum(pitch > _APART * tight for pitch in pitches)
    has_room = apart >= max(2, 0.2 * len(pitches)) or (apart == 1 and len(pitches) < 4)
    groups: list[list[int]] = []
    for block in _blocks(pitches, _APART * tight):
        if has_room and len(block) > 1 and _is_centred(rows, cells, block):
            groups.append(block)
            continue
        groups.append(block[:1])
        for number in block[1:]:
            if _continues(rows, cells, groups[-1], number, looks):
                groups[-1].append(number)
            else:
                groups.append([number])
    return groups


def _tight(pitches: Sequence[float], heights: Sequence[float]) -> float:
    """Return how far the lines of one cell are apart: the least that is no overlap."""
    least = 0.7 * _median(heights)
    lines = sorted(pitch for pitch in pitches if pitch > least)
    return lines[len(lines) // 8] if lines else _median(heights)


def _blocks(pitches: Sequence[float], apart: float) -> list[list[int]]:
    """Return the numbers of lines in blocks with more room between them."""
    blocks = [[0]]
    for number, pitch in enumerate(pitches, 1):
        if pitch > apart:
            blocks.append([number])
        else:
            blocks[-1].append(number)
    return blocks


def _median(numbers: Sequence[float]) -> float:
    """Return what `statistics.median` does, in a fraction of the time."""
    ordered, half = sorted(numbers), len(numbers) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _is_centred(rows: Sequence[Row], cells: Cells, block: Sequence[int]) -> bool:
    """Whether cells of different heights stand half way down a row, between the first and the last line of others."""
    lines = [[number for number in block if cells[number][column]] for column in range(len(cells[0]))]
    lines = [numbers for numbers in lines if numbers]
    longest = max(lines, key=len)
    middle = (rows[longest[0]].middle + rows[longest[-1]].middle) / 2
    others = [numbers for numbers in lines if len(numbers) < len(longest)]
    reach = 0.6 * (rows[block[0]].y1 - rows[block[0]].y0)
    return bool(others) and all(
        longest[0] < numbers[0]
        and numbers[-1] < longest[-1]
        and abs((rows[numbers[0]].middle + rows[numbers[-1]].middle) / 2 - middle) < reach
        for numbers in others
    )


def _continues(rows: Sequence[Row], cells: Cells, group: Sequence[int], number: int, looks: _Looks) -> bool:
    """Whether a line only goes on with the cells of the row above it."""
    last, row = group[-1], cells[number]
    above = cells[last]
    if _are_level(rows[last], rows[number]):
        return True
    if rows[number].middle - rows[last].middle > _FAR * rows[number].size:
        return False
    own = {column for column, cell in enumerate(row) if cell}
    known = {column for line in group for column, cell in enumerate(cells[line]) if cell}
    if known == {0} and len(own) > 1 and 0 in own:
        # A long label whose numbers stand beside its last line.
        return len(group) == 1 and _is_wrapped_label(above[0], row[0], looks)
    shared = [column for column in own if above[column]]
    if shared and own - known and all(_is_raised(row[column], row[shared[0]]) for column in own - known):
        return True
    if not shared or not own <= known or len(shared) < 0.5 * len(own):
        return False
    if any(_is_number(row[column]) and _is_number(above[column]) for column in shared):
        return False
    if any(_has_room(above[column], row[column], looks.widths[column]) for column in shared):
        return len(own) == 1 and looks.key is not None and looks.key in known - own
    if 0 in own:
        is_passage = own == known == {0} and len(above[0]) > 3
        return is_passage or _is_wrapped_label(above[0], row[0], looks)
    return (len(own) == 1 and looks.key in known - own) or not any(
        _are_words(above[column], row[column]) for column in shared
    )


def _is_raised(words: Sequence[Word], others: Sequence[Word]) -> bool:
    """Whether words stand half a line above others of their row, as those of a centred cell beside two lines do."""
    first, other = words[0], others[0]
    lower = other.y0 + other.y1 - first.y0 - first.y1
    return 0.25 * first.line.size < lower / 2


def _is_number(words: Sequence[Word]) -> bool:
    return len(words) < 4 and _NUMBER.fullmatch(" ".join(word.text for word in words)) is not None


def _has_room(above: Sequence[Word], below: Sequence[Word], width: float) -> bool:
    """Whether the first word of a line would have fitted into the line above, so that it is not wrapped."""
    if above[-1].line.joined and above[-1].line.text.endswith(above[-1].text):
        return False
    size = below[0].line.size
    taken = above[-1].x1 - above[0].x0
    first = below[0]
    # Of what wraps anywhere the first signs count, not all up to the next blank.
    needed = min(first.x1 - first.x0, 2.0 * size) if is_wide(first.text[0]) else first.x1 - first.x0
    return taken + 0.2 * size + needed < width - 0.3 * size


def _are_words(above: Sequence[Word], below: Sequence[Word]) -> bool:
    """Whether a word stands below a word: each fills its column by itself, which tells nothing of wrapping."""
    return len(above) == len(below) == 1 and not is_wide(above[0].text[-1]) and not above[0].line.joined


def _is_wrapped_label(above: Sequence[Word], below: Sequence[Word], looks: _Looks) -> bool:
    """Whether a line in the first column goes on with the label above."""
    if not above:
        return False
    text = below[0].text
    return above[-1].line.joined or (looks.is_large and (text[0].islower() or text[0] in "(（")) or is_wide(text[0])
