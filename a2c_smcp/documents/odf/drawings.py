"""What is drawn on an OpenDocument sheet: pictures, charts, text in boxes and shapes, embedded objects."""

import posixpath
import re
from collections.abc import Iterator
from typing import Any, Final

from a2c_smcp.documents.odf.cell_values import DRAW, XLINK, words_of
from a2c_smcp.documents.odf.charts import read_chart
from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.drawings import image_summary, mime_type_of
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.xml import Node, attribute, child, local, text_of

MAX_DEPTH: Final = 250

_LENGTH = re.compile(r"([0-9]+(?:\.[0-9]+)?)(cm|mm|in|pt|px)")
_PIXELS: Final = {"cm": 96 / 2.54, "mm": 96 / 25.4, "in": 96.0, "pt": 96 / 72, "px": 1.0}


class OdsDrawings:
    """Reads drawings of the sheets of one package."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._charts: dict[str, dict[str, Any] | None] = {}

    def read(self, node: Node, depth: int = 0) -> Iterator[Draft]:
        """Yield what is drawn directly inside `node`, which is a cell, a group or the shapes of a sheet."""
        for part in node:
            if not part.tag.startswith(DRAW):
                continue
            match local(part):
                case "g" | "a":
                    if depth < MAX_DEPTH:
                        yield from self.read(part, depth + 1)
                case "frame":
                    yield from self._frame(part)
                case "control":
                    name = attribute(part, "name") or attribute(part, "control")
                    yield Draft("widget", {"widget_type": "control", "name": name})
                case _:
                    text = words_of(part)
                    if text:
                        yield Draft("text", {"text": text}, {"shape": local(part)})

    def _frame(self, frame: Node) -> Iterator[Draft]:
        for part in frame:
            match local(part):
                case "object" | "object-ole":
                    yield self._object(frame, part)
                    return  # the picture beside it shows the same
                case "image":
                    yield self._image(frame, part)
                    return
                case "text-box":
                    text = words_of(part)
                    if text:
                        yield Draft("text", {"text": text}, {"shape": "text-box"})
                    yield from self.read(part, 1)

    def _object(self, frame: Node, node: Node) -> Draft:
        target = _part(node)
        if target not in self._charts:  # the same one may be shown many times
            self._charts[target] = self._chart(target)
        content = self._charts[target]
        if content is not None:
            return Draft("chart", content | {"title": content["title"] or _alt(frame)})
        name = _alt(frame) or attribute(frame, "name") or posixpath.basename(target) or "object"
        return Draft("widget", {"widget_type": "embedded object", "name": name})

    def _chart(self, target: str) -> dict[str, Any] | None:
        root = self._package.optional(f"{target}/content.xml") if target else None
        chart = child(root, "body", "chart", "chart")
        return read_chart(root, chart) if root is not None and chart is not None else None

    def _image(self, frame: Node, node: Node) -> Draft:
        target = _part(node)
        content: dict[str, Any] = {}
        if alt := _alt(frame):
            content["alt"] = alt
        if target in self._package:
            content["mime_type"] = mime_type_of(target)
        elif address := node.get(f"{XLINK}href"):
            content["url"] = address
        size = _pixels(attribute(frame, "width")), _pixels(attribute(frame, "height"))
        if all(size):
            content["width"], content["height"] = size
        picture = target if target in self._package else ""
        return Draft(
            "image", content, summary=image_summary(content, attribute(frame, "name"), target), picture=picture
        )


def _part(node: Node) -> str:
    return posixpath.normpath(node.get(f"{XLINK}href") or "").removeprefix("./").strip("/.")


def _alt(frame: Node) -> str:
    told = text_of(child(frame, "desc")) or text_of(child(frame, "title"))
    return " ".join(told.split())


def _pixels(length: str) -> int:
    match = _LENGTH.fullmatch(length)
    return round(float(match[1]) * _PIXELS[match[2]]) if match else 0
