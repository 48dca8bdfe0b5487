from pathlib import Path

import pytest

from a2c_smcp.documents.formats.base import (
    Description,
    Format,
    HasOutline,
    OpenDocument,
    OpenOptions,
    PagedDocument,
    Rendered,
    open_document,
    require,
    suffix_of,
)
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
    hint = "pip install '.[documents]' in the checkout of this project"
    assert str(caught.value) == f"the module 'a_library_nobody_has' is not installed: {hint}"
    assert caught.value.name == "a_library_nobody_has"


def test_a_present_library_is_imported() -> None:
    assert require("markdown_it.tree", "documents").SyntaxTreeNode


class Plain:
    def file_type(self, name: str) -> str | None:
        return "plain"

    def open(self, path: Path) -> OpenDocument:
        return BOOK


class Locked(Plain):
    def open(self, path: Path, *, options: OpenOptions = OpenOptions()) -> OpenDocument:  # noqa: B008
        return PagedDocument(Description(title=options.password or ""), ())


@pytest.mark.parametrize(("known", "title"), [(Plain(), "Book"), (Locked(), "secret")], ids=["plain", "locked"])
def test_options_reach_the_formats_that_take_them(known: Format, title: str) -> None:
    assert open_document(known, Path("a"), OpenOptions(password="secret")).describe().title == title


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(OpenOptions(password="secret"))


def test_a_document_offers_what_it_has_methods_for() -> None:
    class Picture(PagedDocument):
        def render(self, index: int, dpi: int) -> bytes:
            return b"png"

    picture = Picture(Description(), ())
    assert (isinstance(picture, Rendered), isinstance(picture, HasOutline), isinstance(BOOK, Rendered)) == (
        True,
        False,
        False,
    )
