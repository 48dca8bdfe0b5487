"""Every Python block of every page runs: here, or in the test that the page names."""

from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks, marks, name_of, original_of

WITH_CODE = [page for page in PAGES if blocks(page, "python")]
TRANSLATED = [page for page in WITH_CODE if original_of(page)]
MARKED = [page for page in WITH_CODE if marks(page)]
HERE = [block for page in WITH_CODE if page not in TRANSLATED + MARKED for block in blocks(page, "python")]


@pytest.mark.parametrize("block", HERE, ids=lambda block: block.place)
def test_a_block_of_the_documentation_runs(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(block.text, block.place, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", MARKED, ids=name_of)
def test_a_page_that_needs_company_names_the_test_that_runs_it(page: Path) -> None:
    for test in marks(page):
        assert test.is_file(), f"{test} is named by {page}"
        assert page.name in test.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", TRANSLATED, ids=name_of)
def test_the_code_of_a_translation_is_that_of_its_original(page: Path) -> None:
    original = original_of(page)
    assert original is not None
    known = {block.text for block in blocks(original, "python")}
    assert [block.place for block in blocks(page, "python") if block.text not in known] == []
