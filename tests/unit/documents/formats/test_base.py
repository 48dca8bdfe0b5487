import pytest

from a2c_smcp.documents.formats.base import Description, PagedDocument, require, suffix_of
from a2c_smcp.documents.model import Element, Page, PageEntry

A = Element("txt-001", "text", {"text": "a"})
B = Element("txt-002", "text", {"text": "b"})
BOOK = PagedDocument(Description(title="Book", page_count=2), [Page(0, "One", (A,)), Page(1, "Two", (B,))])


def test_a_paged_document_gives_out_its_parts() -> None:
    assert (BOOK.describe().title, BOOK.page(1), BOOK.find("txt-002")) == ("Book", Page(1, "Two", (B,)), (1, B))


@pytest.mark.parametrize(
    ("offset", "limit", "indexes"), [(0, 1, [0]), (1, 5, [1]), (0, 9, [0, 1]), (7, 1, [])], ids=str
)
def test_the_page_index_comes_in_windows(offset: int, limit: int, indexes: list[int]) -> None:
    entries = [PageEntry(0, "One", 1), PageEntry(1, "Two", 1)]
    assert list(BOOK.entries(offset, limit)) == [entries[index] for index in indexes]


def test_an_unknown_element_is_none() -> None:
    assert BOOK.find("tbl-001") is None


@pytest.mark.parametrize(
    ("name", "suffix"), [("a.MD", "md"), ("a.tar.gz", "gz"), ("README", ""), (".md", ""), ("a.", "")], ids=str
)
def test_a_suffix_is_lower_case_and_not_the_name_itself(name: str, suffix: str) -> None:
    assert suffix_of(name) == suffix


def test_a_missing_library_names_its_install_command() -> None:
    with pytest.raises(ModuleNotFoundError) as caught:
        require("a_library_nobody_has", "documents")
    assert str(caught.value) == "the module 'a_library_nobody_has' is not installed: pip install 'a2c-smcp[documents]'"
    assert caught.value.name == "a_library_nobody_has"


def test_a_present_library_is_imported() -> None:
    assert require("markdown_it.tree", "documents").SyntaxTreeNode
