"""The results on disk: found again, bounded, shared, and no loss when they are lost."""

import logging
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from a2c_smcp.documents import store
from a2c_smcp.documents.database import Database, cache_folder
from a2c_smcp.documents.store import NAME, Result, Store, clear_store

ROOT = Path(__file__).parents[3]
SIGNATURE = (1_700_000_000_000_000_000, 12, 1 << 63)


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "cache")
    yield made
    made.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    now = [1_000_000.0]
    monkeypatch.setattr("a2c_smcp.documents.store.time.time", lambda: now[0])

    def advance(seconds: float) -> None:
        now[0] += seconds

    return advance


def test_a_result_is_found_again_by_another_process_that_comes_later(results: Store, tmp_path: Path) -> None:
    results.put([Result(b"key", b"value")])
    results.put([Result(b"key", b"newer")])
    again = Store(tmp_path / "cache")
    assert (again.get(b"key"), again.get(b"other")) == (b"newer", None)
    assert again.get_many([b"key", b"other"]) == {b"key": b"newer"}
    again.close()


def test_only_the_owner_may_look(results: Store, tmp_path: Path) -> None:
    results.put([Result(b"key", b"value")])
    folder = tmp_path / "cache"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.iterdir()]}
    assert modes == {"cache": 0o700, NAME: 0o600, f"{NAME}-wal": 0o600, f"{NAME}-shm": 0o600}


def test_the_least_recently_used_leave_first(tmp_path: Path, clock: Callable[[float], None]) -> None:
    results = Store(tmp_path, max_bytes=10_000)
    for number in range(9):
        results.put([Result(bytes([number]), b"x" * 1_000)])
        clock(1)
    results.get(b"\0")
    clock(1)
    results.put([Result(b"new", b"x" * 1_000)])
    results.put([Result(b"newer", b"x" * 1_000)])
    kept = results.get_many([bytes([number]) for number in range(9)] + [b"new", b"newer"])
    assert set(kept) == {b"\0", b"\3", b"\4", b"\5", b"\6", b"\7", b"\x08", b"new", b"newer"}
    assert results.size == 9 * 1_064
    results.close()


def test_what_nobody_asked_for_leaves_before_what_somebody_read(tmp_path: Path, clock: Callable[[float], None]) -> None:
    results = Store(tmp_path, max_bytes=3_000)
    results.put([Result(b"read", b"x" * 700)])
    clock(1)
    results.put([Result(b"indexed", b"x" * 700, background=True)])
    for number in range(2):
        results.put([Result(bytes([number]), b"x" * 700)])
    assert (results.get(b"read") is not None, results.get(b"indexed")) == (True, None)
    results.close()


def test_a_result_of_a_quarter_of_the_room_is_not_kept(tmp_path: Path) -> None:
    results = Store(tmp_path, max_bytes=1_000)
    results.put([Result(b"key", b"x" * 251)])
    assert results.get(b"key") is None
    results.close()


