"""Markdown of somebody else as Markdown that can stand in a document of ours.

The text is parsed, and written again from what the parser found: nothing of its source is copied. Paragraphs, lists,
quotes, tables, code, emphasis and links to the web stay. Headings go below the heading they stand under. HTML, images,
link definitions, other links, and what begins a diagram do not stay; of HTML the text does.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit

from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.formats.markdown_inline import html_parts, plain
from a2c_smcp.documents.render import escape
from a2c_smcp.documents.render.values import clean

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

SCHEMES: Final = frozenset({"http", "https", "mailto"})
MAX_DEPTH: Final = 8
"""Blocks inside blocks; what is deeper is written as plain text."""

_SKIPPED: Final = frozenset({"script", "style", "template", "iframe", "object", "svg", "math", "noscript"})
_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)")
_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BLANKS: Final = re.compile("[\\s\x00-\x1f\x7f\x85\u2028\u2029]+")
_OUTER_START: Final = re.compile(r"\A(?:\s|\\\n)+")
_OUTER_END: Final = re.compile(r"(?:\s|(?<!\\)\\\n)+\Z")
_SPACES: Final = re.compile("  +")
_REORDERING: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SPECIAL: Final = re.compile(r"[\\`*\[\]<>~|$]|(?<![^\W_])_|_(?![^\W_])|&(?=[#A-Za-z])|!(?=\Z)")
_LINE_START: Final = re.compile(r"(?:#{1,6}(?=\s|\Z)|[-+](?=\s|\Z)|[-=:|][-=:| \t]*\Z)")
_NUMBERED: Final = re.compile(r"(\d{1,9})([.)])(?=\s|\Z)")
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9+#.-]{1,30}")
_ACTIVE: Final = frozenset({"mermaid", "plantuml", "puml", "dot", "graphviz", "d2", "math", "svg", "html", "vega"})
_TICKS: Final = re.compile("`+")

Test: TypeAlias = Callable[[str], bool]
Mend: TypeAlias = Callable[[str], Iterable[str]]
"""What becomes of a run of plain text: texts, which are escaped, and `TrustedMarkdown` Markdown."""


class TrustedMarkdown(str):
    """Markdown that is written as it is: the caller vouches for it."""

    __slots__ = ()


def safe_markdown(text: str, *, top: int = 3, mend: Mend | None = None, is_ours: Test | None = None) -> str:
    """Return Markdown that holds only the blocks and spans named above.

    Args:
        top: The level of its highest heading.
        mend: Rewrites plain text; it is not given code, nor the addresses of links.
        is_ours: Whether a text may be no link of theirs, such as a citation: it is given to `mend` in brackets.
    """
    tree = _parse(_REORDERING.sub("", clean(text)))
    levels = [int(node.tag[1:]) for node in tree.walk() if node.type == "heading"]
    writer = _Writer(top, top - min(levels, default=top), mend or (lambda run: [run]), is_ours or (lambda _: False))
    return writer.blocks(tree.children, 0).strip("\n")


def _parse(text: str) -> "SyntaxTreeNode":
    parser = require("markdown_it", "documents").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.validateLink = lambda _: True  # a link that is refused would stay as text, address and all
    tree: type[SyntaxTreeNode] = require("markdown_it.tree", "documents").SyntaxTreeNode
    return tree(parser.parse(text))


class _Writer:
    def __init__(self, top: int, demotion: int, mend: Mend, is_ours: Test) -> None:
        self._top = top
        self._demotion = demotion
        self._mend = mend
        self._is_ours = is_ours

    def blocks(self, nodes: Sequence["SyntaxTreeNode"], depth: int, *, tight: bool = False) -> str:
        written: list[str] = []
        before = ""
        for node in nodes:
            # Two lists side by side would become one, were their marks the same.
            other = before == node.type and node.type in ("bullet_list", "ordered_list")
            block = self._block(node, depth, other=other)
            if block:
                written.append(block)
                before = "" if other else node.type
        return ("\n" if tight else "\n\n").join(written)

    def _block(self, node: "SyntaxTreeNode", depth: int, *, other: bool) -> str:
        if depth > MAX_DEPTH:
            return self._paragraph(self._mended(_text_below(node)))
        match node.type:
            case "paragraph":
                return self._paragraph(self._inline(node))
            case "heading":
                words = " ".join(self._inline(node).replace("\\\n", " ").split())
                level = min(max(int(node.tag[1:]) + self._demotion, self._top), 6)
                return f"{'#' * level} {words.rstrip('#').rstrip() or words}" if words else ""
            case "bullet_list":
                return self._list(node, depth, ["*" if other else "-"] * len(node.children))
            case "ordered_list":
                return self._list(node, depth, _numbers(node, ")" if other else "."))
            case "blockquote":
                inner = self.blocks(node.children, depth + 1)
                return "\n".join(f"> {line}".rstrip() for line in inner.split("\n")) if inner else ""
            case "fence" | "code_block":
                return _code(node.content, node.info if node.type == "fence" else "")
            case "table":
                return self._table(node)
            case "html_block":
                # What is left without the tags may be Markdown, or even HTML once more.
                return self.blocks(_parse(html_parts(node.content)[0]).children, depth + 1)
            case "hr":
                return "---"
        return ""

    def _list(self, node: "SyntaxTreeNode", depth: int, marks: Sequence[str]) -> str:
        tight = all(child.hidden for item in node.children for child in item.children if child.type == "paragraph")
        items = []
        for item, mark in zip(node.children, marks, strict=True):
            body = self.blocks(item.children, depth + 1, tight=tight and _is_plain(item))
            if not body:  # a mark alone would make a heading of the paragraph above it
                continue
            indent = " " * (len(mark) + 1)
            lines = [indent + line if line else "" for line in body.split("\n")]
            items.append(f"{mark} {''.join(lines[:1]).lstrip()}".rstrip() + "".join(f"\n{line}" for line in lines[1:]))
        return ("\n" if tight else "\n\n").join(items)

    def _table(self, node: "SyntaxTreeNode") -> str:
        rows = [[self._cell(cell) for cell in row.children] for part in node.children for row in part.children]
        if not rows:
            return ""
        rows.insert(1, ["---"] * len(rows[0]))
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def _cell(self, cell: "SyntaxTreeNode") -> str:
        words = " ".join(self._inline(cell).replace("\\\n", " ").split())
        return re.sub(r"(?<!\\)((?:\\\\)*)\|", r"\1\\|", words)

    def _paragraph(self, inline: str) -> str:
        lines = [_line_start(line.strip(" \t")) for line in inline.split("\n")]
        return "\n".join(filter(None, lines))

    def _inline(self, node: "SyntaxTreeNode") -> str:
        spans = [span for child in node.children for span in child.children]
        return _trimmed("".join(self._spans(spans)))[1]

    def _spans(self, nodes: Sequence["SyntaxTreeNode"], *, in_link: bool = False) -> Iterator[str]:
        run: list[str] = []
        skipping = ""
        for node in nodes:
            if node.type == "html_inline":
                skipping = _skipped(node.content, skipping)
            if skipping:
                continue
            if node.type == "text":
                run.append(_BLANKS.sub(" ", node.content))
            elif node.type == "softbreak":
                run.append("\n")
            elif node.type == "link" and self._is_ours(plain(node)):
                run.append(f"[{_BLANKS.sub(' ', plain(node)).strip('[]')}]")
            elif node.type == "link" and not _is_web(node):
                run.append("" if node.info == "auto" else _BLANKS.sub(" ", plain(node)))
            elif node.type == "image":
                run.append(_BLANKS.sub(" ", plain(node)))
            elif node.type != "html_inline" or _BREAK.fullmatch(node.content):
                yield self._mended("".join(run))
                run.clear()
                yield self._span(node, in_link=in_link)
        yield self._mended("".join(run))

    def _span(self, node: "SyntaxTreeNode", *, in_link: bool) -> str:
        match node.type:
            case "hardbreak" | "html_inline":
                return "\\\n"
            case "code_inline":
                return _code_span(node.content)
        inner = "".join(self._spans(node.children, in_link=in_link or node.type == "link"))
        before, words, after = _trimmed(inner)
        if not words:
            return inner
        match node.type:
            case "em" | "strong" | "s":
                mark = {"em": "*", "strong": "**", "s": "~~"}[node.type]
                return f"{before}{mark}{words}{mark}{after}"
            case "link" if not in_link:
                return f"{before}[{words}]({escape.destination(str(node.attrs.get('href', '')))}){after}"
        return inner

    def _mended(self, run: str) -> str:
        if not run:
            return ""
        parts = self._mend(_SPACES.sub(" ", run))
        return "".join(part if isinstance(part, TrustedMarkdown) else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda match: f"\\{match[0]}", text)


def _trimmed(inner: str) -> tuple[str, str, str]:
    """Return what is inside emphasis without the blanks and breaks around it, and those."""
    start = len(inner) - len(_OUTER_START.sub("", inner))
    end = start + len(_OUTER_END.sub("", inner[start:]))
    return inner[:start], inner[start:end], inner[end:]


def _line_start(line: str) -> str:
    """Escape what would begin a block, or turn the line above into a heading or a table."""
    if number := _NUMBERED.match(line):
        return f"{number[1]}\\{line[number.start(2) :]}"
    return f"\\{line}" if _LINE_START.match(line) else line


def _numbers(node: "SyntaxTreeNode", mark: str) -> list[str]:
    start = node.attrs.get("start", 1)
    first = start if isinstance(start, int) and 0 <= start < 1_000_000 else 1
    return [f"{first + number}{mark}" for number in range(len(node.children))]


def _is_plain(item: "SyntaxTreeNode") -> bool:
    """Whether an item is a paragraph with at most a list below it, which needs no blank line between."""
    kinds = [child.type for child in item.children]
    return kinds[:1] in ([], ["paragraph"]) and all(kind in ("bullet_list", "ordered_list") for kind in kinds[1:])


def _code(content: str, info: str) -> str:
    text = content.rstrip("\n")
    fence = "`" * max(3, max(map(len, _TICKS.findall(text)), default=0) + 1)
    word = next(iter(info.split()), "")
    language = word if _LANGUAGE.fullmatch(word) and word.lower() not in _ACTIVE else ""
    return f"{fence}{language}\n{text}\n{fence}"


def _code_span(content: str) -> str:
    text = _BLANKS.sub(" ", content)
    lengths = set(map(len, _TICKS.findall(text)))
    ticks = "`" * next(size for size in range(1, len(lengths) + 2) if size not in lengths)
    pad = " " if text.startswith("`") or text.endswith("`") or (text.strip() and text[0] == text[-1] == " ") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _is_web(link: "SyntaxTreeNode") -> bool:
    """Whether a link leads to the web."""
    try:
        parts = urlsplit(str(link.attrs.get("href", "")))
        reached = bool(parts.hostname) or (parts.scheme == "mailto" and bool(parts.path))
    except ValueError:
        return False
    return parts.scheme.lower() in SCHEMES and reached


def _skipped(tag: str, skipping: str) -> str:
    """Return the name of the element whose text is left out, after this tag."""
    match = _TAG.match(tag)
    if match is None:
        return skipping
    closes, name = bool(match[1]), match[2].lower()
    if skipping:
        return "" if closes and name == skipping else skipping
    return name if not closes and name in _SKIPPED and not tag.endswith("/>") else ""


def _text_below(node: "SyntaxTreeNode") -> str:
    texts = (child.content for child in node.walk() if child.type in ("text", "code_inline", "fence", "code_block"))
    return _BLANKS.sub(" ", " ".join(texts)).strip()
