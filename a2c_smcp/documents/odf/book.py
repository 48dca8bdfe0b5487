"""An OpenDocument workbook as a stream: what it declares, and the rows of the sheet that is wanted.

All sheets stand in one part, which may be long: it is parsed as it comes out of the archive, and rows are dropped as
soon as they have been looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.odf.cell_values import DRAW, OFFICE, TABLE, address_of
from a2c_smcp.documents.ooxml.package import MAX_STREAM, Package
from a2c_smcp.documents.ooxml.spreadsheet.objects import Declared
from a2c_smcp.documents.ooxml.spreadsheet.references import Range, parse_qualified
from a2c_smcp.documents.ooxml.xml import Node, attribute, child, children, descendants, refuse_doctype, utf8
from a2c_smcp.errors import DocumentError

CONTENT: Final = "content.xml"
MAX_SHEETS: Final = 10_000
MAX_DECLARED: Final = 2_000

_LOCKED: Final = "password-protected: encrypted workbooks cannot be opened; save a copy without the password"
_ROW: Final = f"{TABLE}table-row"
_SHEET: Final = f"{TABLE}table"
_BOOK: Final = f"{OFFICE}spreadsheet"
_ORIENTATIONS: Final = {"row": "row_fields", "column": "column_fields", "page": "filter_fields"}


@dataclass(slots=True)
class OdsDeclarations:
    """What a workbook declares outside of its cells; ranges by the names of their sheets."""

    sheets: list[tuple[str, bool]] = field(default_factory=list)
    bold: set[str] = field(default_factory=set)
    choices: dict[str, dict[str, Any]] = field(default_factory=dict)
    declared: dict[str, list[Declared]] = field(default_factory=dict)
    filtered: dict[str, list[Range]] = field(default_factory=dict)
    pivots: dict[str, list[tuple[Range, dict[str, Any]]]] = field(default_factory=dict)


def read_book(package: Package) -> OdsDeclarations:
    """Read the names of the sheets, and all that is declared before and after them.

    Raises:
        DocumentError: It is encrypted, damaged, or no workbook.
    """
    book, hidden, seen = OdsDeclarations(), set(), False
    for event, node in _events(package, f"{OFFICE}automatic-styles", _BOOK, _SHEET, _ROW):
        if event == "end" and node.tag == f"{OFFICE}automatic-styles":
            hidden = _read_styles(node, book)
        elif event == "start" and node.tag == _BOOK:
            seen = True
        elif event == "start" and node.tag == _SHEET and _is_sheet(node) and len(book.sheets) < MAX_SHEETS:
            name = attribute(node, "name") or f"Sheet{len(book.sheets) + 1}"
            book.sheets.append((name, attribute(node, "style-name") in hidden))
        elif event == "end" and node.tag == _ROW and not _is_inner(node):
            _drop(node)
        elif event == "end" and node.tag == _SHEET and _is_sheet(node):
            node.clear()
        elif event == "end" and node.tag == _BOOK:
            _read_declarations(node, book)
    if not seen:
        raise DocumentError("not a workbook: it is an OpenDocument file of another kind")
    return book


def parts_of_sheet(package: Package, index: int) -> Iterator[Node]:
    """Yield the rows of a sheet and what is drawn on it, each when it has been read; each is dropped afterwards."""
    at = -1
    for event, node in _events(package, _SHEET, _ROW, f"{TABLE}shapes"):
        if _is_inner(node):
            continue
        if event == "start":
            at += node.tag == _SHEET and _is_sheet(node)
        elif node.tag == _SHEET:
            if at >= index:
                return
            node.clear()
        else:
            if at == index:
                yield node
            _drop(node)


def _events(package: Package, *tags: str) -> Iterator[tuple[str, Node]]:
    """Yield where elements of these names begin and end.

    Raises:
        DocumentError: The part is encrypted or damaged, or defines entities.
    """
    if CONTENT not in package:
        raise DocumentError("not a workbook: it is a ZIP archive of something else")
    etree = require("lxml.etree", "documents")
    parser = etree.XMLPullParser(
        events=("start", "end"),
        tag=tags,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    checked = False
    try:
        for chunk in package.chunks(CONTENT, MAX_STREAM):
            if not checked:
                refuse_doctype(utf8(chunk))
                checked = True
            parser.feed(chunk)
            yield from parser.read_events()
        parser.close()
        yield from parser.read_events()
    except etree.XMLSyntaxError as error:
        if _is_encrypted(package):
            raise DocumentError(_LOCKED) from error
        raise DocumentError(f"damaged: its part {CONTENT!r} is not valid XML") from error


def _is_sheet(node: Node) -> bool:
    """Whether a table is a sheet, and not one inside a cell, a shape or the list of changes."""
    parent = node.getparent()
    return parent is not None and parent.tag == _BOOK


def _drop(node: Node) -> None:
    """Forget what an element holds, and what stood before it."""
    node.clear()
    parent = node.getparent()
    while parent is not None and node.getprevious() is not None:
        del parent[0]


def _is_inner(node: Node) -> bool:
    """Whether an element belongs to a table inside a cell or a drawing, which goes with what is around it."""
    return any(above.tag == _ROW or above.tag.startswith(DRAW) for above in node.iterancestors())


def _is_encrypted(package: Package) -> bool:
    manifest = "META-INF/manifest.xml"
    return manifest in package and b"encryption-data" in package.read(manifest)


def _read_styles(node: Node, book: OdsDeclarations) -> set[str]:
    """Fill in which styles of cells are bold, and return which styles of sheets hide them."""
    hidden: set[str] = set()
    for style in children(node, "style"):
        weight, shown = child(style, "text-properties"), child(style, "table-properties")
        if weight is not None and attribute(weight, "font-weight") == "bold":
            book.bold.add(attribute(style, "name"))
        if shown is not None and attribute(shown, "display") == "false":
            hidden.add(attribute(style, "name"))
    return hidden


def _read_declarations(node: Node, book: OdsDeclarations) -> None:
    for one in list(descendants(child(node, "content-validations"), "content-validation"))[:MAX_DECLARED]:
        if choice := _choice(one):
            book.choices[attribute(one, "name")] = choice
    for one in list(descendants(child(node, "database-ranges"), "database-range"))[:MAX_DECLARED]:
        sheet, area = _place(attribute(one, "target-range-address"))
        if area and attribute(one, "display-filter-buttons") == "true":
            book.filtered.setdefault(sheet, []).append(area)
        elif area and not attribute(one, "name").startswith("__Anonymous"):
            declared = Declared(area, attribute(one, "name"), attribute(one, "contains-header", "true") != "false")
            book.declared.setdefault(sheet, []).append(declared)
    for one in list(descendants(child(node, "data-pilot-tables"), "data-pilot-table"))[:MAX_DECLARED]:
        sheet, area = _place(attribute(one, "target-range-address"))
        if area:
            book.pivots.setdefault(sheet, []).append((area, _pivot(one)))


def _choice(node: Node) -> dict[str, Any] | None:
    condition = attribute(node, "condition")
    listed = condition.partition("cell-content-is-in-")[2]
    if not listed:
        return None
    content: dict[str, Any] = {"widget_type": "dropdown", "name": attribute(node, "name")}
    source = listed.partition("(")[2].removesuffix(")")
    if listed.startswith("list") and source.startswith('"'):
        content["options"] = [option.strip().strip('"') for option in source.split(";")]
        return content | {"description": ", ".join(content["options"])}
    return content | {"description": f"one of {address_of(source.strip('[]'))}"}


def _pivot(node: Node) -> dict[str, Any]:
    content: dict[str, Any] = {"row_fields": [], "column_fields": [], "values": []}
    for part in children(node, "data-pilot-field"):
        name, orientation = attribute(part, "source-field-name"), attribute(part, "orientation")
        if orientation == "data":
            content["values"].append({"field": name, "function": attribute(part, "function", "sum")})
        elif orientation in _ORIENTATIONS and name and attribute(part, "is-data-layout-field") != "true":
            content.setdefault(_ORIENTATIONS[orientation], []).append(name)
    content["title"] = attribute(node, "name")
    source = child(node, "source-cell-range")
    if source is not None:
        content["source"] = address_of(attribute(source, "cell-range-address"))
    return content


def _place(address: str) -> tuple[str, Range | None]:
    found = parse_qualified(address_of(address)) if address else None
    return found or ("", None)
