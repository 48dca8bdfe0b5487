"""From a tree of HTML to elements in reading order."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.documents.formats.elements import ElementMaker
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.rich_text import RichText, item_content, text_content
from a2c_smcp.documents.web.controls import (
    CONTROLS,
    embedded,
    form_content,
    image_content,
    is_shown,
    labels_of,
    media_content,
    widget_content,
)
from a2c_smcp.documents.web.inline import BLOCKS, SILENT, InlineText, is_outside, span_of, text_of
from a2c_smcp.documents.web.lists import LISTS, is_terms, items_of, list_content, start_of, terms_content
from a2c_smcp.documents.web.parse import attribute, children
from a2c_smcp.documents.web.tables import cells_of, is_layout, rows_of, table_contents
from a2c_smcp.types import ElementCategory

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_DEPTH: Final = 150
"""What nests deeper is taken as text: no page that people write does."""

MAX_ITEMS: Final = 300
"""Longer lists become several."""

MAX_TEXT: Final = 20_000
"""Longer paragraphs become several."""

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?|sourceCode)[-\s:]+([\w+#.-]+)", re.I
)
_NOTES: Final = "doc-endnotes doc-footnotes doc-footnote doc-endnote footnotes footnote endnotes rearnote rearnotes"
_NOTE_ROLES: Final = frozenset(_NOTES.split())
_NOTE_ID = re.compile(r"(?:fn|footnote|cite_note|endnote|note)[-_:]?[\w.:-]*\d", re.IGNORECASE)
_BACK_LINK = re.compile(r"^\s*[\^↑]\s*(?:[a-z]\b\s*)*(?=\S)|[\s↑↩↵⏎\ufe0e]+$")
# The sign by which generators of documentation let a reader link to a heading.
_PERMALINK = re.compile(r"\s*[¶\U0001f517\uf0c1]$")
_DIAGRAMS: Final = frozenset({"mermaid", "plantuml", "dot", "graphviz"})
_RICH_ITEM: Final = "pre, table, figure, form, h1, h2, h3, h4, h5, h6, blockquote, video, audio, iframe"


@dataclass(frozen=True, slots=True)
class WalkPosition:
    """Where in the page the walk is."""

    depth: int = 0
    quoted: int = 0
    """How many quotes are around it."""
    region: str = ""
    """header, footer or navigation, outside the main content."""

    def deeper(self, **changes: Any) -> "WalkPosition":
        """Return the place one level further down."""
        return replace(self, depth=self.depth + 1, **changes)


class HtmlElementBuilder:
    """Makes the elements of a page.

    Attributes:
        elements: What was found so far, in reading order.
        skip: Nodes, by their ids, that are read at another time.
    """

    def __init__(self, maker: ElementMaker, base: str = "", skip: Iterable[int] = ()) -> None:
        self.elements: list[Element] = []
        self.skip = frozenset(skip)
        self._maker = maker
        self._base = base
        self._handlers: Mapping[str, Callable[[LexborNode, WalkPosition], None]] = {
            **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), self._heading),
            **dict.fromkeys(("ul", "ol", "menu", "dir"), self._list),
            **dict.fromkeys(("pre", "listing", "xmp", "plaintext"), self._code),
            **dict.fromkeys(("iframe", "embed", "object", "frame"), self._embedded),
            **dict.fromkeys(("audio", "video"), self._media),
            **dict.fromkeys(("script", "style", "template", "head"), self._silent),
            "dl": self._terms,
            "table": self._table,
            "blockquote": self._quote,
            "figure": self._figure,
            "form": self._form,
            "hr": self._rule,
            "math": self._math,
        }

    def walk(self, parent: "LexborNode", place: WalkPosition | None = None) -> None:
        """Read everything inside a node."""
        place = place or WalkPosition()
        if self._is_too_deep(parent, place):
            return
        run: list[LexborNode] = []
        for node in children(parent):
            if node.mem_id in self.skip:
                continue
            if self._is_inline(node):
                run.append(node)
                continue
            self._paragraph(run, place)
            run = []
            self.block(node, place)
        self._paragraph(run, place)

    def block(self, node: "LexborNode", place: WalkPosition) -> None:
        """Read a node that begins a block."""
        if self._is_too_deep(node, place):
            return
        if _is_note(node):
            self._note(node, place)
            return
        handler = self._handlers.get(node.tag or "")
        if handler is None:
            self.walk(node, place.deeper(region=_region(node) or place.region))
        else:
            handler(node, place)

    def _is_too_deep(self, node: "LexborNode", place: WalkPosition) -> bool:
        if place.depth <= MAX_DEPTH:
            return False
        self._text(RichText(" ".join(node.text(deep=True, separator=" ").split())), place)
        return True

    def _is_inline(self, node: "LexborNode") -> bool:
        if node.is_text_node:
            return True
        tag = node.tag or ""
        if tag in BLOCKS:
            return False
        if tag in SILENT:
            return tag == "script" and attribute(node, "type").startswith("math/tex")
        # An inline element around blocks is no longer one.
        inner = node.first_child
        return inner is None or not any(child.tag in BLOCKS for child in node.traverse(include_text=False))

    def _make(self, category: ElementCategory, content: Mapping[str, Any], place: WalkPosition, **extra: Any) -> None:
        metadata: dict[str, Any] = {key: value for key, value in extra.items() if value}
        if place.quoted:
            metadata["quoted"] = True
        if place.quoted > 1:
            metadata["level"] = place.quoted
        if place.region:
            metadata["region"] = place.region
        self.elements.append(self._maker.make(category, content, metadata))

    def _paragraph(self, nodes: "list[LexborNode]", place: WalkPosition) -> None:
        if not nodes:
            return
        span = span_of(nodes, self._base)
        text = span.rich
        if text and not span.plain_characters and span.formulas and len(span.formulas) == 1 and not span.links:
            self._make("formula", {"expression": span.formulas[0], "notation": "latex"}, place)
        elif text and not span.plain_characters and _are_links(span):
            for link in span.links:
                self._make("link", link, place)
        else:
            self._text(text, place)
        self._loose(span, place)

    def _loose(self, span: InlineText, place: WalkPosition, caption: str = "") -> None:
        """Make elements of the pictures and controls that stood in a text."""
        for image in span.images:
            content = image_content(image, self._base)
            if caption:
                content = content | {"description": caption}
            if any(content.get(key) for key in ("alt", "url", "text", "description")) or image.tag == "img":
                self._make("image", content, place)
        for control in span.controls:
            if is_shown(control):
                self._make("widget", widget_content(control, None, self._base), place)

    def _text(self, text: RichText, place: WalkPosition) -> None:
        category: ElementCategory = "text"
        if place.region in ("header", "footer"):
            category = "header" if place.region == "header" else "footer"
        length = len(text.text)
        for start in range(0, length, MAX_TEXT):
            part = text.cut(start, start + MAX_TEXT) if length > MAX_TEXT else text
            self._make(category, text_content(part), place)

    def _heading(self, node: "LexborNode", place: WalkPosition) -> None:
        span = span_of(list(children(node)), self._base)
        text = span.rich.one_line().replaced(_PERMALINK, "").without_whole("strong")
        if text:
            self._make("heading", text_content(text, level=int((node.tag or "h1")[1])), place)
        self._loose(span, place)

    def _list(self, node: "LexborNode", place: WalkPosition) -> None:
        """Read a list; an item that holds code or a table divides it, so that those are elements, too."""
        items = [item for item in items_of(node) if item.mem_id not in self.skip]
        number = start_of(node)
        rich = node.css_first(_RICH_ITEM) is not None
        pending: list[LexborNode] = []
        for item in items:
            if len(pending) >= MAX_ITEMS:
                self._flush(node, pending, number, place)
                number, pending = number + len(pending), []
            if item.tag == "li" and not (rich and item.css_first(_RICH_ITEM) is not None):
                pending.append(item)
                continue
            if item.tag != "li" and item.tag not in LISTS and not item.is_text_node:
                self._flush(node, pending, number, place)
                number, pending = number + len(pending), []
                self.block(item, place.deeper())
                continue
            if item.tag == "li":
                self._flush(node, pending, number, place)
                number, pending = number + len(pending) + 1, []
                self._rich_item(node, item, number - 1, place)
            else:
                pending.append(item)
        self._flush(node, pending, number, place)

    def _rich_item(self, node: "LexborNode", item: "LexborNode", number: int, place: WalkPosition) -> None:
        lead = span_of([child for child in children(item) if self._is_inline(child)], self._base)
        first = next(iter(children(item)), None)
        if lead.text and first is not None and self._is_inline(first):
            content = {"ordered": node.tag == "ol", "items": [item_content(lead.rich)]}
            self._make("list", content | {"start": number} if node.tag == "ol" and number != 1 else content, place)
            self._loose(lead, place)
            for child in children(item):
                if not self._is_inline(child):
                    self.block(child, place.deeper())
        else:
            self.walk(item, place.deeper())

    def _flush(self, node: "LexborNode", items: "list[LexborNode]", number: int, place: WalkPosition) -> None:
        if not items:
            return
        content = list_content(node, items, self._base, number)
        span = span_of(items, self._base)
        if any(content["items"]):
            self._make("list", content, place)
        boxes = [control for control in span.controls if attribute(control, "type") != "checkbox"]
        self._loose(replace(span, controls=boxes), place)

    def _terms(self, node: "LexborNode", place: WalkPosition) -> None:
        if node.css_first(_RICH_ITEM) is not None or not is_terms(node):
            self.walk(node, place.deeper())
            return
        content = terms_content(node, self._base)
        if content["items"]:
            self._make("list", content, place)
        self._loose(span_of(list(children(node)), self._base), place)

    def _code(self, node: "LexborNode", place: WalkPosition) -> None:
        text = node.text(deep=True).strip("\n").rstrip()
        inner = node.css_first("code")
        parent = node.parent
        classes = " ".join(attribute(part, "class") for part in (node, inner, parent) if part is not None)
        match = _LANGUAGE.search(classes)
        language = match[1].lower() if match else ""
        language = language or attribute(node, "lang").lower()
        if language in _DIAGRAMS or "mermaid" in classes.split():
            self._make("diagram", {"source": text, "language": language or "mermaid"}, place)
        elif text:
            self._make("code", {"text": text, "language": language} if language else {"text": text}, place)

    def _table(self, node: "LexborNode", place: WalkPosition) -> None:
        if is_layout(node):
            for row in rows_of(node):
                for cell in cells_of(row):
                    self.walk(cell, place.deeper())
            return
        for content in table_contents(node, self._base):
            if any(content["headers"]) or any(any(row) for row in content["rows"]):
                self._make("table", content, place)
            else:
                self._text(RichText(content.get("caption", "")), place)
        self._loose(span_of(list(children(node)), self._base), place)

    def _quote(self, node: "LexborNode", place: WalkPosition) -> None:
        self.walk(node, place.deeper(quoted=place.quoted + 1))

    def _figure(self, node: "LexborNode", place: WalkPosition) -> None:
        caption = next((child for child in children(node) if child.tag == "figcaption"), None)
        told = text_of(caption, self._base) if caption is not None else RichText()
        start = len(self.elements)
        rest = [child for child in children(node) if child.tag != "figcaption"]
        run = [child for child in rest if self._is_inline(child)]
        self._paragraph(run, place)
        for child in rest:
            if not self._is_inline(child):
                self.block(child, place.deeper())
        for number in range(start, len(self.elements)):
            captioned = _captioned(self.elements[number], told.text)
            if told and captioned:
                self.elements[number] = captioned
                return
        self._text(told, place)

    def _form(self, node: "LexborNode", place: WalkPosition) -> None:
        content = form_content(node, self._base)
        taken = [*node.css(", ".join(sorted(CONTROLS))), *labels_of(node)]
        if content["fields"]:
            self._make("form", content, place)
        before, self.skip = self.skip, self.skip | {part.mem_id for part in taken}
        self.walk(node, place.deeper())
        self.skip = before

    def _media(self, node: "LexborNode", place: WalkPosition) -> None:
        self._make("audio" if node.tag == "audio" else "video", media_content(node, self._base), place)

    def _embedded(self, node: "LexborNode", place: WalkPosition) -> None:
        category, content = embedded(node, self._base)
        if content.get("url") or content.get("value") or content.get("description"):
            self._make(category, content, place)

    def _math(self, node: "LexborNode", place: WalkPosition) -> None:
        self._paragraph([node], place)

    def _rule(self, _: "LexborNode", place: WalkPosition) -> None:
        self._make("separator", {"separator_type": "line"}, place)

    def _silent(self, _: "LexborNode", __: WalkPosition) -> None:
        """Nobody reads these."""

    def _note(self, node: "LexborNode", place: WalkPosition) -> None:
        """Make annotations of footnotes: of each item where they come as a list."""
        lists = [node] if node.tag in LISTS else [child for child in children(node) if child.tag in LISTS]
        notes = [item for listed in lists for item in children(listed) if item.tag == "li"]
        if not notes:
            self._annotation(node, place)
            return
        if node.tag not in LISTS:
            before, self.skip = self.skip, self.skip | {listed.mem_id for listed in lists}
            self.walk(node, place.deeper())
            self.skip = before
        for number, note in enumerate(notes, start=1):
            self._annotation(note, place, str(number))

    def _annotation(self, node: "LexborNode", place: WalkPosition, number: str = "") -> None:
        span = span_of(list(children(node)), self._base)
        text = span.rich.replaced(_BACK_LINK, "").strip()
        if text:
            content = text_content(text) | {"annotation_type": "footnote"}
            self._make("annotation", content | {"target": number} if number else content, place)
        self._loose(span, place)


def _captioned(element: Element, caption: str) -> Element | None:
    key = {"image": "description", "table": "caption", "video": "description", "audio": "description"}.get(
        element.category
    )
    if key is None or element.content.get(key):
        return None
    return replace(element, content={**element.content, key: caption})


def _are_links(span: InlineText) -> bool:
    return bool(span.links) and all(link["text"] and is_outside(link["url"]) for link in span.links)


def _region(node: "LexborNode") -> str:
    role = attribute(node, "role")
    if node.tag == "nav" or role == "navigation":
        return "navigation"
    if role in ("contentinfo", "banner"):
        return "footer" if role == "contentinfo" else "header"
    parent = node.parent
    if node.tag in ("header", "footer") and parent is not None and parent.tag == "body":
        return node.tag
    return ""


def _is_note(node: "LexborNode") -> bool:
    if node.is_text_node:
        return False
    attributes = node.attributes
    roles = {attributes.get("role") or "", *(attributes.get("epub:type") or "").split()}
    if roles & _NOTE_ROLES:
        return True
    if node.tag in LISTS:
        first = node.css_first("li")
        return first is not None and bool(_NOTE_ID.match(attribute(first, "id")))
    return bool({"footnotes", "footnote"} & set(attribute(node, "class").split())) and node.tag in (
        "div",
        "section",
        "aside",
    )
