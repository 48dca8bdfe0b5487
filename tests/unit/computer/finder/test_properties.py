"""Laws of the Finder, against a plain reading of the contract."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.finder import FinderCatalogue, organize_finder
from a2c_smcp.smcp import DPEDocumentSummary

ALL = 10**9
SERVERS = st.sampled_from(["alpha", "beta", "数据"])
TEXTS = st.text("aAßSs财务 ", max_size=6)
STAMPS = (
    st.sampled_from(["2026-01-15", "2026-01-15T08:00:00+08:00", "2026-01-15T00:00:00Z", "2026-01-14", "broken", ""])
    | st.datetimes(timezones=st.none() | st.timezones()).map(datetime.isoformat)
    | st.text(max_size=4)
)
SOUND: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {
        "uri": st.sampled_from(["dpe://h/a", "dpe://h/b", "dpe://h", "bad", "dpe://h/a/pages/0"]),
        "server": SERVERS,
        "title": TEXTS,
        "file_type": st.sampled_from(["pdf", "xlsx"]),
    },
    optional={"keywords": st.lists(TEXTS, max_size=3), "summary": TEXTS, "last_modified": STAMPS},
)
ODD = st.none() | st.integers() | TEXTS | st.sampled_from(["\0", "\ud800"])
JUNK: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(["uri", "server", "title", "keywords", "summary", "file_type", "last_modified"]),
    ODD | st.lists(ODD, max_size=2),
)
ANY = st.lists(SOUND | st.builds(lambda sound, junk: sound | junk, SOUND, JUNK) | ODD, max_size=12)
FILTERS = st.fixed_dictionaries(
    {
        "keywords": st.none() | st.lists(TEXTS | st.just("\0"), max_size=3),
        "file_type": st.sampled_from([None, "", "pdf"]),
        "history": st.lists(SERVERS | st.just("gone"), max_size=5),
    }
)


def plainly(documents: list[Any], keywords: Any, file_type: Any, history: Any) -> list[DPEDocumentSummary]:
    """All that pass, in order: the contract word by word, with no thought of speed or of junk."""
    wanted = [keyword.casefold() for keyword in keywords or ()]
    passed = [
        one
        for one in documents
        if one["uri"] in {"dpe://h/a", "dpe://h/b"}
        and (not file_type or one.get("file_type") == file_type)
        and (not wanted or any(keyword in field for keyword in wanted for field in fields(one)))
    ]
    recent = list(dict.fromkeys(reversed(history)))
    others = sorted({one["server"] for one in passed} - set(recent))
    passed.sort(key=instant, reverse=True)
    passed.sort(key=lambda one: [*recent, *others].index(one["server"]))
    return passed


def fields(one: Any) -> list[str]:
    return [field.casefold() for field in (one["title"], " ".join(one.get("keywords", ())), one.get("summary", ""))]


def instant(one: Any) -> tuple[bool, datetime]:
    try:
        moment = datetime.fromisoformat(one.get("last_modified") or "")
    except ValueError:
        return False, datetime(1, 1, 1, tzinfo=UTC)
    return True, moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@pytest.mark.rule("7.4.drop", "7.4.keywords", "7.4.file_type", "7.4.servers", "7.4.modified")
@given(st.lists(SOUND, max_size=12), FILTERS)
def test_it_gives_what_a_plain_reading_of_the_contract_gives(documents: list[Any], filters: Any) -> None:
    expected = plainly(documents, **filters)

    assert organize_finder(documents, **filters, limit=ALL) == (expected, len(expected))


@given(ANY, FILTERS, st.integers(0, 15), st.integers(0, 15))
def test_a_catalogue_and_a_list_give_the_same(documents: list[Any], filters: Any, offset: int, limit: int) -> None:
    from_list = organize_finder(documents, **filters, offset=offset, limit=limit)

    assert organize_finder(FinderCatalogue.of(documents), **filters, offset=offset, limit=limit) == from_list


@pytest.mark.rule("7.4.page")
@given(ANY, FILTERS, st.integers(1, 5))
def test_pages_concatenate_to_the_whole(documents: list[Any], filters: Any, limit: int) -> None:
    whole, total = organize_finder(documents, **filters, limit=ALL)
    pages = [organize_finder(documents, **filters, offset=offset, limit=limit) for offset in range(0, total, limit)]

    assert [one for page, _ in pages for one in page] == whole
    assert {count for _, count in pages} <= {total}


@pytest.mark.rule("7.4.page")
@given(ANY, FILTERS, st.integers(0, 15), st.integers(0, 15))
def test_filtering_then_paging_equals_paging_the_filtered(
    documents: list[Any], filters: Any, offset: int, limit: int
) -> None:
    filtered, _ = organize_finder(documents, **filters, limit=ALL)
    page = organize_finder(filtered, history=filters["history"], offset=offset, limit=limit)

    assert organize_finder(documents, **filters, offset=offset, limit=limit) == page


@pytest.mark.rule("7.4.modified")
@given(st.lists(SOUND, max_size=12), FILTERS, st.randoms())
def test_the_order_of_the_input_decides_only_ties(documents: list[Any], filters: Any, chance: Random) -> None:
    distinct = list({(one["server"], instant(one)): one for one in documents}.values())
    shuffled = chance.sample(distinct, len(distinct))

    assert organize_finder(shuffled, **filters, limit=ALL) == organize_finder(distinct, **filters, limit=ALL)


@given(ANY, st.lists(SERVERS, max_size=4), ANY)
def test_a_catalogue_changed_server_by_server_equals_one_built_anew(
    before: list[Any], changed: list[str], after: list[Any]
) -> None:
    catalogue = FinderCatalogue.of(before)
    for server in changed:
        catalogue = catalogue.with_server(server, [one for one in after if is_of(one, {server})])
    kept = [one for one in before if not is_of(one, set(changed))]
    replaced = [one for one in after if is_of(one, set(changed))]

    assert catalogue == FinderCatalogue.of([*kept, *replaced])


def is_of(one: Any, servers: set[str]) -> bool:
    return isinstance(one, dict) and isinstance(one["server"], str) and one["server"] in servers


def test_a_hundred_thousand_documents_are_organized_alike_from_list_and_catalogue() -> None:
    documents: list[Any] = [
        {
            "doc_ref": f"d{n}",
            "uri": f"dpe://h/d{n}",
            "server": f"s{n % 7}",
            "title": f"Document {n}",
            "last_modified": f"{1900 + n % 101}-01-01",
        }
        for n in range(100_000)
    ]
    catalogue = FinderCatalogue.of(documents)
    expected = sorted((n for n in range(100_000) if "99" in str(n)), key=lambda n: (n % 7 != 3, n % 7, -(n % 101), n))

    page, total = organize_finder(documents, ["99"], history=["s3"], offset=1_000, limit=100)

    assert ([one["doc_ref"] for one in page], total) == ([f"d{n}" for n in expected[1_000:1_100]], len(expected))
    assert organize_finder(catalogue, ["99"], history=["s3"], offset=1_000, limit=100) == (page, total)
    assert catalogue.total == 100_000
