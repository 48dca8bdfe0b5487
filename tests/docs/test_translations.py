"""Two languages: every page that is written by hand has a twin, in the same place, with the same blocks."""

import re
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from tests.docs.pages import DOCS, PAGES, ROOT, blocks, name_of, original_of

TRANSLATED = [page for page in PAGES if original_of(page)]
ENGLISH_ONLY = ("reference/", "conformance.md")
"""Reference: what is generated from the code, and what is read beside it."""

LANGUAGES = ("console", "ini", "json", "nginx", "python", "sh", "text", "toml", "yaml", "")
_COMMENT = re.compile(r"(?<!\S)#.*")


def paths(folder: Path) -> set[str]:
    return {page.relative_to(folder).as_posix() for page in folder.rglob("*.md")}


def wanted() -> set[str]:
    """The pages that have to be there in Chinese."""
    return {path for path in paths(DOCS) if not path.startswith(("zh/", *ENGLISH_ONLY))}


def navigation() -> list[str]:
    """The pages of the navigation, in its order."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return re.findall(r"[\w/-]+\.md", str(yaml.safe_load(text)["nav"]))


def test_every_page_is_there_in_both_languages() -> None:
    assert paths(DOCS / "zh") == wanted()


def test_both_languages_have_the_same_order_in_the_navigation() -> None:
    chinese = [path.removeprefix("zh/") for path in navigation() if path.startswith("zh/")]
    assert chinese == [path for path in navigation() if path in wanted()]


@pytest.mark.parametrize("page", TRANSLATED, ids=name_of)
def test_a_translation_has_the_blocks_of_its_original(page: Path) -> None:
    original = original_of(page)
    assert original is not None
    assert code(page) == code(original)


def code(page: Path) -> list[tuple[str, str]]:
    """The blocks of a page; comments are words, and may be translated."""
    return [(block.language, _COMMENT.sub("#", block.text)) for block in blocks(page, *LANGUAGES)]
