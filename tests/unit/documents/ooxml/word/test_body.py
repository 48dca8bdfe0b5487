"""Paragraphs and tables of Word documents, as they are meant rather than as they are written."""

from pathlib import Path
from typing import Any

from a2c_smcp.documents.formats.base import OpenDocument
from a2c_smcp.documents.formats.docx import FORMAT
from tests.unit.documents.ooxml.office import document, paragraph


def opened(folder: Path, body: str) -> OpenDocument:
    return FORMAT.open(document(folder / "file.docx", body))


def elements(found: OpenDocument) -> list[tuple[str, dict[str, Any]]]:
    return [(element.category, dict(element.content)) for element in found.page(0).elements]


def cell(inside: str) -> str:
    return f"<w:tc>{inside}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(map(cell, cells))}</w:tr>"


def test_a_deleted_row_of_a_table_is_one_note(tmp_path: Path) -> None:
    words = "<w:p><w:del><w:r><w:delText>{}</w:delText></w:r></w:del></w:p>".format
    gone = row(words("x"), words("y"), properties='<w:del w:author="A"/>')
    empty = row(paragraph(""), properties="<w:del/>")
    first, last = row(paragraph("a"), paragraph("b")), row(paragraph("1"), paragraph("2"))
    assert elements(opened(tmp_path, f"<w:tbl>{first}{gone}{empty}{last}</w:tbl>")) == [
        ("table", {"headers": ["a", "b"], "rows": [["1", "2"]]}),
        ("annotation", {"text": "x | y", "annotation_type": "deletion", "author": "A"}),
    ]


def test_a_large_first_letter_belongs_to_the_paragraph_below(tmp_path: Path) -> None:
    found = opened(tmp_path, paragraph("O", '<w:framePr w:dropCap="drop"/>') + paragraph("nce upon a time"))
    assert elements(found) == [("text", {"text": "Once upon a time"})]


def test_the_summary_begins_with_words(tmp_path: Path) -> None:
    assert opened(tmp_path, paragraph("1") + paragraph("Where it all began")).describe().summary == "Where it all began"
