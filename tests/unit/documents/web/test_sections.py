"""Elements as pages that people can read."""

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.formats.elements import ElementMaker
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.render.text import element_text
from a2c_smcp.documents.web.sections import MAX_CHARACTERS, MAX_ELEMENTS, sections_of

parts = st.one_of(st.integers(1, 6), st.sampled_from(["x", "word " * 100, "long " * 3000]))


def made(found: list[int | str]) -> list[Element]:
    maker = ElementMaker()
    return [
        maker.make("heading", {"level": part, "text": f"H{part}"})
        if isinstance(part, int)
        else maker.make("text", {"text": part})
        for part in found
    ]


@given(st.lists(parts, max_size=60))
def test_pages_together_are_the_elements_and_none_is_too_large(found: list[int | str]) -> None:
    elements = made(found)
    pages = sections_of(elements)
    assert [element for page in pages for element in page.elements] == elements
    assert [page.index for page in pages] == list(range(len(pages)))
    for page in pages:
        assert 0 < len(page.elements) <= MAX_ELEMENTS
        assert len(page.elements) == 1 or sum(len(element_text(e)) for e in page.elements) <= MAX_CHARACTERS


def test_a_little_text_before_the_first_heading_stays_with_it() -> None:
    assert [page.title for page in sections_of(made(["x", 2, "x", 2, "x"]))] == ["H2", "H2"]


def test_small_documents_can_stay_on_one_page() -> None:
    elements = made([1, "x", 1, "x"])
    assert [page.title for page in sections_of(elements, title="All", undivided=100)] == ["All"]
    assert len(sections_of(elements, title="All")) == 2
