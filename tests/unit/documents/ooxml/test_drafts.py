"""Elements get their ids in reading order, and ids tell their page."""

import pytest

from a2c_smcp.documents.model import Element
from a2c_smcp.documents.ooxml.drafts import Draft, PageNumbers, page_of


def test_ids_count_by_category() -> None:
    drafts = [Draft("text", {"text": "a"}), Draft("image", {}, summary="a duck"), Draft("text", {"text": "b"})]
    assert [element for _, element in PageNumbers(3).number(drafts)] == [
        Element("p3-txt-001", "text", {"text": "a"}, "a"),
        Element("p3-img-001", "image", {}, "a duck"),
        Element("p3-txt-002", "text", {"text": "b"}, "b"),
    ]


@pytest.mark.parametrize(
    ("element_id", "page"),
    [
        ("p0-txt-001", 0),
        ("p12-tbl-001-r9", 12),
        ("p-txt", None),
        ("0-x", None),
        ("p1", None),
        ("p1-", None),
        ("", None),
    ],
)
def test_an_id_tells_its_page(element_id: str, page: int | None) -> None:
    assert page_of(element_id) == page


def test_an_endless_number_is_no_page() -> None:
    assert page_of(f"p{'9' * 10_000}-x") is None
