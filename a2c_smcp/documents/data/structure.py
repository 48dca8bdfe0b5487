"""Values of JSON as elements: records are tables, plain values lists or lines, the rest is shown as it is. Pure."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from a2c_smcp.documents.formats.elements import ElementMaker
from a2c_smcp.documents.model import Element

WINDOW_ROWS: Final = 200
MAX_COLUMNS: Final = 100
MAX_CODE: Final = 20_000
MAX_DEPTH: Final = 4
"""Deeper levels are shown as JSON: a tree of headings helps nobody."""

LIST_ITEMS: Final = 200
SMALL: Final = 2_000
_MAX_SPREAD: Final = 5

Json: TypeAlias = Any


def elements_of_value(value: Json, maker: ElementMaker, *, name: str = "", level: int = 1) -> Iterator[Element]:
    """Yield the elements of a value; `name` is what its heading says."""
    if name:
        yield maker.make("heading", {"level": min(level, 6), "text": name})
    if isinstance(value, dict) and value:
        yield from _object(value, maker, level)
    elif isinstance(value, list) and value:
        yield from _array(value, maker, level)
    else:
        yield from code_elements(written(value), maker)


def records_table(
    records: Sequence[Mapping[str, Json]], *, offset: int = 0, total: int | None = None
) -> dict[str, Any]:
    """Return objects as the content of a table: a column for each key."""
    columns = list(dict.fromkeys(key for record in records for key in record))
    shown = columns[:MAX_COLUMNS]
    rows = [[cell(record.get(key)) for key in shown] for record in records]
    if len(columns) > MAX_COLUMNS:
        shown = [*shown, "…"]
        for row, record in zip(rows, records, strict=True):
            row.append(written({key: record[key] for key in columns[MAX_COLUMNS:] if key in record}, indent=None))
    content: dict[str, Any] = {"headers": shown, "rows": rows}
    if total is not None and total > len(records):
        content |= {"row_offset": offset, "total_rows": total}
    return content


def are_records(values: Sequence[Json]) -> bool:
    """Whether values are objects that share their keys, as the rows of a table do."""
    if not values or not all(isinstance(value, dict) and value for value in values):
        return False
    keys = {key for value in values for key in value}
    mean = sum(map(len, values)) / len(values)
    return len(values) == 1 or mean >= 0.4 * len(keys) or len(keys) <= 12


def cell(value: Json) -> str | int | float | bool | None:
    """Return a value as a cell; what nests as JSON."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return written(value, indent=None)


def written(value: Json, *, indent: int | None = 2) -> str:
    """Return a value as JSON text, on one line where it nests so deeply that it would be mostly blanks."""
    compact = json.dumps(value, ensure_ascii=False)
    if indent is None:
        return compact
    pretty = json.dumps(value, ensure_ascii=False, indent=indent)
    return pretty if len(pretty) < 200 + _MAX_SPREAD * len(compact) else compact


def code_elements(text: str, maker: ElementMaker, language: str = "json") -> Iterator[Element]:
    """Yield text as code, cut at line ends into pieces of a sane size."""
    piece: list[str] = []
    size = 0
    for line in text.split("\n"):
        for start in range(0, max(len(line), 1), MAX_CODE):
            part = line[start : start + MAX_CODE]
            if piece and size + len(part) > MAX_CODE:
                yield maker.make("code", {"text": "\n".join(piece), "language": language})
                piece, size = [], 0
            piece.append(part)
            size += len(part) + 1
    if any(piece):
        yield maker.make("code", {"text": "\n".join(piece), "language": language})


def shape_of(value: Json) -> str:
    """Return what a value is, in a line."""
    if isinstance(value, dict):
        keys = ", ".join(list(value)[:12])
        return f"Object of {len(value)} {'key' if len(value) == 1 else 'keys'}: {keys}" if value else "Empty object"
    if isinstance(value, list):
        kind = ("record" if are_records(value) else "value") + ("" if len(value) == 1 else "s")
        columns = list(dict.fromkeys(key for item in value[:50] if isinstance(item, dict) for key in item))[:12]
        told = f": {', '.join(columns)}" if columns else ""
        return f"{len(value)} {kind}{told}" if value else "Empty list"
    return f"A single value: {written(value)}"


def _object(value: Mapping[str, Json], maker: ElementMaker, level: int) -> Iterator[Element]:
    plain = {key: item for key, item in value.items() if not isinstance(item, (dict, list)) or not item}
    nested = {key: item for key, item in value.items() if key not in plain}
    if plain:
        rows = [[key, cell(item)] for key, item in plain.items()]
        for start in range(0, len(rows), WINDOW_ROWS):
            shown: dict[str, Any] = {"headers": ["key", "value"], "rows": rows[start : start + WINDOW_ROWS]}
            if len(rows) > WINDOW_ROWS:
                shown |= {"row_offset": start, "total_rows": len(rows)}
            yield maker.make("table", shown)
    for key, item in nested.items():
        if level >= MAX_DEPTH or (isinstance(item, dict) and level > 1 and len(written(item, indent=None)) < 200):
            yield maker.make("heading", {"level": min(level + 1, 6), "text": key})
            yield from code_elements(written(item), maker)
        else:
            yield from elements_of_value(item, maker, name=key, level=level + 1)


def _array(value: Sequence[Json], maker: ElementMaker, level: int) -> Iterator[Element]:
    if are_records(value) and not _is_rich(value):
        for start in range(0, len(value), WINDOW_ROWS):
            shown = value[start : start + WINDOW_ROWS]
            yield maker.make("table", records_table(shown, offset=start, total=len(value)))
    elif not any(isinstance(item, (dict, list)) for item in value):
        for start in range(0, len(value), LIST_ITEMS):
            items = [item if isinstance(item, str) else written(item) for item in value[start : start + LIST_ITEMS]]
            yield maker.make("list", {"ordered": False, "items": items})
    elif _is_grid(value):
        rows = [[cell(item) for item in line] for line in value]
        for start in range(0, len(rows), WINDOW_ROWS):
            content: dict[str, Any] = {"headers": [], "rows": rows[start : start + WINDOW_ROWS]}
            yield maker.make(
                "table", content | ({"row_offset": start, "total_rows": len(rows)} if len(rows) > WINDOW_ROWS else {})
            )
    elif level < MAX_DEPTH and len(value) <= LIST_ITEMS and all(isinstance(item, dict) and item for item in value):
        for number, item in enumerate(value, start=1):
            yield from elements_of_value(item, maker, name=_name_of(item, number), level=level + 1)
    else:
        yield from code_elements(written(value), maker)


def _is_rich(records: Sequence[Mapping[str, Json]]) -> bool:
    """Whether records hold so much in their cells that a table of them could not be read."""
    sample = records[:50]
    longest = max(
        (
            len(written(item, indent=None))
            for record in sample
            for item in record.values()
            if isinstance(item, (dict, list))
        ),
        default=0,
    )
    return longest > SMALL


def _is_grid(value: Sequence[Json]) -> bool:
    return all(
        isinstance(line, list) and line and not any(isinstance(item, (dict, list)) for item in line) for line in value
    )


def _name_of(item: Mapping[str, Json], number: int) -> str:
    named = next((item[key] for key in ("title", "name", "id", "key") if isinstance(item.get(key), (str, int))), None)
    return f"{number}. {named}" if named is not None else f"{number}."
