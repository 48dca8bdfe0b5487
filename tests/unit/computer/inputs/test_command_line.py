"""Values on the command line and in files."""

import logging
from pathlib import Path

import pytest

from a2c_smcp.computer.inputs.secret import Secret
from a2c_smcp.computer.inputs.sources import parse_input_options, read_input_file
from a2c_smcp.errors import InvalidConfig

PLANTED = "pl4nted"


def written(folder: Path, text: str) -> Path:
    path = folder / "values"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path


def test_an_option_is_an_id_and_a_value() -> None:
    options = ["a=1", "b=x=y", " c = z", "d=", "a=2"]
    assert parse_input_options(options) == {
        "a": Secret("2"),
        "b": Secret("x=y"),
        "c": Secret(" z"),
        "d": Secret(""),
    }


@pytest.mark.rule("5.2")
def test_an_option_of_another_form_is_told_by_its_number_alone() -> None:
    with pytest.raises(InvalidConfig) as caught:
        parse_input_options(["a=1", PLANTED, f"={PLANTED}"])
    assert str(caught.value).splitlines() == [
        "--input:",
        "  number 2: is not of the form id=value; write --input id=value",
        "  number 3: is not of the form id=value; write --input id=value",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# the keys\n\na = 1\n  b=x=y \r\nc=\n",
        '{"a": 1, "b": "x=y", /* none */ "c": ""}',
    ],
)
def test_a_file_holds_lines_or_json(text: str, tmp_path: Path) -> None:
    assert read_input_file(written(tmp_path, text)) == {"a": Secret("1"), "b": Secret("x=y"), "c": Secret("")}


@pytest.mark.rule("5.2")
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"a=1\n{PLANTED}\n", ["line 2: is not of the form id=value; write it so, or put # before it"]),
        (f'{{"a": ["{PLANTED}"]}}', ["a: is a list; it must be a text"]),
        (f'{{"a": "{PLANTED}"', None),
    ],
)
def test_a_file_of_another_form_is_told_without_its_values(text: str, lines: list[str] | None, tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig) as caught:
        read_input_file(written(tmp_path, text))
    assert caught.value.details is not None
    assert lines is None or caught.value.details["problems"] == lines
    assert PLANTED not in str(caught.value)


def test_a_file_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="does not exist"):
        read_input_file(tmp_path / "values")


@pytest.mark.parametrize(("mode", "warnings"), [(0o600, 0), (0o640, 1), (0o604, 1)])
def test_a_file_that_others_can_read_is_warned_of(
    mode: int, warnings: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    path = written(tmp_path, f"a={PLANTED}")
    path.chmod(mode)
    read_input_file(path)
    assert len(caplog.messages) == warnings
    assert PLANTED not in caplog.text
