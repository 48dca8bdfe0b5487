"""The Finder: which documents pass, in which order, and the page of them."""

from copy import deepcopy
from typing import Any

import pytest

from a2c_smcp.computer.finder import FinderCatalogue, organize_finder
from a2c_smcp.computer.types import ToolCallRecord
from a2c_smcp.errors import BadRequest
from a2c_smcp.smcp import DPEDocumentSummary


def document(ref: str, server: Any = "server", **more: Any) -> DPEDocumentSummary:
    base: dict[str, Any] = {
        "doc_ref": ref,
        "uri": f"dpe://com.example.docs/{ref}",
        "file_uri": f"file:///data/{ref}",
        "file_type": "pdf",
        "title": ref,
        "page_count": 1,
        "server": server,
    }
    return base | more  # type: ignore[return-value]


def refs(documents: Any, *arguments: Any, **options: Any) -> list[str]:
    """The doc-refs of all that pass, the same from a list and from a catalogue."""
    options = {"limit": 1_000} | options
    page, total = organize_finder(documents, *arguments, **options)

    assert (page, total) == organize_finder(FinderCatalogue.of(documents), *arguments, **options)
    return [found["doc_ref"] for found in page]


def call(server: str) -> ToolCallRecord:
    return {
        "timestamp": "2026-02-14T10:30:01Z",
        "req_id": "req-001",
        "server": server,
        "tool": "search",
        "parameters": {},
        "timeout": None,
        "success": True,
        "error": None,
    }


def test_no_documents_are_an_empty_page_and_a_total_of_zero() -> None:
    assert organize_finder([]) == organize_finder(FinderCatalogue.of()) == ([], 0)


def test_the_documents_are_the_ones_given_and_stay_as_they_were() -> None:
    given = [document("a", keywords=["K"]), document("b", summary=None)]
    before = deepcopy(given)

    page, _ = organize_finder(given, ["A", "b"])

    assert given == before
    assert [id(found) for found in page] == [id(one) for one in given]


class TestDropping:
    @pytest.mark.rule("7.4.drop")
    @pytest.mark.parametrize(
        "uri",
        [
            "",
            "http://h/a",
            "window://h/a",
            "dpe://",
            "dpe:///a",
            "dpe://h/a/b",
            "dpe://h/a?limit=0",
            "\ud800",
            None,
            7,
            [],
        ],
        ids=ascii,
    )
    def test_documents_with_an_invalid_uri_are_dropped(self, uri: object) -> None:
        assert refs([document("bad", uri=uri), document("good")]) == ["good"]

    @pytest.mark.rule("7.4.drop")
    @pytest.mark.parametrize("uri", ["dpe://h", "dpe://h/a/pages/0", "dpe://h/a/elements/t"])
    def test_what_is_no_document_is_dropped(self, uri: str) -> None:
        assert refs([document("bad", uri=uri), document("good")]) == ["good"]

    @pytest.mark.parametrize("uri", ["dpe://h/a?depth=pages", "DPE://h/%E5%B9%B4"])
    def test_any_level_1_uri_is_a_document(self, uri: str) -> None:
        assert refs([document("a", uri=uri)]) == ["a"]

    def test_a_document_without_uri_is_dropped(self) -> None:
        assert refs([{"server": "s", "title": "no uri"}]) == []

    @pytest.mark.parametrize("server", [None, 7, ["s"]])
    def test_a_document_without_a_server_is_kept_and_comes_last(self, server: object) -> None:
        nameless = document("nameless", server)
        assert refs([nameless, document("named")]) == ["named", "nameless"]
        del nameless["server"]  # type: ignore[misc]
        assert refs([nameless, document("named")], ["nameless"]) == ["nameless"]

    @pytest.mark.parametrize("uri", ["dpe://h", "dpe://h/a/pages/0", "dpe://h/a/elements/e1"])
    def test_a_catalogue_a_page_and_an_element_are_no_documents(self, uri: str) -> None:
        assert refs([document("a", uri=uri), document("good")]) == ["good"]

    @pytest.mark.parametrize("junk", [None, "dpe://h/a", 7, ["dpe://h/a"]], ids=repr)
    def test_what_is_no_mapping_is_dropped(self, junk: Any) -> None:
        assert refs([junk, document("good")], ["o"]) == ["good"]

    def test_dropped_documents_do_not_count(self) -> None:
        assert organize_finder([document("bad", uri="bad"), document("good")])[1] == 1


