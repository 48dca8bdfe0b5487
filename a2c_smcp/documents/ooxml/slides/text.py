"""The text of a shape: paragraphs and lists by their levels, links, equations."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.math import latex
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.slides.layout import Layout, Placeholder
from a2c_smcp.documents.ooxml.word.lists import ListItem, list_content
from a2c_smcp.documents.ooxml.xml import A, M, Node, R, attribute, child, descendants, local, number


@dataclass(slots=True)
class Said:
    """A paragraph with what hangs on it."""

    text: str
    level: int = 0
    mark: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)
    equations: list[str] = field(default_factory=list)


class TextReader:
    """Reads the text bodies of one slide."""

    def __init__(self, package: Package, part: str, layout: Layout, slides: dict[str, int]) -> None:
        self._package = package
        self._part = part
        self._layout = layout
        self._slides = slides

    def read(self, shape: Node, placeholder: Placeholder | None = None) -> list[Said]:
        """Return the paragraphs of a shape that say something."""
        body = child(shape, "txBody")
        found = (
            [self._paragraph(node, shape, placeholder) for node in body.iterchildren(f"{A}p")]
            if body is not None
            else []
        )
        return [said for said in found if said.text or said.equations]

    def cell(self, cell: Node) -> tuple[str, list[tuple[str, str]]]:
        """Return the text of a cell of a table and its links."""
        said = self.read(cell)
        return "\n".join(one.text for one in said), [link for one in said for link in one.links]

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

    def _paragraph(self, node: Node, shape: Node, placeholder: Placeholder | None) -> Said:
        properties = child(node, "pPr")
        said = Said("", number(attribute(properties, "lvl", "0")) if properties is not None else 0)
        parts: list[str] = []
        for part in node:
            match local(part):
                case "r" | "fld":
                    text = "".join(run.text or "" for run in part.iterchildren(f"{A}t")).replace("\x0b", "\n")
                    parts.append(text)
                    url = self.url(child(part, "rPr", "hlinkClick"))
                    if url:
                        said.links.append((text.strip(), url))
                case "br":
                    parts.append("\n")
                case "m":
                    equations = [latex(equation) for equation in part.iterdescendants(f"{M}oMath")]
                    said.equations += filter(None, equations)
                    parts += equations
        said.text = "".join(parts).strip()
        said.mark = self._layout.has_bullet(node, shape, placeholder) if said.text else ""
        return said


def drafts_of(paragraphs: list[Said]) -> Iterator[Draft]:
    """Yield paragraphs as texts and lists, each followed by its links and equations."""
    group: list[Said] = []
    for said in paragraphs:
        if group and bool(said.mark) != bool(group[-1].mark):
            yield from _group(group)
            group = []
        group.append(said)
    if group:
        yield from _group(group)


def _group(group: list[Said]) -> Iterator[Draft]:
    equations = [equation for said in group for equation in said.equations]
    text = "\n".join(said.text for said in group)
    if group[0].mark:
        items = [ListItem(said.text, said.level, "", "decimal" if said.mark == "number" else "") for said in group]
        yield Draft("list", list_content(items))
    elif "".join(equations) != text.replace("\n", ""):
        yield Draft("text", {"text": text})
    for equation in equations:
        yield Draft("formula", {"expression": equation, "notation": "latex"})
    for said in group:
        for words, url in said.links:
            yield link(words, url)


def link(text: str, url: str) -> Draft:
    """Return a link."""
    return Draft("link", {"text": text or url, "url": url})


def table_content(table: Node, reader: TextReader) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return a table of a slide and the links in it."""
    grid: list[list[str | None]] = []
    merged: list[dict[str, int]] = []
    links: list[tuple[str, str]] = []
    for row in table.iterchildren(f"{A}tr"):
        grid.append([])
        for cell in row.iterchildren(f"{A}tc"):
            text, found = reader.cell(cell)
            links += found
            width, height = number(cell.get("gridSpan"), 1), number(cell.get("rowSpan"), 1)
            if width > 1 or height > 1:
                place = {"row": len(grid) - 1, "column": len(grid[-1])}
                merged.append(place | {"row_span": max(1, height), "column_span": max(1, width)})
            grid[-1].append(text or None)
    properties = child(table, "tblPr")
    has_header = len(grid) > 1 and properties is not None and attribute(properties, "firstRow") in ("1", "true")
    content: dict[str, Any] = {
        "headers": [text or "" for text in grid[0]] if has_header else [],
        "rows": list[Any](grid[1:] if has_header else grid),
    }
    if merged:
        content["merged"] = merged if has_header else [one | {"row": one["row"] + 1} for one in merged]
    return content, links


def all_text(node: Node | None) -> str:
    """Return all words below a node as lines."""
    paragraphs = ("".join(run.text or "" for run in descendants(p, "t")) for p in descendants(node, "p"))
    return "\n".join(filter(None, (text.strip() for text in paragraphs)))
