"""Citations that a model wrote."""

import pytest

from a2c_smcp.digest.citations import checked
from a2c_smcp.digest.sections import Section

PAGES_3_TO_7 = Section(3, 7)


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
    ],
)
def test_a_citation_of_the_section_stays_in_one_form(written: str, kept: str) -> None:
    assert checked(written, PAGES_3_TO_7) == (kept, 0)


@pytest.mark.parametrize(
    "written", ["False [p2].", "False [p8].", "False [p5-9].", "False [p7-3].", "False [page 99]."]
)
def test_a_citation_of_other_pages_is_dropped(written: str) -> None:
    assert checked(written, PAGES_3_TO_7) == ("False.", 1)


def test_what_only_looks_like_a_citation_is_text() -> None:
    text = "See [1], (p < 0.05) and [link](p3.html)."
    assert checked(text, PAGES_3_TO_7) == (text, 0)
