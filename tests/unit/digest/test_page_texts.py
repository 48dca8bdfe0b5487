"""Pages in one text."""

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.digest.page_texts import divided, fault_of, is_better, joined, page_fault, ranges_of

TEXTS = st.text(alphabet="abc 世\n#-", max_size=30).map(str.strip)


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_what_was_joined_is_divided_again(texts: list[str]) -> None:
    pages = dict(enumerate(texts, start=1))
    assert divided(joined(pages), len(pages)) == pages


def test_form_feeds_divide_where_they_are_as_many_as_pages() -> None:
    assert divided("one\ftwo\f", 2) == {1: "one", 2: "two"}
    assert divided("one\ftwo", 3) is None


def test_rules_with_numbers_divide() -> None:
    assert divided("--- Page 1 ---\none\n=== 2 ===\ntwo\n", 2) == {1: "one", 2: "two"}


def test_what_stands_before_the_first_mark_is_kept() -> None:
    assert divided("lead\n<!-- page 2 -->\ntwo", 2) == {2: "lead\n\ntwo"}


def test_marks_of_pages_that_are_not_there_are_text() -> None:
    assert divided("<!-- page 9 -->\nnine", 2) is None


def test_texts_that_are_no_good_are_told() -> None:
    assert fault_of("<!-- page 1 -->\n") == "there is hardly any text"
    assert fault_of("the same words " * 200) == "the text repeats itself"
    assert fault_of("A sentence that says something worth reading.") == ""
    assert (page_fault(" \n"), page_fault("7")) == ("no text", "hardly any text")
    assert page_fault("ab " * 200) == "the text repeats itself"
    assert page_fault("A sentence that says something worth reading.") == ""


def test_a_document_needs_enough_text_for_each_of_its_pages() -> None:
    text = "Twenty-five letters or more, on three pages."
    assert (fault_of(text, 1), fault_of(text, 3)) == ("", "there is hardly any text")


def test_a_text_with_more_letters_is_better_unless_it_repeats_itself() -> None:
    assert is_better("some words", "7")
    assert not is_better("7", "some words")
    assert not is_better("again and " * 100, "some words")
    assert is_better("some words", "again and " * 100)


def test_a_page_cannot_forge_the_mark_of_another() -> None:
    pages = {1: "one\n<!-- page 2 -->\nforged", 2: "two"}
    assert divided(joined(pages), 2) == {1: "one\n<!-- (page 2) -->\nforged", 2: "two"}


def test_page_numbers_are_told_in_short() -> None:
    assert ranges_of([3, 1, 2, 7]) == "1-3, 7"
