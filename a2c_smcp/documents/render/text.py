"""Plain text of levels 0 to 3: for reading and searching, with nothing escaped.

Cells are separated by tabs; pictures, media and controls, which have no text of their own, stand in brackets.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from a2c_smcp.documents.content import (
    AnnotationContent,
    Cell,
    ChartContent,
    DiagramContent,
    FormContent,
    FormulaContent,
    ImageContent,
    LinkContent,
    ListContent,
    PivotTableContent,
    TableContent,
)
from a2c_smcp.documents.model import Document, Element, Page, PageEntry
from a2c_smcp.documents.render.gist import gist
from a2c_smcp.documents.render.json import document_json, document_with_pages_json, select
from a2c_smcp.documents.render.values import (
    RenderedItem,
    all_items_of,
    cell_text,
    clean,
    grid,
    items_of,
    one_line,
    window_note,
)
from a2c_smcp.types import ElementCategory

MIME_TYPE: Final = "text/plain"

MAX_LIST_DEPTH: Final = 32
"""Lists inside lists go on at this depth as one."""


def render_catalogue(documents: Iterable[Document]) -> str:
    """Level 0: a block a document."""
    return "\n\n".join(map(render_document, documents))


def render_document(document: Document) -> str:
    """Level 1, `depth=metadata`: a line a fact."""
    return _facts(document_json(document))


def render_document_with_pages(document: Document, entries: Sequence[PageEntry], offset: int, limit: int) -> str:
    """Level 1, `depth=pages`: the same with a window of the page index, a line a page."""
    reply = document_with_pages_json(document, entries, offset, limit)
    pages = [
        "\t".join([str(page["page_index"]), one_line(page["title"]), str(page.get("element_count", "")), page["uri"]])
        for page in reply["pages"]
    ]
    return "\n\n".join([_facts(reply), "\n".join(pages)]).rstrip()


def render_page(_: Document, page: Page, categories: Collection[str] | None = None) -> str:
    """Level 2: the elements in reading order, a blank line between them."""
    return "\n\n".join(filter(None, map(element_text, select(page, categories))))


def render_element(_: Document, __: int, element: Element) -> str:
    """Level 3: the element as its page shows it."""
    return element_text(element)


def element_text(element: Element) -> str:
    """Return one element; empty where there is nothing to show."""
    return clean(_RENDERERS[element.category](element.content, element))


def _facts(reply: Mapping[str, Any]) -> str:
    return "\n".join(
        f"{key}: {one_line(', '.join(value) if key == 'keywords' else str(value))}"
        for key, value in reply.items()
        if key != "pages"
    )


def _plain(content: Mapping[str, Any], _: Element) -> str:
    return clean(content["text"]).strip("\n")


def _one_line(content: Mapping[str, Any], _: Element) -> str:
    return one_line(content["text"])


def _list(content: ListContent, _: Element) -> str:
    return "\n".join(_list_lines(content, MAX_LIST_DEPTH))


def _list_lines(content: ListContent, depth: int) -> list[str]:
    lines: list[str] = []
    number = content.get("start", 1)
    for item in items_of(content) if depth > 1 else all_items_of(content):
        marker = f"{number}." if content["ordered"] else "-"
        number += 1
        body = _item_lines(item)
        if item.children:
            body += _list_lines(item.children, depth - 1)
        indent = " " * (len(marker) + 1)
        lines.append(f"{marker} {body[0]}".rstrip())
        lines += [(indent + line).rstrip() for line in body[1:]]
    return lines


def _item_lines(item: RenderedItem) -> list[str]:
    box = "" if item.checked is None else "[x] " if item.checked else "[ ] "
    return (box + clean(item.text).strip("\n")).split("\n")


def _table(content: TableContent, element: Element) -> str:
    note = window_note(content)
    return _lines(
        one_line(content.get("caption", "")),
        _grid(content) or _in_brackets("table", _summary(element)),
        _in_brackets("table", note) if note else "",
    )


def _pivot_table(content: PivotTableContent, element: Element) -> str:
    return _lines(_in_brackets("pivot_table", _summary(element)), _grid(content))


def _chart(content: ChartContent, _: Element) -> str:
    series = [
        f"{one_line(line['name'])}: {', '.join(cell_text(value) for value in line['values'])}"
        for line in content.get("series", [])
    ]
    return _lines(f"[图表: {one_line(content['title'])}] {one_line(content['data_summary'])}".rstrip(), *series)


def _diagram(content: DiagramContent, element: Element) -> str:
    nodes = content.get("nodes", [])
    names = {node["id"]: one_line(node["text"]) or node["id"] for node in nodes}
    edges = [
        f"{names.get(edge['source'], edge['source'])} -> {names.get(edge['target'], edge['target'])}"
        + (f": {one_line(edge['text'])}" if edge.get("text") else "")
        for edge in content.get("edges", [])
    ]
    source = clean(content.get("source", "")).strip("\n")
    return _lines(_in_brackets("diagram", _summary(element)), *names.values(), *edges, source)


def _image(content: ImageContent, element: Element) -> str:
    told = content.get("description") or content.get("alt") or _summary(element)
    url = content.get("url", "")
    return _lines(f"[图片: {one_line(told)}]", one_line(url) if url != told else "", clean(content.get("text", "")))


def _formula(content: FormulaContent, _: Element) -> str:
    value = content.get("value")
    expression = one_line(content["expression"])
    return expression if value is None else f"{expression} → {content.get('shown') or cell_text(value)}"


def _link(content: LinkContent, _: Element) -> str:
    text, url = one_line(content["text"]), one_line(content["url"])
    return f"{text} <{url}>" if text and text != url else url


def _annotation(content: AnnotationContent, _: Element) -> str:
    about = f"{one_line(content['target'])} — " if content.get("target") else ""
    said = [content, *content.get("replies", [])]
    return "\n".join(
        f"[annotation: {about}{gist('annotation', remark, width=len(remark['text']) + 1_000)}]" for remark in said
    )


def _media(content: Mapping[str, Any], element: Element) -> str:
    return _lines(_in_brackets(element.category, _summary(element)), clean(content.get("transcript", "")).strip("\n"))


def _form(content: FormContent, element: Element) -> str:
    fields = [
        f"{one_line(field.get('label') or field['name'])}: {_value(field.get('value'))}".rstrip()
        for field in content["fields"]
    ]
    return _lines(_in_brackets("form", content.get("title") or element.summary), *fields)


def _stand_in(_: Mapping[str, Any], element: Element) -> str:
    return _in_brackets(element.category, _summary(element))


_RENDERERS: Final[Mapping[ElementCategory, Callable[[Any, Element], str]]] = {
    "text": _plain,
    "heading": _one_line,
    "list": _list,
    "code": _plain,
    "table": _table,
    "pivot_table": _pivot_table,
    "chart": _chart,
    "diagram": _diagram,
    "image": _image,
    "formula": _formula,
    "link": _link,
    "annotation": _annotation,
    "header": _plain,
    "footer": _plain,
    "separator": _stand_in,
    "audio": _media,
    "video": _media,
    "form": _form,
    "widget": _stand_in,
}


def _lines(*lines: str) -> str:
    return "\n".join(filter(None, lines))


def _in_brackets(category: str, told: str) -> str:
    return f"[{category}: {one_line(told)}]" if told.strip() else f"[{category}]"


def _summary(element: Element) -> str:
    return element.summary or gist(element.category, element.content)


def _value(value: Cell | list[Cell]) -> str:
    return ", ".join(map(cell_text, value)) if isinstance(value, list) else one_line(cell_text(value))


def _grid(content: Mapping[str, Any]) -> str:
    cells = grid(content)
    lines = [cells.headers, *cells.rows] if any(cells.headers) else cells.rows
    return "\n".join("\t".join(" ".join(text.split()) for text in line) for line in lines)
