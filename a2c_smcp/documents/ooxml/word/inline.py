"""What a paragraph says, and what hangs on it: links, notes, comments, equations, drawings, controls, deletions."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final

from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.ooxml.math import latex
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.word.controls import Control, legacy_control, read_control
from a2c_smcp.documents.ooxml.word.styles import Styles, run_kinds
from a2c_smcp.documents.ooxml.xml import Node, R, attribute, child, descendants, local, text_of
from a2c_smcp.documents.rich_text import PLAIN, Kind, RichText, Span

MAX_DEPTH: Final = 60
"""Inside more wrappers than that only the text is looked for."""

MAX_OPEN_COMMENTS: Final = 50
"""Comments whose passages overlap; each word goes to all of them."""

_FIELD_LINK = re.compile(r'HYPERLINK\s+(?:\\l\s+)?(?:"([^"]*)"|(\S+))(?:.*?\\l\s+"([^"]*)")?', re.IGNORECASE)
_SOFT_HYPHEN = re.compile("\u00ad")
_HEX = re.compile(r"[0-9A-Fa-f]{1,8}")
_SYMBOL_FONTS: Final = {
    "wingdings": {0xA8: "☐", 0xFE: "☑", 0xFD: "☒", 0x6F: "☐", 0xFC: "✓", 0xFB: "✗", 0xE0: "→", 0xA7: "▪"},
    "symbol": {0xB7: "•", 0xAE: "→", 0xB3: "≥", 0xA3: "≤", 0xB1: "±", 0xB4: "×", 0x61: "α", 0x62: "β", 0x6D: "μ"},
}


@dataclass(slots=True)
class Inline:
    """A paragraph, or all paragraphs of a cell, with its attachments in their order."""

    rich: RichText = PLAIN
    links: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str, str]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    equations: list[str] = field(default_factory=list)
    drawings: list[Node] = field(default_factory=list)
    controls: list[Control] = field(default_factory=list)
    deletions: list[dict[str, Any]] = field(default_factory=list)
    breaks_before: bool = False
    breaks_after: bool = False

    @property
    def text(self) -> str:
        """The words alone."""
        return self.rich.text

    def add(self, other: "Inline") -> None:
        """Take over what hangs on another paragraph."""
        for name in ("links", "notes", "comments", "equations", "drawings", "controls", "deletions"):
            getattr(self, name).extend(getattr(other, name))
        self.breaks_after = self.breaks_after or other.breaks_after or other.breaks_before


@dataclass(slots=True)
class _Field:
    code: str = ""
    start: int = 0
    in_result: bool = False
    node: Node | None = None


class InlineReader:
    """Reads paragraphs in the order of the document: comments and fields may reach over several."""

    def __init__(self, package: Package, part: str, styles: Styles | None = None) -> None:
        self._package = package
        self._part = part
        self._styles = styles
        self._marks: list[tuple[int, int, Kind, str]] = []
        self._open_comments: dict[str, list[str]] = {}
        self.commented: dict[str, str] = {}
        """The passages that comments are about, by the id of the comment."""
        self._fields: list[_Field] = []
        self._notes: dict[str, dict[str, int]] = {}
        self._spans: list[tuple[Control, int, int]] = []
        self._handlers: dict[str, Callable[[Node, Inline, list[str], int], None]] = {
            "t": self._text,
            "r": self._run,
            "tab": self._tab,
            "ptab": self._tab,
            "br": self._break,
            "cr": self._break,
            "noBreakHyphen": self._hyphen,
            "lastRenderedPageBreak": self._rendered_break,
            "sym": self._symbol,
            "hyperlink": self._link,
            "footnoteReference": self._note,
            "endnoteReference": self._note,
            "commentRangeStart": self._comment_start,
            "commentRangeEnd": self._comment_end,
            "commentReference": self._comment,
            "oMath": self._math,
            "oMathPara": self._math,
            "drawing": self._drawing,
            "pict": self._drawing,
            "object": self._drawing,
            "del": self._deleted,
            "moveFrom": self._deleted,
            "sdt": self._control,
            "fldChar": self._field_mark,
            "instrText": self._field_code,
            "fldSimple": self._simple_field,
            "ruby": self._ruby,
        }

    def read(self, paragraph: Node) -> Inline:
        """Return a paragraph."""
        inline = Inline()
        parts: list[str] = []
        for open_field in self._fields:
            open_field.start = 0
        self._spans, self._marks = [], []
        self._walk(paragraph, inline, parts, 0)
        inline.rich = self._marked(parts)
        _label(self._spans, parts)
        for passage in self._open_comments.values():
            passage.append("\n")
        return inline

    def _marked(self, parts: list[str]) -> RichText:
        """Return the text with its spans, which were noted by the numbers of its parts."""
        if not self._marks:
            return RichText(_tidy("".join(parts)))
        at = list(accumulate(map(len, parts), initial=0))
        spans = tuple(Span(at[start], at[end], kind, url) for start, end, kind, url in self._marks)
        return RichText("".join(parts), spans).replaced(_SOFT_HYPHEN, "").strip(" \t\n").tidy()

    def _mark(self, start: int, parts: list[str], kind: Kind, url: str = "") -> None:
        if len(parts) > start:
            self._marks.append((start, len(parts), kind, url))

    def _run(self, node: Node, inline: Inline, parts: list[str], depth: int) -> None:
        start = len(parts)
        self._walk(node, inline, parts, depth + 1)
        for kind in run_kinds(child(node, "rPr"), self._styles):
            self._mark(start, parts, kind)

    def _walk(self, node: Node, inline: Inline, parts: list[str], depth: int) -> None:
        if depth > MAX_DEPTH:
            self._put("".join(text_of(text) for text in descendants(node, "t")), parts)
            return
        for part in node:
            name = local(part)
            handler = self._handlers.get(name)
            if handler is not None:
                handler(part, inline, parts, depth)
            elif name not in _SILENT:
                self._walk(part, inline, parts, depth + 1)

    def _put(self, text: str, parts: list[str]) -> None:
        if self._fields and not self._fields[-1].in_result:
            return
        parts.append(text)
        for passage in self._open_comments.values():
            passage.append(text)

    def _text(self, node: Node, _: Inline, parts: list[str], __: int) -> None:
        self._put(node.text or "", parts)

    def _tab(self, _: Node, __: Inline, parts: list[str], ___: int) -> None:
        self._put("\t", parts)

    def _hyphen(self, _: Node, __: Inline, parts: list[str], ___: int) -> None:
        self._put("-", parts)

    def _break(self, node: Node, inline: Inline, parts: list[str], _: int) -> None:
        if attribute(node, "type") != "page":
            start = len(parts)
            self._put("\n", parts)
            self._mark(start, parts, "break")
        elif any(part.strip() for part in parts):
            inline.breaks_after = True
        else:
            inline.breaks_before = True

    def _rendered_break(self, _: Node, inline: Inline, parts: list[str], __: int) -> None:
        if any(part.strip() for part in parts):
            inline.breaks_after = True
        else:
            inline.breaks_before = True

    def _symbol(self, node: Node, _: Inline, parts: list[str], __: int) -> None:
        char = attribute(node, "char")
        code = int(char, 16) & 0xFF if _HEX.fullmatch(char) else 0
        font = _SYMBOL_FONTS.get(attribute(node, "font").lower().rstrip(" 23"), {})
        self._put(font.get(code, ""), parts)

    def _link(self, node: Node, inline: Inline, parts: list[str], depth: int) -> None:
        target = self._package.relationships(self._part).get(node.get(f"{R}id") or "")
        anchor = attribute(node, "anchor")
        url = (target.target if target else "") + (f"#{anchor}" if anchor else "")
        start = len(parts)
        self._walk(node, inline, parts, depth + 1)
        # Entries of a table of contents lead to places of this document, which the text already tells.
        if url and not anchor.startswith("_Toc"):
            self._add_link(start, inline, parts, url)

    def _add_link(self, start: int, inline: Inline, parts: list[str], url: str) -> None:
        inline.links.append((_tidy("".join(parts[start:])), url))
        self._mark(start, parts, "link", url)

    def _note(self, node: Node, inline: Inline, parts: list[str], _: int) -> None:
        kind = "footnote" if local(node) == "footnoteReference" else "endnote"
        note_id = attribute(node, "id")
        # Readers see notes counted from 1, whatever their ids are.
        notes = self._notes.setdefault(kind, {})
        label = f"{'' if kind == 'footnote' else 'e'}{notes.setdefault(note_id, len(notes) + 1)}"
        inline.notes.append((kind, note_id, label))
        self._put(f"[{label}]", parts)

    def _comment_start(self, node: Node, _: Inline, __: list[str], ___: int) -> None:
        if len(self._open_comments) < MAX_OPEN_COMMENTS:
            self._open_comments[attribute(node, "id")] = []

    def _comment_end(self, node: Node, _: Inline, __: list[str], ___: int) -> None:
        passage = self._open_comments.pop(attribute(node, "id"), None)
        if passage is not None:
            self.commented[attribute(node, "id")] = " ".join("".join(passage).split())

    def _comment(self, node: Node, inline: Inline, _: list[str], __: int) -> None:
        inline.comments.append(attribute(node, "id"))

    def _math(self, node: Node, inline: Inline, parts: list[str], _: int) -> None:
        expression = latex(node)
        if expression:
            inline.equations.append(expression)
            self._put(expression, parts)

    def _drawing(self, node: Node, inline: Inline, _: list[str], __: int) -> None:
        inline.drawings.append(node)

    def _deleted(self, node: Node, inline: Inline, _: list[str], __: int) -> None:
        text = "".join(text_of(part) for name in ("delText", "t") for part in descendants(node, name))
        if text.strip():
            kind = "moved" if local(node) == "moveFrom" else "deletion"
            gone: dict[str, Any] = {"text": text.strip(), "annotation_type": kind}
            if author := attribute(node, "author"):
                gone["author"] = author
            if date := attribute(node, "date"):
                gone["created"] = date
            inline.deletions.append(gone)

    def _control(self, node: Node, inline: Inline, parts: list[str], depth: int) -> None:
        start = len(parts)
        content = child(node, "sdtContent")
        if content is not None:
            self._walk(content, inline, parts, depth + 1)
        control = read_control(node, "".join(parts[start:]).strip())
        if control:
            inline.controls.append(control)
            self._spans.append((control, start, len(parts)))

    def _field_mark(self, node: Node, inline: Inline, parts: list[str], _: int) -> None:
        match attribute(node, "fldCharType"):
            case "begin":
                self._fields.append(_Field(start=len(parts), node=node))
            case "separate" if self._fields:
                self._fields[-1].in_result = True
                self._fields[-1].start = len(parts)
            case "end" if self._fields:
                self._close_field(self._fields.pop(), inline, parts)

    def _close_field(self, field_: _Field, inline: Inline, parts: list[str]) -> None:
        shown = _tidy("".join(parts[field_.start :]))
        if url := _field_url(field_.code):
            self._add_link(field_.start, inline, parts, url)
        control = legacy_control(field_.node, shown) if field_.node is not None else None
        if control:
            inline.controls.append(control)
            self._spans.append((control, field_.start, len(parts)))

    def _field_code(self, node: Node, _: Inline, __: list[str], ___: int) -> None:
        if self._fields:
            self._fields[-1].code += node.text or ""

    def _simple_field(self, node: Node, inline: Inline, parts: list[str], depth: int) -> None:
        start = len(parts)
        self._walk(node, inline, parts, depth + 1)
        if url := _field_url(attribute(node, "instr")):
            self._add_link(start, inline, parts, url)

    def _ruby(self, node: Node, inline: Inline, parts: list[str], depth: int) -> None:
        base = child(node, "rubyBase")
        if base is not None:
            self._walk(base, inline, parts, depth + 1)
        reading = "".join(text_of(text) for text in descendants(child(node, "rt"), "t"))
        if reading:
            self._put(f"({reading})", parts)


def _label(spans: list[tuple[Control, int, int]], parts: list[str]) -> None:
    """Give controls the words beside them: those after a box to tick, those before a field to fill in."""
    for at, (control, start, end) in enumerate(spans):
        before = "".join(parts[spans[at - 1][2] if at else 0 : start])
        after = "".join(parts[end : spans[at + 1][1] if at + 1 < len(spans) else len(parts)])
        first, second = (after, before) if control.kind == "checkbox" else (before, after)
        control.label = clip(first.strip(" :\t\n") or second.strip(" :\t\n"), 120)


def _field_url(code: str) -> str:
    match = _FIELD_LINK.search(code)
    if match is None:
        return ""
    url, place = match[1] or match[2] or "", match[3] or ""
    if re.match(r"HYPERLINK\s+\\l", code.strip(), re.IGNORECASE):
        return "" if url.startswith("_Toc") else f"#{url}"
    return url + (f"#{place}" if place else "")


def _tidy(text: str) -> str:
    return text.replace("\u00ad", "").strip(" \t\n")


_SILENT: Final = frozenset(
    {"pPr", "rPr", "delText", "delInstrText", "annotationRef", "footnoteRef", "endnoteRef", "bookmarkStart", "proofErr"}
)
