"""Markdown of levels 0 to 3, each category by the rendering table of the specification.

Whatever a document contains, the result parses back to the intended structure: see `escape`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from a2c_smcp.documents.content import (
    ChartContent,
    CodeContent,
    FormulaContent,
    HeadingContent,
    ImageContent,
    LinkContent,
    ListContent,
    TableContent,
    TextContent,
)
from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.render import escape, inline
from a2c_smcp.documents.render.gist import gist
from a2c_smcp.documents.render.json import document_uri, page_uri, select
from a2c_smcp.documents.render.values import RenderedItem, all_items_of, grid, items_of, one_line, window_note
from a2c_smcp.types import ElementCategory

MIME_TYPE: Final = "text/markdown"

MAX_LIST_DEPTH: Final = 8
"""Lists inside lists go on at this depth as one: parsers give up some levels further down."""

BETWEEN_LISTS: Final = "<!-- -->"
"""What keeps two neighbouring lists apart; it shows nothing."""

MAX_QUOTES: Final = 8
"""Quotes inside quotes go on at this depth as one."""

_MAX_NUMBER: Final = 999_999_999


def render_catalogue(documents: Iterable[Document]) -> str:
    """Level 0: a table of documents, each title a link to its document."""
    return _table_of(
        ["title", "file_type", "page_count", "last_modified", "keywords", "summary"],
        [
            [
                _cell_link(document.title or document.doc_ref, document_uri(document)),
                *map(
                    escape.cell,
                    [
                        document.file_type,
                        str(document.page_count),
                        document.last_modified or "",
                        ", ".join(document.keywords),
                        document.summary,
                    ],
                ),
            ]
            for document in documents
        ],
    )


def render_document(document: Document) -> str:
    """Level 1, `depth=metadata`: the title, what is known, the summary."""
    return _join([_document_head(document), *escape.paragraphs(document.summary)])


def render_document_with_pages(document: Document, entries: Sequence[PageEntry], offset: int, limit: int) -> str:
    """Level 1, `depth=pages`: the same with a window of the page index, each title a link to its page."""
    index = _table_of(
        ["page_index", "title", "element_count"],
        [
            [
                str(entry.index),
                _cell_link(entry.title or str(entry.index), page_uri(document, entry.index)),
                "" if entry.element_count is None else str(entry.element_count),
            ]
            for entry in entries
        ],
    )
    window = {"page_offset": offset, "page_limit": limit, "page_total": document.page_count}
    return _join([_document_head(document, window), *escape.paragraphs(document.summary), index])


def render_page(_: Document, page: Page, categories: Collection[str] | None = None) -> str:
    """Level 2: the elements in reading order."""
    blocks: list[tuple[int, str]] = []
    previous = None
    for element in select(page, categories):
        block = _block(element)
        if not block:
            continue
        depth = _quote_depth(element)
        kind = ("list", bool(element.content["ordered"]), depth) if element.category == "list" else None
        if kind and kind == previous:
            blocks.append((depth, BETWEEN_LISTS))
        blocks.append((depth, block))
        previous = kind
    return _with_quotes(blocks)


def render_element(_: Document, __: int, element: Element) -> str:
    """Level 3: the element as its page shows it."""
    return element_markdown(element)


def element_markdown(element: Element) -> str:
    """Return one element by the rendering table, quoted where it is a quote; empty where there is nothing to show."""
    return _with_quotes([(_quote_depth(element), _block(element))])


def _block(element: Element) -> str:
    render = _RENDERERS.get(element.category)
    return _stand_in(element.category, _summary(element)) if render is None else render(element.content, element)


def _quote_depth(element: Element) -> int:
    depth = element.metadata.get("level", 1) if element.metadata.get("quoted") else 0
    return min(depth, MAX_QUOTES) if isinstance(depth, int) and depth > 0 else int(bool(depth))


def _with_quotes(blocks: Sequence[tuple[int, str]]) -> str:
    """Return blocks with a blank line between them; those that follow one another in a quote are one quote."""
    lines: list[str] = []
    previous = 0
    for depth, block in blocks:
        if lines:
            lines.append(">" * min(depth, previous))
        prefix = "> " * depth
        lines += [prefix + line if line else prefix.rstrip() for line in block.split("\n")]
        previous = depth
    return "\n".join(lines)


def _heading(content: HeadingContent, _: Element) -> str:
    text, spans = content["text"], content.get("spans")
    told = inline.heading(text, spans) if spans else escape.heading_text(text)
    return f"{'#' * min(max(content['level'], 1), 6)} {told}".rstrip()


def _text(content: TextContent, _: Element) -> str:
    text, spans = content["text"], content.get("spans")
    return _join(inline.paragraphs(text, spans) if spans else escape.paragraphs(text))


def _table(content: TableContent, element: Element) -> str:
    cells = grid(content)
    if not cells.headers:
        return _stand_in("table", _summary(element))
    spans = {(one["row"], one["column"]): one["spans"] for one in content.get("cell_spans", ())}
    head, *rows = (
        [
            inline.line(text, spans[row, column], in_cell=True) if (row, column) in spans else escape.cell(text)
            for column, text in enumerate(line)
        ]
        for row, line in enumerate([cells.headers, *cells.rows])
    )
    table = _table_of(head, rows)
    note = window_note(content)
    caption = escape.paragraphs(content.get("caption", ""))
    return _join([*caption, table, _stand_in("table", note) if note else ""])


def _list(content: ListContent, _: Element) -> str:
    return "\n".join(_list_lines(content, MAX_LIST_DEPTH))


def _code(content: CodeContent, _: Element) -> str:
    return escape.fenced(content["text"], content.get("language", ""))


def _chart(content: ChartContent, _: Element) -> str:
    return escape.line(f"[图表: {one_line(content['title'])}] {one_line(content['data_summary'])}")


def _image(content: ImageContent, element: Element) -> str:
    alt, description = content.get("alt", ""), content.get("description", "")
    url = content.get("url", "")
    if url.strip() and escape.is_linkable(url):
        return f"![{escape.label(alt or description or element.summary)}]({escape.destination(url)})"
    return escape.line(f"[图片: {one_line(description or alt or _summary(element))}]")


def _link(content: LinkContent, _: Element) -> str:
    text, url = content["text"], content["url"]
    if not escape.is_linkable(url):
        return escape.line(f"[{one_line(text)}]({one_line(url)})")
    spans = [span for span in content.get("spans", ()) if span["kind"] != "link"]
    told = inline.line(text, spans, in_label=True) if spans else escape.label(text if text.strip() else url)
    return f"[{told}]({escape.destination(url)})"


def _formula(content: FormulaContent, _: Element) -> str:
    return escape.formula(content["expression"])


def _stand_in(category: str, summary: str) -> str:
    return escape.line(f"[{category}: {one_line(summary)}]" if summary.strip() else f"[{category}]")


def _summary(element: Element) -> str:
    return element.summary or gist(element.category, element.content)


_RENDERERS: Final[Mapping[ElementCategory, Callable[[Any, Element], str]]] = {
    "heading": _heading,
    "text": _text,
    "table": _table,
    "list": _list,
    "code": _code,
    "chart": _chart,
    "image": _image,
    "link": _link,
    "formula": _formula,
}


def _join(blocks: Iterable[str]) -> str:
    return "\n\n".join(filter(None, blocks))


def _table_of(headers: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    headers = list(headers)
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell_link(text: str, url: str) -> str:
    return f"[{escape.label(text, in_cell=True)}]({escape.destination(url)})"


def _document_head(document: Document, window: Mapping[str, int] | None = None) -> str:
    facts = {
        "uri": f"<{document_uri(document)}>",
        "file_uri": escape.line(document.file_uri),
        "file_type": escape.line(document.file_type),
        "page_count": str(document.page_count),
        "keywords": escape.line(", ".join(document.keywords)),
        "last_modified": escape.line(document.last_modified or ""),
    } | {key: str(value) for key, value in (window or {}).items()}
    title = f"# {escape.heading_text(document.title or document.doc_ref)}"
    return _join([title, "\n".join(f"- {key}: {value}" for key, value in facts.items() if value)])


def _list_lines(content: ListContent, depth: int) -> list[str]:
    lines: list[str] = []
    number = max(content.get("start", 1), 0)
    for item in items_of(content) if depth > 1 else all_items_of(content):
        marker = f"{min(number, _MAX_NUMBER)}." if content["ordered"] else "-"
        number += 1
        text = _item_text(item)
        lines.append(f"{marker} {text[0]}" if text else marker)
        body = text[1:]
        if item.children and item.children["items"]:
            if text and not _interrupts(item.children):
                body.append("")
            body += _list_lines(item.children, depth - 1)
        indent = " " * (len(marker) + 1)
        lines += [indent + line if line else "" for line in body]
    return lines


def _item_text(item: RenderedItem) -> list[str]:
    found = inline.item_paragraphs(item.text, item.spans) if item.spans else escape.item_paragraphs(item.text)
    text = "\n\n".join(found)
    if item.checked is not None:
        box = "[x]" if item.checked else "[ ]"
        text = f"{box} {text}" if text else box
    return text.split("\n") if text else []


def _interrupts(content: ListContent) -> bool:
    """Whether the list begins right after a paragraph: not with an empty item, nor with a number other than 1."""
    starts_with_text = bool(_item_text(next(items_of(content))))
    return starts_with_text and (not content["ordered"] or content.get("start", 1) == 1)
