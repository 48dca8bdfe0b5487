"""Text that an engine answers as blocks: a layout in JSON as dots.ocr gives it, or Markdown with tables in HTML."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from a2c_smcp.documents.embedded_markdown import elements_of_markdown
from a2c_smcp.documents.formats.elements import ElementMaker
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.ocr.model import Box, OcrBlock
from a2c_smcp.documents.web.page import elements_of_html
from a2c_smcp.errors import DocumentError

MAX_BLOCKS: Final = 5_000

_FENCE = re.compile(r"\A\s*```(?:markdown|md|json|html|text)?[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL | re.IGNORECASE)
_TABLE = re.compile(r"<table\b.*?</table\s*>", re.DOTALL | re.IGNORECASE)
_FORMULA = re.compile(r"\A\s*(?:\$\$|\\\[)?(.*?)(?:\$\$|\\\])?\s*\Z", re.DOTALL)
_BULLET = re.compile(r"\A\s*(?:[-*•·]|(\d{1,3})[.)])\s+")
_PICTURE_IN_ITSELF = re.compile(r"!\[([^\]\n]{0,200})\]\(data:[^)\s]*\)")


def blocks_of(text: str) -> tuple[OcrBlock, ...]:
    """Return the blocks of an answer in reading order."""
    fenced = _FENCE.match(text)
    text = fenced[1] if fenced else text
    layout = _layout(text)
    if layout is not None:
        return tuple(_from_layout(layout))
    maker = ElementMaker()
    found: list[Element] = []
    place = 0
    text = _PICTURE_IN_ITSELF.sub(r"\1", text)
    for table in _TABLE.finditer(text):
        found += elements_of_markdown(text[place : table.start()], maker)
        found += _html(table[0], maker)
        place = table.end()
    found += elements_of_markdown(text[place:], maker)
    return tuple(OcrBlock(element.category, element.content) for element in found)


def _layout(text: str) -> Sequence[Mapping[str, Any]] | None:
    """Return the cells of a layout, None when the text is none."""
    start = text.lstrip()[:1]
    if start not in ("[", "{") or '"bbox"' not in text:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        value = next((part for part in value.values() if isinstance(part, list)), None)
    if not isinstance(value, list):
        return None
    cells = [cell for cell in value if isinstance(cell, dict) and _box(cell.get("bbox"))]
    return cells[:MAX_BLOCKS] or None


def _from_layout(cells: Sequence[Mapping[str, Any]]) -> Iterator[OcrBlock]:
    items: list[Mapping[str, Any]] = []
    for cell in [*cells, {}]:
        kind = str(cell.get("category", "")).lower()
        if kind == "list-item":
            items.append(cell)
            continue
        if items:
            yield _list(items)
            items = []
        if cell:
            yield from _block(kind, str(cell.get("text") or "").strip(), _box(cell["bbox"]))


def _block(kind: str, text: str, box: Box | None) -> Iterator[OcrBlock]:
    match kind:
        case "title" | "section-header":
            level = len(text) - len(text.lstrip("#"))
            content = {"level": min(level, 6) or (1 if kind == "title" else 2), "text": text.lstrip("#").strip()}
            yield OcrBlock("heading", content, box)
        case "table":
            tables = [part for part in _html(text, ElementMaker()) if part.category == "table"] if "<" in text else []
            for table in tables:
                yield OcrBlock("table", table.content, box)
            if not tables and text:
                yield OcrBlock("text", {"text": text}, box)
        case "formula":
            match = _FORMULA.match(text)
            yield OcrBlock("formula", {"expression": match[1] if match else text, "notation": "latex"}, box)
        case "picture":
            yield OcrBlock("image", {"alt": "", "text": text} if text else {"alt": ""}, box)
        case "page-header" | "page-footer":
            yield OcrBlock("header" if kind == "page-header" else "footer", {"text": text}, box)
        case "footnote":
            yield OcrBlock("annotation", {"text": text, "annotation_type": "footnote"}, box)
        case _ if text:
            yield OcrBlock("text", {"text": text}, box)


def _list(cells: Sequence[Mapping[str, Any]]) -> OcrBlock:
    texts = [str(cell.get("text") or "").strip() for cell in cells]
    first = _BULLET.match(texts[0])
    number = first[1] if first else None
    content: dict[str, Any] = {"ordered": number is not None, "items": [_BULLET.sub("", text) for text in texts]}
    if number not in (None, "1"):
        content["start"] = int(number or 1)
    boxes = [box for cell in cells if (box := _box(cell.get("bbox")))]
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return OcrBlock("list", content, (min(x0), min(y0), max(x1), max(y1)))


def _html(text: str, maker: ElementMaker) -> list[Element]:
    try:
        return elements_of_html(text, maker)
    except DocumentError:
        return []


def _box(value: Any) -> Box | None:
    if not isinstance(value, list) or len(value) != 4 or not all(isinstance(part, (int, float)) for part in value):
        return None
    x0, y0, x1, y1 = (float(part) for part in value)
    return (x0, y0, x1, y1) if 0 <= x0 <= x1 < 1e6 and 0 <= y0 <= y1 < 1e6 else None
