# Generated from test_document_walk.py by tools/gen_sync.py. Edit the source, not this file.
"""Walking documents, with a Computer of a few lines of Python behind it."""

from collections.abc import Mapping
from typing import Any

import pytest

from a2c_smcp.agent.documents import SyncDocuments, SearchHit
from a2c_smcp.errors import ConfirmationRequired, DocumentNotFound, InvalidDPEUri, PageOutOfRange
from a2c_smcp.smcp import CallToolResult, GetFinderRet, SMCPTool
from tests.unit.agent.stock import Stock, searching


class Computer(Stock):
    """An Agent's client with one Computer."""

    def get_finder(
        self,
        computer: str,
        *,
        keywords: list[str] | None = None,
        file_type: str | None = None,
        offset: int = 0,
        limit: int = 20,
    ) -> GetFinderRet:
        return self.find(keywords, file_type, offset, limit)

    def read_resource(self, computer: str, uri: str) -> dict[str, Any]:
        return self.read(uri)

    def get_tools(self, computer: str) -> list[SMCPTool]:
        return self.tools

    def call_tool(self, computer: str, tool_name: str, params: Mapping[str, Any] | None = None) -> CallToolResult:
        self.asked.append(f"{tool_name} {params}")
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.rule("7.7")
def test_a_walk_reaches_every_element_of_every_page_of_every_document() -> None:
    reached = []
    for document in SyncDocuments(Computer(a=2, b=1), "c"):
        for page in document.pages():
            reached += [(document.title, page.index, page.title, e.id, e.category) for e in page.elements()]
    assert reached == [
        ("The a", 0, "P0", "e/0", "heading"),
        ("The a", 0, "P0", "e/1", "text"),
        ("The a", 1, "P1", "e/2", "heading"),
        ("The a", 1, "P1", "e/3", "text"),
        ("The b", 0, "P0", "e/0", "heading"),
        ("The b", 0, "P0", "e/1", "text"),
    ]


def test_nothing_is_read_before_it_is_reached() -> None:
    computer = Computer(a=300, b=1)
    for document in SyncDocuments(computer, "c"):
        for page in document.pages():
            for _ in page.elements():
                break
            break
        break
    assert computer.asked == [
        "finder 0 20 None None",
        "dpe://h/a?depth=pages&offset=0&limit=20",
        "dpe://h/a/pages/0",
    ]


def test_a_long_catalogue_comes_in_windows() -> None:
    computer = Computer(**{f"d{n}": 1 for n in range(45)})
    assert [document.doc_ref for document in SyncDocuments(computer, "c")] == [f"d{n}" for n in range(45)]
    assert [asked.split()[1] for asked in computer.asked] == ["0", "20", "40"]


@pytest.mark.parametrize(
    ("start", "stop", "expected"), [(0, None, 45), (40, None, 5), (2, 5, 3), (44, 99, 1), (3, 3, 0)]
)
def test_pages_come_in_windows_from_where_one_starts(start: int, stop: int | None, expected: int) -> None:
    documents = SyncDocuments(Computer(a=45), "c")
    document = documents.open("dpe://h/a")
    assert [page.index for page in document.pages(start, stop)] == list(range(start, start + expected))


def test_a_server_that_tells_no_page_index_still_has_its_pages() -> None:
    computer = Computer(a=3)
    computer.index = False
    document = SyncDocuments(computer, "c").open("dpe://h/a")
    assert [(page.index, page.title) for page in document.pages()] == [(0, ""), (1, ""), (2, "")]


def test_a_server_that_begins_its_index_always_at_the_first_page_loses_none() -> None:
    class Forgetful(Computer):
        def pages(self, ref: str, offset: int, limit: int) -> dict[str, Any]:
            return super().pages(ref, 0, limit)

    document = SyncDocuments(Forgetful(a=30), "c").open("dpe://h/a")
    assert [page.index for page in document.pages()] == list(range(30))


def test_a_search_goes_by_keywords_and_file_type() -> None:
    computer = Computer(budget=1, plan=2)
    documents = SyncDocuments(computer, "c")
    assert [document.doc_ref for document in documents.search("bud", "x", file_type="pdf")] == ["budget"]
    assert computer.asked == ["finder 0 20 ['bud', 'x'] pdf"]
    assert documents.count("plan") == 1


def test_a_search_in_texts_uses_the_tools_of_the_computer() -> None:
    computer = Computer(a=1)
    computer.tools = [searching("search_documents"), searching("other"), searching("notes__search_documents")]
    hits = [
        {"uri": "dpe://h/a/elements/e1", "title": "A", "snippet": "… word …", "page_index": 3},
        {"uri": "http://elsewhere", "snippet": "no"},
        "junk",
    ]
    computer.answer = {"content": [], "structuredContent": {"hits": hits}}
    documents = SyncDocuments(computer, "c")
    assert [hit for hit in documents.search_text("word", limit=5)] == [
        SearchHit("dpe://h/a/elements/e1", "A", "… word …", 3)
    ]
    assert computer.asked == [
        "search_documents {'query': 'word', 'limit': 5}",
        "notes__search_documents {'query': 'word', 'limit': 5}",
    ]


