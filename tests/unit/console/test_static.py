"""The page's own files: no inline code, no foreign address, and every word in both languages."""

import re
from pathlib import Path

import pytest

from a2c_smcp.console.api import ASSETS, STATIC

FILES = sorted([*STATIC.rglob("*.*"), *ASSETS.rglob("*.*")])
SCRIPTS = [file for file in FILES if file.suffix == ".js"]


def keys(language: str) -> dict[str, set[str]]:
    """The words of a language, the nested ones under the name of their group."""
    text = (STATIC / "words" / f"{language}.js").read_text(encoding="utf-8")
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    groups = {name: set(re.findall(r"(\w+): \"", body)) for name, body in re.findall(r"(\w+): \{([^}]*)\}", text)}
    return {"": set(re.findall(r"(\w+): \"", re.sub(r"\w+: \{[^}]*\}", "", text))), **groups}


def test_every_word_is_there_in_both_languages() -> None:
    english, chinese = keys("en"), keys("zh")
    assert english.keys() == chinese.keys()
    for group, words in english.items():
        # Chinese has no plural.
        assert {word for word in words - chinese[group] if not word.endswith("One")} == set()
        assert chinese[group] - words == set()


def test_every_word_that_is_used_exists() -> None:
    known = keys("en")
    for script in SCRIPTS:
        for word in re.findall(r"\b(?:t|count)\(\"([\w.]+)\"", script.read_text(encoding="utf-8")):
            group, _, name = word.rpartition(".")
            assert name in known[group], (script.name, word)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nothing_is_loaded_from_elsewhere(file: Path) -> None:
    text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"https?://|\beval\(|new Function|@import|url\(", text) == []


def test_the_page_has_no_inline_code() -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=|javascript:", page) == []


def test_html_is_taken_from_the_server_alone() -> None:
    uses = [
        script.name
        for script in SCRIPTS
        if re.search(r"innerHTML|insertAdjacentHTML|document\.write", script.read_text())
    ]
    assert uses == ["dom.js"]
