"""Markdown as HTML for a page: only what Markdown itself can say, no HTML of the text, no script, no foreign image."""

from functools import cache
from html import escape
from typing import Any, Final
from urllib.parse import urlsplit

from a2c_smcp.documents.formats.base import require

MAX_TEXT: Final = 2_000_000
_SCHEMES: Final = ("http", "https", "mailto", "dpe", "window", "")


def to_html(markdown: str) -> str:
    """Return Markdown as HTML; a text too long for a page is cut."""
    rendered: str = _parser().render(markdown[:MAX_TEXT])
    return rendered


@cache
def _parser() -> Any:
    library = require("markdown_it", "documents")
    parser = library.MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    parser.validateLink = _is_safe
    parser.add_render_rule("image", _image)
    return parser


def _is_safe(url: str) -> bool:
    try:
        return urlsplit(url.strip()).scheme.lower() in _SCHEMES
    except ValueError:
        return False


def _image(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """A picture of somebody else's machine is not fetched: what it shows is said."""
    text = renderer.renderInlineAsText(tokens[index].children or [], options, env)
    return f'<span class="picture">{escape(text)}</span>'
