"""How good an outcome is against the truth."""

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

_NO_WORD = re.compile(r"[\W_]+")


def folded(text: str) -> str:
    """Return text without spacing, case and punctuation, which readers treat differently."""
    return _NO_WORD.sub("", unicodedata.normalize("NFKC", text)).casefold()


def matches(found: Iterable[str], truth: Iterable[str]) -> int:
    """Return how many texts of both are the same; a number before a heading may be missing in one."""
    rest = [folded(text) for text in found]
    count = 0
    for text in truth:
        wanted = folded(text)
        hit = next((other for other in rest if other == wanted or _is_numbered(other, wanted)), None)
        if hit is not None:
            rest.remove(hit)
            count += 1
    return count


def _is_numbered(text: str, other: str) -> bool:
    longer, shorter = (text, other) if len(text) > len(other) else (other, text)
    return bool(shorter) and longer.endswith(shorter) and longer[: -len(shorter)].isdecimal()


def begins(found: Iterable[str], truth: Iterable[str]) -> int:
    """Return how many texts of the truth, which are cut, some found text begins with."""
    rest = [folded(text) for text in found]
    count = 0
    for text in truth:
        wanted = folded(text)
        hit = next(
            (other for other in rest if other.startswith(wanted) or other.lstrip("0123456789").startswith(wanted)), None
        )
        if hit is not None:
            rest.remove(hit)
            count += 1
    return count


def adjacency(tables: Sequence[Sequence[Sequence[str]]]) -> Counter[tuple[str, str, str]]:
    """Return which cells are beside and below which, empty ones skipped: the relations that tables are compared by."""
    relations: Counter[tuple[str, str, str]] = Counter()
    for table in tables:
        width = max(map(len, table), default=0)
        grid = [[folded(cell) or cell.strip() for cell in row] + [""] * (width - len(row)) for row in table]
        for row in grid:
            relations.update((*pair, "beside") for pair in _neighbours(row))
        for column in zip(*grid, strict=True):
            relations.update((*pair, "below") for pair in _neighbours(column))
    return relations


def _neighbours(cells: Sequence[str]) -> Iterable[tuple[str, str]]:
    filled = [cell for cell in cells if cell]
    return itertools.pairwise(filled)


def f1(found: Counter[tuple[str, str, str]], truth: Counter[tuple[str, str, str]]) -> float:
    """Return the harmonic mean of precision and recall."""
    both = (found & truth).total()
    return 2 * both / (found.total() + truth.total()) if found or truth else 1.0


def in_order(text: str, phrases: Sequence[str]) -> tuple[int, int]:
    """Return how many neighbouring phrases come in the right order, and how many pairs there are."""
    whole = folded(text)
    places = [whole.find(folded(phrase)) for phrase in phrases]
    pairs = list(itertools.pairwise(places))
    return sum(0 <= first < second for first, second in pairs), len(pairs)