class TestKeywords:
    REPORT = document("rpt", title="2026 年度报告", keywords=["财务", "Annual"], summary="运营 and Finance")
    OTHER = document("xyz", title="A1 合同", keywords=["合同"], summary="A1 项目服务合同")

    @pytest.mark.rule("7.4.keywords")
    @pytest.mark.parametrize("keyword", ["年度", "2026 年", "财务", "运营", "ANNUAL", "annual", "finance", "nnu"])
    def test_a_part_of_title_keywords_or_summary_matches_in_any_case(self, keyword: str) -> None:
        assert refs([self.OTHER, self.REPORT], [keyword]) == ["rpt"]

    @pytest.mark.rule("7.4.keywords")
    def test_one_keyword_of_several_is_enough(self) -> None:
        assert refs([self.OTHER, self.REPORT, document("none")], ["财务", "服务", "nowhere"]) == ["xyz", "rpt"]

    @pytest.mark.rule("7.4.keywords")
    @pytest.mark.parametrize("keyword", ["rpt", "pdf", "com.example", "server", "file:"])
    def test_other_fields_are_not_searched(self, keyword: str) -> None:
        assert refs([self.REPORT], [keyword]) == []

    @pytest.mark.rule("7.4.keywords")
    @pytest.mark.parametrize(("title", "keyword"), [("STRASSE", "straße"), ("Straße", "STRASSE"), ("ΌΣΟΣ", "όσος")])
    def test_case_is_folded_and_not_only_lowered(self, title: str, keyword: str) -> None:
        assert refs([document("a", title=title)], [keyword]) == ["a"]

    @pytest.mark.rule("7.4.keywords")
    @pytest.mark.parametrize(
        "keyword", ["报告财务", "报告 财务", "annual运营", "annual 运营", "\0", "告\0财"], ids=ascii
    )
    def test_a_keyword_never_matches_across_two_fields(self, keyword: str) -> None:
        assert refs([self.REPORT], [keyword]) == []

    def test_the_keywords_of_a_document_are_joined_by_a_blank(self) -> None:
        assert refs([self.REPORT], ["财务 annual"]) == ["rpt"]

    def test_blanks_around_a_keyword_count(self) -> None:
        assert refs([document("a", title="year end"), document("b", title="yearly")], ["year "]) == ["a"]

    @pytest.mark.rule("7.4.keywords")
    @pytest.mark.parametrize("keywords", [None, [], (), [""], ["", "nowhere"], ["财务", ""]], ids=ascii)
    def test_without_keywords_or_with_an_empty_one_everything_passes(self, keywords: Any) -> None:
        assert refs([self.REPORT, self.OTHER], keywords) == ["rpt", "xyz"]

    @pytest.mark.rule("7.4.keywords")
    def test_a_blank_is_a_keyword_like_any_other(self) -> None:
        assert refs([document("a", title="two words"), document("b", title="one")], [" "]) == ["a"]

    @pytest.mark.parametrize("keywords", [{"财务"}, iter(["财务"]), ("财务", "财务")], ids=["set", "iterator", "tuple"])
    def test_keywords_come_as_any_collection(self, keywords: Any) -> None:
        assert [found["doc_ref"] for found in organize_finder([self.REPORT], keywords)[0]] == ["rpt"]

    @pytest.mark.parametrize("keywords", ["财务", "", b"a", 7, [7], ["a", None], [["a"]]], ids=ascii)
    def test_keywords_that_are_no_list_of_strings_are_refused(self, keywords: Any) -> None:
        with pytest.raises(BadRequest, match="keywords") as caught:
            organize_finder([self.REPORT], keywords)

        assert (caught.value.code, caught.value.details) == (400, {"argument": "keywords"})

    @pytest.mark.parametrize("junk", [None, 7, ["x"], {"x": 1}, b"x"], ids=repr)
    @pytest.mark.parametrize("field", ["title", "summary"])
    def test_a_field_that_is_no_text_matches_nothing(self, field: str, junk: object) -> None:
        bare: dict[str, Any] = {"title": "", "summary": ""} | {field: junk}

        assert refs([document("a", keywords=["needle"], **bare)], ["x", "none", "7"]) == []
        assert refs([document("a", keywords=["needle"], **bare)], ["needle"]) == ["a"]

    @pytest.mark.parametrize("junk", [None, 7, "x y", {"x": 1}, b"x", [None, 7, ["x"]]], ids=repr)
    def test_keywords_of_a_document_that_are_no_texts_match_nothing(self, junk: object) -> None:
        assert refs([document("a", title="needle", keywords=junk)], ["x", "none", "7"]) == []
        assert refs([document("a", title="needle", keywords=junk)], ["needle"]) == ["a"]

    def test_sound_keywords_of_a_document_among_foreign_ones_match(self) -> None:
        assert refs([document("a", keywords=[None, "One", 7, "Two"])], ["one two"]) == ["a"]

    def test_a_document_without_any_text_matches_nothing_and_passes_without_filter(self) -> None:
        bare: Any = {"uri": "dpe://h/a", "server": "s", "doc_ref": "a"}

        assert (refs([bare], ["a"]), refs([bare])) == ([], ["a"])


