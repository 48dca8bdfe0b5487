"""The text of a shape: paragraphs and lists by their levels, links, equations."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.math import latex
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.slides.layout import Placeholder, SlideLayout
from a2c_smcp.documents.ooxml.word.lists import WordListItem, list_content
from a2c_smcp.documents.ooxml.xml import A, M, Node, R, attribute, child, descendants, local, number
from a2c_smcp.documents.rich_text import PLAIN, Kind, RichBuilder, RichText, cell_spans, joined, text_content


@dataclass(slots=True)
class SlideParagraph:
    """A paragraph with what hangs on it."""

    rich: RichText
    level: int = 0
    mark: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)
    equations: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The words alone."""
        return self.rich.text


class TextReader:
    """Reads the text bodies of one slide."""

    def __init__(self, package: Package, part: str, layout: SlideLayout, slides: dict[str, int]) -> None:
        self._package = package
        self._part = part
        self._layout = layout
        self._slides = slides

    def read(self, shape: Node, placeholder: Placeholder | None = None) -> list[SlideParagraph]:
        """Return the paragraphs of a shape that say something."""
        body = child(shape, "txBody")
        found = (
            [self._paragraph(node, shape, placeholder) for node in body.iterchildren(f"{A}p")]
            if body is not None
            else []
        )
        return [said for said in found if said.text or said.equations]

    def cell(self, cell: Node) -> RichText:
        """Return the text of a cell of a table."""
        return joined((one.rich for one in self.read(cell)), "\n")

    def url(self, click: Node | None) -> str:
        """Return where a click leads: an address, a file, or another slide."""
        if click is None:
            return ""
        target = self._package.relationships(self._part).get(click.get(f"{R}id") or "")
        if target is None:
            return ""
        if target.external:
            return target.target
        return f"#slide-{self._slides[target.target] + 1}" if target.target in self._slides else ""

    def _paragraph(self, node: Node, shape: Node, placeholder: Placeholder | None) -> SlideParagraph:
        properties = child(node, "pPr")
        said = SlideParagraph(PLAIN, number(attribute(properties, "lvl", "0")) if properties is not None else 0)
        builder = RichBuilder()
        for part in node:
            match local(part):
                case "r" | "fld":
                    text = "".join(run.text or "" for run in part.iterchildren(f"{A}t")).replace("\x0b", "\n")
                    start = builder.length
                    builder.add(text)
                    url = self.url(child(part, "rPr", "hlinkClick"))
                    if url:
                        said.links.append((text.strip(), url))
                        builder.mark(start, "link", url)
                    for kind in _kinds(child(part, "rPr")):
                        builder.mark(start, kind)
                case "br":
                    start = builder.length
                    builder.add("\n")
                    builder.mark(start, "break")
                case "m":
                    equations = [latex(equation) for equation in part.iterdescendants(f"{M}oMath")]
                    said.equations += filter(None, equations)
                    builder.add("".join(equations))
        said.rich = builder.build().strip().tidy()
        said.mark = self._layout.has_bullet(node, shape, placeholder) if said.text else ""
        return said


def drafts_of(paragraphs: list[SlideParagraph]) -> Iterator[Draft]:
    """Yield paragraphs as texts and lists, each followed by its links and equations."""
    group: list[SlideParagraph] = []
    for said in paragraphs:
        if group and bool(said.mark) != bool(group[-1].mark):
            yield from _group(group)
            group = []
        group.append(said)
    if group:
        yield from _group(group)


def _group(group: list[SlideParagraph]) -> Iterator[Draft]:
    equations = [equation for said in group for equation in said.equations]
    text = joined((said.rich for said in group), "\n")
    links = [found for said in group for found in said.links]
    if group[0].mark:
        items = [
            WordListItem(said.text, said.level, "", "decimal" if said.mark == "number" else "", spans=said.rich.spans)
            for said in group
        ]
        yield Draft("list", list_content(items))
    elif links and " ".join(text.text.split()) == " ".join(" ".join(words.split()) for words, _ in links):
        yield from (link(*found) for found in links)
    elif "".join(equations) != text.text.replace("\n", ""):
        yield Draft("text", text_content(text))
    for equation in equations:
        yield Draft("formula", {"expression": equation, "notation": "latex"})


def _kinds(properties: Node | None) -> Iterator[Kind]:
    """Yield what the properties of a run make of its text."""
    if properties is None:
        return
    if attribute(properties, "b") in ("1", "true"):
        yield "strong"
    if attribute(properties, "i") in ("1", "true"):
        yield "emphasis"
    if attribute(properties, "strike") in ("sngStrike", "dblStrike"):
        yield "strike"


def link(text: str, url: str) -> Draft:
    """Return a link."""
    return Draft("link", {"text": text or url, "url": url})


def table_content(table: Node, reader: TextReader) -> dict[str, Any]:
    """Return a table of a slide."""
    grid: list[list[str | None]] = []
    texts: list[list[RichText]] = []
    merged: list[dict[str, int]] = []
    for row in table.iterchildren(f"{A}tr"):
        grid.append([])
        texts.append([])
        for cell in row.iterchildren(f"{A}tc"):
            text = reader.cell(cell)
            texts[-1].append(text)
            width, height = number(cell.get("gridSpan"), 1), number(cell.get("rowSpan"), 1)
            if width > 1 or height > 1:
                place = {"row": len(grid) - 1, "column": len(grid[-1])}
                merged.append(place | {"row_span": max(1, height), "column_span": max(1, width)})
            grid[-1].append(text.text or None)
    properties = child(table, "tblPr")
    has_header = len(grid) > 1 and properties is not None and attribute(properties, "firstRow") in ("1", "true")
    content: dict[str, Any] = {
        "headers": [text or "" for text in grid[0]] if has_header else [],
        "rows": list[Any](grid[1:] if has_header else grid),
    }
    if merged:
        content["merged"] = merged if has_header else [one | {"row": one["row"] + 1} for one in merged]
    if has_header:
        texts[0] = [text.without_whole("strong") for text in texts[0]]
    if spans := cell_spans(texts, 0 if has_header else 1):
        content["cell_spans"] = spans
    return content


def all_text(node: Node | None) -> str:
    """Return all words below a node as lines."""
    paragraphs = ("".join(run.text or "" for run in descendants(p, "t")) for p in descendants(node, "p"))
    return "\n".join(filter(None, (text.strip() for text in paragraphs)))
