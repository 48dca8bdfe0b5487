"""What stands inside a Markdown block, as plain text: emphasis goes, the addresses of links stay. Pure."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

# A line break of the source that means a blank, or nothing between two Chinese or Japanese characters.
_SOFT: Final = "\0"
_WIDE = "[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
_SOFT_BETWEEN_WIDE = re.compile(f"(?<={_WIDE}){_SOFT}(?={_WIDE})")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BLANKS = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r"\s*\n\s*\n\s*")
# The parser takes long over what is never closed, so comments go before it, and long pieces come without tags.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>?")
_MAX_PARSED: Final = 65_536
_SKIPPED: Final = frozenset({"script", "style", "template"})


def plain(inline: "SyntaxTreeNode", *, urls: bool = True) -> str:
    """Return the text of an inline node; with `urls`, links are followed by their addresses."""
    text = _SOFT_BETWEEN_WIDE.sub("", "".join(_spans(inline, urls=urls)))
    return text.replace(_SOFT, " ").strip()


def alone(inline: "SyntaxTreeNode", kind: str) -> "list[SyntaxTreeNode]":
    """Return the nodes of `kind` when the inline node holds nothing else but blanks, else none."""
    found: list[SyntaxTreeNode] = []
    for child in inline.children:
        if child.type == kind:
            found.append(child)
        elif child.children or child.content.strip():
            return []
    return found


def image_content(node: "SyntaxTreeNode") -> dict[str, Any]:
    """Return the content of an image element."""
    content = {"alt": plain(node, urls=False), "url": str(node.attrs.get("src", ""))}
    title = node.attrs.get("title")
    return {**content, "description": str(title)} if title else content


def link_content(node: "SyntaxTreeNode") -> dict[str, Any]:
    """Return the content of a link element."""
    content = {"text": plain(node, urls=False), "url": str(node.attrs.get("href", ""))}
    title = node.attrs.get("title")
    return {**content, "title": str(title)} if title else content


def html_parts(html: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the text of a piece of HTML, and the contents of its images."""
    html = _COMMENT.sub("", html)
    if len(html) > _MAX_PARSED:
        html = _TAG.sub(" ", html)
    reader = _HtmlReader()
    try:
        reader.feed(html)
        reader.close()
    except AssertionError:  # what the parser says of `<![` without a name
        reader = _HtmlReader()
        reader.feed(_TAG.sub(" ", html))
    text = _BLANK_LINES.sub("\n\n", _BLANKS.sub(" ", "".join(reader.texts)))
    return text.strip(), reader.images


def _spans(node: "SyntaxTreeNode", *, urls: bool) -> list[str]:
    spans: list[str] = []
    for child in node.children:
        match child.type:
            case "text" | "code_inline":
                spans.append(child.content)
            case "softbreak":
                spans.append(_SOFT)
            case "hardbreak":
                spans.append("\n")
            case "html_inline":
                spans.append("\n" if _BREAK.fullmatch(child.content) else "")
            case "link":
                spans += [*_spans(child, urls=urls), _address(child) if urls else ""]
            case _:
                spans += _spans(child, urls=urls)
    return spans


def _address(link: "SyntaxTreeNode") -> str:
    url = str(link.attrs.get("href", ""))
    text = "".join(_spans(link, urls=False)).replace(_SOFT, " ").strip()
    shown = {text, f"mailto:{text}", f"http://{text}", f"https://{text}"}
    return "" if not url or url.startswith("#") or url in shown else f" ({unescape(url)})"


class _HtmlReader(HTMLParser):
    """Collects text and images; comments, scripts and styles are left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.images: list[dict[str, Any]] = []
        self._skipping = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an image; note where text is none."""
        values = {name: value or "" for name, value in attrs}
        if tag == "img" and values.get("src"):
            self.images.append({"alt": values.get("alt", ""), "url": values["src"]})
        elif tag in _SKIPPED:
            self._skipping = tag
        elif tag == "br":
            self.texts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """End what is left out."""
        if tag == self._skipping:
            self._skipping = ""

    def handle_data(self, data: str) -> None:
        """Keep text."""
        if not self._skipping:
            self.texts.append(data)
