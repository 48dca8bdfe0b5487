"""Offices that a user has used, and what is suggested where one is empty."""

import json
import stat
from pathlib import Path

import pytest

from a2c_smcp.cli.known_offices import FILE, MOST, MOST_SERVERS, empty, remember

URL = "https://me:s3cret@a.example/base?key=s3cret"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path)}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "a2c-smcp" / FILE


def test_a_near_name_is_suggested_at_the_same_server_alone(env: dict[str, str]) -> None:
    remember(env, URL, "lab")
    assert "did you mean 'lab'" in empty(env, "https://a.example/base", "lba")
    assert "'lab'" not in empty(env, "https://b.example/base", "lba")
    assert "check --office (used at this server before: 'lab')" in empty(env, URL, "somewhere else")


def test_the_file_is_the_users_alone_and_holds_no_secret(env: dict[str, str], kept: Path) -> None:
    remember(env, URL, "lab")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert json.loads(kept.read_text()) == {"https://a.example/base": ["lab"]}


def test_it_keeps_the_latest_of_a_few_servers(env: dict[str, str], kept: Path) -> None:
    for number in range(MOST + 3):
        remember(env, URL, f"office-{number}")
    for number in range(MOST_SERVERS + 3):
        remember(env, f"https://{number}.example", "lab")
    known = json.loads(kept.read_text())
    assert (len(known), "https://a.example/base" in known) == (MOST_SERVERS, False)


@pytest.mark.parametrize(
    "content", ["", "[]", '{"https://a.example/base": 5}', '{"https://a.example/base": [{}]}', "\x00"]
)
def test_a_file_that_is_broken_or_open_to_others_suggests_nothing(
    env: dict[str, str], kept: Path, content: str
) -> None:
    kept.parent.mkdir()
    kept.write_text(content)
    kept.chmod(0o600)
    assert "is empty" in empty(env, URL, "lba")
    kept.write_text('{"https://a.example/base": ["lab"]}')
    kept.chmod(0o666)
    assert "'lab'" not in empty(env, URL, "lba")


def test_a_folder_that_cannot_be_written_costs_only_the_hint() -> None:
    remember({"XDG_STATE_HOME": "/dev/null"}, URL, "lab")
    assert "is empty" in empty({"XDG_STATE_HOME": "/dev/null"}, URL, "lba")