class TestFileType:
    DOCUMENTS = (document("a", file_type="pdf"), document("b", file_type="xlsx"), document("c", file_type="PDF"))

    @pytest.mark.rule("7.4.file_type")
    def test_the_type_is_matched_exactly(self) -> None:
        assert refs(self.DOCUMENTS, None, "pdf") == ["a"]

    @pytest.mark.rule("7.4.file_type")
    @pytest.mark.parametrize("file_type", ["pd", "pdfx", " pdf", "docx"])
    def test_a_type_that_no_document_has_finds_nothing(self, file_type: str) -> None:
        assert organize_finder(self.DOCUMENTS, file_type=file_type) == ([], 0)

    @pytest.mark.rule("7.4.file_type")
    @pytest.mark.parametrize("file_type", [None, ""])
    def test_no_type_is_any_type(self, file_type: str | None) -> None:
        assert refs(self.DOCUMENTS, None, file_type) == ["a", "b", "c"]

    @pytest.mark.rule("7.4.file_type", "7.4.keywords")
    def test_type_and_keywords_must_both_hold(self) -> None:
        assert refs(self.DOCUMENTS, ["a", "b"], "xlsx") == ["b"]

    @pytest.mark.parametrize("junk", [None, 7, ["pdf"]], ids=repr)
    def test_a_document_whose_type_is_no_text_has_no_type(self, junk: object) -> None:
        assert refs([document("a", file_type=junk)], None, "pdf") == []


class TestServers:
    DOCUMENTS = tuple(document(f"{server}{n}", server) for n in (1, 2) for server in ("d", "b", "c", "a"))

    @pytest.mark.rule("7.4.servers")
    def test_the_server_called_last_comes_first_and_the_uncalled_follow_by_name(self) -> None:
        expected = ["c1", "c2", "b1", "b2", "a1", "a2", "d1", "d2"]

        assert refs(self.DOCUMENTS, history=["b", "c", "b", "c"]) == expected

    @pytest.mark.rule("7.4.servers")
    def test_history_of_servers_that_are_gone_changes_nothing(self) -> None:
        assert refs(self.DOCUMENTS, history=["gone", "b", "gone"]) == refs(self.DOCUMENTS, history=["b"])

    @pytest.mark.rule("7.4.servers")
    def test_whole_records_order_like_names(self) -> None:
        history = ["a", "gone", "d", "a"]

        assert refs(self.DOCUMENTS, history=[call(name) for name in history]) == refs(self.DOCUMENTS, history=history)

    @pytest.mark.rule("7.4.servers")
    def test_the_server_counts_more_than_the_date(self) -> None:
        documents = [document("new", "b", last_modified="2026-01-01"), document("old", "a", last_modified="1999-01-01")]

        assert refs(documents) == ["old", "new"]

    def test_no_history_is_an_empty_one(self) -> None:
        assert refs(self.DOCUMENTS, history=None) == refs(self.DOCUMENTS, history=())


