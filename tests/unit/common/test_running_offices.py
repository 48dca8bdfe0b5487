"""Finding the `a2c up` that runs on this machine."""

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2c_smcp.agent import local_office
from a2c_smcp.common.running_offices import RunningOffice, announced, find_running, running_offices
from a2c_smcp.errors import NotFound


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path)}


@pytest.fixture
def url() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_an_office_is_found_while_it_runs_and_by_its_owner_alone(env: dict[str, str], url: str) -> None:
    office = RunningOffice(url, "home", "s3cret", os.getpid(), 1.0)
    with announced(office, env) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert find_running(env) == office
        assert find_running(env, f"{url}/") == office
        assert "s3cret" not in repr(office)
    assert not path.exists()
    with pytest.raises(NotFound, match="No `a2c up`"):
        find_running(env)


def test_the_office_that_was_started_last_is_found(env: dict[str, str], url: str) -> None:
    first, last = (RunningOffice(url, "home", "t", os.getppid() if n else os.getpid(), float(n)) for n in (0, 1))
    with announced(first, env), announced(last, env):
        assert find_running(env) == last
        assert len(running_offices(env)) == 2


def test_the_file_of_a_process_that_was_killed_is_deleted(env: dict[str, str], url: str) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with announced(RunningOffice(url, "home", "t", ended.pid, 1.0), env) as path:
        assert running_offices(env) == []
        assert not path.exists()


def test_an_address_where_nobody_listens_is_no_office(env: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with announced(RunningOffice(f"http://127.0.0.1:{port}", "home", "t", os.getpid(), 1.0), env):
        assert running_offices(env) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"url": "http://127.0.0.1:1", "office": "home", "pid": "x"}'])
def test_a_file_that_cannot_be_read_is_no_office(env: dict[str, str], url: str, text: str) -> None:
    with announced(RunningOffice(url, "home", "t", os.getpid(), 1.0), env) as path:
        path.write_text(text, encoding="utf-8")
        assert running_offices(env) == []


def test_a_file_that_others_could_have_written_is_not_believed(env: dict[str, str], url: str) -> None:
    with announced(RunningOffice(url, "home", "t", os.getpid(), 1.0), env) as path:
        path.chmod(0o644)
        assert running_offices(env) == []


def test_every_agent_has_an_office_of_its_own(env: dict[str, str], url: str) -> None:
    with announced(RunningOffice(url, "home", "t", os.getpid(), 1.0), env):
        one, other = local_office("ada l.", env), local_office("ada l.", env)
    assert (one["url"], one["name"], one["token"]) == (url, "ada l.", "t")
    assert one["office_id"].startswith("home-ada-l--")
    assert one["office_id"] != other["office_id"]
