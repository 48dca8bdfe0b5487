"""The guide to hosting servers says what the code does."""

import re
from pathlib import Path

import pytest

from a2c_smcp.computer.mcp_clients import diagnosis, watchdog
from a2c_smcp.computer.mcp_clients.diagnosis import Failure, Output
from a2c_smcp.computer.mcp_clients.life import Timing
from a2c_smcp.computer.mcp_clients.stdio import INHERITED

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
        diagnosis.exited(1, Output(errors=["words"]), running=False),
        diagnosis.silent(60, Output()),
        diagnosis.prints(Output(garbage=1, samples=["x"])),
        diagnosis.silent(30, Output(), running=True),
        diagnosis.bad_status(401),
        diagnosis.bad_status(404),
        diagnosis.unreachable("x"),
        diagnosis.unresolved("x"),
    ],
)
def test_every_problem_of_the_table_is_one_that_is_told(failure: Failure | None) -> None:
    assert failure is not None
    rows = re.findall(r"^\| (.*?) \| .* \|$", PAGE, re.MULTILINE)
    patterns = [re.escape(row).replace("…", ".*") for row in rows]

    assert any(re.match(pattern, failure.problem) for pattern in patterns)
