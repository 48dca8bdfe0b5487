"""What an EPUB says of itself: its metadata, its chapters in order and their titles."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.web.controls import text_inside
from a2c_smcp.documents.web.parse import attribute, children, decode, parse
from a2c_smcp.errors import DocumentError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from a2c_smcp.documents.ooxml.package import Package

MAX_XML: Final = 16 << 20
MAX_CHAPTERS: Final = 20_000
MAX_OUTLINE: Final = 10_000
MAX_NAV_DEPTH: Final = 20

_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]{0,1000}>", re.IGNORECASE)
_INNER_DOCTYPE = re.compile(rb"<!DOCTYPE|<!ENTITY", re.IGNORECASE)
_OBFUSCATED_FONTS: Final = (
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
)
_RIGHTS: Final = ("META-INF/rights.xml", "META-INF/sinf.xml", "META-INF/license.lcpl")


@dataclass(frozen=True, slots=True)
class EpubItem:
    """A file of the book."""

    path: str
    media_type: str
    properties: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """A line of the table of contents; `path` says which file it leads to, `inside` that it is a place in it."""

    title: str
    path: str
    level: int
    inside: bool = False


@dataclass(frozen=True, slots=True)
class EpubBook:
    """What is known of a book before a chapter is read."""

    title: str
    creators: tuple[str, ...]
    subjects: tuple[str, ...]
    description: str
    chapters: tuple[EpubItem, ...]
    items: Mapping[str, EpubItem]
    """Every file of the book, by its path."""
    contents: tuple[Contents, ...]


def read_book(package: "Package") -> EpubBook:
    """Return what a book says of itself.

    Raises:
        DocumentError: It is no EPUB, damaged, or protected.
    """
    _refuse_protection(package)
    opf_path = _opf_path(package)
    root = xml(package.read(opf_path, MAX_XML), "its list of contents")
    folder = posixpath.dirname(opf_path)
    by_id: dict[str, EpubItem] = {}
    for node in _all(root, "item"):
        path = _join(folder, node.get("href") or "")
        by_id[node.get("id") or ""] = EpubItem(path, node.get("media-type") or "", node.get("properties") or "")
    chapters = [by_id[node.get("idref")] for node in _all(root, "itemref") if node.get("idref") in by_id]
    chapters = [
        item for item in chapters if (item.path in package and "html" in item.media_type) or _is_page(item.path)
    ]
    if not chapters:
        raise DocumentError("damaged: it has no chapters")
    if len(chapters) > MAX_CHAPTERS:
        raise DocumentError(f"more than the {MAX_CHAPTERS} chapters that are read")
    return EpubBook(
        title=next(_texts(root, "title"), ""),
        creators=tuple(_texts(root, "creator")),
        subjects=tuple(_texts(root, "subject")),
        description=next(_texts(root, "description"), ""),
        chapters=tuple(chapters),
        items={item.path: item for item in by_id.values()},
        contents=tuple(_contents(package, root, by_id)),
    )


def xml(data: bytes, what: str) -> Any:
    """Return the root of an XML file; a document type without definitions, as old books have, is passed over.

    Raises:
        DocumentError: It is no XML, or defines entities.
    """
    etree = require("lxml.etree", "documents")
    data = _DOCTYPE.sub(b"", data, count=1)
    if _INNER_DOCTYPE.search(data):
        raise DocumentError("unsafe: it defines XML entities, which no book needs")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=False)
    try:
        root = etree.fromstring(data.strip(), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DocumentError(f"damaged: {what} is no XML") from error
    if root is None or root.getroottree().docinfo.internalDTD is not None:
        raise DocumentError(f"damaged: {what} is no XML")
    return root


def _refuse_protection(package: "Package") -> None:
    if any(part in package for part in _RIGHTS):
        raise DocumentError("protected by DRM: only the program it was bought for can open it")
    if "META-INF/encryption.xml" not in package:
        return
    root = xml(package.read("META-INF/encryption.xml", MAX_XML), "its list of encrypted files")
    methods = {node.get("Algorithm") or "" for node in _all(root, "EncryptionMethod")}
    if methods - set(_OBFUSCATED_FONTS):
        raise DocumentError("protected by DRM: only the program it was bought for can open it")


def _opf_path(package: "Package") -> str:
    if "META-INF/container.xml" in package:
        root = xml(package.read("META-INF/container.xml", MAX_XML), "its container file")
        for node in _all(root, "rootfile"):
            path = unquote(node.get("full-path") or "")
            if path in package:
                return path
    found = next((name for name in package.names() if name.lower().endswith(".opf")), None)
    if found is None:
        raise DocumentError("not an EPUB: it has no list of contents")
    return found


def _contents(package: "Package", root: Any, by_id: Mapping[str, EpubItem]) -> Iterator[Contents]:
    nav = next((item for item in by_id.values() if "nav" in item.properties.split()), None)
    spine = next(_all(root, "spine"), None)
    ncx = by_id.get(spine.get("toc") or "") if spine is not None else None
    ncx = ncx or next((item for item in by_id.values() if item.media_type == "application/x-dtbncx+xml"), None)
    try:
        found = list(_nav(package, nav)) if nav is not None and nav.path in package else []
        if not found and ncx is not None and ncx.path in package:
            found = list(_ncx(package, ncx))
    except DocumentError:  # a book can be read without its table of contents
        return
    yield from found[:MAX_OUTLINE]


def _nav(package: "Package", item: EpubItem) -> Iterator[Contents]:
    tree = parse(closed(decode(package.read(item.path, MAX_XML))))
    for nav in tree.css("nav"):
        if "toc" in (nav.attributes.get("epub:type") or "toc").split() or attribute(nav, "role") == "doc-toc":
            for child in children(nav):
                if child.tag == "ol":
                    yield from _nav_list(child, posixpath.dirname(item.path), 1)
            return


def _nav_list(node: "LexborNode", folder: str, level: int) -> Iterator[Contents]:
    for entry in children(node):
        for part in children(entry):
            if part.tag in ("a", "span"):
                href = attribute(part, "href")
                yield Contents(text_inside(part), _join(folder, href), level, "#" in href)
            elif part.tag == "ol" and level < MAX_NAV_DEPTH:
                yield from _nav_list(part, folder, level + 1)


def _ncx(package: "Package", item: EpubItem) -> Iterator[Contents]:
    root = xml(package.read(item.path, MAX_XML), "its table of contents")
    folder = posixpath.dirname(item.path)
    for point in _all(root, "navPoint"):
        level = 1 + sum(1 for above in point.iterancestors() if _name(above) == "navPoint")
        title = next((" ".join("".join(label.itertext()).split()) for label in point if _name(label) == "navLabel"), "")
        source = next((part.get("src") or "" for part in point if _name(part) == "content"), "")
        yield Contents(title, _join(folder, source), level, "#" in source)


_EMPTY_TAG = re.compile(r"<([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)/>")
_VOID: Final = frozenset("area base br col embed hr img input link meta param source track wbr".split())  # noqa: SIM905


def closed(xhtml: str) -> str:
    """Return XHTML as an HTML parser understands it: `<title/>` there means that everything after is the title."""

    def both(match: re.Match[str]) -> str:
        return match[0] if match[1].lower() in _VOID else f"<{match[1]}{match[2]}></{match[1]}>"

    return _EMPTY_TAG.sub(both, xhtml)


def _all(root: Any, name: str) -> Iterator[Any]:
    yield from (node for node in root.iter() if _name(node) == name)


def _texts(root: Any, name: str) -> Iterator[str]:
    for node in _all(root, name):
        text = " ".join("".join(node.itertext()).split())
        if text and "purl.org/dc" in str(node.tag):
            yield text


def _name(node: Any) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def _join(folder: str, href: str) -> str:
    """Return the path in the book that an address leads to, without its fragment."""
    try:
        path = unquote(urlsplit(href).path)
    except ValueError:
        path = ""
    return posixpath.normpath(posixpath.join(folder, path)).lstrip("/") if path else ""


def _is_page(path: str) -> bool:
    return path.lower().endswith((".xhtml", ".html", ".htm"))
