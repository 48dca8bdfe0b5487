"""The invariants of documents, pages and elements."""

import pickle

import pytest

from a2c_smcp.documents import Document, Element, Page, PageEntry
from a2c_smcp.errors import BadRequest
from a2c_smcp.types import CATEGORIES, ElementCategory


def text(element_id: str) -> Element:
    return Element(element_id, "text", {"text": "x"})


@pytest.mark.rule("7.2.categories")
@pytest.mark.parametrize("category", CATEGORIES)
def test_an_element_takes_every_category(category: ElementCategory) -> None:
    assert Element("e-1", category, {}).category == category


@pytest.mark.rule("7.2.categories")
def test_an_element_refuses_a_category_that_does_not_exist_and_names_those_that_do() -> None:
    with pytest.raises(BadRequest, match=r"'e-1' has the unknown category 'poem'; known are text, heading, list"):
        Element("e-1", "poem", {})  # type: ignore[arg-type]


def test_an_element_needs_an_id() -> None:
    with pytest.raises(BadRequest, match="this text element has none"):
        text("")


def test_elements_without_metadata_do_not_share_any() -> None:
    assert text("a").metadata == {}
    assert text("a").metadata is not text("b").metadata


def test_a_page_refuses_two_elements_of_one_id() -> None:
    with pytest.raises(BadRequest, match="Page 3 has two elements with the id 'a'"):
        Page(3, "", (text("a"), text("b"), text("a")))


def test_a_page_knows_its_line_of_the_page_index() -> None:
    assert Page(2, "Overview", (text("a"), text("b"))).entry == PageEntry(2, "Overview", 2)


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: Page(-1), "index"),
        (lambda: PageEntry(-1, "", 0), "index"),
        (lambda: PageEntry(0, "", -1), "element_count"),
        (lambda: Document("h", "d", "", "", "", -1), "page_count"),
    ],
)
def test_no_count_is_negative(build: object, name: str) -> None:
    assert callable(build)
    with pytest.raises(BadRequest, match=f"{name} must not be negative; got -1"):
        build()


@pytest.mark.parametrize(("host", "doc_ref"), [("", "d"), ("h", "")])
def test_a_document_needs_a_host_and_a_reference(host: str, doc_ref: str) -> None:
    with pytest.raises(BadRequest, match="needs a host and a doc_ref"):
        Document(host, doc_ref, "", "", "", 0)


def test_a_page_crosses_process_borders() -> None:
    page = Page(0, "Overview", (text("a"),))
    assert pickle.loads(pickle.dumps(page)) == page
