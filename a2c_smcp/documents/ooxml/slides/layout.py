"""What a slide has from its layout and master: where placeholders are, and which paragraphs have bullets."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.xml import Node, attribute, child, children, descendants, local, number


class Box(NamedTuple):
    """Where a shape is, in EMU from the top left of the slide."""

    left: float
    top: float
    width: float
    height: float


class Placeholder(NamedTuple):
    """The role that a shape fills on its slide."""

    kind: str
    idx: str


class GroupTransform(NamedTuple):
    """How the coordinates inside a group become those of the slide."""

    left: float = 0
    top: float = 0
    wide: float = 1
    high: float = 1

    def place(self, box: Box) -> Box:
        """Return a box of the group in coordinates of the slide."""
        return Box(
            self.left + box.left * self.wide,
            self.top + box.top * self.high,
            box.width * self.wide,
            box.height * self.high,
        )


def placeholder_of(shape: Node) -> Placeholder | None:
    """Return the role of a shape, None for one that has none."""
    for holder in shape:
        if local(holder).startswith("nv"):
            found = child(holder, "nvPr", "ph")
            if found is not None:
                return Placeholder(attribute(found, "type", "obj"), attribute(found, "idx"))
    return None


def box_of(shape: Node) -> Box | None:
    """Return where a shape says it is; placeholders often leave that to their layout."""
    found = child(shape, "spPr", "xfrm")
    found = found if found is not None else child(shape, "grpSpPr", "xfrm")
    return _box(found if found is not None else child(shape, "xfrm"))


def frame_of(group: Node, outer: GroupTransform) -> GroupTransform:
    """Return the coordinates inside a group."""
    transform = child(group, "grpSpPr", "xfrm")
    box, start, extent = _box(transform), child(transform, "chOff"), child(transform, "chExt")
    if box is None or start is None or extent is None:
        return outer
    wide = box.width / max(1, number(extent.get("cx"), 1))
    high = box.height / max(1, number(extent.get("cy"), 1))
    left, top = box.left - number(start.get("x")) * wide, box.top - number(start.get("y")) * high
    placed = outer.place(Box(left, top, 0, 0))
    return GroupTransform(placed.left, placed.top, wide * outer.wide, high * outer.high)


def _box(transform: Node | None) -> Box | None:
    start, extent = child(transform, "off"), child(transform, "ext")
    if start is None:
        return None
    size = (number(extent.get("cx")), number(extent.get("cy"))) if extent is not None else (0, 0)
    return Box(number(start.get("x")), number(start.get("y")), *size)


@dataclass(slots=True)
class SlideLayout:
    """The placeholders that a slide inherits, nearest first, and the text styles of its master."""

    shapes: list[list[Node]] = field(default_factory=list)
    body_style: Node | None = None

    def inherited(self, placeholder: Placeholder) -> Iterator[Node]:
        """Yield the shapes that a placeholder takes after."""
        for shapes in self.shapes:
            found = _matching(shapes, placeholder)
            if found is not None:
                yield found

    def box(self, shape: Node, placeholder: Placeholder | None) -> Box | None:
        """Return where a shape is."""
        own = box_of(shape)
        if own is not None or placeholder is None:
            return own
        return next((box for other in self.inherited(placeholder) if (box := box_of(other)) is not None), None)

    def has_bullet(self, paragraph: Node, shape: Node, placeholder: Placeholder | None) -> str:
        """Return what stands before a paragraph: `bullet`, `number` or nothing."""
        properties = child(paragraph, "pPr")
        level = number(attribute(properties, "lvl", "0")) if properties is not None else 0
        styles = [properties, _level(child(shape, "txBody", "lstStyle"), level)]
        if placeholder is not None and placeholder.kind in ("body", "obj", "subTitle"):
            styles += [_level(child(other, "txBody", "lstStyle"), level) for other in self.inherited(placeholder)]
            styles.append(_level(self.body_style, level))
        for style in styles:
            for mark in style if style is not None else ():
                match local(mark):
                    case "buNone":
                        return ""
                    case "buChar" | "buBlip":
                        return "bullet"
                    case "buAutoNum":
                        return "number"
        return ""


def read_layout(package: Package, slide: str) -> SlideLayout:
    """Return what a slide inherits."""
    layout_part = next(package.related(slide, "slideLayout"), "")
    master_part = next(package.related(layout_part, "slideMaster"), "") if layout_part else ""
    roots = [package.optional(part) for part in (layout_part, master_part) if part]
    shapes = [list(descendants(child(root, "cSld", "spTree"), "sp")) for root in roots]
    return SlideLayout(shapes, child(roots[1], "txStyles", "bodyStyle") if len(roots) > 1 else None)


def _matching(shapes: list[Node], placeholder: Placeholder) -> Node | None:
    same_kind = None
    for shape in shapes:
        other = placeholder_of(shape)
        if other is None:
            continue
        if placeholder.idx and other.idx == placeholder.idx:
            return shape
        if same_kind is None and _family(other.kind) == _family(placeholder.kind):
            same_kind = shape
    return same_kind


def _family(kind: str) -> str:
    return {"ctrTitle": "title", "obj": "body", "subTitle": "body"}.get(kind, kind)


def _level(style: Node | None, level: int) -> Node | None:
    return next(children(style, f"lvl{level + 1}pPr"), None)
