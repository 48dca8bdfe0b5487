"""Citations that a model wrote."""

import time
from collections.abc import Container

import pytest

from a2c_smcp.digest.citations import Citation, cited_in, is_citation

PAGES_3_TO_7 = range(3, 8)


def checked(text: str, pages: Container[int] = PAGES_3_TO_7) -> tuple[str, int]:
    found = cited_in(text, pages)
    return "".join(map(str, found.parts)), found.dropped


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("True [p3].", "True [p3]."),
        ("True [p3-5].", "True [p3-5]."),
        ("True (pages 3–5).", "True [p3-5]."),
        ("True [pp. 3-5]", "True [p3-5]"),
        ("对（第3页）。", "对[p3]。"),
        ("对【第3-5页】。", "对[p3-5]。"),
        ("[p 3 - p 4]", "[p3-4]"),
        ("[p3, p4]", "[p3] [p4]"),
        ("[p3,5]", "[p3] [p5]"),
        ("[p4-p6; p7]", "[p4-6] [p7]"),
        ("[pages 3 and 5]", "[p3] [p5]"),
        ("[p3 to 5]", "[p3-5]"),
        ("[p3—5]", "[p3-5]"),
        ("[pp.4‑6]", "[p4-6]"),
        ("[Page: 4]", "[p4]"),
        ("[p. 3 f.]", "[p3]"),
        ("(see p. 5)", "[p5]"),
        ("as p.5 says", "as [p5] says"),
        ("pp. 4–6 say", "[p4-6] say"),
        ("第3页写道", "[p3]写道"),
        ("第3-5页", "[p3-5]"),
        ("第3、5页", "[p3] [p5]"),
        ("第 3 至 5 页", "[p3-5]"),
        ("[第3页、第5页]", "[p3] [p5]"),
        ("[页 3]", "[p3]"),
        ("[3-5页]", "[p3-5]"),
        ("（见第4页）", "[p4]"),
        ("(p3, Table 2)", "([p3], Table 2)"),
        ("[p3,\np4]", "[p3] [p4]"),
    ],
)
def test_a_citation_of_the_section_stays_in_one_form(written: str, kept: str) -> None:
    assert checked(written) == (kept, 0)


@pytest.mark.parametrize(
    "written",
    [
        "False [p2].",
        "False [p8].",
        "False [p5-9].",
        "False [p7-3].",
        "False [page 99].",
        "False [p12345678901].",
        "False p.500.",
        "False on page 500.",
        "False 第900页.",
        "False [页 900].",
        "False 第 900 至 905 页.",
        "False (pp. 900–905).",
        "False [p1–3].",
    ],
)
def test_a_citation_of_other_pages_is_dropped(written: str) -> None:
    assert checked(written) == ("False.", 1)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Half [p3,5,700].", "Half [p3] [p5]."),
        ("Half [pages 3 and 800].", "Half [p3]."),
        ("Half (pp. 4, 900).", "Half [p4]."),
        ("Half [p3][p900][p4].", "Half [p3][p4]."),
        ("Half pages 3, 4 and 900.", "Half [p3] [p4]."),
    ],
)
def test_of_several_pages_only_those_of_the_section_stay(written: str, kept: str) -> None:
    assert checked(written) == (kept, 1)


def test_a_page_that_was_not_shown_to_the_model_is_not_cited() -> None:
    assert checked("One [p3], two [p4], all [p3-5].", {3, 5}) == ("One [p3], two, all.", 2)


@pytest.mark.parametrize(
    "text",
    [
        "See [1], (2, 3) and (p < 0.05).",
        "The p53 protein (like p16) at p.05 and p.3.2, 共 500 页.",
        "It has 500 pages; a page is 3 inches wide.",
    ],
)
def test_what_only_looks_like_a_citation_is_text(text: str) -> None:
    assert checked(text) == (text, 0)


def test_a_citation_knows_itself() -> None:
    assert (is_citation("p3"), is_citation("[pp. 3-4]"), is_citation("3"), is_citation("plan 3")) == (
        True,
        True,
        False,
        False,
    )
    assert (str(Citation(3, 3)), str(Citation(3, 5))) == ("[p3]", "[p3-5]")


@pytest.mark.parametrize(
    "text",
    ["(p3" + " " * 20_000 + "x", "[p3" + ",3" * 20_000 + "x", "第3" + "、3" * 20_000, "(p" * 20_000, "(p3-" * 10_000],
)
def test_what_is_made_to_take_long_does_not(text: str) -> None:
    started = time.perf_counter()
    checked(text)
    assert time.perf_counter() - started < 5
