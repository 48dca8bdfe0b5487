"""What stands inside a block, as plain text with its links. Pure, but for the tree it reads."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from a2c_smcp.documents.web.mathml import latex_of
from a2c_smcp.documents.web.parse import attribute, children, names

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_DEPTH: Final = 60
MAX_SHOWN_LINKS: Final = 4
MAX_LINKS: Final = 200

SILENT: Final = names("script style template head title meta link base source track param")
"""Elements whose text nobody reads."""

BLOCKS: Final = names(
    "address article aside audio blockquote body caption center dd details dialog dir div dl dt embed fieldset "
    "figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr html iframe legend li main menu "
    "nav noscript object ol p pre search section summary table tbody td tfoot th thead tr ul video"
)
"""Elements that begin a block of their own."""

_BLANKS = re.compile(r"[ \t\n\r\f]+")
_AROUND_BREAK = re.compile(r" *\n *")
_WIDE = "[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
_SOURCE_BREAK_BETWEEN_WIDE = re.compile(f"(?<={_WIDE})[ \t]*[\n\r][ \t\n\r]*(?={_WIDE})")
# A line break of the page, and the edge of a block, of which several in a row are one break.
_HARD: Final = "\x0b"
_WALL: Final = "\x1e"
_WALLS = re.compile(" ?\x1e[ \x1e]*")
_SCHEMES: Final = ("http://", "https://", "mailto:", "ftp://", "tel:")


@dataclass(slots=True)
class Span:
    """The text of some inline nodes, with the links, pictures and formulas among them."""

    base: str = ""
    parts: list[str] = field(default_factory=list)
    links: list[dict[str, str]] = field(default_factory=list)
    images: "list[LexborNode]" = field(default_factory=list)
    controls: "list[LexborNode]" = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    plain_characters: int = 0
    """How many characters stand outside links and formulas."""

    @property
    def text(self) -> str:
        """The text as a reader sees it: blanks as one, line breaks where the page has them."""
        whole = _SOURCE_BREAK_BETWEEN_WIDE.sub("", "".join(self.parts))
        whole = _WALLS.sub("\n", _BLANKS.sub(" ", whole)).replace(_HARD, "\n")
        return _AROUND_BREAK.sub("\n", whole).strip()

    def add(self, node: "LexborNode", depth: int = 0, *, linked: bool = False) -> None:
        """Add a node and what is inside it."""
        if node.is_text_node:
            text = node.text_content or ""
            self.parts.append(text)
            self.plain_characters += 0 if linked else len(text.strip())
            return
        tag = node.tag or ""
        if tag in SILENT:
            self._script(node, tag)
        elif tag == "br":
            self.parts.append(_HARD)
        elif tag in ("img", "svg", "picture"):
            self._picture(node)
        elif tag == "math":
            self._formula(latex_of(node))
        elif tag in ("input", "button", "meter", "progress", "output", "select", "textarea"):
            self.controls.append(node)
        elif tag == "a" and attribute(node, "href"):
            self._link(node, depth)
        elif depth >= MAX_DEPTH:
            self.parts.append(node.text(deep=True))
            self.plain_characters += 1
        else:
            self._inside(node, tag, depth, linked=linked)

    def _inside(self, node: "LexborNode", tag: str, depth: int, *, linked: bool) -> None:
        wall = {"q": '"', "rt": "(", "td": " ", "th": " "}.get(tag, _WALL if tag in BLOCKS else "")
        closing = {"rt": ")"}.get(tag, wall)
        self.parts.append(wall)
        for child in children(node):
            self.add(child, depth + 1, linked=linked)
        self.parts.append(closing)

    def _link(self, node: "LexborNode", depth: int) -> None:
        before = len(self.parts)
        pictures = len(self.images)
        for child in children(node):
            self.add(child, depth + 1, linked=True)
        text = _BLANKS.sub(" ", "".join(self.parts[before:]).replace(_HARD, " ").replace(_WALL, " ")).strip()
        url = resolve(attribute(node, "href"), self.base)
        if not text and len(self.images) > pictures:
            return
        if len(self.links) < MAX_LINKS and not url.startswith(("#", "javascript:")):
            link = {"text": text, "url": url}
            title = attribute(node, "title")
            self.links.append(link | {"title": title} if title and title != text else link)

    def _picture(self, node: "LexborNode") -> None:
        picture = node.css_first("img") if node.tag == "picture" else node
        if picture is None:
            return
        tex = attribute(picture, "alt") if "math" in attribute(picture, "class") else ""
        if tex and self.formulas:  # the picture of a formula that was just read
            return
        if tex:
            self._formula(tex)
            return
        self.images.append(picture)

    def _formula(self, expression: str) -> None:
        if expression:
            self.formulas.append(expression)
            self.parts.append(f"${expression}$")

    def _script(self, node: "LexborNode", tag: str) -> None:
        if tag == "script" and attribute(node, "type").startswith("math/tex"):
            self._formula(node.text(deep=True).strip())


def span_of(nodes: "list[LexborNode]", base: str = "") -> Span:
    """Return the text of some nodes."""
    span = Span(base)
    for node in nodes:
        span.add(node)
    return span


def text_of(node: "LexborNode", base: str = "") -> str:
    """Return the text inside a node, with the addresses of its few outside links."""
    return with_addresses(span_of(list(children(node)), base))


def with_addresses(span: Span) -> str:
    """Return the text of a span; where it has a few links that lead out, their addresses follow them in brackets."""
    text = span.text
    outside = [link for link in span.links if is_outside(link["url"])]
    if not outside or len(outside) > MAX_SHOWN_LINKS:
        return text
    at = 0
    for link in outside:
        label, url = link["text"], link["url"]
        found = text.find(label, at) if label else -1
        if found < 0 or label in (
            url,
            url.removeprefix("mailto:"),
            url.removeprefix("https://"),
            url.removeprefix("http://"),
        ):
            continue
        end = found + len(label)
        text = f"{text[:end]} ({url}){text[end:]}"
        at = end + len(url) + 3
    return text


def is_outside(url: str) -> bool:
    """Whether an address leads somewhere without its page."""
    return url.lower().startswith(_SCHEMES)


def resolve(url: str, base: str) -> str:
    """Return an address as seen from the page's base, where it has one."""
    url = _BLANKS.sub("", url) if url.lower().startswith(_SCHEMES) else url
    if not base or url.startswith(("#", "data:")):
        return url
    try:
        return urljoin(base, url)
    except ValueError:
        return url
