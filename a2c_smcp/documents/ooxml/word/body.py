"""The body of a document as a stream of elements and breaks, in reading order."""

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.word.controls import read_control
from a2c_smcp.documents.ooxml.word.drawings import read_drawing
from a2c_smcp.documents.ooxml.word.inline import Inline, InlineReader
from a2c_smcp.documents.ooxml.word.lists import WordListItem, list_content
from a2c_smcp.documents.ooxml.word.notes import margins
from a2c_smcp.documents.ooxml.word.styles import Level, Numbering, ParagraphStyle, Styles
from a2c_smcp.documents.ooxml.word.tables import cells_of, is_box, read_table, rows_of
from a2c_smcp.documents.ooxml.xml import Node, attribute, child, descendants, is_on, local, number, text_of, value_of
from a2c_smcp.documents.rich_text import PLAIN, RichText, joined, text_content

MAX_NESTING: Final = 12
"""Tables inside tables deeper than that are read as text."""

_TASK_SIGNS: Final = "☐☑☒✓✗"


@dataclass(frozen=True, slots=True)
class Break:
    """Where a page ends: at an author's wish, or where the last program to lay it out had to turn the page."""

    kind: Literal["explicit", "rendered"]


Item: TypeAlias = Draft | Break


@dataclass(slots=True)
class Beside:
    """The notes and comments of a document; those that the text names are taken out."""

    footnotes: dict[str, str] = field(default_factory=dict)
    endnotes: dict[str, str] = field(default_factory=dict)
    comments: dict[str, dict[str, Any]] = field(default_factory=dict)


