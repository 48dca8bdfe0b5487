"""Children of this package: what they import from, and what they know of the user's environment."""

import subprocess
import sys
from pathlib import Path

import pytest

import a2c_smcp
from a2c_smcp.common.child_python import FOLDER, environment, import_path, python_command, python_path, script_command

HOME = str(Path(a2c_smcp.__file__).parent.parent)


def test_the_current_folder_is_no_place_to_import_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", ".", str(tmp_path), str(tmp_path / "." / ""), "/elsewhere", HOME])
    assert import_path() == ["/elsewhere", HOME]


def test_the_current_folder_counts_where_this_package_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HOME)
    monkeypatch.setattr(sys, "path", ["", HOME])
    assert import_path() == [HOME]


def test_a_deleted_current_folder_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert HOME in import_path()


def test_a_child_imports_from_where_its_parent_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("print('found')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    command = python_command("import mine; print(sys.argv[1:], sys.flags.isolated)", "a", "b")
    done = subprocess.run(command, cwd=FOLDER, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["found", "['a', 'b'] 1"]


def test_a_script_sees_its_own_arguments(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys; print(__name__, sys.argv[1:])", encoding="utf-8")
    done = subprocess.run(
        script_command(str(script), "a"), env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "__main__ ['a']\n"


def test_a_child_gets_only_variables_that_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A2C_LLM_API_KEY", "MY_TOKEN", "LC_ALL", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "value")
    assert not environment().keys() & {"A2C_LLM_API_KEY", "MY_TOKEN", "HTTPS_PROXY"}
    assert environment()["LC_ALL"] == "value"
    assert {"A2C_LLM_API_KEY", "HTTPS_PROXY"} <= environment("HTTPS_PROXY", prefixes=["A2C_LLM_"]).keys()


def test_a_search_path_means_the_same_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert python_path(f":src:.:/elsewhere:{tmp_path}") == f"{tmp_path}/src:/elsewhere"
    assert python_path("") == ""
