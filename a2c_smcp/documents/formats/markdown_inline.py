"""What stands inside a Markdown block, as plain text with spans for emphasis, code, links and pictures. Pure."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.documents.rich_text import Kind, RichBuilder, RichText, spans_json

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

# A line break of the source that means a blank, or nothing between two Chinese or Japanese characters.
_SOFT: Final = "\0"
_WIDE = "[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
_SOFT_BETWEEN_WIDE = re.compile(f"(?<={_WIDE}){_SOFT}(?={_WIDE})")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_SOFT_BREAK = re.compile(_SOFT)
_TAG_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
_STYLES: Final[dict[str, Kind]] = {"strong": "strong", "em": "emphasis", "s": "strike"}
_TAGS: Final[dict[str, Kind]] = {
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("i", "em"), "emphasis"),
    **dict.fromkeys(("s", "del", "strike"), "strike"),
    **dict.fromkeys(("code", "tt", "kbd", "samp"), "code"),
    "a": "link",
}
_BLANKS = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r"\s*\n\s*\n\s*")
# The parser takes long over what is never closed, so comments go before it, and long pieces come without tags.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>?")
_MAX_PARSED: Final = 65_536
_SKIPPED: Final = frozenset({"script", "style", "template"})


def rich(inline: "SyntaxTreeNode") -> RichText:
    """Return the text of an inline node with its spans."""
    builder = RichBuilder()
    _add(inline, builder, [])
    return builder.build().replaced(_SOFT_BETWEEN_WIDE, "").replaced(_SOFT_BREAK, " ").strip()


def plain(inline: "SyntaxTreeNode") -> str:
    """Return the text of an inline node alone."""
    return rich(inline).text


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
    content = {"alt": plain(node), "url": str(node.attrs.get("src", ""))}
    title = node.attrs.get("title")
    return {**content, "description": str(title)} if title else content


def link_content(node: "SyntaxTreeNode") -> dict[str, Any]:
    """Return the content of a link element."""
    inner = rich(node)
    content: dict[str, Any] = {"text": inner.text, "url": str(node.attrs.get("href", ""))}
    title = node.attrs.get("title")
    content |= {"title": str(title)} if title else {}
    return content | {"spans": spans_json(inner)} if inner.spans else content


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


def _add(node: "SyntaxTreeNode", builder: RichBuilder, tags: list[tuple[str, int, str]]) -> None:
    """Add what is inside a node; `tags` are the HTML tags that are open, with where they were opened."""
    for child in node.children:
        start = builder.length
        match child.type:
            case "text":
                builder.add(child.content)
            case "code_inline":
                builder.add(child.content)
                builder.mark(start, "code")
            case "softbreak":
                builder.add(_SOFT)
            case "hardbreak":
                builder.add("\n")
                builder.mark(start, "break")
            case "html_inline":
                _add_tag(child.content, builder, tags)
            case "link":
                _add(child, builder, tags)
                builder.mark(start, "link", _attribute(child, "href"), _attribute(child, "title"))
            case "image":
                builder.add(plain(child))
                builder.mark(start, "image", _attribute(child, "src"), _attribute(child, "title"))
            case kind:
                _add(child, builder, tags)
                if kind in _STYLES:
                    builder.mark(start, _STYLES[kind])


def _add_tag(tag: str, builder: RichBuilder, tags: list[tuple[str, int, str]]) -> None:
    """Take a tag of HTML for what it means, as far as Markdown could have said it."""
    start = builder.length
    if _BREAK.fullmatch(tag):
        builder.add("\n")
        builder.mark(start, "break")
        return
    named = _TAG_NAME.match(tag)
    name = named[2].lower() if named else ""
    if name == "img" and (source := _value(tag, "src")):
        builder.add(_value(tag, "alt"))
        builder.mark(start, "image", source, _value(tag, "title"))
    elif named and name in _TAGS and not named[1]:
        tags.append((name, start, _value(tag, "href")))
    elif named and any(name == one[0] for one in tags):
        while tags:
            opened, at, url = tags.pop()
            if opened == name:
                kind = _TAGS[name]
                if kind != "link" or url:
                    builder.mark(at, kind, url)
                return


def _attribute(node: "SyntaxTreeNode", name: str) -> str:
    return str(node.attrs.get(name) or "")


def _value(tag: str, name: str) -> str:
    match = re.search(rf"""\s{name}\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", tag, re.IGNORECASE)
    return unescape(next((part for part in match.groups() if part is not None), "")) if match else ""


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
