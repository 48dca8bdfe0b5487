"""A piece of Markdown inside something else (a notebook's cell, what an OCR service answers) as elements."""

from typing import Any, Final

from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.formats.elements import ElementMaker
from a2c_smcp.documents.formats.markdown import MarkdownElementBuilder
from a2c_smcp.documents.model import Element
from a2c_smcp.errors import DocumentError

MAX_CHARACTERS: Final = 2_000_000


def elements_of_markdown(text: str, maker: ElementMaker) -> list[Element]:
    """Return the elements of a piece of Markdown, made and numbered by `maker`.

    Raises:
        DocumentError: It is larger than is read.
    """
    if len(text) > MAX_CHARACTERS:
        raise DocumentError(f"a piece of Markdown has more than the {MAX_CHARACTERS:_} characters that are read")
    parser = require("markdown_it", "documents").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tree = require("markdown_it.tree", "documents").SyntaxTreeNode(parser.parse(text))
    return [maker.make(found.category, found.content, _kept(found)) for found in MarkdownElementBuilder().walk(tree)]


def _kept(element: Element) -> dict[str, Any]:
    # Line numbers of the piece mean nothing outside of it.
    return {key: element.metadata[key] for key in ("quoted", "level") if key in element.metadata}
