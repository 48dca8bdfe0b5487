"""Links that lie on words become spans of the text that has these words; others stay elements of their own. Pure."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, Final, TypeAlias

from a2c_smcp.documents.pdf.words import Box, Piece

_HOLDERS: Final = frozenset({"text", "heading", "list", "table", "header", "annotation"})
_MAX_PLACES: Final = 200
"""How many places with the words of a link are compared."""

_Put: TypeAlias = Callable[[dict[str, Any]], None]


@dataclass(slots=True)
class _Holder:
    """A piece as one text, with where each of its parts begins and how that gets a span."""

    text: str
    box: Box
    starts: list[int]
    puts: list[_Put]


def with_links(pieces: list[Piece], overlay: list[Piece]) -> list[Piece]:
    """Return the pieces of a page and what lies on them, links as spans of the pieces where these have their words."""
    rest: list[Piece] = []
    holders: dict[int, _Holder] = {}
    last = 0
    for piece in overlay:
        placed = -1
        if piece.category == "link" and piece.content["text"]:
            placed = _place(piece, pieces, holders, last)
        if placed < 0:
            rest.append(piece)
        else:
            last = placed
    return pieces + rest


def _place(link: Piece, pieces: list[Piece], holders: dict[int, _Holder], last: int) -> int:
    """Add a link to the piece it lies on and return the number of that piece; -1 where none has its words."""
    x0, y0, x1, y1 = link.box
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    # Links come in the order of the text, more or less, so most are where the one before them was.
    order: Iterable[int] = chain(range(last, len(pieces)), range(last))
    for number in order:
        left, top, right, bottom = pieces[number].box
        if left <= x <= right and top <= y <= bottom and pieces[number].category in _HOLDERS:
            holder = holders.get(number)
            if holder is None:
                holder = holders[number] = _holder(pieces[number])
            if _add(link, holder):
                return number
    return -1


def _add(link: Piece, holder: _Holder) -> bool:
    words = link.content["text"]
    places = _places(holder.text, words)
    if not places:
        return False
    at = places[0]
    if len(places) > 1:
        expected = _expected(link.box, holder)
        at = min(places, key=lambda place: abs(place - expected))
    part = bisect_right(holder.starts, at) - 1
    start = holder.starts[part]
    holder.puts[part]({"start": at - start, "end": at - start + len(words), "kind": "link", "url": link.content["url"]})
    return True


def _expected(box: Box, holder: _Holder) -> float:
    """Return where in the text of a holder the words at a place should be."""
    x0, y0, _, y1 = box
    left, top, right, bottom = holder.box
    rows = max(1.0, round((bottom - top) / max(y1 - y0, 1.0)))
    row = min(int(((y0 + y1) / 2 - top) / max(bottom - top, 1.0) * rows), rows - 1)
    return (row + (x0 - left) / max(right - left, 1.0)) / rows * len(holder.text)


def _places(text: str, words: str) -> list[int]:
    """Return where the words stand, not as a part of longer ones."""
    found: list[int] = []
    at = text.find(words)
    for _ in range(_MAX_PLACES):
        if at < 0:
            break
        before, after = text[at - 1 : at], text[at + len(words) : at + len(words) + 1]
        if not (before.isalnum() and words[0].isalnum()) and not (after.isalnum() and words[-1].isalnum()):
            found.append(at)
        at = text.find(words, at + 1)
    return found


def _holder(piece: Piece) -> _Holder:
    content = piece.content
    if piece.category == "list":
        found = list(_items(content))
    elif piece.category == "table":
        found = list(_cells(content))
    else:
        found = [(content["text"], _into(content))]
    texts = [text for text, _ in found]
    starts = list(accumulate([len(text) + 1 for text in texts[:-1]], initial=0))
    return _Holder("\n".join(texts), piece.box, starts, [put for _, put in found])


def _into(content: dict[str, Any]) -> _Put:
    def put(span: dict[str, Any]) -> None:
        spans = content.setdefault("spans", [])
        if span not in spans:
            spans.append(span)

    return put


def _items(content: dict[str, Any]) -> Iterator[tuple[str, _Put]]:
    items = content["items"]
    for number, item in enumerate(items):
        if isinstance(item, str):
            yield item, _into_item(items, number)
        else:
            yield item["text"], _into(item)
            if "children" in item:
                yield from _items(item["children"])


def _into_item(items: list[Any], number: int) -> _Put:
    def put(span: dict[str, Any]) -> None:
        if isinstance(items[number], str):
            items[number] = {"text": items[number]}
        _into(items[number])(span)

    return put


def _cells(content: dict[str, Any]) -> Iterator[tuple[str, _Put]]:
    for row, line in enumerate((content["headers"], *content["rows"])):
        for column, text in enumerate(line):
            if isinstance(text, str) and text:
                yield text, _into_cell(content, row, column)


def _into_cell(content: dict[str, Any], row: int, column: int) -> _Put:
    def put(span: dict[str, Any]) -> None:
        cells = content.setdefault("cell_spans", [])
        found = next((cell for cell in cells if (cell["row"], cell["column"]) == (row, column)), None)
        if found is None:
            cells.append({"row": row, "column": column, "spans": [span]})
        else:
            found["spans"].append(span)

    return put
