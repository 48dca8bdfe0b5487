"""The generated pages of the reference."""

import re
from pathlib import Path

import pytest

from a2c_smcp.errors import BY_CODE
from a2c_smcp.smcp import EVENTS
from tools.reference import FOLDER, files, main, stale
from tools.reference_environment import sections

ROOT = Path(__file__).parents[3]


def test_the_published_pages_are_fresh() -> None:
    assert stale(FOLDER) == []


@pytest.mark.rule("2.3.table")
def test_every_event_and_its_messages_are_in_the_reference() -> None:
    assert [name for name in EVENTS if f"| `{name}` |" not in files()["events.md"]] == []
    linked = set(re.findall(r"\(messages\.md#(\w+)\)", files()["events.md"]))
    there = {name.lower() for name in re.findall(r"^## (\w+)$", files()["messages.md"], re.MULTILINE)}
    assert linked - there == set()


@pytest.mark.rule("3.2")
def test_every_code_is_in_the_reference_with_its_class() -> None:
    rows = [f"| {code} | `{kind.__name__}` |" for code, kind in BY_CODE.items()]
    assert [row for row in rows if row not in files()["errors.md"]] == []


def test_every_variable_that_the_code_reads_is_in_the_reference() -> None:
    known = {row.name for _, _, rows in sections() for row in rows}
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "a2c_smcp").rglob("*.py")]
    literal = {name for text in sources for name in re.findall(r"\bA2C_[A-Z]+_[A-Z_]*[A-Z]\b", text)}
    built = {
        prefix + rest
        for text in sources
        for prefix in re.findall(r'^ENV: Final = "(A2C_\w+_)"', text, re.MULTILINE)
        for rest in re.findall(r"\{ENV\}([A-Z_]+)", text)
    }
    constants = {"A2C_TOOL_META", "A2C_INPUT_KEY", "A2C_SERVER_CONFIG"}  # a key of meta, an example, and named above
    assert (literal | built) - known - constants == set()


def test_checking_names_what_is_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    (tmp_path / "events.md").unlink()
    (tmp_path / "errors.md").write_text("old", encoding="utf-8")
    assert main(["--check"], tmp_path) == 1
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == [
        "docs/reference/errors.md",
        "docs/reference/events.md",
    ]
