"""What goes through a pipe or onto the disk comes back as it was."""

from datetime import date
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents import codec
from a2c_smcp.documents.codec import Record
from a2c_smcp.documents.formats.base import Description, OutlineEntry
from a2c_smcp.documents.model import Element, Page, PageEntry

TEXT = st.text(st.characters(), max_size=20)  # lone surrogates, too
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
CONTENT = st.dictionaries(TEXT, JSON, max_size=3)
ELEMENTS = st.builds(Element, TEXT.filter(bool), st.sampled_from(["text", "table"]), CONTENT, TEXT, CONTENT)
NUMBERS = st.integers(0, 10_000)


@given(NUMBERS, TEXT, st.lists(ELEMENTS, max_size=4, unique_by=lambda element: element.id))
def test_a_page_comes_back(index: int, title: str, elements: list[Element]) -> None:
    page = Page(index, title, tuple(elements))
    assert codec.decode_page(codec.encode_page(page)) == page


@given(st.none() | st.tuples(NUMBERS, ELEMENTS))
def test_an_element_comes_back(found: tuple[int, Element] | None) -> None:
    assert codec.decode_found(codec.encode_found(found)) == found


@given(TEXT, NUMBERS, st.lists(TEXT).map(tuple), TEXT, st.booleans())
def test_a_record_comes_back(title: str, count: int, keywords: tuple[str, ...], summary: str, locked: bool) -> None:
    record = Record(Description(title, count, keywords, summary), "pdf", summary, locked=locked, lasting=not locked)
    assert codec.decode_record(codec.encode_record(record)) == record


@given(st.lists(st.builds(PageEntry, NUMBERS, TEXT, NUMBERS)), st.lists(st.builds(OutlineEntry, TEXT, NUMBERS)))
def test_indexes_come_back(entries: list[PageEntry], outline: list[OutlineEntry]) -> None:
    assert codec.decode_entries(codec.encode_entries(entries)) == entries
    assert codec.decode_outline(codec.encode_outline(outline)) == outline


@pytest.mark.parametrize("picture", [None, ("image/png", b"\x89PNG\n\0"), ("image/svg+xml", b"")])
def test_a_picture_comes_back(picture: tuple[str, bytes] | None) -> None:
    assert codec.decode_picture(codec.encode_picture(picture)) == picture


@pytest.mark.parametrize("text", ["text", "half a character: \ud800"])
def test_what_json_has_no_word_for_becomes_its_nearest(text: str) -> None:
    told = {"day": date(2026, 1, 2), "view": MappingProxyType({"a": 1}), "some": {2, 1}, "text": text}
    found = codec.decode_found(codec.encode_found((0, Element("x", "text", told))))
    assert found is not None
    assert found[1].content == {"day": "2026-01-02", "view": {"a": 1}, "some": [1, 2], "text": text}


def test_what_is_nested_deep_comes_back() -> None:
    nested: list[object] = []
    for _ in range(400):
        nested = [nested]
    page = Page(0, "", (Element("x", "text", {"text": nested}),))
    assert codec.decode_page(codec.encode_page(page)) == page
