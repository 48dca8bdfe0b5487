"""Pictures, shapes and frames of DrawingML, whichever kind of document they stand in."""

from collections.abc import Iterator
from typing import Any, Final

from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.xml import A, Node, R, attribute, child, descendants, local, number

EMU_A_PIXEL: Final = 9_525

_MIME_TYPES: Final = {
    "bmp": "image/bmp",
    "emf": "image/emf",
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "png": "image/png",
    "svg": "image/svg+xml",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "webp": "image/webp",
    "wmf": "image/wmf",
    "wdp": "image/vnd.ms-photo",
    "mp4": "video/mp4",
    "m4v": "video/mp4",
    "mov": "video/quicktime",
    "avi": "video/x-msvideo",
    "wmv": "video/x-ms-wmv",
    "mp3": "audio/mpeg",
    "m4a": "audio/mp4",
    "wav": "audio/wav",
    "wma": "audio/x-ms-wma",
    "ogg": "audio/ogg",
}


def mime_type_of(part: str) -> str:
    """Return the media type of a part by its ending."""
    return _MIME_TYPES.get(part.rpartition(".")[2].lower(), "application/octet-stream")


def alt_of(properties: Node | None) -> str:
    """Return what an author says a drawing shows; names that programs give ("Picture 3") are none."""
    if properties is None:
        return ""
    alt = attribute(properties, "descr").strip() or attribute(properties, "title").strip()
    return " ".join(alt.split())


def image_content(package: Package, part: str, node: Node, properties: Node | None) -> tuple[dict[str, Any], str]:
    """Return the content of a picture and the part that holds it, empty where it is linked or lost."""
    blip = next(descendants(node, "blip"), None)
    content: dict[str, Any] = {}
    if alt := alt_of(properties):
        content["alt"] = alt
    target = ""
    if blip is not None:
        target = package.target(part, blip.get(f"{R}embed")) or ""
        outside = package.relationships(part).get(blip.get(f"{R}link") or blip.get(f"{R}embed") or "")
        if outside is not None and outside.external and not target:
            content["url"] = outside.target
    if target:
        content["mime_type"] = mime_type_of(target)
    extent = _extent(node)
    if extent:
        content["width"], content["height"] = extent
    return content, target


def image_summary(content: dict[str, Any], name: str, target: str) -> str:
    """Return one line on a picture, from its description or at least its name and size."""
    told = content.get("alt") or name or target.rpartition("/")[2] or "picture"
    size = f" ({content['width']} × {content['height']})" if "width" in content and not content.get("alt") else ""
    return clip(f"{told}{size}")


def paragraphs(body: Node | None) -> Iterator[Node]:
    """Yield the paragraphs of a text body."""
    if body is not None:
        yield from body.iterchildren(f"{A}p")


def paragraph_text(paragraph: Node) -> str:
    """Return the words of a paragraph: runs, fields, line breaks, and formulas in a line of their own kind."""
    parts: list[str] = []
    for node in paragraph:
        match local(node):
            case "r" | "fld":
                parts.append("".join(text.text or "" for text in node.iterchildren(f"{A}t")))
            case "br":
                parts.append("\n")
    return "".join(parts).replace("\x0b", "\n")


def body_text(body: Node | None) -> str:
    """Return a text body as lines."""
    return "\n".join(filter(None, (paragraph_text(paragraph).strip() for paragraph in paragraphs(body))))


def _extent(node: Node) -> tuple[int, int] | None:
    extent = child(node, "extent") if child(node, "extent") is not None else child(node, "spPr", "xfrm", "ext")
    if extent is None:
        return None
    width, height = (round(number(extent.get(name)) / EMU_A_PIXEL) for name in ("cx", "cy"))
    return (width, height) if width > 0 and height > 0 else None
