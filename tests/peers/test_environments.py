"""Environments are made once, by whoever comes first, and never seen half made."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.peers import environments
from tests.peers.environments import LOCKS, RELEASES, Environment, UnavailableError, directory_of


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "CACHE", tmp_path)
    monkeypatch.setattr(environments, "_failures", {})


def test_two_who_want_one_environment_at_once_make_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []

    def build(directory: Path) -> None:
        directory.mkdir()
        made.append(directory)

    wanted = Environment("wanted", ("package.json",), build, "")
    monkeypatch.setitem(environments.ENVIRONMENTS, "wanted", wanted)

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(directory_of, ["wanted"] * 4))

    assert (found, len(made)) == ([wanted.directory()] * 4, 1)


def test_an_environment_that_cannot_be_made_is_tried_once_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[Path] = []

    def build(directory: Path) -> None:
        directory.mkdir()
        tries.append(directory)
        raise UnavailableError("no registry")

    wanted = Environment("wanted", ("package.json",), build, "")
    monkeypatch.setitem(environments.ENVIRONMENTS, "wanted", wanted)

    for _ in range(2):
        with pytest.raises(UnavailableError, match="no registry"):
            directory_of("wanted")

    assert (len(tries), wanted.directory().exists()) == (1, False)


def test_what_a_registry_refuses_once_is_asked_for_again(tmp_path: Path) -> None:
    command = ["sh", "-c", "echo busy; test -e asked || { touch asked; exit 1; }"]
    with pytest.raises(UnavailableError, match="busy"):
        environments._run(command, cwd=tmp_path)
    (tmp_path / "asked").unlink()
    environments._run(command, cwd=tmp_path, tries=2)


def test_other_pins_are_another_environment() -> None:
    def build(directory: Path) -> None: ...

    first, second = (Environment("wanted", (pin,), build, "") for pin in ("package.json", "package-lock.json"))

    assert first.directory() != second.directory()


@pytest.mark.parametrize("release", RELEASES)
def test_the_lock_of_a_release_pins_that_release(release: str) -> None:
    name, _, version = release.rpartition("-")
    assert (LOCKS / f"{release}.txt").read_text().startswith(f"{name}=={version} ")


@pytest.mark.parametrize("lock", sorted(LOCKS.iterdir()), ids=lambda path: path.name)
def test_no_lock_names_a_registry(lock: Path) -> None:
    assert "://" not in lock.read_text()
