"""A web page as a document: what it says of itself, its main content first, the rest around it after."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from a2c_smcp.documents.formats.base import Description
from a2c_smcp.documents.formats.elements import ElementMaker, clip
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.documents.web.blocks import HtmlElementBuilder
from a2c_smcp.documents.web.controls import text_inside
from a2c_smcp.documents.web.parse import attribute, parse
from a2c_smcp.documents.web.sections import sections_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

AROUND: Final = "Navigation and page frame"
"""What the page is called that holds what stands around the main content."""

_MAIN: Final = ("main", "[role=main]", "article", "#mw-content-text", "#content", ".markdown-body")
_MIN_SUMMARY: Final = 80
_MIN_MAIN: Final = 200
_MIN_MAIN_SHARE: Final = 0.25


@dataclass(frozen=True, slots=True)
class HtmlHead:
    """What a page says of itself."""

    title: str = ""
    summary: str = ""
    keywords: tuple[str, ...] = ()
    base: str = ""


def web_page(html: str, *, maker: ElementMaker | None = None) -> tuple[Description, list[Page]]:
    """Return a page of HTML as a document.

    Raises:
        DocumentError: It cannot be parsed.
    """
    tree = parse(html)
    head = head_of(tree)
    maker = maker or ElementMaker()
    body = tree.body or tree.root
    if body is None:
        return Description(title=head.title, summary="Empty file"), []
    main = _main_of(body)
    inside, around = HtmlElementBuilder(maker, head.base), HtmlElementBuilder(maker, head.base)
    inside.walk(main or body)
    content, frame = _without_frame(inside.elements)
    if main is not None:
        around.skip = frozenset({main.mem_id})
        around.walk(body)
        frame = around.elements + frame
    title_first, rest = _title_first(content, frame)
    pages = sections_of(title_first)
    if rest:
        pages += [
            Page(page.index, AROUND if number == 0 else f"{AROUND} ({number + 1})", page.elements)
            for number, page in enumerate(_frame_pages(rest, len(pages)))
        ]
    return describe(head, title_first or rest, pages), pages


def elements_of_html(html: str, maker: ElementMaker, base: str = "") -> list[Element]:
    """Return the elements of a piece of HTML in reading order.

    Raises:
        DocumentError: It cannot be parsed.
    """
    tree = parse(html)
    blocks = HtmlElementBuilder(maker, base)
    body = tree.body or tree.root
    if body is not None:
        blocks.walk(body)
    return blocks.elements


def head_of(tree: "LexborHTMLParser") -> HtmlHead:
    """Return what a page says of itself in its head."""
    meta: dict[str, str] = {}
    for node in tree.css("meta"):
        name = attribute(node, "name") or attribute(node, "property")
        meta.setdefault(name.lower(), attribute(node, "content"))
    title = text_inside(tree.css_first("head > title") or tree.css_first("title:not(svg *)"))
    based = tree.css_first("base")
    base = attribute(based, "href") if based is not None else ""
    words = [word.strip() for word in meta.get("keywords", "").replace(";", ",").replace("，", ",").split(",")]
    return HtmlHead(
        title=title or meta.get("og:title", "") or meta.get("dc.title", ""),
        summary=meta.get("description", "") or meta.get("og:description", ""),
        keywords=tuple(dict.fromkeys(word for word in words if word))[:20],
        base=base if base.startswith(("http://", "https://")) else "",
    )


def describe(head: HtmlHead, elements: Sequence[Element], pages: Sequence[Page]) -> Description:
    """Return what the catalogue says of a page."""
    headings = [element for element in elements if element.category == "heading"]
    top = min(headings, key=lambda heading: heading.content["level"], default=None)
    prose = (element.content["text"] for element in elements if element.category == "text")
    start = next(
        (text for text in prose if len(text) > _MIN_SUMMARY), elements[0].summary if elements else "Empty file"
    )
    title = head.title or (top.content["text"] if top else "")
    titles = dict.fromkeys(page.title for page in pages if page.title not in ("", title) and AROUND not in page.title)
    return Description(
        title=clip(title, 200),
        page_count=len(pages),
        keywords=head.keywords or tuple(titles)[:12],
        summary=clip(head.summary or start, 200),
    )


def _main_of(body: "LexborNode") -> "LexborNode | None":
    """Return the node that holds what the page is about, where it marks one."""
    whole = len(body.text(deep=True))
    for selector in _MAIN:
        found = body.css(selector)
        if selector == "article" and len(found) != 1:
            continue
        main = max(found[:20], key=lambda node: len(node.text(deep=True)), default=None)
        if main is not None:
            size = len(main.text(deep=True))
            if size >= min(_MIN_MAIN, whole * 0.5) and size >= whole * _MIN_MAIN_SHARE:
                return main
    return None


def _without_frame(elements: list[Element]) -> tuple[list[Element], list[Element]]:
    """Divide elements into what is content and what is navigation, header or footer."""
    frame = [element for element in elements if element.metadata.get("region") in ("navigation", "footer")]
    kept = [element for element in elements if element.metadata.get("region") not in ("navigation", "footer")]
    # A page that is nothing but navigation is one, after all.
    return (kept, frame) if any(element.category != "separator" for element in kept) else (elements, [])


def _title_first(inside: list[Element], frame: list[Element]) -> tuple[list[Element], list[Element]]:
    """Bring the page's own title back when it stands before its main content."""
    if any(element.category == "heading" and element.content["level"] == 1 for element in inside):
        return inside, frame
    for number, element in enumerate(frame):
        if element.category == "heading" and element.content["level"] == 1 and not element.metadata.get("region"):
            return [element, *inside], frame[:number] + frame[number + 1 :]
    return inside, frame


def _frame_pages(elements: Sequence[Element], first: int) -> list[Page]:
    size = 200
    return [
        Page(first + number, "", tuple(elements[start : start + size]))
        for number, start in enumerate(range(0, len(elements), size))
    ]
