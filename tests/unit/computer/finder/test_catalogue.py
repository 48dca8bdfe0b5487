"""The prepared catalogue: the same answers as a list, and cheap to change."""

from typing import Any

import pytest

from a2c_smcp.computer.finder import FinderCatalogue, organize_finder
from a2c_smcp.errors import BadRequest
from a2c_smcp.smcp import DPEDocumentSummary


def document(ref: str, server: str, **more: Any) -> DPEDocumentSummary:
    base: dict[str, Any] = {
        "doc_ref": ref,
        "uri": f"dpe://h/{ref}",
        "file_uri": f"file:///{ref}",
        "file_type": "pdf",
        "title": ref,
        "page_count": 1,
        "server": server,
    }
    return base | more  # type: ignore[return-value]


A1, A2, B1, B2 = (document(ref.lower(), ref[0].lower()) for ref in ("A1", "A2", "B1", "B2"))


def test_the_total_counts_the_documents_that_can_be_opened() -> None:
    assert FinderCatalogue.of([A1, B1, B2, document("bad", "a", uri="bad")]).total == 3


def test_an_empty_catalogue_has_no_documents() -> None:
    assert (FinderCatalogue.of().total, organize_finder(FinderCatalogue.of())) == (0, ([], 0))


def test_replacing_the_documents_of_a_server_equals_building_anew() -> None:
    assert FinderCatalogue.of([A1, B1]).with_server("b", [B2]) == FinderCatalogue.of([A1, B2])


def test_a_new_server_is_added() -> None:
    assert FinderCatalogue.of([A1]).with_server("b", [B1, B2]) == FinderCatalogue.of([A1, B1, B2])


def test_the_last_document_of_a_server_takes_the_server_with_it() -> None:
    assert FinderCatalogue.of([A1, B1]).with_server("b", []) == FinderCatalogue.of([A1])


def test_removing_a_server_leaves_the_others() -> None:
    assert FinderCatalogue.of([A1, B1, A2]).without_server("a") == FinderCatalogue.of([B1])


def test_removing_an_unknown_server_changes_nothing() -> None:
    assert FinderCatalogue.of([A1]).without_server("none") == FinderCatalogue.of([A1])


def test_the_other_servers_are_shared_and_not_prepared_again() -> None:
    catalogue = FinderCatalogue.of([A1, B1])

    assert catalogue.with_server("b", [B2]).servers["a"] is catalogue.servers["a"]


def test_whoever_holds_the_old_catalogue_reads_on_undisturbed() -> None:
    old = FinderCatalogue.of([A1, B1])
    old.with_server("b", [B2]).without_server("a")

    assert organize_finder(old) == ([A1, B1], 2)


def test_documents_that_cannot_be_opened_are_dropped_when_a_server_is_replaced() -> None:
    junk: Any = [None, document("bad", "b", uri="bad"), B1, "b"]

    assert FinderCatalogue.of().with_server("b", junk) == FinderCatalogue.of([B1])


def test_a_document_of_another_server_is_refused() -> None:
    with pytest.raises(BadRequest, match="dpe://h/a1 is of 'a', not of 'b'"):
        FinderCatalogue.of().with_server("b", [B1, A1])


def test_a_document_is_found_by_what_it_said_when_the_catalogue_was_first_searched() -> None:
    changing = document("x", "a", title="before")
    catalogue = FinderCatalogue.of([changing])
    organize_finder(catalogue, ["before"])
    changing["title"] = "after"

    assert organize_finder(catalogue, ["before"]) == ([changing], 1)
