"""What the shell remembers."""

from pathlib import Path

import pytest
from prompt_toolkit.history import InMemoryHistory

from a2c_smcp.cli.computer_shell import history, is_kept


@pytest.mark.parametrize("line", ["status", 'call echo {"text": "x"}', "inputs list", "quit"])
def test_what_was_typed_is_remembered(line: str) -> None:
    assert is_kept(line)


@pytest.mark.parametrize(
    "line",
    ["inputs set key s3cret", "inputs  set key s3cret", "input set key s3cret", 'server add {"env": {}}', "s3cret"],
)
def test_what_may_be_a_secret_is_not(line: str) -> None:
    assert not is_kept(line)


def test_the_history_is_its_users_alone(tmp_path: Path) -> None:
    kept = history({"XDG_STATE_HOME": str(tmp_path)})
    for line in ("status", "inputs set key s3cret"):
        kept.append_string(line)
    path = tmp_path / "a2c-smcp" / "computer-history"
    assert (path.stat().st_mode & 0o777, "status" in path.read_text(), "s3cret" in path.read_text()) == (
        0o600,
        True,
        False,
    )
    assert kept.get_strings() == ["status"]


def test_without_a_place_for_it_the_shell_has_a_history_for_this_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert isinstance(history({"XDG_STATE_HOME": str(tmp_path / "file")}), InMemoryHistory)
