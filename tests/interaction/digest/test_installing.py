"""The installer in an environment of its own, with the real pip."""

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
import typing_extensions

pytestmark = pytest.mark.timeout(600)  # making the environment takes a busy machine minutes

ROOT = Path(__file__).parents[3]
PROGRAM = """
import json, sys
from a2c_smcp.digest.installer import AutoInstallerExpert
print(json.dumps(AutoInstallerExpert().ensure(json.loads(sys.argv[1]))))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """An interpreter that has pip, and of libraries only what reading the request takes."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    site = next((folder / "lib").glob("python3*/site-packages"))
    (site / "typing_extensions.py").write_bytes(Path(typing_extensions.__file__).read_bytes())
    (site / "project.pth").write_text(f"{ROOT}\n")
    return [str(folder / "bin" / Path(sys.executable).name), "-c", PROGRAM]


def ensured(python: list[str], **params: Any) -> dict[str, Any]:
    done = subprocess.run(
        [*python, json.dumps(params)], capture_output=True, text=True, timeout=500, check=True, cwd=ROOT.parent
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.rule("8.2", "8.4")
def test_what_is_missing_is_installed_only_when_it_is_allowed(python: list[str]) -> None:
    for refused in ({"allow_install": False}, {}):
        response = ensured(python, packages=["pathspec"], **refused)
        assert (response["ok"], response["data"]) == (False, {"installed": [["pathspec", "missing"]]})
    installed = ensured(python, packages=["pathspec"], allow_install=True)
    assert (installed["error"], installed["data"]) == (None, {"installed": [["pathspec", "installed"]]})
    again = ensured(python, packages=["pathspec"], allow_install=True)
    assert again["data"] == {"installed": [["pathspec", "ok"]]}


def test_an_installer_that_is_not_there_is_told(python: list[str]) -> None:
    response = ensured(python, packages=["isal"], allow_install=True, installer="conda")
    assert response["error"] == "There is no conda in this environment to install with"
