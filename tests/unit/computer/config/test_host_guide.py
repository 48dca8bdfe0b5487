"""The guide to hosting servers says what the code does."""

import re
from pathlib import Path

import pytest

from a2c_smcp.computer.mcp import diagnosis, watchdog
from a2c_smcp.computer.mcp.diagnosis import ProcessOutput, ServerFailure
from a2c_smcp.computer.mcp.server_run import Timing
from a2c_smcp.computer.mcp.stdio import INHERITED

PAGE = (Path(__file__).parents[4] / "docs" / "how-to" / "host-mcp-servers.md").read_text(encoding="utf-8")


def test_the_times_are_those_of_the_code() -> None:
    told = {name: float(seconds) for name, seconds in re.findall(r"^\| `(\w+)`: .* \| (\d+) \|$", PAGE, re.MULTILINE)}

    timing = Timing()
    assert told == {name: getattr(timing, name) for name in Timing.__slots__ if name != "restarts"}


def test_every_inherited_variable_is_named() -> None:
    assert [name for name in INHERITED if not name.startswith("XDG_") and f"`{name}`" not in PAGE] == []


def test_the_mark_is_named() -> None:
    assert f"`{watchdog.MARK}`" in PAGE


@pytest.mark.parametrize(
    "failure",
    [
        diagnosis.not_found("npx"),
        diagnosis.cannot_run("x", "y"),
        diagnosis.no_directory(),
        diagnosis.exited(1, ProcessOutput(errors=["words"]), running=False),
        diagnosis.no_response(60, ProcessOutput()),
        diagnosis.prints_to_stdout(ProcessOutput(garbage=1, samples=["x"])),
        diagnosis.no_response(30, ProcessOutput(), running=True),
        diagnosis.bad_status(401),
        diagnosis.bad_status(404),
        diagnosis.unreachable("x"),
        diagnosis.unresolved("x"),
    ],
)
def test_every_problem_of_the_table_is_one_that_is_told(failure: ServerFailure | None) -> None:
    assert failure is not None
    rows = re.findall(r"^\| (.*?) \| .* \|$", PAGE, re.MULTILINE)
    patterns = [re.escape(row).replace("…", ".*") for row in rows]

    assert any(re.match(pattern, failure.problem) for pattern in patterns)
