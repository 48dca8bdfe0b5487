"""The index: what is found, in which order, and what leaves it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from a2c_smcp.documents import search as module
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.documents.search import (
    Indexed,
    IndexedPart,
    IndexedPassage,
    MatchedPassage,
    SearchIndex,
    document_passage,
    passage_of,
    passages_of,
)

A, B = b"content a", b"content b"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SearchIndex]:
    made = SearchIndex(tmp_path, b"library")
    yield made
    made.close()


def text(words: str, element: str = "txt-001", page: int = 0) -> IndexedPassage:
    return IndexedPassage(page, element, "text", "", words)


def fill(index: SearchIndex, content: bytes, *passages: IndexedPassage) -> None:
    index.shelve({A, B})
    index.add([IndexedPart(content, passages, 1, True)])


def elements(found: list[MatchedPassage]) -> list[str | None]:
    return [one.element for one in found]


def test_a_hit_says_where_it_is_and_shows_the_words_around(index: SearchIndex) -> None:
    fill(index, A, text(f"{'before ' * 60}the needle {'after ' * 60}", page=7))
    [hit] = index.search("NEEDLE", 10)
    assert (hit.content, hit.page, hit.element, hit.category) == (A, 7, "txt-001", "text")
    assert hit.snippet.startswith("…before ")
    assert "the needle after" in hit.snippet
    assert hit.score > 0


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("revenue", ["en"]),
        ("Revenue 2025", ["en"]),
        ('"grew by"', ["en"]),
        ('"by grew"', []),
        ("reven*", ["en"]),
        ("收入", ["zh"]),
        ("营业收入", ["zh"]),
        ('"收入增长"', ["zh"]),
        ("入增", ["zh"]),
        ("长", ["zh"]),
        ("增收", []),
        ("resume", ["fr"]),
        ("東京", ["ja"]),
        ("매출", ["ko"]),
        ("nothing at all like it", []),
    ],
)
def test_words_and_phrases_of_any_script_are_found(index: SearchIndex, query: str, found: list[str]) -> None:
    fill(
        index,
        A,
        text("Our revenue grew by a fifth in 2025.", "en"),
        text("公司的营业收入增长了两成。", "zh"),
        text("Le résumé", "fr"),
        text("東京タワー", "ja"),
        text("매출이 늘었다", "ko"),
    )
    assert elements(index.search(query, 10)) == found


def test_longer_words_and_single_words_are_found_where_nothing_else_is(index: SearchIndex) -> None:
    fill(index, A, text("reports on penguins", "a"), text("a walrus", "b"))
    assert elements(index.search("report", 10)) == ["a"]
    assert elements(index.search("walrus submarine", 10)) == ["b"]


def test_headings_come_first_and_what_says_it_more_often(index: SearchIndex) -> None:
    heading = IndexedPassage(0, "h", "heading", "Budget", "")
    fill(index, A, text("budget and many other things to say", "once"), text("budget budget", "twice"), heading)
    assert elements(index.search("budget", 10)) == ["h", "twice", "once"]
    assert elements(index.search("budget", 1)) == ["h"]


def test_a_search_can_be_kept_to_some_documents(index: SearchIndex) -> None:
    fill(index, A, text("word"))
    fill(index, B, text("word"))
    assert [[hit.content for hit in index.search("word", 10, only)] for only in ([A], [B], [])] == [[A], [B], []]


def test_what_no_library_has_leaves(index: SearchIndex, tmp_path: Path) -> None:
    fill(index, A, text("word"))
    other = SearchIndex(tmp_path, b"other library")
    assert other.shelve([A]) == {A: Indexed(1, True)}
    assert index.shelve([B]) == {B: Indexed()}
    assert (index.search("word", 10), len(other.search("word", 10))) == ([], 1)
    other.shelve([])
    assert other.shelve([A]) == {A: Indexed()}
    other.close()


def test_a_content_is_indexed_by_parts_and_goes_on_where_it_stopped(index: SearchIndex) -> None:
    index.shelve([A])
    index.add([IndexedPart(A, [text("first")], 1, False)])
    assert index.shelve([A]) == {A: Indexed(1)}
    index.add([IndexedPart(A, [text("second", page=1)], 2, True)])
    assert index.shelve([A]) == {A: Indexed(2, True)}
    assert [hit.page for hit in index.search("first second", 10)] == [0, 1]


def test_a_content_that_left_while_it_was_read_is_not_indexed(index: SearchIndex) -> None:
    assert index.add([IndexedPart(A, [text("word")], 1, True)])
    assert index.search("word", 10) == []


def test_there_is_an_end_to_what_is_indexed(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path, b"library", max_bytes=100)
    index.shelve([A])
    assert [index.add([IndexedPart(A, [text("x" * 60)], n, False)]) for n in (1, 2)] == [True, False]
    index.close()


def test_a_library_that_nobody_opens_is_forgotten(
    index: SearchIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(index, A, text("word"))
    monkeypatch.setattr(module, "FORGET_AFTER", -1)
    SearchIndex(tmp_path, b"other library").close()
    assert index.search("word", 10) == []


def test_clearing_forgets_everything(index: SearchIndex) -> None:
    fill(index, A, text("word"))
    index.clear()
    assert index.shelve([A]) == {A: Indexed()}


def test_elements_give_their_text_and_headings_count_more() -> None:
    table = Element("t", "table", {"headers": ["city"], "rows": [["Oslo"]]})
    heading = Element("h", "heading", {"level": 1, "text": "Cities"})
    blank = Element("s", "separator", {"separator_type": "line"})
    long = Element("x", "text", {"text": "word " * 100_000})
    page = Page(3, "Cities", (heading, table, blank))
    assert [(one.page, one.element, one.heading, one.body) for one in passages_of(page)][:2] == [
        (3, "h", "Cities", ""),
        (3, "t", "", "city\nOslo"),
    ]
    found = passage_of(0, long)
    assert found is not None
    assert len(found.body) == module.MAX_ELEMENT


def test_a_document_is_found_by_its_title_keywords_summary_and_name(index: SearchIndex) -> None:
    fill(index, A, document_passage("Annual Report", ["growth"], "What happened.", "ar_final-v2.pdf"))
    found = [index.search(query, 1)[0] for query in ("annual", "growth", "happened", "final", "ar_final")]
    assert {(hit.page, hit.element, hit.category) for hit in found} == {(None, None, None)}


def test_elements_without_words_give_nothing() -> None:
    assert passage_of(0, Element("x", "text", {"text": "***"})) is None
