"""Several Computers, some of which fail."""

from argparse import Namespace
from typing import Any

import pytest

from a2c_smcp.cli import agent_show as show
from a2c_smcp.cli.agent_run import of_each
from a2c_smcp.cli.terminal import Terminal
from a2c_smcp.errors import RequestTimeout

ERROR = {"code": 408, "message": "No answer"}


def ask(name: str) -> dict[str, Any]:
    if name == "den":
        raise RequestTimeout("No answer")
    return {"tools": [name]}


def test_a_computer_that_fails_takes_nothing_from_the_others() -> None:
    assert of_each(["den", "desk"], ask, {"tools": []}) == [
        {"computer": "den", "tools": [], "error": ERROR},
        {"computer": "desk", "tools": ["desk"]},
    ]


def test_where_all_fail_the_command_fails() -> None:
    with pytest.raises(RequestTimeout, match="No answer"):
        of_each(["den"], ask, {"tools": []})


@pytest.mark.parametrize(
    ("verb", "nothing", "lines"),
    [
        (show.tools, {"tools": []}, ["den", "  error 408: No answer"]),
        (show.desktop, {"windows": []}, ["den", "error 408: No answer"]),
        (show.finder, {"documents": [], "total_count": 0}, ["den  error 408: No answer"]),
    ],
)
def test_a_computer_that_fails_has_its_error_in_its_place(verb: Any, nothing: dict[str, Any], lines: list[str]) -> None:
    value = [{"computer": "den", **nothing, "error": ERROR}]
    assert list(verb(value, Namespace(schema=False), Terminal())) == lines
