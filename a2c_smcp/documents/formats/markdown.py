"""Markdown: pages begin at the top-level headings, elements are its blocks.

The parser's tree is walked here; `markdown_inline` turns what stands inside a block into plain text.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.documents.formats.base import Description, OpenDocument, PagedDocument, require, suffix_of
from a2c_smcp.documents.formats.decoding import read_text
from a2c_smcp.documents.formats.elements import ElementMaker, clip, page_title, paged
from a2c_smcp.documents.formats.front_matter import FrontMatter, split_front_matter
from a2c_smcp.documents.formats.markdown_inline import alone, html_parts, image_content, link_content, rich
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.documents.rich_text import RichText, cell_spans, joined, text_content

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

MAX_BYTES: Final = 4 << 20
ELEMENTS_A_PAGE: Final = 200

_DIAGRAMS: Final = frozenset({"mermaid", "plantuml", "puml", "dot", "graphviz", "d2"})
_DISPLAY_MATH = re.compile(r"\$\$\s*(.+?)\s*\$\$", re.DOTALL)
_TASK = re.compile(r"\[([ xX])\]\s+")


class MarkdownFormat:
    """CommonMark with tables, strikethrough and front matter."""

    def file_type(self, name: str) -> str | None:
        """Accept `.md`, `.markdown` and their rarer spellings."""
        return "md" if suffix_of(name) in ("md", "markdown", "mdown", "mkd") else None

    def open(self, path: Path) -> OpenDocument:
        """Read and parse the whole file."""
        return open_text(read_text(path, MAX_BYTES))


FORMAT: Final = MarkdownFormat()


def open_text(text: str) -> PagedDocument:
    """Parse Markdown that is in memory already."""
    front, body, skipped = split_front_matter(text)
    elements = list(MarkdownElementBuilder(first_line=skipped + 1).walk(_parse(body)))
    pages = paginate(elements)
    return PagedDocument(_describe(front, elements, pages), pages)


def paginate(elements: Sequence[Element]) -> list[Page]:
    """Return the elements as pages, divided where a person would turn the page.

    That is at the highest level of heading that occurs more than once, so that a lone title does not make
    one page of everything. A title with nothing below it shares the page of its first section.
    """
    level = _page_level(elements)
    groups: list[list[Element]] = []
    for element in elements:
        opens = element.category == "heading" and element.content["level"] <= level
        if not groups or (opens and not _is_title_of(groups[-1], element)):
            groups.append([])
        groups[-1].append(element)
    return paged([(_title_of(group, level), group) for group in groups], ELEMENTS_A_PAGE)


class MarkdownElementBuilder:
    """Makes elements of a parsed Markdown file; `first_line` is the file's line that the parser counts as its first."""

    def __init__(self, first_line: int = 1) -> None:
        self._maker = ElementMaker()
        self._first_line = first_line

    def walk(self, parent: "SyntaxTreeNode", *, quoted: int = 0) -> Iterator[Element]:
        """Yield the elements below `parent` in reading order."""
        for node in parent.children:
            metadata = self._metadata(node, quoted=quoted)
            if node.type == "blockquote":
                yield from self.walk(node, quoted=quoted + 1)
            elif node.type == "paragraph":
                yield from self._paragraph(node, metadata)
            elif node.type == "html_block":
                yield from self._html(node.content, metadata)
            else:
                yield from self._block(node, metadata)

    def _block(self, node: "SyntaxTreeNode", metadata: dict[str, Any]) -> Iterator[Element]:
        match node.type:
            case "heading":
                text = rich(node.children[0]) if node.children else RichText()
                yield self._maker.make("heading", text_content(text, level=int(node.tag[1:])), metadata)
            case "bullet_list" | "ordered_list":
                yield self._maker.make("list", _list(node), metadata)
            case "fence" | "code_block":
                yield self._code(node, metadata)
            case "table":
                yield self._maker.make("table", _table(node), metadata)
            case "hr":
                yield self._maker.make("separator", {"separator_type": "line"}, metadata)

    def _paragraph(self, node: "SyntaxTreeNode", metadata: dict[str, Any]) -> Iterator[Element]:
        inline = node.children[0]
        links = alone(inline, "link")
        images = alone(inline, "image")
        math = _DISPLAY_MATH.fullmatch(inline.content.strip())
        if images:
            for image in images:
                yield self._maker.make("image", image_content(image), metadata)
        elif links:
            for link in links:
                yield self._maker.make("link", link_content(link), metadata)
        elif math:
            yield self._maker.make("formula", {"expression": math[1], "notation": "latex"}, metadata)
        elif text := rich(inline):
            yield self._maker.make("text", text_content(text), metadata)

    def _code(self, node: "SyntaxTreeNode", metadata: dict[str, Any]) -> Element:
        text = node.content.rstrip("\n")
        language = next(iter(node.info.split()), "").lower() if node.type == "fence" else ""
        if language in _DIAGRAMS:
            return self._maker.make("diagram", {"source": text, "language": language}, metadata)
        if language in ("math", "latex", "tex") and text:
            return self._maker.make("formula", {"expression": text, "notation": "latex"}, metadata)
        content = {"text": text, "language": language} if language else {"text": text}
        return self._maker.make("code", content, metadata)

    def _html(self, html: str, metadata: dict[str, Any]) -> Iterator[Element]:
        text, images = html_parts(html)
        for image in images:
            yield self._maker.make("image", image, metadata)
        if text:
            yield self._maker.make("text", {"text": text}, metadata)

    def _metadata(self, node: "SyntaxTreeNode", *, quoted: int) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        if node.map:
            first, end = node.map
            metadata["source_lines"] = [self._first_line + first, self._first_line + end - 1]
        if quoted:
            metadata["quoted"] = True
        if quoted > 1:
            metadata["level"] = quoted
        return metadata


