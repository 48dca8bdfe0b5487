"""The optional C extension: built where that is possible, left out with a word where it is not."""

import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.tags import Tag, sys_tags
from packaging.utils import parse_wheel_filename

from tests.packaging.building import ROOT, build, copy, run

SOURCE = "a2c_smcp/documents/pdf/c/module.c"
MODULE = "a2c_smcp/documents/pdf/_native" + str(sysconfig.get_config_var("EXT_SUFFIX"))
OTHER = "a2c_smcp/documents/pdf/_native.other-python.so"
LEFT_OUT = "The C extension is left out: {}. The package works without it, only reading PDF is slower.\n"
ANYWHERE = {Tag("py3", "none", "any")}
EDITABLE = ["-m", "hatchling", "build", "-t", "wheel:editable", "--hooks-only"]
ASK = "from a2c_smcp.documents.pdf.native import native; print(native is not None)"
LOAD = """
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("_native", sys.argv[1], loader=ExtensionFileLoader("_native", sys.argv[1]))
spec.loader.exec_module(module_from_spec(spec))
"""


@pytest.fixture
def compiler() -> None:
    header = Path(sysconfig.get_path("include"), "Python.h")
    if shutil.which((sysconfig.get_config_var("CC") or "cl").split()[0]) is None or not header.is_file():
        pytest.skip("there is no C compiler, or no Python.h")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, where another Python has compiled the extension before."""
    folder = copy(tmp_path_factory.mktemp("project"))
    (folder / OTHER).touch()
    return folder


def compiled(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as file:
        return [name for name in file.namelist() if "/_native." in name or name.endswith((".c", ".h"))]


@pytest.mark.usefixtures("compiler")
@pytest.mark.skipif(sys.platform != "linux" or shutil.which("readelf") is None, reason="ELF is looked at with readelf")
def test_the_module_is_hardened(project: Path, tmp_path: Path) -> None:
    wheel, _ = build("wheel", project, tmp_path, A2C_PURE_PYTHON="")
    with zipfile.ZipFile(wheel) as file:
        module = file.extract(MODULE, tmp_path)
    words = ["readelf", "-W", "--dynamic", "--program-headers", "--dyn-syms", module]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "GNU_RELRO" in told
    assert "BIND_NOW" in told
    assert "__stack_chk_fail" in told
    # The source calls no function of the C library that has a checking twin; one that comes to do so gets it.
    assert "-D_FORTIFY_SOURCE=2" in (ROOT / "hatch_build.py").read_text(encoding="utf-8")
    stack = next(line for line in told.splitlines() if "GNU_STACK" in line)
    assert " RWE " not in stack


@pytest.mark.usefixtures("compiler")
def test_a_wheel_carries_the_module_and_is_for_this_python_alone(project: Path, tmp_path: Path) -> None:
    wheel, said = build("wheel", project, tmp_path, A2C_PURE_PYTHON="", CFLAGS="-Werror")
    assert (compiled(wheel), said) == ([MODULE], "")
    tags = parse_wheel_filename(wheel.name)[3]
    assert tags <= set(sys_tags()) - ANYWHERE


@pytest.mark.usefixtures("compiler")
def test_the_module_of_a_wheel_loads(project: Path, tmp_path: Path) -> None:
    wheel, _ = build("wheel", project, tmp_path / "dist", A2C_PURE_PYTHON="")
    with zipfile.ZipFile(wheel) as file:
        module = file.extract(MODULE, tmp_path)
    run([sys.executable, "-I", "-c", LOAD, module], tmp_path)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(
    ("env", "why"),
    [
        ({"A2C_PURE_PYTHON": "1"}, "A2C_PURE_PYTHON is set"),
        ({"CC": "false"}, "false did not compile it"),
        ({"CC": "true"}, "true did not compile it"),
        ({"CC": "no-such-cc"}, "there is no C compiler no-such-cc (on Debian: apt-get install gcc libc6-dev)"),
    ],
    ids=["asked for", "compiler fails", "compiler does nothing", "no compiler"],
)
def test_a_wheel_without_the_module_is_for_every_python(
    project: Path, tmp_path: Path, env: dict[str, str], why: str
) -> None:
    wheel, said = build("wheel", project, tmp_path, **{"A2C_PURE_PYTHON": "", **env})
    assert (compiled(wheel), said) == ([], LEFT_OUT.format(why))
    assert parse_wheel_filename(wheel.name)[3] == ANYWHERE


def test_building_a_wheel_leaves_the_checkout_as_it_was(project: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in project.rglob("*") if "__pycache__" not in path.parts}
    build("wheel", project, tmp_path)
    after = {path: path.stat().st_mtime_ns for path in project.rglob("*") if "__pycache__" not in path.parts}
    assert after == before


def test_an_sdist_carries_the_source_and_nothing_compiled(project: Path, tmp_path: Path) -> None:
    sdist, _ = build("sdist", project, tmp_path)
    with tarfile.open(sdist) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {SOURCE, SOURCE.replace("module.c", "native.h"), "hatch_build.py"} <= names
    assert [name for name in names if name.endswith(".so")] == []


@pytest.mark.usefixtures("compiler")
def test_a_wheel_can_be_built_of_an_sdist(project: Path, tmp_path: Path) -> None:
    sdist, _ = build("sdist", project, tmp_path / "sdist")
    with tarfile.open(sdist) as file:
        file.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    wheel, _ = build("wheel", unpacked, tmp_path / "wheel", A2C_PURE_PYTHON="")
    assert compiled(wheel) == [MODULE]


@pytest.mark.usefixtures("compiler")
def test_an_editable_install_finds_the_module(tmp_path: Path) -> None:
    project = copy(tmp_path)
    run([sys.executable, *EDITABLE], project, A2C_PURE_PYTHON="")
    assert (project / MODULE).is_file()


@pytest.mark.usefixtures("compiler")
def test_a_module_of_another_source_is_left_out_with_a_word(tmp_path: Path) -> None:
    project = copy(tmp_path)
    run([sys.executable, *EDITABLE], project, A2C_PURE_PYTHON="")
    asked = [sys.executable, "-c", ASK]
    own = run(asked, project, A2C_PURE_PYTHON="", PYTHONPATH=str(project))
    with (project / SOURCE).open("a", encoding="utf-8") as file:
        file.write("/* pulled */\n")
    other = run(asked, project, A2C_PURE_PYTHON="", PYTHONPATH=str(project))
    assert (own.stdout, own.stderr) == ("True\n", "")
    assert (other.stdout, other.stderr) == (
        "False\n",
        "The C extension is of another source and left out: build it again (make) to read PDF faster\n",
    )


def test_a_source_that_does_not_compile_leaves_no_module_of_an_older_one(tmp_path: Path) -> None:
    project = copy(tmp_path)
    (project / MODULE).touch()
    (project / SOURCE).write_text("#error half written\n", encoding="utf-8")
    run([sys.executable, *EDITABLE], project)
    assert not (project / MODULE).exists()


def test_this_checkout_has_the_extension() -> None:
    pytest.importorskip("a2c_smcp.documents.pdf._native", reason="it was not built", exc_type=ImportError)


def test_wheels_with_the_extension_are_built_for_linux_and_macos_and_checked() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheels = config["tool"]["cibuildwheel"]
    assert (wheels["linux"]["archs"], wheels["macos"]["archs"]) == (["x86_64", "aarch64"], ["x86_64", "arm64"])
    assert wheels["skip"] == ["*-win*"]  # Windows gets the pure wheel
    pythons = [name.rpartition(" ")[2] for name in config["project"]["classifiers"] if "Python :: 3." in name]
    assert wheels["build"] == [f"cp{version.replace('.', '')}-*" for version in pythons]
    pytest.importorskip("a2c_smcp.documents.pdf._native", reason="it was not built", exc_type=ImportError)
    _, *words = shlex.split(wheels["test-command"])
    run([sys.executable, *words], ROOT, A2C_PURE_PYTHON="")
    with pytest.raises(AssertionError):
        run([sys.executable, *words], ROOT, A2C_PURE_PYTHON="1")
