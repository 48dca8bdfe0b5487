"""Lists with their nesting, and lists of terms. Pure, but for the tree it reads."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.documents.rich_text import RichText, item_content, text_content
from a2c_smcp.documents.web.inline import InlineText, span_of, text_of
from a2c_smcp.documents.web.parse import attribute, children, names

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

LISTS: Final = names("ul ol menu dir")
MAX_DEPTH: Final = 12
"""Lists nested deeper go on at this depth as text."""


def list_content(node: "LexborNode", items: "list[LexborNode]", base: str, number: int = 1) -> dict[str, Any]:
    """Return a list of these items; `number` is that of the first."""
    content: dict[str, Any] = {
        "ordered": node.tag == "ol",
        "items": [item for child in items for item in _items(child, base, 1)],
    }
    if not content["ordered"]:
        content["items"] = [item for item in content["items"] if item]  # nothing but a picture or a button
    return content | {"start": number} if node.tag == "ol" and number != 1 else content


def items_of(node: "LexborNode") -> "Iterator[LexborNode]":
    """Yield what makes the items of a list: `li`, and what badly written pages put beside it."""
    for child in children(node):
        if not child.is_text_node or (child.text_content or "").strip():
            yield child


def start_of(node: "LexborNode") -> int:
    """Return the number of the first item."""
    written = attribute(node, "start")
    return int(written) if written.isdecimal() and len(written) < 9 else 1


def terms_content(node: "LexborNode", base: str) -> dict[str, Any]:
    """Return a list of terms, each with its explanations below it."""
    items: list[Any] = []
    for child in _terms(node, 0):
        text = text_of(child, base)
        if child.tag == "dt":
            items.append(text_content(text))
        elif text and items:
            items[-1].setdefault("children", {"ordered": False, "items": []})["items"].append(item_content(text))
        elif text:
            items.append(text_content(text))
    return {"ordered": False, "items": [item if len(item) > 1 else item["text"] for item in items]}


def is_terms(node: "LexborNode", depth: int = 0) -> bool:
    """Whether a `dl` holds nothing but terms and explanations, as it should."""
    for child in children(node):
        if child.is_text_node:
            if (child.text_content or "").strip():
                return False
        elif child.tag == "div":
            if depth >= MAX_DEPTH or not is_terms(child, depth + 1):
                return False
        elif child.tag not in ("dt", "dd"):
            return False
    return True


def _terms(node: "LexborNode", depth: int) -> "Iterator[LexborNode]":
    for child in children(node):
        if child.tag in ("dt", "dd"):
            yield child
        elif child.tag == "div" and depth < MAX_DEPTH:
            yield from _terms(child, depth + 1)


def _items(node: "LexborNode", base: str, depth: int) -> Iterator[Any]:
    if node.tag in LISTS:  # a list directly inside a list
        for child in items_of(node):
            yield from _items(child, base, depth)
        return
    if node.tag != "li":
        span = span_of([node], base)
        if span.rich:
            yield item_content(span.rich)
        return
    nested: list[LexborNode] = []
    own: list[LexborNode] = []
    _split(node, own, nested, 0)
    span = span_of(own, base)
    item: dict[str, Any] = text_content(span.rich or RichText(_pictured(span)))
    box = next((control for control in span.controls if attribute(control, "type") == "checkbox"), None)
    if box is not None:
        item["checked"] = "checked" in box.attributes
    if nested:
        item |= _nested(nested, base, depth)
    yield item["text"] if len(item) == 1 else item


def _nested(nested: "list[LexborNode]", base: str, depth: int) -> dict[str, Any]:
    if depth >= MAX_DEPTH:
        below: list[Any] = [" ".join(node.text(deep=True).split()) for node in nested]
    else:
        below = [item for node in nested for child in items_of(node) for item in _items(child, base, depth + 1)]
    children_of: dict[str, Any] = {"ordered": nested[0].tag == "ol", "items": below}
    start = start_of(nested[0])
    if children_of["ordered"] and start != 1:
        children_of["start"] = start
    return {"children": children_of} if below else {}


def _split(node: "LexborNode", own: "list[LexborNode]", nested: "list[LexborNode]", depth: int) -> None:
    """Divide what is in an item into what it says itself and the lists in it."""
    for child in children(node):
        if child.tag in LISTS:
            nested.append(child)
        elif child.tag in ("div", "section", "nav", "article") and depth < 8 and _has_list(child):
            _split(child, own, nested, depth + 1)
        else:
            own.append(child)


def _has_list(node: "LexborNode") -> bool:
    return any(child.tag in LISTS or (child.tag == "div" and child.css_first("ul, ol")) for child in children(node))


def _pictured(span: InlineText) -> str:
    return next((attribute(image, "alt") for image in span.images if attribute(image, "alt")), "")
