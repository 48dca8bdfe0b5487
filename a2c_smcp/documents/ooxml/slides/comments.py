"""What is said about a slide: comments of both kinds, and the notes of the speaker."""

from collections.abc import Iterator
from typing import Any

from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.package import Package
from a2c_smcp.documents.ooxml.slides.layout import placeholder_of
from a2c_smcp.documents.ooxml.slides.text import all_text
from a2c_smcp.documents.ooxml.xml import Node, attribute, child, children, descendants, text_of


def read_comments(package: Package, main: str, slide: str) -> Iterator[Draft]:
    """Yield the comments on a slide, answers with what they answer."""
    authors = _authors(package, main)
    for kind in ("comments", "comment"):
        for part in package.related(slide, kind):
            for node in children(package.optional(part), "cm"):
                content = _comment(node, authors) | {"annotation_type": "comment"}
                replies = [_comment(reply, authors) for reply in children(child(node, "replyLst"), "reply")]
                if content["text"] or replies:
                    yield Draft("annotation", content | ({"replies": replies} if replies else {}))


def _comment(node: Node, authors: dict[str, str]) -> dict[str, Any]:
    body = child(node, "txBody")
    content: dict[str, Any] = {"text": all_text(body) if body is not None else text_of(child(node, "text")).strip()}
    if author := authors.get(attribute(node, "authorId")):
        content["author"] = author
    if created := attribute(node, "dt") or attribute(node, "created"):
        content["created"] = created
    return content


def _authors(package: Package, main: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for kind in ("commentAuthors", "authors"):
        for part in package.related(main, kind):
            root = package.optional(part)
            for node in root if root is not None else ():
                found[attribute(node, "id")] = attribute(node, "name")
    return found


def read_notes(package: Package, slide: str) -> Iterator[Draft]:
    """Yield the notes of the speaker."""
    for part in package.related(slide, "notesSlide"):
        root = package.optional(part)
        texts = []
        for shape in descendants(child(root, "cSld", "spTree"), "sp"):
            role = placeholder_of(shape)
            if role is None or role.kind in ("body", "obj"):
                texts.append(all_text(child(shape, "txBody")))
        text = "\n".join(filter(None, texts))
        if text:
            yield Draft("annotation", {"text": text, "annotation_type": "notes"})