def test_hits_may_come_as_the_text_of_the_result() -> None:
    computer = Computer(a=1)
    computer.tools = [searching("search_documents")]
    computer.answer = {"content": [{"type": "text", "text": '[{"uri": "dpe://h/a", "text": "here"}]'}]}
    assert [hit for hit in SyncDocuments(computer, "c").search_text("x")] == [SearchHit("dpe://h/a", "", "here")]


def test_a_search_in_texts_for_nothing_finds_nothing() -> None:
    computer = Computer(a=1)
    assert [hit for hit in SyncDocuments(computer, "c").search_text(" ")] == []
    assert computer.asked == []


@pytest.mark.parametrize("refusing", [True, False])
def test_without_a_tool_that_answers_a_search_in_texts_asks_the_catalogue(refusing: bool) -> None:
    computer = Computer(budget=1, plan=1)
    if refusing:
        computer.tools = [searching("search_documents")]
        computer.answer = ConfirmationRequired("nobody to ask")
    found = [hit for hit in SyncDocuments(computer, "c").search_text("next budget")]
    assert found == [SearchHit("dpe://h/budget", "The budget", "")]


def test_a_document_opens_by_the_uri_of_any_of_its_parts() -> None:
    documents = SyncDocuments(Computer(a=2), "c")
    for uri in ("dpe://h/a", "dpe://h/a/pages/1?format=markdown", "dpe://h/a/elements/e%2F1"):
        assert (documents.open(uri)).uri == "dpe://h/a"
    with pytest.raises(InvalidDPEUri):
        documents.open("dpe://h")
    with pytest.raises(DocumentNotFound):
        documents.open("dpe://h/nothing")


@pytest.mark.parametrize(
    ("uri", "index"), [("dpe://h/a", 0), ("dpe://h/a/pages/2?format=text", 2), ("dpe://h/a/elements/e%2F3", 1)]
)
def test_a_uri_leads_to_the_page_it_points_at(uri: str, index: int) -> None:
    assert (SyncDocuments(Computer(a=3), "c").page(uri)).index == index


def test_an_element_is_read_in_full_by_its_encoded_id() -> None:
    computer = Computer(a=2)
    document = SyncDocuments(computer, "c").open("dpe://h/a")
    page = document.page(1)
    (first,) = [part for part in page.elements("text")]
    assert (first.uri, first.content, first.metadata) == ("dpe://h/a/elements/e%2F3", {"text": "text 3"}, {})
    assert (first.detail()).metadata == {"full": True}
    assert computer.asked[-2:] == ["dpe://h/a/pages/1?categories=text", "dpe://h/a/elements/e%2F3"]


def test_a_page_that_is_not_there_has_its_error() -> None:
    document = SyncDocuments(Computer(a=2), "c").open("dpe://h/a")
    with pytest.raises(PageOutOfRange):
        document.page(2)


def test_markdown_stays_within_its_budget_and_says_where_it_is_from() -> None:
    document = SyncDocuments(Computer(a=9), "c").open("dpe://h/a")
    passages = [passage for passage in document.iter_markdown(token_budget=70)]
    assert [(p.uri, p.page_index, p.complete) for p in passages] == [
        ("dpe://h/a/pages/0", 0, True),
        ("dpe://h/a/pages/1", 1, True),
        ("dpe://h/a/pages/2", 2, False),
    ]
    assert passages[2].startswith("# P2\n\nword")
    assert passages[2].endswith("…")
    assert sum(p.tokens for p in passages) <= 70


def test_without_a_budget_markdown_is_the_whole_document() -> None:
    document = SyncDocuments(Computer(a=3), "c").open("dpe://h/a")
    whole = "".join([passage for passage in document.iter_markdown()])
    assert whole == "".join(f"# P{n}\n\n{'word ' * 20}" for n in range(3))
    assert [p.page_index for p in document.iter_markdown(start=1, stop=2)] == [1]


def test_a_counter_of_ones_own_decides_what_fits() -> None:
    document = SyncDocuments(Computer(a=3), "c").open("dpe://h/a")
    passages = [p for p in document.iter_markdown(token_budget=44, count=lambda text: len(text.split()))]
    assert [p.tokens for p in passages] == [22, 22]


def test_reading_goes_on_where_the_budget_ended() -> None:
    documents = SyncDocuments(Computer(a=3), "c")
    document = documents.open("dpe://h/a")
    whole = "".join([passage for passage in document.iter_markdown()])
    read, start, skip = "", 0, 0
    for _ in range(100):
        for passage in document.iter_markdown(token_budget=16, start=start, skip=skip):
            read += passage if passage.complete else passage[: passage.end - skip]
            start, skip = (passage.page_index + 1, 0) if passage.complete else (passage.page_index, passage.end)
        if start == document.page_count:
            break
    assert read == whole


