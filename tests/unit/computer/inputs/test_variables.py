"""What placeholders stand for besides inputs, in each format."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from a2c_smcp.computer.config.loaders import ConfigFormat
from a2c_smcp.computer.inputs.resolution import Unresolved, Variables, env_name, workspace_of


def variables(dialect: ConfigFormat = "native") -> Variables:
    home = PurePosixPath("/home/me")
    env = {"TOKEN": "abc", "EMPTY": "", "file": "mine"}
    return Variables(env, home / "project", home, home / "here", dialect)


@pytest.mark.parametrize("dialect", ["native", "claude", "vscode"])
@pytest.mark.parametrize(
    ("inner", "value"),
    [
        ("env:TOKEN", "abc"),
        ("env:EMPTY", ""),
        ("env:MISSING", ""),
        ("workspaceFolder", "/home/me/project"),
        ("workspaceFolderBasename", "project"),
        ("userHome", "/home/me"),
        ("cwd", "/home/me/here"),
        ("pathSeparator", "/"),
        ("/", "/"),
        ("not a variable", None),
        ("a.b", None),
        ("", None),
    ],
)
def test_what_every_format_knows(dialect: ConfigFormat, inner: str, value: str | None) -> None:
    assert variables(dialect).expand(inner) == value


@pytest.mark.parametrize("dialect", ["native", "claude"])
@pytest.mark.parametrize(
    ("inner", "value"),
    [
        ("TOKEN", "abc"),
        ("TOKEN:-other", "abc"),
        ("EMPTY:-other", ""),
        ("MISSING:-other", "other"),
        ("MISSING:-", ""),
        ("MISSING:-a:-b\nc", "a:-b\nc"),
        ("file", "mine"),
    ],
)
def test_names_alone_are_the_environment_as_in_claude_code(dialect: ConfigFormat, inner: str, value: str) -> None:
    assert variables(dialect).expand(inner) == value


@pytest.mark.parametrize("inner", ["TOKEN", "MISSING", "TOKEN:-other"])
def test_names_alone_stay_in_a_file_of_vs_code(inner: str) -> None:
    assert variables("vscode").expand(inner) is None


def test_a_variable_that_is_not_set_is_refused_with_what_to_do() -> None:
    with pytest.raises(Unresolved) as caught:
        variables().expand("MISSING")
    assert str(caught.value) == 'the environment has no variable "MISSING"; set it, or write ${MISSING:-default}'


@pytest.mark.parametrize("inner", ["fileDirname", "config:editor.font", "command:pick.it", "workspaceFolder:other"])
@pytest.mark.parametrize("dialect", ["native", "claude", "vscode"])
def test_what_only_an_editor_knows_is_refused(inner: str, dialect: ConfigFormat) -> None:
    with pytest.raises(Unresolved) as caught:
        variables(dialect).expand(inner)
    assert str(caught.value) == f"${{{inner}}} is known to an editor only; write what it stands for"


def test_the_separator_is_that_of_the_machine() -> None:
    folder = PureWindowsPath("C:\\me")
    assert Variables({}, folder, folder, folder).expand("/") == "\\"


def test_the_environment_is_not_shown() -> None:
    assert "abc" not in repr(variables())


@pytest.mark.parametrize(
    ("inner", "name"), [("env:A-B", "A-B"), ("A_B", "A_B"), ("A:-x", "A"), ("input:a", None), ("a b", None)]
)
def test_the_name_of_an_environment_variable_is_found(inner: str, name: str | None) -> None:
    assert env_name(inner) == name


@pytest.mark.parametrize(
    ("file", "workspace"),
    [("/a/b/computer.json", "/a/b"), ("/a/b/.vscode/mcp.json", "/a/b"), ("/a/b/.cursor/mcp.json", "/a/b")],
)
def test_the_workspace_is_the_folder_that_the_file_belongs_to(file: str, workspace: str) -> None:
    assert workspace_of(PurePosixPath(file)) == PurePosixPath(workspace)
