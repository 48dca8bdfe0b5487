"""From bytes to a tree: the encoding of a page, and what is too hostile to parse."""

import codecs
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.formats.decoding import detect_encoding
from a2c_smcp.errors import DocumentError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_DEPTH: Final = 4_000
"""The parser takes time with the square of the depth: a tenth of a second for so many, minutes for fifty times more."""

MAX_OPTIONS: Final = 10_000
"""The parser takes time with the square of the options of a select, too."""


def names(listed: str) -> frozenset[str]:
    """Return the tag names of a line."""
    return frozenset(listed.split())


_CHARSET = re.compile(
    rb"""<(?:meta\b[^>]{0,500}?charset|\?xml[^>]{0,200}?encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.I
)
_ALIASES: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "iso-8859-9": "cp1254",
    "windows-874": "cp874",
    "x-x-big5": "big5hkscs",
}
_TEXT_CODECS: Final = frozenset(
    {"utf-7", "utf7", "unicode_escape", "raw_unicode_escape", "idna", "punycode", "undefined"}
)
_STATEFUL: Final = frozenset({"iso-2022-jp", "iso-2022-kr", "hz-gb-2312", "hz"})
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)([^<>]*)")
_SKIPPED = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style|template)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
# Elements that end by themselves cannot pile up.
_FLAT: Final = names(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th thead tbody tfoot "
    "option optgroup rp rt colgroup caption html head body frame"
)
_FOREIGN: Final = names("svg math")
# These are never part of a drawing, but end it.
_ENDS_FOREIGN: Final = names(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta "
    "nobr ol p pre ruby s small span strong strike sub sup table tt u ul var svg math"
)


def decode(data: bytes, declared: str = "") -> str:
    """Return HTML as text: by its mark, as UTF-8 where it is that, as it or its carrier declares, or as it looks.

    Raises:
        DocumentError: It is no text.
    """
    marks = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
    for mark, encoding in marks:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    found = _CHARSET.search(data[:8192])
    named = codec_of(found[1].decode("ascii") if found else "") or codec_of(declared)
    if named not in _STATEFUL:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            _refuse_binary(text)
            return text
    if named and not named.startswith("utf"):
        text = data.decode(named, errors="replace")
        _refuse_binary(text)
        return text
    return data.decode(detect_encoding(data), errors="replace")


def codec_of(charset: str) -> str:
    """Return the name that Python gives an encoding for text, empty for one it does not know."""
    name = charset.strip().strip("\"'").lower()
    name = _ALIASES.get(name, name)
    if name in _TEXT_CODECS:
        return ""
    try:
        known = codecs.lookup(name)
    except (LookupError, ValueError):
        return ""
    # Python also has codecs from bytes to bytes, such as "zip".
    return name if getattr(known, "_is_text_encoding", True) else ""


def parse(html: str) -> "LexborHTMLParser":
    """Return the tree of a page.

    Raises:
        DocumentError: It nests too deeply, or is built to keep the parser busy.
    """
    _check(html)
    module = require("selectolax.lexbor", "documents")
    parser: LexborHTMLParser = module.LexborHTMLParser(html)
    return parser


def children(node: "LexborNode") -> "Iterator[LexborNode]":
    """Yield the child nodes of a node, text included, comments left out."""
    child = node.first_child
    while child is not None:
        if not child.is_comment_node:
            yield child
        child = child.next


def attribute(node: "LexborNode", name: str) -> str:
    """Return an attribute without blanks around it; empty where it is missing or has no value."""
    return (node.attributes.get(name) or "").strip()


def _check(html: str) -> None:
    depth = options = foreign = 0
    for match in _TAG.finditer(_SKIPPED.sub("", html)):
        name = match[2].lower()
        if name == "option":
            options += 1
        if name in _FOREIGN:
            foreign = max(foreign - 1, 0) if match[1] else foreign + 1
        # A slash ends an element in drawings and formulas, and means nothing anywhere else.
        if name in _FLAT or (foreign and match[3].endswith("/") and name not in _ENDS_FOREIGN):
            continue
        depth = max(depth - 1, 0) if match[1] else depth + 1
        if depth > MAX_DEPTH:
            raise DocumentError(f"its elements nest deeper than the {MAX_DEPTH} levels that are read")
    if options > MAX_OPTIONS:
        raise DocumentError(f"it has more than the {MAX_OPTIONS} options that are read")


def _refuse_binary(text: str) -> None:
    if "\0" in text[:65_536]:
        raise DocumentError("not HTML: it holds binary data")