def _parse(text: str) -> "SyntaxTreeNode":
    parser = require("markdown_it", "documents").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tree: type[SyntaxTreeNode] = require("markdown_it.tree", "documents").SyntaxTreeNode
    return tree(parser.parse(text))


def _list(node: "SyntaxTreeNode") -> dict[str, Any]:
    content: dict[str, Any] = {"ordered": node.type == "ordered_list", "items": [_item(item) for item in node.children]}
    start = node.attrs.get("start")
    if isinstance(start, int) and start != 1:
        content["start"] = start
    return content


def _item(node: "SyntaxTreeNode") -> str | dict[str, Any]:
    texts: list[RichText] = []
    children: dict[str, Any] | None = None
    for child in node.children:
        if child.type in ("bullet_list", "ordered_list"):
            nested = _list(child)
            if children is None:
                children = nested
            else:
                children["items"] += nested["items"]
        else:
            texts.append(_rich_text_of(child))
    text = joined(filter(None, texts), "\n\n")
    item: dict[str, Any] = text_content(text)
    task = _TASK.match(text.text)
    if task:
        item = text_content(text.cut(task.end(), len(text.text)))
        item["checked"] = task[1] != " "
    if children is not None:
        item["children"] = children
    return text.text if item == {"text": text.text} else item


def _rich_text_of(node: "SyntaxTreeNode") -> RichText:
    """Return what a block inside a list item or a cell says."""
    match node.type:
        case "inline":
            return rich(node)
        case "fence" | "code_block":
            language = next(iter(node.info.split()), "").lower() if node.type == "fence" else ""
            return RichText(node.content.rstrip("\n")).marked("code_block", language=language)
        case "html_block":
            return RichText(html_parts(node.content)[0])
        case "tr":
            return joined((_rich_text_of(cell) for cell in node.children), " | ")
        case _:
            return joined(filter(None, (_rich_text_of(child) for child in node.children)), "\n")


def _table(node: "SyntaxTreeNode") -> dict[str, Any]:
    head, *bodies = node.children
    lines = [[_rich_text_of(cell) for cell in row.children] for part in (head, *bodies) for row in part.children]
    content: dict[str, Any] = {
        "headers": [cell.text for cell in lines[0]],
        "rows": [[cell.text for cell in line] for line in lines[1:]],
    }
    spans = cell_spans(lines)
    return content | {"cell_spans": spans} if spans else content


def _page_level(elements: Sequence[Element]) -> int:
    levels = [element.content["level"] for element in elements if element.category == "heading"]
    return min((level for level in set(levels) if levels.count(level) > 1), default=0)


def _is_title_of(group: Sequence[Element], section: Element) -> bool:
    """Whether `group` is nothing but headings above that of the section."""
    return all(
        element.category == "heading" and element.content["level"] < section.content["level"] for element in group
    )


def _title_of(group: Sequence[Element], level: int) -> str:
    # Of the headings that open a page the last one is its own: those above it are titles of more than the page.
    opening = list(takewhile(lambda element: element.category == "heading", group))
    own = [heading for heading in opening if heading.content["level"] <= level] or opening[:1]
    return own[-1].summary if own else page_title(group)


def _describe(front: FrontMatter, elements: Sequence[Element], pages: Sequence[Page]) -> Description:
    headings = [element for element in elements if element.category == "heading"]
    title = min(headings, key=lambda heading: heading.content["level"], default=None)
    prose = next((element for element in elements if element.category == "text"), None)
    start = prose.content["text"] if prose else elements[0].summary if elements else "Empty file"
    titles = dict.fromkeys(page.title for page in pages if page.title and title and page.title != title.summary)
    return Description(
        title=front.title or (title.content["text"] if title else ""),
        page_count=len(pages),
        keywords=front.keywords or tuple(titles)[:12],
        summary=clip(front.summary or start, 200),
    )
