"""What stands inside a block, as text with spans for emphasis, code and links. Pure, but for the tree it reads."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from a2c_smcp.documents.rich_text import Kind, RichBuilder, RichText, Span
from a2c_smcp.documents.web.mathml import latex_of
from a2c_smcp.documents.web.parse import attribute, children, names

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_DEPTH: Final = 60
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
_WIDE = "[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
_SOURCE_BREAK_BETWEEN_WIDE = re.compile(f"(?<={_WIDE})[ \t]*[\n\r][ \t\n\r]*(?={_WIDE})")
# A line break of the page, and the edge of a block, of which several in a row are one break.
_HARD: Final = "\x0b"
_WALL: Final = "\x1e"
_WALLS = re.compile(" ?\x1e[ \x1e]*")
_TIDYING: Final = (
    (_SOURCE_BREAK_BETWEEN_WIDE, ""),
    (_BLANKS, " "),
    (_WALLS, "\n"),
    (re.compile(" *\n *"), "\n"),
    (re.compile(f" *{_HARD} *"), _HARD),
)
_STYLES: Final[dict[str, Kind]] = {
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("i", "em", "cite", "dfn", "var"), "emphasis"),
    **dict.fromkeys(("s", "del", "strike"), "strike"),
    **dict.fromkeys(("code", "tt", "kbd", "samp"), "code"),
}
_SCRIPTS: Final = ("javascript:", "vbscript:", "data:")
_SCHEMES: Final = ("http://", "https://", "mailto:", "ftp://", "tel:")


@dataclass(slots=True)
class InlineText:
    """The text of some inline nodes, with the links, pictures and formulas among them."""

    base: str = ""
    builder: RichBuilder = field(default_factory=RichBuilder)
    links: list[dict[str, Any]] = field(default_factory=list)
    images: "list[LexborNode]" = field(default_factory=list)
    controls: "list[LexborNode]" = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    plain_characters: int = 0
    """How many characters stand outside links and formulas."""

    @property
    def rich(self) -> RichText:
        """The text as a reader sees it: blanks as one, line breaks where the page has them."""
        whole = self.builder.build()
        for pattern, by in _TIDYING:
            whole = whole.replaced(pattern, by)
        whole = whole.strip()
        breaks = [Span(at, at + 1, "break") for at, one in enumerate(whole.text) if one == _HARD]
        return RichText(whole.text.replace(_HARD, "\n"), (*whole.spans, *breaks)) if breaks else whole

    @property
    def text(self) -> str:
        """The text alone."""
        return self.rich.text

    def add(self, node: "LexborNode", depth: int = 0, *, linked: bool = False) -> None:
        """Add a node and what is inside it."""
        if node.is_text_node:
            text = node.text_content or ""
            self.builder.add(text)
            self.plain_characters += 0 if linked else len(text.strip())
            return
        tag = node.tag or ""
        if tag in SILENT:
            self._script(node, tag)
        elif tag == "br":
            self.builder.add(_HARD)
        elif tag in ("img", "svg", "picture"):
            self._picture(node)
        elif tag == "math":
            self._formula(latex_of(node))
        elif tag in ("input", "button", "meter", "progress", "output", "select", "textarea"):
            self.controls.append(node)
        elif tag == "a" and attribute(node, "href"):
            self._link(node, depth)
        elif depth >= MAX_DEPTH:
            self.builder.add(node.text(deep=True))
            self.plain_characters += 1
        else:
            self._inside(node, tag, depth, linked=linked)

    def _inside(self, node: "LexborNode", tag: str, depth: int, *, linked: bool) -> None:
        wall = {"q": '"', "rt": "(", "td": " ", "th": " "}.get(tag, _WALL if tag in BLOCKS else "")
        closing = {"rt": ")"}.get(tag, wall)
        self.builder.add(wall)
        start = self.builder.length
        for child in children(node):
            self.add(child, depth + 1, linked=linked)
        if tag in _STYLES:
            self.builder.mark(start, _STYLES[tag])
        self.builder.add(closing)

    def _link(self, node: "LexborNode", depth: int) -> None:
        start, pieces = self.builder.length, len(self.builder.parts)
        pictures = len(self.images)
        for child in children(node):
            self.add(child, depth + 1, linked=True)
        shown = "".join(self.builder.parts[pieces:]).replace(_HARD, " ").replace(_WALL, " ")
        text = _BLANKS.sub(" ", shown).strip()
        url = resolve(attribute(node, "href"), self.base)
        if not text and len(self.images) > pictures:
            return
        if len(self.links) < MAX_LINKS and not url.lower().startswith(_SCRIPTS):
            title = attribute(node, "title")
            title = title if title != text else ""
            self.builder.mark(start, "link", url, title)
            if not url.startswith("#"):
                self.links.append({"text": text, "url": url} | ({"title": title} if title else {}))

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
            self.builder.add(f"${expression}$")

    def _script(self, node: "LexborNode", tag: str) -> None:
        if tag == "script" and attribute(node, "type").startswith("math/tex"):
            self._formula(node.text(deep=True).strip())


def span_of(nodes: "list[LexborNode]", base: str = "") -> InlineText:
    """Return the text of some nodes."""
    span = InlineText(base)
    for node in nodes:
        span.add(node)
    return span


def text_of(node: "LexborNode", base: str = "") -> RichText:
    """Return the text inside a node."""
    return span_of(list(children(node)), base).rich


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
