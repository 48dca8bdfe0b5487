"""One slide as elements: title first, then shapes from top to bottom and left to right, footer, notes, comments."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.ooxml.charts import read_chart
from a2c_smcp.documents.ooxml.controls import control_at
from a2c_smcp.documents.ooxml.diagrams import described, diagram_at
from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.drawings import alt_of, image_content, image_summary, mime_type_of
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.slides.comments import read_comments, read_notes
from a2c_smcp.documents.ooxml.slides.layout import (
    Box,
    GroupTransform,
    Placeholder,
    box_of,
    frame_of,
    placeholder_of,
    read_layout,
)
from a2c_smcp.documents.ooxml.slides.text import SlideParagraph, TextReader, drafts_of, link, table_content
from a2c_smcp.documents.ooxml.xml import Node, R, attribute, child, children, descendants, local, resolve_alternates
from a2c_smcp.documents.rich_text import joined, text_content

MAX_SHAPES: Final = 5_000
MAX_DEPTH: Final = 250
"""As deep as the parser lets a part be; what lies deeper is not read."""

ROW_HEIGHT: Final = 228_600
"""A quarter of an inch: shapes whose tops differ by less stand side by side."""

_TITLES: Final = ("title", "ctrTitle")
_FOOTERS: Final = ("ftr", "dt", "sldNum")


@dataclass(slots=True)
class Shape:
    """A shape that stands on its own, where it is on the slide."""

    node: Node
    box: Box | None
    role: Placeholder | None
    key: str
    said: list[SlideParagraph] = field(default_factory=list)
    rank: int = 0
    """Its place among the members of its group, which stay together."""


@dataclass(slots=True)
class Slide:
    """A slide that has been read."""

    title: str
    drafts: list[Draft]
    is_hidden: bool = False


def read_slide(package: Package, main: str, part: str, slides: dict[str, int]) -> Slide:
    """Return the elements of a slide in reading order."""
    root = resolve_alternates(package.tree(part))
    return SlideReader(package, main, part, slides).read(root)


class SlideReader:
    """Reads one slide."""

    def __init__(self, package: Package, main: str, part: str, slides: dict[str, int]) -> None:
        self._package = package
        self._main = main
        self._part = part
        self._layout = read_layout(package, part)
        self._text = TextReader(package, part, self._layout, slides)

    def read(self, root: Node) -> Slide:
        """Return the slide."""
        tree = child(root, "cSld", "spTree")
        shapes = list(self._shapes(tree, GroupTransform(), 0)) if tree is not None else []
        for shape in shapes:
            shape.said = self._text.read(shape.node, shape.role) if local(shape.node) == "sp" else []
        titles = [shape for shape in shapes if shape.role and shape.role.kind in _TITLES and shape.said]
        margins = [shape for shape in shapes if shape.role and shape.role.kind in (*_FOOTERS, "hdr")]
        rest = [shape for shape in shapes if shape not in titles and shape not in margins]
        drafts = [draft for shape in titles for draft in self._title(shape)]
        drafts += self._connected(rest, list(descendants(tree, "cxnSp")))
        drafts += self._controls(root)
        drafts += self._background(root)
        drafts = _header(margins) + drafts
        drafts += _footer(margins)
        drafts += read_notes(self._package, self._part)
        drafts += read_comments(self._package, self._main, self._part)
        title = " ".join(said.text for shape in titles[:1] for said in shape.said)
        return Slide(" ".join(title.split()), drafts, attribute(root, "show") in ("0", "false"))

    def _shapes(self, parent: Node, frame: GroupTransform, depth: int) -> Iterator[Shape]:
        for node in parent:
            name = local(node)
            if name == "grpSp" and depth < MAX_DEPTH:
                members = _sorted(list(self._shapes(node, frame_of(node, frame), depth + 1)))
                yield from _together(members, box_of(node), frame)
            elif name in ("sp", "pic", "graphicFrame", "contentPart"):
                role = placeholder_of(node)
                box = self._layout.box(node, role)
                properties = _properties(node)
                key = attribute(properties, "id") if properties is not None else ""
                yield Shape(node, frame.place(box) if box else None, role, key)

    def _title(self, shape: Shape) -> Iterator[Draft]:
        text = joined((said.rich for said in shape.said), " ").one_line().without_whole("strong", "emphasis")
        yield Draft("heading", text_content(text, level=1))

    def _connected(self, shapes: list[Shape], connectors: list[Node]) -> list[Draft]:
        """Return shapes in reading order; those that connectors join are one diagram."""
        texts = {shape.key: shape for shape in shapes if shape.said}
        edges = []
        for node in connectors[:MAX_SHAPES]:
            ends = [next(descendants(node, name), None) for name in ("stCxn", "endCxn")]
            source, target = (attribute(end, "id") if end is not None else "" for end in ends)
            if source in texts and target in texts and source != target:
                edges.append((source, target))
        joined = dict.fromkeys(key for edge in edges for key in edge)
        diagram = self._diagram([texts[key] for key in texts if key in joined], edges) if len(joined) > 1 else None
        drafts: list[Draft] = []
        for shape in _sorted(shapes)[:MAX_SHAPES]:
            if diagram is not None and shape.key in joined and shape.said:
                drafts += [diagram] if diagram not in drafts else []
                drafts += [link(*found) for said in shape.said for found in said.links]
            else:
                drafts += self._drafts(shape)
        return drafts

    def _diagram(self, shapes: list[Shape], edges: list[tuple[str, str]]) -> Draft:
        ids = {shape.key: f"n{at}" for at, shape in enumerate(_sorted(shapes), 1)}
        nodes = [
            {"id": ids[shape.key], "text": "\n".join(said.text for said in shape.said)} for shape in _sorted(shapes)
        ]
        content = {
            "diagram_type": "connected shapes",
            "description": described(nodes),
            "nodes": nodes,
            "edges": [{"source": ids[source], "target": ids[target]} for source, target in edges],
        }
        return Draft("diagram", content)

    def _drafts(self, shape: Shape) -> Iterator[Draft]:
        node, properties = shape.node, _properties(shape.node)
        match local(node):
            case "pic":
                yield from self._picture(node, properties)
            case "graphicFrame":
                yield from self._frame(node, properties)
            case "sp":
                yield from drafts_of(shape.said)
                blip = next(descendants(child(node, "spPr"), "blip"), None)
                if blip is not None and not shape.said:
                    yield from self._picture(node, properties)
        url = self._text.url(child(properties, "hlinkClick"))
        if url:
            words = shape.said[0].text if shape.said else alt_of(properties) or _name(properties)
            yield link(words, url)

    def _picture(self, node: Node, properties: Node | None) -> Iterator[Draft]:
        content, target = image_content(self._package, self._part, node, properties)
        name = _name(properties)
        media = self._media(node, name, content.get("alt", ""))
        if media is not None:
            yield media
        else:
            yield Draft("image", content, summary=image_summary(content, name, target), picture=target)

    def _controls(self, root: Node) -> Iterator[Draft]:
        for control in islice(children(child(root, "cSld", "controls"), "control"), MAX_SHAPES):
            target = self._package.target(self._part, control.get(f"{R}id"))
            yield control_at(self._package, target, attribute(control, "name"))

    def _background(self, root: Node) -> Iterator[Draft]:
        """Yield the picture that fills the slide, where it is its own: scanned decks are made of such."""
        filling = child(root, "cSld", "bg", "bgPr", "blipFill")
        if filling is not None and child(filling, "tile") is None:
            content, target = image_content(self._package, self._part, filling, None)
            summary = image_summary(content, "Background", target)
            yield Draft("image", content, {"background": True}, summary=summary, picture=target)

    def _media(self, node: Node, name: str, alt: str) -> Draft | None:
        for kind, tags in (
            ("video", ("videoFile", "quickTimeFile")),
            ("audio", ("audioFile", "wavAudioFile", "audioCd")),
        ):
            found = next((mark for tag in tags for mark in descendants(node, tag)), None)
            if found is None:
                continue
            target = self._package.relationships(self._part).get(found.get(f"{R}link") or found.get(f"{R}embed") or "")
            content: dict[str, Any] = {"title": name}
            if alt and alt != name:
                content["description"] = alt
            if target is not None:
                content["mime_type"] = mime_type_of(target.target)
                if target.external:
                    content["url"] = target.target
            return Draft("video" if kind == "video" else "audio", content)
        return None

    def _frame(self, node: Node, properties: Node | None) -> Iterator[Draft]:
        for table in descendants(node, "tbl"):
            content = table_content(table, self._text)
            alt = alt_of(properties)
            yield Draft("table", content | ({"caption": alt} if alt else {}))
        for reference in descendants(node, "chart"):
            target = self._package.target(self._part, reference.get(f"{R}id"))
            root = self._package.optional(target) if target else None
            if root is not None:
                chart = read_chart(root)
                yield Draft("chart", chart | {"title": chart["title"] or alt_of(properties)})
        for reference in descendants(node, "relIds"):
            diagram = diagram_at(self._package, self._part, reference)
            if diagram:
                yield Draft("diagram", diagram | ({"title": alt_of(properties)} if alt_of(properties) else {}))
        for embedded in descendants(node, "oleObj"):
            name = attribute(embedded, "progId") or attribute(embedded, "name") or "object"
            yield Draft("widget", {"widget_type": "embedded object", "name": name})
            for picture in descendants(embedded, "pic"):
                yield from self._picture(picture, properties)


def _properties(node: Node) -> Node | None:
    return next((child(part, "cNvPr") for part in node if local(part).startswith("nv")), None)


def _name(properties: Node | None) -> str:
    return attribute(properties, "name") if properties is not None else ""


def _together(members: list[Shape], box: Box | None, frame: GroupTransform) -> Iterator[Shape]:
    """Yield the members of a group at the place of the whole, in their own order."""
    whole = frame.place(box) if box else None
    for rank, member in enumerate(members):
        yield replace(member, box=whole or member.box, rank=rank)


def _sorted(shapes: list[Shape]) -> list[Shape]:
    """Return shapes in rows from top to bottom, each from left to right; shapes without a place come last."""
    rows: list[tuple[float, list[Shape]]] = []
    placed = [(shape.box, shape) for shape in shapes if shape.box]
    for box, shape in sorted(placed, key=lambda one: (one[0].top, one[0].left, one[1].rank)):
        if rows and box.top - rows[-1][0] < ROW_HEIGHT:
            rows[-1][1].append(shape)
        else:
            rows.append((box.top, [shape]))
    ordered = [shape for _, row in rows for shape in sorted(row, key=lambda one: one.box.left if one.box else 0)]
    return ordered + [shape for shape in shapes if not shape.box]


def _header(margins: list[Shape]) -> list[Draft]:
    texts = [said.text for shape in margins if shape.role and shape.role.kind == "hdr" for said in shape.said]
    return [Draft("header", {"text": "\n".join(texts)})] if texts else []


def _footer(margins: list[Shape]) -> list[Draft]:
    texts = [said.text for shape in margins if shape.role and shape.role.kind in _FOOTERS for said in shape.said]
    return [Draft("footer", {"text": " · ".join(texts)}, summary=clip(" · ".join(texts)))] if texts else []
