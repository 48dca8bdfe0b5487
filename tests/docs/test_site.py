"""The site as it is built: without a warning, in two languages, and with nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT

pytestmark = pytest.mark.timeout(600)  # building everything takes a busy machine minutes

FOREIGN = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>", re.IGNORECASE
)
SWITCH = re.compile(r'<a href="([^"]*)" hreflang="(\w+)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; the build is strict, so it fails on any warning."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def page(site: Path, source: str) -> str:
    path = site / source.removesuffix(".md").removesuffix("index")
    return (path / "index.html").read_text(encoding="utf-8")


def test_every_page_is_built(site: Path) -> None:
    sources = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert [source for source in sources if "<article" not in page(site, source)] == []


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    found = {path.name: FOREIGN.findall(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert {name: links for name, links in found.items() if links} == {}


def test_a_chinese_page_is_chinese_all_around(site: Path) -> None:
    chinese, english = page(site, "zh/concepts.md"), page(site, "concepts.md")
    assert '<html lang="zh"' in chinese
    assert '<html lang="en"' in english
    assert "操作指南" in chinese
    assert "操作指南" not in english
    assert ">How to<" not in re.sub(r"\s+", "", chinese)


@pytest.mark.parametrize(
    ("source", "links"),
    [
        ("security.md", {"en": "./", "zh": "../zh/security/"}),
        ("zh/security.md", {"en": "../../security/", "zh": "./"}),
        ("reference/events.md", {"en": "./", "zh": "../../zh/"}),
        ("index.md", {"en": ".", "zh": "zh/"}),
    ],
)
def test_the_switch_leads_to_the_same_page_where_there_is_one(source: str, links: dict[str, str], site: Path) -> None:
    assert {language: link for link, language in SWITCH.findall(page(site, source))} == links