class TestModified:
    @pytest.mark.rule("7.4.modified")
    def test_the_newest_comes_first_whatever_the_zone(self) -> None:
        stamps = {
            "noon-utc": "2026-01-15T12:00:00Z",
            "13-in-beijing-is-5": "2026-01-15T13:00:00+08:00",
            "8-in-new-york-is-13": "2026-01-15T08:00:00-05:00",
            "no-zone-is-utc": "2026-01-15T11:59:59",
            "a-day-is-its-midnight": "2026-01-15",
            "a-microsecond-later": "2026-01-15T12:00:00.000001+00:00",
        }

        assert refs([document(ref, last_modified=stamp) for ref, stamp in stamps.items()]) == [
            "8-in-new-york-is-13",
            "a-microsecond-later",
            "noon-utc",
            "no-zone-is-utc",
            "13-in-beijing-is-5",
            "a-day-is-its-midnight",
        ]

    @pytest.mark.rule("7.4.modified")
    def test_one_instant_written_in_different_zones_is_a_tie(self) -> None:
        stamps = ["2026-01-15T08:00:00Z", "2026-01-15T16:00:00+08:00", "2026-01-15 08:00", "20260115T080000+00"]

        assert refs([document(f"d{n}", last_modified=stamp) for n, stamp in enumerate(stamps)]) == [
            "d0",
            "d1",
            "d2",
            "d3",
        ]

    @pytest.mark.rule("7.4.modified")
    def test_missing_and_unreadable_dates_come_last_in_their_own_order(self) -> None:
        broken = ["yesterday", "", "2026-13-01", "2026-02-30", "2026-01-15T25:00Z", " 2026-01-15", "\ud800", "二〇二六"]
        documents = [document(f"b{n}", last_modified=stamp) for n, stamp in enumerate([*broken, None, 7, ["2026"]])]
        documents.insert(3, document("missing"))
        documents.append(document("oldest", last_modified="0001-01-01T00:00:00+14:00"))

        order = ["oldest", "b0", "b1", "b2", "missing", *(f"b{n}" for n in range(3, 11))]
        assert refs(documents) == order

    @pytest.mark.rule("7.4.modified")
    def test_the_ends_of_the_calendar_compare(self) -> None:
        stamps = {"late": "9999-12-31T23:59:59-14:00", "last": "9999-12-31T23:59:59.999999Z", "first": "0001-01-01"}

        assert refs([document(ref, last_modified=stamp) for ref, stamp in stamps.items()]) == ["late", "last", "first"]


class TestPage:
    DOCUMENTS = tuple(document(f"{server}{n}", server) for server in "ab" for n in range(3))

    @pytest.mark.rule("7.4.page")
    @pytest.mark.parametrize(
        ("offset", "limit", "expected"),
        [
            (0, 2, ["a0", "a1"]),
            (2, 2, ["a2", "b0"]),
            (1, 5, ["a1", "a2", "b0", "b1", "b2"]),
            (4, 10, ["b1", "b2"]),
            (0, 0, []),
            (6, 1, []),
            (100, 20, []),
            (10**30, 10**30, []),
            (5, 10**30, ["b2"]),
        ],
    )
    def test_a_page_is_a_slice_across_servers(self, offset: int, limit: int, expected: list[str]) -> None:
        assert refs(self.DOCUMENTS, offset=offset, limit=limit) == expected

    @pytest.mark.rule("7.4.page")
    def test_the_total_counts_what_passed_the_filters_and_not_the_page(self) -> None:
        assert organize_finder(self.DOCUMENTS, ["a", "b1"], limit=1)[1] == 4
        assert organize_finder(self.DOCUMENTS, ["a", "b1"], limit=0)[1] == 4
        assert organize_finder(self.DOCUMENTS, ["a", "b1"], offset=99)[1] == 4

    @pytest.mark.rule("7.4.page")
    def test_a_page_has_20_documents_unless_asked_otherwise(self) -> None:
        page, total = organize_finder([document(f"d{n}") for n in range(30)])

        assert ([found["doc_ref"] for found in page], total) == ([f"d{n}" for n in range(20)], 30)

    @pytest.mark.rule("7.4.page")
    def test_more_than_the_event_allows_is_fine_here(self) -> None:
        assert len(organize_finder([document(f"d{n}") for n in range(300)], limit=250)[0]) == 250

    @pytest.mark.rule("7.4.page")
    @pytest.mark.parametrize("value", [-1, -(10**5000), True, False, 1.0, "1", None], ids=lambda v: type(v).__name__)
    @pytest.mark.parametrize("name", ["offset", "limit"])
    def test_an_offset_or_limit_that_is_no_number_of_0_or_more_is_refused(self, name: str, value: Any) -> None:
        with pytest.raises(BadRequest, match=f"^{name} must") as caught:
            organize_finder([], **{name: value})

        assert (caught.value.code, caught.value.details) == (400, {"argument": name})

    def test_an_iterator_of_documents_is_read_once(self) -> None:
        assert organize_finder(iter(self.DOCUMENTS), ["b"], limit=2)[1] == 3