def test_uses_are_written_down_now_and_then(results: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_TOUCHES", 1)
    results.put([Result(b"key", b"value")])
    assert results.get(b"key") == b"value"
    assert results._touched == set()


def test_a_content_is_remembered_while_the_file_looks_the_same(results: Store) -> None:
    path = os.fsdecode(b"/a/\xff name that is no UTF-8.txt")
    results.remember(path, SIGNATURE, b"content")
    changed = (SIGNATURE[0] + 1, *SIGNATURE[1:])
    assert [results.contents({path: look}) for look in (SIGNATURE, changed)] == [{path: b"content"}, {}]


def test_a_result_brings_along_which_content_its_file_has(results: Store) -> None:
    results.put([Result(b"key", b"value", file=("/a", SIGNATURE, b"content"))])
    assert results.contents({"/a": SIGNATURE}) == {"/a": b"content"}


def test_files_not_seen_for_long_are_forgotten(
    results: Store, monkeypatch: pytest.MonkeyPatch, clock: Callable[[float], None]
) -> None:
    monkeypatch.setattr(store, "MAX_FILES", 10)
    monkeypatch.setattr(store, "FILES_BETWEEN_COUNTS", 1)
    for number in range(11):
        results.remember(f"/{number}", SIGNATURE, b"c")
        clock(1)
    assert sorted(results.contents({f"/{number}": SIGNATURE for number in range(11)}), key=len) == [
        *(f"/{number}" for number in range(2, 10)),
        "/10",
    ]


def test_strikes_count(results: Store) -> None:
    assert [results.strike(b"key"), results.strike(b"key"), results.strikes(b"key", b"other")] == [1, 2, [2, 0]]


def test_a_strike_is_forgotten_after_a_day(results: Store, clock: Callable[[float], None]) -> None:
    results.strike(b"key")
    clock(store.STRIKE_SECONDS + 1)
    assert (results.strikes(b"key"), results.strike(b"key")) == ([0], 1)


def test_clearing_forgets_everything(results: Store) -> None:
    results.put([Result(b"key", b"value")])
    results.get(b"key")
    results.clear()
    assert (results.get(b"key"), results.size) == (None, 0)


def test_a_cleared_store_does_not_disturb_who_has_it_open(results: Store, tmp_path: Path) -> None:
    results.put([Result(b"key", b"value")])
    clear_store(tmp_path / "cache")
    fresh = Store(tmp_path / "cache")
    assert (fresh.get(b"key"), results.get(b"key")) == (None, b"value")
    fresh.close()


def test_a_key_is_new_until_something_is_kept_under_it(results: Store) -> None:
    results.get(b"key")
    before = [results.is_new(key) for key in (b"result", b"strike", b"other")]
    results.put([Result(b"result", b"value")])
    results.strike(b"strike")
    after = [results.is_new(key) for key in (b"result", b"strike", b"other")]
    assert (before, after) == ([True, True, True], [False, False, True])
    assert not results.is_new(b"other", b"strike")


def test_no_key_is_new_before_the_disk_was_asked_once(tmp_path: Path, results: Store) -> None:
    results.put([Result(b"result", b"value")])
    results.strike(b"strike")
    again = Store(tmp_path / "cache")
    before = again.is_new(b"other")
    again.get(b"other")
    assert (before, [again.is_new(key) for key in (b"result", b"strike", b"other")]) == (False, [False, False, True])
    again.close()


def test_what_another_process_kept_is_noticed_with_the_next_result(tmp_path: Path, results: Store) -> None:
    results.get(b"other")
    again = Store(tmp_path / "cache")
    again.put([Result(b"result", b"value")])
    again.strike(b"strike")
    before = [results.is_new(key) for key in (b"result", b"strike")]
    results.put([Result(b"mine", b"value")])
    assert (before, [results.is_new(key) for key in (b"result", b"strike")]) == ([True, True], [False, False])
    again.close()


def test_no_key_is_new_once_others_have_had_time_to_keep_it(results: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    results.get(b"other")
    assert results.is_new(b"key")
    monkeypatch.setattr(store, "FRESH_SECONDS", -1)
    assert not results.is_new(b"key")


def test_after_clearing_every_key_is_new_again(results: Store) -> None:
    results.put([Result(b"key", b"value")])
    results.clear()
    results.get(b"other")
    assert results.is_new(b"key")


@pytest.mark.parametrize("damage", [b"not a database at all" * 400, b""], ids=["garbage", "empty"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / NAME).write_bytes(damage)
    results = Store(tmp_path)
    results.put([Result(b"key", b"value")])
    assert results.get(b"key") == b"value"
    results.close()


def test_a_file_damaged_while_in_use_is_made_anew(tmp_path: Path) -> None:
    results = Store(tmp_path)
    for number in range(200):
        results.put([Result(bytes([number]), b"x" * 5_000)])
    results.close()
    data = bytearray((tmp_path / NAME).read_bytes())
    data[4096 * 3 :] = b"\xff" * (len(data) - 4096 * 3)
    (tmp_path / NAME).write_bytes(data)
    results = Store(tmp_path)
    for number in range(200):
        results.get(bytes([number]))
    results.put([Result(b"key", b"value")])
    results.put([Result(b"key", b"value")])
    assert results.get(b"key") == b"value"
    results.close()


def test_without_a_place_on_disk_it_is_kept_in_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        results = Store(tmp_path / "file" / "cache")
    results.put([Result(b"key", b"value")])
    assert results.get(b"key") == b"value"
    assert str(tmp_path) not in caplog.text
    results.close()


@pytest.mark.parametrize("kind", [sqlite3.OperationalError, sqlite3.IntegrityError])
def test_a_disk_that_refuses_costs_only_the_result(results: Store, kind: type[sqlite3.Error]) -> None:
    def refuse(_: sqlite3.Connection) -> int:
        raise kind("database or disk is full")

    results.put([Result(b"key", b"value")])
    assert results._database.write(refuse, 7) == 7
    assert results.get(b"key") == b"value"


def test_after_closing_nothing_is_found(tmp_path: Path) -> None:
    results = Store(tmp_path)
    results.put([Result(b"key", b"value")])
    results.close()
    assert results.get(b"key") is None


WRITER = """
import sys
from pathlib import Path
from a2c_smcp.documents.store import Result, Store
store = Store(Path(sys.argv[1]))
for number in range(200):
    store.put([Result(f"{sys.argv[2]}-{number}".encode(), b"x" * 1000)])
    assert store.get(f"{sys.argv[2]}-{number}".encode())
store.close()
"""


def test_several_processes_write_at_the_same_time(results: Store, tmp_path: Path) -> None:
    folder = str(tmp_path / "cache")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, folder, name], cwd=ROOT) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert len(results.get_many([f"{name}-{number}".encode() for name in "abc" for number in range(200)])) == 600
    assert results.size == 600 * 1_064


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, "~/.cache/a2c-smcp/documents"),
        ("linux", {"XDG_CACHE_HOME": "/var/cache/me"}, "/var/cache/me/a2c-smcp/documents"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "~/.cache/a2c-smcp/documents"),
        ("darwin", {}, "~/Library/Caches/a2c-smcp/documents"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/a2c-smcp/documents"),
        ("win32", {}, "~/AppData/Local/a2c-smcp/documents"),
    ],
)
def test_each_system_has_its_place_for_caches(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], folder: str
) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("a2c_smcp.documents.database.sys.platform", platform)
    assert cache_folder() == Path(folder).expanduser()


def test_a_transaction_that_fails_changes_nothing(tmp_path: Path) -> None:
    made = Database(tmp_path / "x.sqlite3", "CREATE TABLE IF NOT EXISTS t (n)")
    with pytest.raises(ZeroDivisionError), made.transaction() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
        raise ZeroDivisionError
    assert made.read(lambda connection: connection.execute("SELECT * FROM t").fetchall(), None) == []
    made.close()
