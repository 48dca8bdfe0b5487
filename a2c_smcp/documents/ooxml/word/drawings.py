"""Drawings in a Word document: pictures, charts, SmartArt, text boxes, groups of shapes, embedded objects."""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias, cast

from a2c_smcp.documents.content import ListContent
from a2c_smcp.documents.ooxml.charts import read_chart
from a2c_smcp.documents.ooxml.controls import control_at
from a2c_smcp.documents.ooxml.diagrams import described, diagram_at
from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.drawings import alt_of, body_text, image_content, image_summary, mime_type_of
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.xml import Node, R, attribute, child, descendants, local
from a2c_smcp.documents.render.values import all_items_of

MAX_SHAPES: Final = 500

_WORDY: Final = frozenset({"text", "heading", "list", "table", "code"})

ReadBox: TypeAlias = Callable[[Node], list[Draft]]
"""Reads the content of a text box like that of a document."""


def read_drawing(node: Node, package: Package, part: str, read_box: ReadBox) -> Iterator[Draft]:
    """Yield what a `w:drawing`, `w:pict` or `w:object` shows."""
    if local(node) in ("pict", "object"):
        yield from _older(node, package, part, read_box)
        return
    for frame in node:
        properties = child(frame, "docPr")
        yield from _pictures(frame, properties, package, part)
        for reference in _outside_boxes(frame, "chart"):
            yield from _chart(reference, properties, package, part)
        for reference in _outside_boxes(frame, "relIds"):
            content = diagram_at(package, part, reference)
            if content:
                yield Draft("diagram", _titled(content, properties))
        yield from _boxes(frame, properties, read_box)
        yield from _shapes(frame, properties)


def _pictures(frame: Node, properties: Node | None, package: Package, part: str) -> Iterator[Draft]:
    pictures = list(_outside_boxes(frame, "pic"))[:MAX_SHAPES]
    for picture in pictures:
        own = child(picture, "nvPicPr", "cNvPr")
        described_by = properties if len(pictures) == 1 and alt_of(properties) else own
        content, target = image_content(package, part, picture, described_by)
        name = attribute(described_by, "name") if described_by is not None else ""
        yield Draft("image", content, summary=image_summary(content, name, target), picture=target)


def _chart(reference: Node, properties: Node | None, package: Package, part: str) -> Iterator[Draft]:
    target = package.target(part, reference.get(f"{R}id"))
    root = package.optional(target) if target else None
    if root is not None:
        content = read_chart(root)
        content["title"] = content["title"] or alt_of(properties)
        yield Draft("chart", content)


def _boxes(frame: Node, properties: Node | None, read_box: ReadBox) -> Iterator[Draft]:
    boxes = list(_outside_boxes(frame, "txbxContent"))
    if len(boxes) > 1:
        nodes: list[dict[str, str]] = []
        others: list[Draft] = []
        for box in boxes[:MAX_SHAPES]:
            drafts = read_box(box)
            others += (draft for draft in drafts if draft.category not in _WORDY)
            text = "\n".join(_words(draft) for draft in drafts if draft.category in _WORDY).strip()
            if text:
                nodes.append({"id": f"n{len(nodes) + 1}", "text": text})
        if nodes:
            content = {"diagram_type": "drawing", "nodes": nodes, "description": described(nodes)}
            yield Draft("diagram", _titled(content, properties))
        yield from others
        return
    for box in boxes:
        for draft in read_box(box):
            draft.metadata["shape"] = "text box"
            yield draft


def _shapes(frame: Node, properties: Node | None) -> Iterator[Draft]:
    """Yield the words of shapes that were pasted from another program and know no text boxes."""
    texts = [body_text(body) for body in list(_outside_boxes(frame, "txBody"))[:MAX_SHAPES]]
    nodes = [{"id": f"n{at}", "text": text} for at, text in enumerate(filter(None, texts), 1)]
    if len(nodes) == 1:
        yield Draft("text", {"text": nodes[0]["text"]}, {"shape": "drawing"})
    elif nodes:
        content = {"diagram_type": "drawing", "nodes": nodes, "description": described(nodes)}
        yield Draft("diagram", _titled(content, properties))


def _outside_boxes(frame: Node, name: str) -> Iterator[Node]:
    """Yield the nodes of a frame that are not inside one of its text boxes, which are read on their own."""
    inside: set[Node] = set()
    for box in descendants(frame, "txbxContent"):
        inside.update(box.iterdescendants())
    yield from (node for node in descendants(frame, name) if node not in inside)


def _words(draft: Draft) -> str:
    match draft.category:
        case "list":
            return "\n".join(item.text for item in all_items_of(cast("ListContent", draft.content)))
        case "table":
            lines = [draft.content["headers"], *draft.content["rows"]]
            return "\n".join(" | ".join(str(cell or "") for cell in line) for line in lines if line)
    return str(draft.content.get("text", ""))


def _titled(content: dict[str, Any], properties: Node | None) -> dict[str, Any]:
    alt = alt_of(properties)
    return content | ({"title": alt} if alt else {})


def _older(node: Node, package: Package, part: str, read_box: ReadBox) -> Iterator[Draft]:
    for data in _outside_boxes(node, "imagedata"):
        target = package.target(part, data.get(f"{R}id")) or ""
        shape = data.getparent()
        alt = attribute(shape, "alt") if shape is not None else ""
        content: dict[str, Any] = {"alt": alt} if alt else {}
        if target:
            content["mime_type"] = mime_type_of(target)
        summary = image_summary(content, attribute(data, "title"), target)
        yield Draft("image", content, summary=summary, picture=target)
    yield from _boxes(node, None, read_box)
    for control in descendants(node, "control"):
        yield control_at(package, package.target(part, control.get(f"{R}id")), attribute(control, "name"))
    for embedded in descendants(node, "OLEObject"):
        kind = attribute(embedded, "ProgID")
        yield Draft("widget", {"widget_type": "embedded object", "name": kind or "object"})
    if any(attribute(shape, "hr") in ("t", "true") for shape in descendants(node, "rect")):
        yield Draft("separator", {"separator_type": "line"})
