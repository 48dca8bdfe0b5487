"""`a2c docs cache`: how much is kept, and how to be rid of it."""

import json
from pathlib import Path

from a2c_smcp.documents import search, store
from tests.unit.cli.running import a2c


def test_an_empty_cache_has_no_size(tmp_path: Path) -> None:
    assert a2c("docs", "cache", "info", "--cache", str(tmp_path)) == (0, f"0 bytes in {tmp_path}\n", "")


def test_the_cache_is_measured_and_cleared_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / store.NAME).write_bytes(b"x" * 1_500_000)
    (tmp_path / f"{search.NAME}-wal").write_bytes(b"x" * 20_000)
    (tmp_path / "diary.txt").write_text("mine", encoding="utf-8")
    words = ("--cache", str(tmp_path), "--json")
    assert json.loads(a2c("docs", "cache", "info", *words).out) == {"folder": str(tmp_path), "bytes": 1_520_000}
    assert a2c("docs", "cache", "clear", *words[:2]).out == f"1.52 MB freed in {tmp_path}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]


def test_a_cache_that_was_never_made_can_be_cleared(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    assert a2c("docs", "cache", "clear", "--cache", str(folder)) == (0, f"0 bytes freed in {folder}\n", "")


def test_the_default_is_the_users_cache_folder() -> None:
    assert a2c("docs", "cache", "info").out.rstrip().endswith("documents")