def test_a_passage_always_gets_somewhere() -> None:
    class Blank(Computer):
        def read_resource(self, computer: str, uri: str) -> dict[str, Any]:
            reply = super().read_resource(computer, uri)
            return reply | {"content_markdown": "\n" * 9 + "word" * 9} if "format" in uri else reply

    document = SyncDocuments(Blank(a=1), "c").open("dpe://h/a")
    assert [p for p in document.iter_markdown(token_budget=1)] == []


def test_a_budget_that_is_spent_reads_no_further_page() -> None:
    computer = Computer(a=9)
    document = SyncDocuments(computer, "c").open("dpe://h/a")
    assert len([p for p in document.iter_markdown(token_budget=22, count=lambda text: len(text.split()))]) == 1
    assert computer.asked == ["dpe://h/a", "dpe://h/a/pages/0?format=markdown"]


def test_a_catalogue_that_goes_in_circles_comes_to_an_end() -> None:
    class Circling(Computer):
        def get_finder(self, computer: str, **options: Any) -> GetFinderRet:
            return super().get_finder(computer, limit=1) | {"total_count": 1_000}

    assert [document.doc_ref for document in SyncDocuments(Circling(a=1), "c")] == ["a"]


def test_servers_whose_documents_are_missing_are_named() -> None:
    class Partly(Computer):
        def get_finder(self, computer: str, **options: Any) -> GetFinderRet:
            return super().get_finder(computer, **options) | {"unavailable": ["s2"]}

    assert SyncDocuments(Partly(a=1), "c").unavailable() == ["s2"]
    assert SyncDocuments(Computer(a=1), "c").unavailable() == []


def test_nothing_is_paid_with_nothing() -> None:
    document = SyncDocuments(Computer(a=3), "c").open("dpe://h/a")
    assert [p for p in document.iter_markdown(token_budget=0)] == []


def test_a_server_that_knows_json_alone_is_rendered_here() -> None:
    computer = Computer(a=1)
    computer.markdown = False
    document = SyncDocuments(computer, "c").open("dpe://h/a")
    page = document.page(0)
    assert page.markdown() == "# H\n\ntext 1"
    assert page.text() == "H\n\ntext 1"


def test_what_was_read_is_not_read_again() -> None:
    computer = Computer(a=2)
    documents = SyncDocuments(computer, "c")
    for _ in range(2):
        for document in documents:
            for page in document.pages():
                page.markdown()
    assert len(computer.asked) == 1 + 1 + 2


@pytest.mark.parametrize("kind", ["update_finder", "leave_office", "joined", "disconnected"])
@pytest.mark.rule("7.7")
def test_news_of_the_documents_makes_what_was_read_old(kind: str) -> None:
    computer = Computer(a=2)
    documents = SyncDocuments(computer, "c")
    documents.open("dpe://h/a")
    computer.sizes["a"] = 5
    assert (documents.open("dpe://h/a")).page_count == 2
    computer.tell(kind, "another")
    computer.tell("update_desktop")
    assert (documents.open("dpe://h/a")).page_count == 2
    computer.tell(kind, "c" if kind in ("update_finder", "leave_office") else None)
    assert (documents.open("dpe://h/a")).page_count == 5


def test_another_office_may_have_a_computer_of_the_same_name() -> None:
    computer = Computer(a=2)
    documents = SyncDocuments(computer, "c")
    documents.open("dpe://h/a")
    computer.office_id, computer.sizes["a"] = "another", 5
    assert (documents.open("dpe://h/a")).page_count == 5
    assert [document.page_count for document in documents] == [5]


def test_an_answer_that_was_on_its_way_when_news_came_is_not_kept() -> None:
    computer = Computer(a=2)
    documents = SyncDocuments(computer, "c")
    computer.during = lambda: computer.tell("update_finder")
    documents.open("dpe://h/a")
    computer.during = lambda: None
    documents.open("dpe://h/a")
    assert computer.asked == ["dpe://h/a", "dpe://h/a"]


def test_with_no_room_nothing_is_kept_and_refresh_forgets() -> None:
    computer = Computer(a=2)
    for documents in (SyncDocuments(computer, "c", cache_bytes=0), SyncDocuments(computer, "c")):
        computer.asked.clear()
        documents.open("dpe://h/a")
        documents.refresh()
        documents.open("dpe://h/a")
        assert computer.asked == ["dpe://h/a", "dpe://h/a"]


def test_closing_leaves_no_handler_behind() -> None:
    computer = Computer(a=2)
    SyncDocuments(computer, "c").close()
    assert not any(computer.handlers.values())
