"""The wheel: what is in it, and that it works where it is installed."""

import json
import os
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.packaging.building import build, copy, run

pytestmark = pytest.mark.timeout(600)  # building everything takes a busy machine minutes

TRY = """
import importlib, json, pathlib, sys
import a2c_smcp
from a2c_smcp.console import api

rooms = "agent bridge cli computer console digest docserver documents server uris web common connection".split()
for room in rooms:
    importlib.import_module(f"a2c_smcp.{room}")
print(json.dumps({
    "home": a2c_smcp.__file__,
    "version": importlib.import_module("importlib.metadata").version("a2c-smcp"),
    "page": (pathlib.Path(api.STATIC) / "index.html").is_file(),
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy(tmp_path_factory.mktemp("build"))
    return build("wheel", folder, folder / "dist")[0]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment with the wheel and the locked libraries."""
    home = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(home, with_pip=False)
    scheme = "nt" if os.name == "nt" else "posix_prefix"
    places = {
        name: Path(sysconfig.get_path(name, scheme, {"base": str(home), "platbase": str(home)}))
        for name in ("purelib", "scripts")
    }
    python = places["scripts"] / ("python.exe" if os.name == "nt" else "python")
    words = ["-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    run([sys.executable, *words], home)
    # A plain path: what is installed for development there is not seen, since its own path files are not read.
    locked = sysconfig.get_path("purelib")
    (places["purelib"] / "locked.pth").write_text(f"{locked}\n", encoding="utf-8")
    return places["scripts"]


def test_everything_of_the_package_is_in_the_wheel_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        packed = {name for name in file.namelist() if ".dist-info/" not in name}
    copied = wheel.parents[1]
    there = {path.relative_to(copied).as_posix() for path in (copied / "a2c_smcp").rglob("*") if path.is_file()}
    # The extension is compiled where there is a compiler; its source stays at home.
    at_home = {name for name in there if name.endswith((".c", ".h"))}
    assert {name for name in packed if not name.endswith(".so")} == there - at_home
    assert {"a2c_smcp/py.typed", "a2c_smcp/console/static/index.html"} <= packed


def test_the_metadata_name_the_programs_and_the_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        (info,) = {name.partition("/")[0] for name in file.namelist() if ".dist-info/" in name}
        programs = file.read(f"{info}/entry_points.txt").decode()
        about = file.read(f"{info}/METADATA").decode()
        assert f"{info}/licenses/LICENSE" in file.namelist()
    assert "a2c = a2c_smcp.cli.main:main" in programs
    assert "mcp_generate_digest = a2c_smcp.cli.digest:main" in programs
    assert "License-Expression: Apache-2.0" in about
    assert "Requires-Python: >=3.11" in about


def test_every_room_can_be_imported_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    told = json.loads(run([str(installed / "python"), "-c", TRY], tmp_path).stdout)
    assert Path(told["home"]).is_relative_to(installed.parent)
    assert told["page"] is True
    assert told["version"]


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (["--version"], "a2c "),
        (["up", "--help"], "usage: a2c up [FOLDER...]"),
        (["completion", "bash"], "# Load it with"),
        (["docs", "{folder}", "--json"], "{"),
    ],
)
def test_the_program_works_from_the_wheel(installed: Path, tmp_path: Path, words: list[str], out: str) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nText.\n", encoding="utf-8")
    filled = [word.format(folder=tmp_path) for word in words]
    done = run([str(installed / "a2c"), *filled], tmp_path, XDG_CACHE_HOME=str(tmp_path))
    assert done.stdout.startswith(out)
