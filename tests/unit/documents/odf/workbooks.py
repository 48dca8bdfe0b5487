"""Small OpenDocument workbooks, written part by part, so that a test shows all that matters of its file."""

from collections.abc import Mapping
from pathlib import Path

from tests.unit.documents.ooxml.office import write

OASIS = "urn:oasis:names:tc:opendocument:xmlns"
MIME_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
NAMESPACES = (
    " ".join(
        f'xmlns:{short}="{OASIS}:{name}:1.0"'
        for short, name in (
            ("office", "office"),
            ("table", "table"),
            ("text", "text"),
            ("draw", "drawing"),
            ("chart", "chart"),
            ("style", "style"),
            ("meta", "meta"),
            ("svg", "svg-compatible"),
            ("fo", "xsl-fo-compatible"),
        )
    )
    + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    + ' xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
)


def cell(content: object = None, attributes: str = "", inside: str = "") -> str:
    match content:
        case str():
            typed, shown = 'office:value-type="string"', f"<text:p>{content}</text:p>"
        case bool():
            typed, shown = f'office:value-type="boolean" office:boolean-value="{str(content).lower()}"', ""
        case None:
            typed, shown = "", ""
        case _:
            typed, shown = f'office:value-type="float" office:value="{content}"', f"<text:p>{content}</text:p>"
    return f"<table:table-cell {typed} {attributes}>{inside}{shown}</table:table-cell>"


def row(*cells: object, attributes: str = "") -> str:
    """Cells that are already written begin with `<table:`."""
    written = (one if isinstance(one, str) and one.startswith("<table:") else cell(one) for one in cells)
    return f"<table:table-row {attributes}>{''.join(written)}</table:table-row>"


def sheet(name: str, *rows: str, attributes: str = "") -> str:
    return f'<table:table table:name="{name}" {attributes}>{"".join(rows)}</table:table>'


def book(
    path: Path,
    *sheets: str,
    styles: str = "",
    before: str = "",
    after: str = "",
    parts: Mapping[str, str | bytes] | None = None,
) -> Path:
    content = (
        f"<office:document-content {NAMESPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{before}{''.join(sheets)}{after}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    return write(path, {"mimetype": MIME_TYPE, "content.xml": content, **(parts or {})})