class BodyReader:
    """Reads the blocks of one part in their order."""

    def __init__(self, package: Package, part: str, styles: Styles, numbering: Numbering, beside: Beside) -> None:
        self._package = package
        self._part = part
        self._styles = styles
        self._numbering = numbering
        self._beside = beside
        self._inline = InlineReader(package, part, styles)
        self._list: list[WordListItem] = []
        self._code: list[str] = []
        self._waiting: list[Item] = []
        self._told: set[str] = set()
        self._sections: list[Node] = []
        self._section_at: dict[Node, int] = {}
        self._initial = PLAIN

    def read(self, body: Node) -> Iterator[Item]:
        """Yield the elements and breaks of a body, with the margins of each section where it begins."""
        self._sections = list(descendants(body, "sectPr"))
        self._section_at = {section: at for at, section in enumerate(self._sections)}
        yield from self._margins(0)
        yield from self._blocks(body, depth=0)
        yield from self._flush()
        yield from self._left_over()

    def read_box(self, node: Node) -> list[Draft]:
        """Return what is in a text box; a list that is being read outside goes on after it."""
        outside = self._list, self._code, self._waiting
        self._list, self._code, self._waiting = [], [], []
        found = [*self._blocks(node, depth=MAX_NESTING // 2), *self._flush()]
        self._list, self._code, self._waiting = outside
        return [item for item in found if isinstance(item, Draft)]

    def _blocks(self, parent: Node, depth: int) -> Iterator[Item]:
        for node in parent:
            match local(node):
                case "p":
                    yield from self._paragraph(node)
                    yield from self._section_end(node)
                case "tbl":
                    yield from self._flush()
                    yield from self._table(node, depth)
                case "sdt":
                    yield from self._control(node, depth)
                case "oMathPara" | "oMath":
                    yield from self._flush()
                    yield from self._formulas(self._inline.read(_wrapped(node)))
                case "ins" | "moveTo" | "customXml" | "smartTag" | "sdtContent":
                    yield from self._blocks(node, depth)

    def _section_end(self, paragraph: Node) -> Iterator[Item]:
        section = child(paragraph, "pPr", "sectPr")
        following = self._section_at.get(section, -2) + 1 if section is not None else -1
        if not 0 <= following < len(self._sections):
            return
        yield from self._flush()
        if value_of(self._sections[following], "type", default="nextPage") != "continuous":
            yield Break("explicit")
        yield from self._margins(following)

    def _margins(self, index: int) -> Iterator[Draft]:
        if index < len(self._sections):
            for category, pages, text in margins(self._sections[index], self._package, self._part):
                key = f"{category} {pages} {text}"
                if key not in self._told:
                    self._told.add(key)
                    yield Draft("header" if category == "header" else "footer", {"text": text}, {"pages": pages})

    def _control(self, node: Node, depth: int) -> Iterator[Item]:
        content = child(node, "sdtContent")
        if content is not None:
            yield from self._blocks(content, depth)
        control = read_control(node, "")
        if control and content is not None:
            control.value = control.value if control.kind == "checkbox" else _all_text(content)
            yield from self._flush()
            yield Draft("widget", control.as_widget())

    def _paragraph(self, node: Node) -> Iterator[Item]:
        properties = child(node, "pPr")
        style = self._styles.get(value_of(properties, "pStyle"))
        inline = self._inline.read(node)
        if _is_initial(properties, inline):
            self._initial = inline.rich
            return
        if self._initial:
            inline.rich, self._initial = joined((self._initial, inline.rich)), PLAIN
        if inline.breaks_before or _is_on_child(properties, "pageBreakBefore"):
            yield from self._flush()
            yield Break("explicit" if _has_page_break(node, properties) else "rendered")
        yield from self._placed(node, properties, style, inline)
        if inline.breaks_after:
            yield from self._flush()
            yield Break("explicit" if _has_page_break(node, None) else "rendered")

    def _placed(self, node: Node, properties: Node | None, style: ParagraphStyle, inline: Inline) -> Iterator[Item]:
        heading = _heading_level(properties, style)
        item = None if heading else self._list_item(properties, style, inline)
        attached = list(self._attached(inline))
        if item is not None and (inline.text or attached):
            if self._code or (self._list and not item.continues(self._list)):
                yield from self._flush()
            self._list.append(item)
            self._waiting += attached
            return
        if style.is_code and not heading and inline.text:
            if self._list:
                yield from self._flush()
            self._code.append(_code_text(node))
            self._waiting += attached
            return
        if not inline.text and not attached and not _has_rule(properties):
            if self._code:
                self._code.append("")
            return
        yield from self._flush()
        if heading and inline.text:
            content = text_content(inline.rich.one_line().without_whole("strong", "emphasis"), level=heading)
            metadata = {"style": style.name} if style.is_title else {}
            label = self._label(properties, style)
            yield Draft("heading", content, metadata | ({"number": label} if label else {}))
        elif _is_alone(inline, inline.equations):
            yield from self._formulas(inline)
        elif _is_alone(inline, [text for text, _ in inline.links]):
            yield from (Draft("link", {"text": text, "url": url}) for text, url in inline.links if text)
        elif inline.text:
            yield Draft("text", text_content(inline.rich))
        elif not attached:
            yield Draft("separator", {"separator_type": "line"})
        yield from attached

    def _label(self, properties: Node | None, style: ParagraphStyle) -> str:
        """Return the number that Word shows before a heading."""
        num_id, level, found = self._numbered(properties, style)
        if found is None:
            return ""
        self._numbering.count(num_id, level)
        return self._numbering.label(num_id, level)

    def _numbered(self, properties: Node | None, style: ParagraphStyle) -> tuple[str, int, Level | None]:
        """Return the list that a paragraph is in, its level there, and how that is numbered."""
        own = child(properties, "numPr")
        num_id = value_of(own, "numId") if child(own, "numId") is not None else style.num_id
        level_node = child(own, "ilvl")
        level = number(attribute(level_node, "val")) if level_node is not None else style.level
        is_listed = num_id not in ("", "0") and 0 <= level <= 8
        return num_id, level, self._numbering.level(num_id, level) if is_listed else None

    def _list_item(self, properties: Node | None, style: ParagraphStyle, inline: Inline) -> WordListItem | None:
        if style.contents:
            return WordListItem(inline.text, style.contents - 1, "contents", spans=inline.rich.spans)
        num_id, level, found = self._numbered(properties, style)
        if found is None:
            return None
        count = self._numbering.count(num_id, level) if inline.text else 1
        text, checked = inline.rich, None
        boxes = [control for control in inline.controls if control.kind == "checkbox"]
        if len(boxes) == 1 and text.text[:1] in _TASK_SIGNS:
            text, checked = text.cut(1, len(text.text)).strip(), bool(boxes[0].value)
        kind = found.format if found.is_ordered else ""
        return WordListItem(text.text, level, num_id, kind, count, checked, text.spans)

    def _attached(self, inline: Inline) -> Iterator[Draft]:
        for text, url in inline.links:
            if not text:  # around a picture; the others are spans of the text
                yield Draft("link", {"text": text, "url": url})
        if not _is_alone(inline, inline.equations):
            yield from self._formulas(inline)
        for drawing in inline.drawings:
            yield from read_drawing(drawing, self._package, self._part, self.read_box)
        yield from _controls(inline)
        for kind, note_id, label in inline.notes:
            source = self._beside.footnotes if kind == "footnote" else self._beside.endnotes
            text = source.pop(note_id, "")
            if text:
                content = {"text": text, "annotation_type": kind, "target": f"[{label}]"}
                yield Draft("annotation", content, summary=clip(f"[{label}] {text}"))
        for comment_id in inline.comments:
            yield from self._comment(comment_id)
        for gone in inline.deletions:
            yield Draft("annotation", gone, summary=clip(f"{_GONE[gone['annotation_type']]}: {gone['text']}"))

    def _comment(self, comment_id: str) -> Iterator[Draft]:
        content = self._beside.comments.pop(comment_id, None)
        if content is None or "answers" in content:
            return
        passage = self._inline.commented.get(comment_id, "")
        yield Draft("annotation", content | ({"target": clip(passage, 300)} if passage else {}))

    def _left_over(self) -> Iterator[Draft]:
        """Yield the notes and comments that nothing in the text leads to."""
        for comment_id in list(self._beside.comments):
            yield from self._comment(comment_id)
        for kind, source in (("footnote", self._beside.footnotes), ("endnote", self._beside.endnotes)):
            for text in filter(None, source.values()):
                yield Draft("annotation", {"text": text, "annotation_type": kind})

    def _formulas(self, inline: Inline) -> Iterator[Draft]:
        for expression in inline.equations:
            yield Draft("formula", {"expression": expression, "notation": "latex"})

    def _table(self, table: Node, depth: int) -> Iterator[Item]:
        if is_box(table) and depth < MAX_NESTING:
            cell = cells_of(rows_of(table)[0])[0]
            yield from self._blocks(cell, depth + 1)
            yield from self._flush()
            return
        content, attached = read_table(table, lambda cell: self._cell(cell, depth + 1))
        if any(any(row) for row in (content["headers"], *content["rows"])):
            title = value_of(table, "tblPr", "tblCaption")
            yield Draft("table", content | ({"caption": title} if title else {}))
        yield from self._attached(attached)
        if attached.breaks_after:
            yield Break("rendered")

    def _cell(self, cell: Node, depth: int) -> Inline:
        whole = Inline()
        lines: list[RichText] = []
        for node in _cell_blocks(cell):
            if local(node) == "p":
                inline = self._inline.read(node)
                lines.append(self._marked(node, inline))
                whole.add(inline)
            elif depth < MAX_NESTING:
                content, attached = read_table(node, lambda inner: self._cell(inner, depth + 1))
                lines += [RichText(_table_line(line)) for line in (content["headers"], *content["rows"])]
                whole.add(attached)
            else:
                lines.append(RichText(_all_text(node)))
        whole.rich = joined(filter(None, lines), "\n")
        return whole

    def _marked(self, node: Node, inline: Inline) -> RichText:
        """Return a paragraph of a cell, with its bullet or number where it is an item of a list."""
        properties = child(node, "pPr")
        item = self._list_item(properties, self._styles.get(value_of(properties, "pStyle")), inline)
        if item is None or not inline.text:
            return inline.rich
        return joined((RichText(f"{item.count}. " if item.format else "• "), inline.rich))

    def _flush(self) -> Iterator[Item]:
        if self._list:
            yield Draft("list", list_content(self._list))
        if self._code:
            yield Draft("code", {"text": "\n".join(self._code).rstrip("\n")})
        waiting, self._list, self._code, self._waiting = self._waiting, [], [], []
        yield from waiting


_MAX_INITIAL: Final = 10
_GONE: Final = {"deletion": "Deleted", "moved": "Moved away"}


def _controls(inline: Inline) -> Iterator[Draft]:
    controls = [control for control in inline.controls if control.kind != "picture"]
    if len(controls) == 1:
        yield Draft("widget", controls[0].as_widget())
    elif controls:
        yield Draft("form", {"fields": [control.as_field(at) for at, control in enumerate(controls, 1)]})


def _is_alone(inline: Inline, parts: Iterable[str]) -> bool:
    words = [" ".join(part.split()) for part in parts]
    return bool(words) and " ".join(inline.text.split()).strip(" .,;") == " ".join(words).strip(" .,;")


def _heading_level(properties: Node | None, style: ParagraphStyle) -> int:
    own = child(properties, "outlineLvl")
    if own is not None:
        level = number(attribute(own, "val"), 9)
        return level + 1 if 0 <= level < 9 else 0
    return style.heading


def _is_on_child(properties: Node | None, name: str) -> bool:
    found = child(properties, name)
    return found is not None and is_on(attribute(found, "val") or None)


def _has_page_break(node: Node, properties: Node | None) -> bool:
    return _is_on_child(properties, "pageBreakBefore") or any(
        attribute(mark, "type") == "page" for mark in descendants(node, "br")
    )


def _has_rule(properties: Node | None) -> bool:
    return child(properties, "pBdr", "bottom") is not None or child(properties, "pBdr", "top") is not None


def _code_text(node: Node) -> str:
    # Blanks at the start of a line of code are part of it.
    marks = {"tab": "\t", "br": "\n", "cr": "\n"}
    parts = (part.text or "" if local(part) == "t" else marks.get(local(part), "") for part in node.iter())
    return "".join(parts).rstrip()


def _cell_blocks(cell: Node) -> Iterator[Node]:
    for node in cell:
        if local(node) in ("p", "tbl"):
            yield node
        elif local(node) in ("sdt", "sdtContent", "ins", "customXml"):
            yield from _cell_blocks(node)


def _is_initial(properties: Node | None, inline: Inline) -> bool:
    """Whether a paragraph is the large letter that the next one begins with."""
    frame = child(properties, "framePr")
    dropped = attribute(frame, "dropCap") if frame is not None else ""
    return dropped in ("drop", "margin") and 0 < len(inline.text) <= _MAX_INITIAL


def _table_line(cells: Iterable[object]) -> str:
    return " | ".join(str(cell) for cell in cells if cell not in (None, ""))


def _all_text(node: Node) -> str:
    lines = ("".join(text_of(text) for text in descendants(paragraph, "t")) for paragraph in descendants(node, "p"))
    return "\n".join(filter(None, lines))


def _wrapped(node: Node) -> Node:
    """Return a paragraph that holds a copy of a node that stands outside of any."""
    paragraph: Node = node.makeelement("p", {})
    paragraph.append(copy(node))
    return paragraph
