"""XML parts as trees: no entities, no network, no document type, and Strict namespaces spelled as Transitional ones."""

import codecs
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from a2c_smcp.documents.formats.base import require
from a2c_smcp.errors import DocumentError

if TYPE_CHECKING:
    from lxml.etree import _Element

    Node: TypeAlias = _Element
else:
    Node = Any  # the library is imported when a file is opened, not before

_OFFICE: Final = "http://schemas.openxmlformats.org"
A: Final = f"{{{_OFFICE}/drawingml/2006/main}}"
C: Final = f"{{{_OFFICE}/drawingml/2006/chart}}"
M: Final = f"{{{_OFFICE}/officeDocument/2006/math}}"
P: Final = f"{{{_OFFICE}/presentationml/2006/main}}"
R: Final = f"{{{_OFFICE}/officeDocument/2006/relationships}}"
S: Final = f"{{{_OFFICE}/spreadsheetml/2006/main}}"
W: Final = f"{{{_OFFICE}/wordprocessingml/2006/main}}"
MC: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
W14: Final = "{http://schemas.microsoft.com/office/word/2010/wordml}"

_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_PROLOG = re.compile(rb"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*)*", re.DOTALL)
_DECLARATION = re.compile(r"\A\ufeff?\s*<\?xml[^>]*\?>")
UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"<\0", b"\0<")
# Drawings that this package cannot read; what an author gives instead of them is a picture.
_UNREADABLE: Final = frozenset({"am3d", "aink"})


def parse(data: bytes, *, what: str = "a part") -> Node:
    """Return the root of an XML part.

    Raises:
        DocumentError: It is no XML, or has a document type, which no Office part needs and attacks use.
    """
    data = utf8(data)
    refuse_doctype(data)
    etree = require("lxml.etree", "documents")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root: Node = etree.fromstring(transitional(data), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DocumentError(f"damaged: {what} is not valid XML ({_reason(error)})") from error
    if root.getroottree().docinfo.internalDTD is not None:  # in an encoding that hid it from the look at the bytes
        raise DocumentError(_DOCTYPE_MESSAGE)
    return root


def transitional(data: bytes) -> bytes:
    """Return XML with the namespaces of Strict OOXML replaced by those of everyday files."""
    return _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", data) if b"purl.oclc.org" in data else data


def utf8(data: bytes) -> bytes:
    """Return XML as UTF-8 where it is UTF-16, unchanged else."""
    if not data.startswith(UTF16):
        return data
    return _DECLARATION.sub("", data.decode(utf16_kind(data), errors="replace")).encode()


def utf16_kind(data: bytes) -> str:
    """Return which UTF-16 it is that XML starts in."""
    return "utf-16" if data[:2] in UTF16[:2] else "utf-16-le" if data.startswith(b"<\0") else "utf-16-be"


_DOCTYPE_MESSAGE: Final = "unsafe: it defines XML entities (a document type), which no Office document does"


def refuse_doctype(head: bytes) -> None:
    """Look at the start of a part before any parser does.

    Raises:
        DocumentError: It has a document type.
    """
    at = prolog_end(head)
    if head[at : at + 9].upper() == b"<!DOCTYPE":
        raise DocumentError(_DOCTYPE_MESSAGE)


def prolog_end(head: bytes) -> int:
    """Return where the first thing begins that is no declaration, comment or blank."""
    # A mark of the byte order is no space, so it is stepped over here.
    found = _PROLOG.match(head, 3 if head.startswith(codecs.BOM_UTF8) else 0)
    return found.end() if found else 0


def resolve_alternates(root: Node) -> Node:
    """Put in place of every `mc:AlternateContent` the one of its alternatives that can be read best."""
    for alternate in list(root.iter(f"{MC}AlternateContent")):
        parent = alternate.getparent()
        if parent is None:
            continue
        chosen = _best_of(alternate)
        for child in list(chosen) if chosen is not None else ():
            alternate.addprevious(child)
        parent.remove(alternate)
    return root


def _best_of(alternate: Node) -> Node | None:
    for choice in alternate.iterchildren(f"{MC}Choice"):
        if len(choice) and not _UNREADABLE & set((choice.get("Requires") or "").split()):
            return choice
    return alternate.find(f"{MC}Fallback")


def local(node: Node) -> str:
    """Return the name of a node without its namespace."""
    return node.tag.rpartition("}")[2]


def children(node: Node | None, name: str) -> Iterator[Node]:
    """Yield the children of that local name, in whatever namespace."""
    if node is not None:
        yield from (child for child in node if local(child) == name)


def child(node: Node | None, *path: str) -> Node | None:
    """Return the first descendant along a path of local names."""
    for name in path:
        node = next(children(node, name), None)
    return node


def descendants(node: Node | None, name: str) -> Iterator[Node]:
    """Yield the nodes of that local name below `node`, in document order."""
    if node is not None:
        yield from node.iterdescendants(f"{{*}}{name}")


def value_of(node: Node | None, *path: str, default: str = "") -> str:
    """Return the `val` of the node along a path, by whatever namespace that attribute has."""
    found = child(node, *path)
    return attribute(found, "val", default) if found is not None else default


def attribute(node: Node, name: str, default: str = "") -> str:
    """Return an attribute by its local name: Word gives them a namespace, charts do not."""
    plain = node.get(name)
    if plain is not None:
        return str(plain)
    for key, value in node.attrib.items():
        if str(key).endswith(f"}}{name}"):
            return str(value)
    return default


def number(text: str | None, default: int = 0) -> int:
    """Return a whole number, `default` for what is none."""
    try:
        return int(text) if text is not None else default
    except ValueError:
        return default


def is_on(text: str | None) -> bool:
    """Whether an XML boolean is true; an element without a value is."""
    return (text if text is not None else "1").lower() not in {"0", "false", "off", "none"}


def text_of(node: Node | None) -> str:
    """Return all text below a node."""
    return "".join(map(str, node.itertext())) if node is not None else ""


def _reason(error: Exception) -> str:
    return str(error).split(", line")[0][:120]
