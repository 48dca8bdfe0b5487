"""Making elements: stable ids numbered by category, and one-line summaries that tell whether to open them. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from a2c_smcp.documents.model import Element, Page
from a2c_smcp.documents.render.gist import gist
from a2c_smcp.types import ElementCategory

MAX_SUMMARY: Final = 100

PREFIXES: Final[Mapping[ElementCategory, str]] = {
    "text": "txt",
    "heading": "h",
    "list": "lst",
    "code": "code",
    "table": "tbl",
    "pivot_table": "pvt",
    "chart": "chart",
    "diagram": "dgm",
    "image": "img",
    "formula": "eq",
    "link": "lnk",
    "annotation": "note",
    "header": "hdr",
    "footer": "ftr",
    "separator": "sep",
    "audio": "aud",
    "video": "vid",
    "form": "form",
    "widget": "wgt",
}


class ElementMaker:
    """Makes the elements of one document in reading order; ids count by category: `h-001`, `tbl-001`, `tbl-002`."""

    def __init__(self) -> None:
        self._counts: Counter[ElementCategory] = Counter()

    def make(
        self, category: ElementCategory, content: Mapping[str, Any], metadata: Mapping[str, Any] | None = None
    ) -> Element:
        """Return the next element of its category."""
        self._counts[category] += 1
        element_id = f"{PREFIXES[category]}-{self._counts[category]:03}"
        return Element(element_id, category, content, summarize(category, content), metadata or {})


def summarize(category: ElementCategory, content: Mapping[str, Any]) -> str:
    """Return one line on what an element of this content holds."""
    told = clip(_SUMMARIES[category](content) if category in _SUMMARIES else gist(category, content))
    return told or _unnamed(category, content)


def clip(text: str, length: int = MAX_SUMMARY) -> str:
    """Return `text` on one line of at most `length` characters, cut between words where it has any."""
    if len(text) <= length and text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        return text  # nothing to put in order, as in most
    line = " ".join(text[: length + 40].split())
    if len(line) <= length:  # much of it is blanks, or there is no more
        line = " ".join(text[: length * 8].split())
        if len(line) <= length:
            return line
    kept = line[: length - 1]
    at_word = kept.rpartition(" ")[0]
    return f"{(at_word if len(at_word) > length * 0.7 else kept).rstrip()}…"


def size_of_table(headers: Sequence[Any], rows: int, columns: int) -> str:
    """Return "12 rows × 3 columns: name, type, meaning"."""
    size = f"{rows} {_plural('row', rows)} × {columns} {_plural('column', columns)}"
    names = ", ".join(str(name) for name in headers[:20] if name not in (None, ""))
    return f"{size}: {names}" if names else size


def page_title(page: Sequence[Element], default: str = "") -> str:
    """Return what a page index calls a page of these elements: its first heading, else how it begins."""
    headings = (element for element in page if element.category == "heading")
    first = next(headings, next(iter(page), None))
    return clip(first.summary, 60) if first else default


def paged(groups: Sequence[tuple[str, Sequence[Element]]], most: int) -> list[Page]:
    """Return a page for each titled group; one of more than `most` elements continues on further pages."""
    pages: list[Page] = []
    for title, elements in groups:
        for start in range(0, len(elements), most):
            shown = f"{title} ({start // most + 1})" if start else title
            pages.append(Page(len(pages), shown, tuple(elements[start : start + most])))
    return pages


def _table(content: Mapping[str, Any]) -> str:
    headers, rows = content["headers"], content["rows"]
    columns = content.get("total_columns", max(map(len, (headers, *rows)), default=0))
    return size_of_table(headers, content.get("total_rows", len(rows)), columns)


def _list(content: Mapping[str, Any]) -> str:
    items = content["items"]
    told = " · ".join([item if isinstance(item, str) else item["text"] for item in items[:20]])
    return f"{len(items)} {_plural('item', len(items))}: {told}"


def _code(content: Mapping[str, Any]) -> str:
    return _listing(content["text"], content.get("language", ""))


def _diagram(content: Mapping[str, Any]) -> str:
    named = content.get("title") or content.get("description")
    return named or _listing(content.get("source", ""), content.get("language", ""))


def _listing(text: str, language: str) -> str:
    lines = text.splitlines()
    size = f"{len(lines)} {_plural('line', len(lines))}"
    first = next(filter(str.strip, lines), "")
    return f"{language}, {size}: {first}" if language else f"{size}: {first}"


def _unnamed(category: ElementCategory, content: Mapping[str, Any]) -> str:
    """Return what there is to say where the content says nothing in words."""
    kind = str(content.get("mime_type") or "").partition("/")[2].partition("+")[0].upper()
    return f"{kind} {category}" if kind else category.replace("_", " ").capitalize()


def _link(content: Mapping[str, Any]) -> str:
    text, url = content["text"], content["url"]
    return url if text in ("", url) else f"{text} → {url}"


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


_SUMMARIES: Final[Mapping[ElementCategory, Callable[[Mapping[str, Any]], str]]] = {
    "list": _list,
    "code": _code,
    "table": _table,
    "diagram": _diagram,
    "link": _link,
}
