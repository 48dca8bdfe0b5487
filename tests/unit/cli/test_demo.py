"""The documents of the demonstration."""

from pathlib import Path

from a2c_smcp.cli.demo import furnish
from a2c_smcp.documents.library import Library


def test_the_documents_of_the_demonstration_can_be_read(tmp_path: Path) -> None:
    furnish(tmp_path)
    library = Library([tmp_path], host="h")
    found = {document.doc_ref: (document.title, document.page_count) for document in library.documents()}
    assert found == {"tour-of-the-office.pdf": ("A tour of the office", 3), "welcome.md": ("Welcome", 1)}
    page = library.read("dpe://h/tour-of-the-office.pdf/pages/1?format=markdown").text
    assert page.startswith("# Consent")
    assert "once, always, or not at all" in page
