"""What is left out of the catalogue."""

import re
from pathlib import Path

import pytest

from a2c_smcp.documents.excludes import Excludes
from a2c_smcp.documents.files import find_files
from a2c_smcp.errors import BadRequest


def tree(root: Path, /, *names: str, **ignoring: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
    for place, lines in ignoring.items():
        folder = root if place == "top" else root / place
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text(lines, encoding="utf-8")
    return root


def found(root: Path, *patterns: str) -> list[str]:
    return [file.relative for file in find_files([root], Excludes.of(patterns))]


def test_folders_nobody_reads_are_left_out(tmp_path: Path) -> None:
    tree(tmp_path, "node_modules/a.md", "x/__pycache__/b.md", ".venv/c.md", ".git/d.md", "e.md", "x/~$f.txt")
    assert found(tmp_path) == ["e.md"]


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ("*.txt", ["a/b.md", "c.md"]),
        ("a/", ["c.md", "d.txt"]),
        ("/c.md\n# a comment\n", ["a/b.md", "d.txt"]),
        ("*.md\n!c.md", ["c.md", "d.txt"]),
        ("**/b.md", ["c.md", "d.txt"]),
        ("!\n\\\n", ["a/b.md", "c.md", "d.txt"]),
    ],
    ids=["suffix", "folder", "anchored", "negated", "anywhere", "broken lines"],
)
def test_a_gitignore_leaves_out(tmp_path: Path, lines: str, left: list[str]) -> None:
    assert found(tree(tmp_path, "a/b.md", "c.md", "d.txt", top=lines)) == left


def test_the_gitignore_of_a_folder_speaks_of_that_folder_and_over_those_above(tmp_path: Path) -> None:
    tree(tmp_path, "a.txt", "sub/a.txt", "sub/b.md", top="*.txt", sub="!a.txt\n/b.md\n")
    tree(tmp_path, "b.md")
    assert found(tmp_path) == ["b.md", "sub/a.txt"]


def test_an_a2cignore_speaks_over_the_gitignore_beside_it(tmp_path: Path) -> None:
    tree(tmp_path, "a.md", "b.md", top="*.md")
    (tmp_path / ".a2cignore").write_text("!a.md\n", encoding="utf-8")
    assert found(tmp_path) == ["a.md"]


def test_given_patterns_speak_over_the_files(tmp_path: Path) -> None:
    tree(tmp_path, "a.md", "drafts/b.md", "c.txt", top="a.md")
    assert found(tmp_path, "drafts/", "!a.md") == ["a.md", "c.txt"]


def test_a_link_that_is_called_gitignore_is_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("*.md", encoding="utf-8")
    root = tree(tmp_path / "root", "a.md")
    (root / ".gitignore").symlink_to(outside)
    assert found(root) == ["a.md"]


def test_an_ignore_file_that_takes_for_ever_to_try_is_left_alone(tmp_path: Path) -> None:
    name = "a" * 100 + ".md"
    assert found(tree(tmp_path, name, top="a*" * 40 + "b")) == [name]


@pytest.mark.parametrize("pattern", ["!", "\\", "*a" * 40])
def test_a_given_pattern_that_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(BadRequest, match=re.escape(f"{pattern!r} cannot be used")):
        Excludes.of([pattern])
