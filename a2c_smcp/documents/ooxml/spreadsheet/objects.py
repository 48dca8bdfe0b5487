"""What lies on a sheet besides its cells: comments, links, pivot tables, declared tables, charts, pictures, shapes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from a2c_smcp.documents.ooxml.charts import Lookup, read_chart
from a2c_smcp.documents.ooxml.controls import control_at
from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.drawings import alt_of, body_text, image_content, image_summary
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.spreadsheet.references import Range, parse_cell, parse_range
from a2c_smcp.documents.ooxml.spreadsheet.rows import string_of
from a2c_smcp.documents.ooxml.xml import (
    Node,
    R,
    attribute,
    child,
    children,
    descendants,
    is_on,
    local,
    number,
    resolve_alternates,
    text_of,
)

MAX_OBJECTS: Final = 2_000
MAX_MERGED: Final = 20_000
_CONTROLS: Final = {"CheckBox": "checkbox", "Radio": "radio", "Drop": "dropdown", "List": "list", "Spin": "spinner"}
_FUNCTIONS: Final = {"countNums": "count numbers", "stdDev": "standard deviation", "var": "variance"}


@dataclass(frozen=True, slots=True)
class Declared:
    """A table that the author has declared as one."""

    area: Range
    name: str
    has_header: bool


@dataclass(frozen=True, slots=True)
class RangeLink:
    """Where a range leads."""

    area: Range
    url: str
    display: str
    tip: str
    is_partial: bool = False
    """Whether only the words `display` of the cell lead there."""


@dataclass(slots=True)
class Tail:
    """What a sheet says below its rows."""

    merged: list[Range] = field(default_factory=list)
    links: list[RangeLink] = field(default_factory=list)
    filtered: list[Range] = field(default_factory=list)
    choices: list[tuple[Range, dict[str, Any]]] = field(default_factory=list)
    header: str = ""
    footer: str = ""


def read_tail(root: Node, package: Package, part: str) -> Tail:
    """Return merged cells, links and filters."""
    tail = Tail()
    for node in islice(children(child(root, "mergeCells"), "mergeCell"), MAX_MERGED):
        area = parse_range(attribute(node, "ref"))
        if area and area.height * area.width > 1:
            tail.merged.append(area)
    targets = package.relationships(part)
    for node in islice(children(child(root, "hyperlinks"), "hyperlink"), MAX_OBJECTS):
        area = parse_range(attribute(node, "ref"))
        target = targets.get(node.get(f"{R}id") or "")
        place = attribute(node, "location")
        url = (target.target if target else "") + (f"#{place}" if place else "")
        if area and url:
            tail.links.append(RangeLink(area, url, attribute(node, "display"), attribute(node, "tooltip")))
    for node in islice(children(child(root, "dataValidations"), "dataValidation"), MAX_OBJECTS):
        area = parse_range(attribute(node, "sqref").partition(" ")[0])
        if area and attribute(node, "type") == "list":
            tail.choices.append((area, _choice(node)))
    filtered = child(root, "autoFilter")
    area = parse_range(attribute(filtered, "ref")) if filtered is not None else None
    if area:
        tail.filtered.append(area)
    return tail


def _choice(node: Node) -> dict[str, Any]:
    source = text_of(child(node, "formula1")).strip()
    content: dict[str, Any] = {"widget_type": "dropdown", "name": attribute(node, "sqref")}
    if prompt := attribute(node, "promptTitle") or attribute(node, "prompt"):
        content["label"] = prompt
    if source.startswith('"'):
        content["options"] = [option.strip() for option in source.strip('"').split(",")]
        return content | {"description": ", ".join(content["options"])}
    return content | {"description": f"one of {source}"}


def declared_tables(package: Package, part: str) -> list[Declared]:
    """Return the tables that are declared on a sheet."""
    found = []
    for target in package.related(part, "table"):
        root = package.optional(target)
        area = parse_range(attribute(root, "ref")) if root is not None else None
        if root is not None and area:
            name = attribute(root, "displayName") or attribute(root, "name")
            found.append(Declared(area, name, number(root.get("headerRowCount"), 1) > 0))
    return found


def comments(package: Package, part: str) -> Iterator[tuple[tuple[int, int], dict[str, Any]]]:
    """Yield the comments of a sheet with their cells; answers stay with what they answer."""
    threads = list(_threads(package, part))
    yield from threads
    threaded = {cell for cell, _ in threads}
    for target in package.related(part, "comments"):
        root = package.optional(target)
        authors = [text_of(node).strip() for node in children(child(root, "authors"), "author")]
        for node in islice(children(child(root, "commentList"), "comment"), MAX_OBJECTS):
            cell = parse_cell(attribute(node, "ref"))
            text = child(node, "text")
            if cell is None or cell in threaded or text is None:
                continue
            content: dict[str, Any] = {"text": string_of(text).strip(), "annotation_type": "comment"}
            author = number(node.get("authorId"), -1)
            if 0 <= author < len(authors) and authors[author]:
                content["author"] = authors[author]
                # Excel repeats the author as the first line of the text.
                content["text"] = content["text"].removeprefix(f"{authors[author]}:").strip()
            yield cell, content


def _threads(package: Package, part: str) -> Iterator[tuple[tuple[int, int], dict[str, Any]]]:
    people = _people(package)
    for target in package.related(part, "threadedComment"):
        root = package.optional(target)
        roots: dict[str, dict[str, Any]] = {}
        cells: dict[str, tuple[int, int]] = {}
        for node in children(root, "threadedComment"):
            said: dict[str, Any] = {"text": text_of(child(node, "text")).strip()}
            if author := people.get(attribute(node, "personId")):
                said["author"] = author
            if created := attribute(node, "dT"):
                said["created"] = created
            parent, cell = roots.get(attribute(node, "parentId")), parse_cell(attribute(node, "ref"))
            if parent is not None:
                parent.setdefault("replies", []).append(said)
            elif cell is not None:
                said["annotation_type"] = "comment"
                if is_on(node.get("done", "0")):
                    said["resolved"] = True
                roots[attribute(node, "id")], cells[attribute(node, "id")] = said, cell
        yield from ((cells[key], said) for key, said in roots.items())


def _people(package: Package) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for target in package.related(package.main_part(), "person"):
        for node in children(package.optional(target), "person"):
            found[attribute(node, "id")] = attribute(node, "displayName")
    return found


def pivot_tables(package: Package, part: str) -> Iterator[tuple[Range, dict[str, Any]]]:
    """Yield the pivot tables of a sheet with the cells they fill."""
    for target in package.related(part, "pivotTable"):
        root = package.optional(target)
        place = child(root, "location")
        area = parse_range(attribute(place, "ref")) if place is not None else None
        if root is None or area is None:
            continue
        cache_part = next(package.related(target, "pivotCacheDefinition"), "")
        cache = package.optional(cache_part) if cache_part else None
        names = [attribute(node, "name") for node in children(child(cache, "cacheFields"), "cacheField")]
        # A field may be shown under another name than that of its column.
        shown = [attribute(node, "name") for node in children(child(root, "pivotFields"), "pivotField")]
        names = [shown[at] if at < len(shown) and shown[at] else name for at, name in enumerate(names)]
        content: dict[str, Any] = {
            "row_fields": _fields(child(root, "rowFields"), "field", "x", names),
            "column_fields": _fields(child(root, "colFields"), "field", "x", names),
            "values": [_value(node, names) for node in children(child(root, "dataFields"), "dataField")],
        }
        if filters := _fields(child(root, "pageFields"), "pageField", "fld", names):
            content["filter_fields"] = filters
        content["title"] = attribute(root, "name")
        if source := _source(cache):
            content["source"] = source
        yield area, content


def _fields(node: Node | None, name: str, key: str, names: list[str]) -> list[str]:
    indexes = [number(attribute(field, key), -1) for field in children(node, name)]
    return [names[index] for index in indexes if 0 <= index < len(names)]  # -2 stands for "the values"


def _value(node: Node, names: list[str]) -> dict[str, str]:
    index, function = number(node.get("fld"), -1), attribute(node, "subtotal", "sum")
    value = {
        "field": names[index] if 0 <= index < len(names) else attribute(node, "name"),
        "function": _FUNCTIONS.get(function, function),
    }
    return value | ({"name": attribute(node, "name")} if attribute(node, "name") else {})


def _source(cache: Node | None) -> str:
    source = child(cache, "cacheSource", "worksheetSource")
    if source is None:
        return ""
    sheet, area = attribute(source, "sheet"), attribute(source, "ref") or attribute(source, "name")
    return f"{sheet}!{area}" if sheet and area else area


def drawings(package: Package, part: str, lookup: Lookup) -> Iterator[Draft]:
    """Yield charts, pictures and text of shapes, each at the cell it is anchored to."""
    for target in package.related(part, "drawing"):
        root = package.optional(target)
        if root is None:
            continue
        for anchor in list(resolve_alternates(root))[:MAX_OBJECTS]:
            row, column = _anchor(anchor)
            for node in anchor:
                for draft in _drawn(node, package, target, lookup):
                    draft.place = (row, column)
                    yield draft


def controls(package: Package, part: str) -> Iterator[Draft]:
    """Yield the form controls of a sheet: boxes to tick, lists, buttons."""
    for target in islice(package.related(part, "ctrlProp"), MAX_OBJECTS):
        root = package.optional(target)
        if root is None:
            continue
        kind = attribute(root, "objectType") or "control"
        content: dict[str, Any] = {"widget_type": _CONTROLS.get(kind, kind.lower())}
        if link := attribute(root, "fmlaLink"):
            content["name"] = link.replace("$", "")
        if kind in ("CheckBox", "Radio"):
            content["value"] = attribute(root, "checked") == "Checked"
        if source := attribute(root, "fmlaRange"):
            content["description"] = f"one of {source.replace('$', '')}"
        yield Draft("widget", content, place=(float("inf"), 0))
    for target in islice(package.related(part, "control"), MAX_OBJECTS):
        draft = control_at(package, target)
        draft.place = (float("inf"), 0)
        yield draft


def _anchor(anchor: Node) -> tuple[int, int]:
    start = child(anchor, "from")
    return number(text_of(child(start, "row"))) + 1, number(text_of(child(start, "col"))) + 1


def _drawn(node: Node, package: Package, part: str, lookup: Lookup) -> Iterator[Draft]:
    match local(node):
        case "pic":
            properties = child(node, "nvPicPr", "cNvPr")
            content, target = image_content(package, part, node, properties)
            name = attribute(properties, "name") if properties is not None else ""
            yield Draft("image", content, summary=image_summary(content, name, target), picture=target)
        case "graphicFrame":
            yield from _frame(node, package, part, lookup)
        case "sp":
            text = body_text(child(node, "txBody"))
            if text:
                yield Draft("text", {"text": text}, {"shape": attribute(_named(node), "name")})
        case "grpSp":
            for inner in node:
                yield from _drawn(inner, package, part, lookup)


def _named(node: Node) -> Node:
    return next(descendants(node, "cNvPr"), node)


def _frame(node: Node, package: Package, part: str, lookup: Lookup) -> Iterator[Draft]:
    for reference in descendants(node, "chart"):
        target = package.target(part, reference.get(f"{R}id"))
        root = package.optional(target) if target else None
        if root is not None:
            content = read_chart(root, lookup)
            content["title"] = content["title"] or alt_of(_named(node))
            yield Draft("chart", content)
    for reference in descendants(node, "slicer"):
        name = attribute(reference, "name")
        yield Draft("widget", {"widget_type": "slicer", "name": name})
