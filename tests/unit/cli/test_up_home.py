"""What `a2c up` keeps on disk."""

import os
import stat
from pathlib import Path

import pytest

from a2c_smcp.cli.up_home import TOKEN, digests_folder, run_folder, token_file, write_private
from a2c_smcp.common.state import state_folder
from a2c_smcp.errors import BadRequest

POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no modes of files")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_token_stays_so_that_clients_stay_configured(tmp_path: Path) -> None:
    first = token_file(tmp_path / "state").read_text(encoding="ascii")
    assert len(first.strip()) >= 40
    assert token_file(tmp_path / "state").read_text(encoding="ascii") == first
    assert token_file(tmp_path / "other").read_text(encoding="ascii") != first


@POSIX
def test_nobody_else_can_read_the_token(tmp_path: Path) -> None:
    path = token_file(tmp_path / "state")
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert [entry.name for entry in path.parent.iterdir()] == [TOKEN]


@POSIX
def test_a_token_that_others_could_read_is_replaced(tmp_path: Path) -> None:
    path = token_file(tmp_path)
    before = path.read_text(encoding="ascii")
    path.chmod(0o644)
    assert token_file(tmp_path).read_text(encoding="ascii") != before
    assert mode(path) == 0o600


def test_a_token_that_is_a_link_or_empty_is_replaced(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write_private(elsewhere, "x" * 64)
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / TOKEN).symlink_to(elsewhere)
    assert token_file(tmp_path / "state").read_text(encoding="ascii") != "x" * 64
    assert not (tmp_path / "state" / TOKEN).is_symlink()
    (tmp_path / "state" / TOKEN).unlink()
    write_private(tmp_path / "state" / TOKEN, "")
    assert token_file(tmp_path / "state").read_text(encoding="ascii")


def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BadRequest, match="cannot be used"):
        token_file(tmp_path / "file" / "state")


def test_digests_of_one_set_of_folders_are_not_offered_with_another(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert digests_folder(tmp_path, [one, two]) == digests_folder(tmp_path, [two, one])
    assert digests_folder(tmp_path, [one]) != digests_folder(tmp_path, [one, two])


@POSIX
def test_the_folder_of_a_run_is_private_and_goes_with_it() -> None:
    with run_folder() as folder:
        assert mode(folder) == 0o700
        write_private(folder / "file", "text")
        assert mode(folder / "file") == 0o600
    assert not folder.exists()


def test_an_environment_says_where_state_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert state_folder({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "a2c-smcp"
    assert state_folder({"XDG_STATE_HOME": "relative"}) == Path.home() / ".local" / "state" / "a2c-smcp"
