"""How single values are shown, in whatever format: clean text, cells, grids, list items."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from a2c_smcp.documents.content import Cell, ListContent, ListItem, TableContent

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"

UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""What no format passes on: control characters but tab and line feed, and halves of surrogate pairs."""

_LINE_END: Final = re.compile("\r\n?|[\x0b\x0c\x85]")


def clean(text: str) -> str:
    r"""Return `text` with `\n` for every line end and U+FFFD for what no reader can use."""
    if not UNSAFE.search(text):
        return text
    return UNSAFE.sub(REPLACEMENT, _LINE_END.sub("\n", text))


def clean_json(value: Any) -> Any:
    """Return a JSON value with all its strings clean, and `None` for numbers that JSON cannot write."""
    match value:
        case str():
            return clean(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {clean(key): clean_json(item) for key, item in value.items()}
        case list() | tuple():
            return [clean_json(item) for item in value]
        case _:
            return value


def one_line(text: str) -> str:
    """Return clean text with a blank for every line break."""
    text = clean(text).strip()
    return " ".join(filter(None, map(str.strip, text.split("\n")))) if "\n" in text else text


def cell_text(value: Cell) -> str:
    """Return a cell as a reader expects it: nothing for `None`, `true`, `12` for 12.0."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if not math.isfinite(value):
            return ""
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return clean(str(value)).strip()


class RectangularTable(NamedTuple):
    """A table with every line of the same width, so that ragged input cannot shift a column."""

    headers: list[str]
    rows: list[list[str]]


def grid(content: Mapping[str, Any]) -> RectangularTable:
    """Return the cells of a table as what they show, padded to the widest line."""
    headers, rows = content.get("headers", []), content.get("rows", [])
    shown = content.get("shown_rows", [])
    width = columns(headers, rows)
    return RectangularTable(
        _padded(headers, width, content.get("shown_headers", ())),
        [_padded(row, width, shown[at] if at < len(shown) else ()) for at, row in enumerate(rows)],
    )


def columns(headers: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> int:
    """How many columns the widest line has."""
    return max([len(headers), *map(len, rows)])


def _padded(line: Sequence[Cell], width: int, shown: Sequence[str | None] = ()) -> list[str]:
    texts = [cell_text(value) for value in line] + [""] * (width - len(line))
    for at, text in enumerate(shown[: len(line)]):
        if text is not None:
            texts[at] = clean(text).strip()
    return texts


def window_note(content: TableContent) -> str:
    """Say which rows of a longer table these are, or nothing when they are all."""
    if not is_window(content):
        return ""
    first = content.get("row_offset", 0)
    last = first + len(content["rows"])
    shown = f"rows {first + 1}-{last}" if content["rows"] else "no rows"
    return f"{shown} of {content.get('total_rows', last)}"


def is_window(content: TableContent) -> bool:
    """Whether the table has more rows than these."""
    return content.get("row_offset", 0) > 0 or content.get("total_rows", 0) > len(content["rows"])


class RenderedItem(NamedTuple):
    """A list item in one form, whichever way its author wrote it."""

    text: str
    checked: bool | None
    children: ListContent | None
    spans: Sequence[Mapping[str, Any]] = ()


def items_of(content: ListContent) -> Iterator[RenderedItem]:
    """Yield the items of this list, not of those inside it."""
    for item in content["items"]:
        yield _item(item)


def all_items_of(content: ListContent) -> Iterator[RenderedItem]:
    """Yield the items of this list and of all lists inside it, in reading order, without children."""
    # An explicit stack: hostile documents nest deeper than Python recurses.
    stack = [items_of(content)]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
            continue
        yield item._replace(children=None)
        if item.children:
            stack.append(items_of(item.children))


def _item(item: str | ListItem) -> RenderedItem:
    if isinstance(item, str):
        return RenderedItem(item, None, None)
    return RenderedItem(item["text"], item.get("checked"), item.get("children"), item.get("spans", ()))
