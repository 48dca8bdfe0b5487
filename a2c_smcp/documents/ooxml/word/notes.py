"""What stands beside the text: footnotes, endnotes, comments with their answers, headers and footers."""

from collections.abc import Iterator
from typing import Any

from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.word.inline import InlineReader
from a2c_smcp.documents.ooxml.xml import (
    W14,
    Node,
    R,
    attribute,
    children,
    descendants,
    is_on,
    resolve_alternates,
)


def read_notes(package: Package, main: str, kind: str) -> dict[str, str]:
    """Return the texts of all footnotes or endnotes by their ids."""
    found: dict[str, str] = {}
    for part in package.related(main, f"{kind}s"):
        root = package.optional(part)
        for node in children(root, kind):
            if attribute(node, "type") not in ("separator", "continuationSeparator", "continuationNotice"):
                found[attribute(node, "id")] = plain_text(node, package, part)
    return found


def read_comments(package: Package, main: str) -> dict[str, dict[str, Any]]:
    """Return comments by their ids, each with its answers; an answer's id leads to what it answers."""
    found: dict[str, dict[str, Any]] = {}
    by_paragraph: dict[str, str] = {}
    for part in package.related(main, "comments"):
        for node in children(package.optional(part), "comment"):
            key = attribute(node, "id")
            found[key] = _comment(node, package, part)
            by_paragraph |= {paragraph.get(f"{W14}paraId") or "": key for paragraph in descendants(node, "p")}
    for part in package.related(main, "commentsExtended"):
        for node in children(package.optional(part), "commentEx"):
            own, parent = (by_paragraph.get(attribute(node, name)) for name in ("paraId", "paraIdParent"))
            if own in found and is_on(attribute(node, "done", "0")):
                found[own]["resolved"] = True
            if own in found and parent in found and own != parent:
                said = {key: found[own][key] for key in ("text", "author", "created") if key in found[own]}
                found[parent].setdefault("replies", []).append(said)
                found[own]["answers"] = parent
    return found


def _comment(node: Node, package: Package, part: str) -> dict[str, Any]:
    content: dict[str, Any] = {"text": plain_text(node, package, part), "annotation_type": "comment"}
    if author := attribute(node, "author"):
        content["author"] = author
    if date := attribute(node, "date"):
        content["created"] = date
    return content


def plain_text(node: Node, package: Package, part: str) -> str:
    """Return all paragraphs below a node as lines, tables included."""
    reader = InlineReader(package, part)
    lines = []
    for paragraph in descendants(resolve_alternates(node), "p"):
        inline = reader.read(paragraph)
        lines.append(inline.text)
    return "\n".join(filter(None, lines)).strip()


def margins(section: Node, package: Package, main: str) -> Iterator[tuple[str, str, str]]:
    """Yield the headers and footers that a section brings: category, which pages they are for, and text."""
    for category in ("header", "footer"):
        for node in children(section, f"{category}Reference"):
            pages = attribute(node, "type", "default")
            part = package.target(main, node.get(f"{R}id"))
            root = package.optional(part) if part else None
            text = plain_text(root, package, part) if root is not None and part else ""
            if text:
                yield category, pages, text
