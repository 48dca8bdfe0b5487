"""What a person sees of `a2c agent`."""

from argparse import Namespace
from typing import Any

import pytest

from a2c_smcp.cli import agent_show as show
from a2c_smcp.cli.terminal import Terminal

PLAIN = Terminal()


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "description": "", "params_schema": {"properties": properties}}


def test_each_tool_has_its_own_parameters_below_it() -> None:
    tools = [tool("add", a={"anyOf": [{"type": "integer"}, {"type": "null"}]}), tool("address", street={})]
    assert list(show.tools([{"computer": "desk", "tools": tools}], Namespace(schema=True), PLAIN)) == [
        "desk",
        "  add",
        "      a (integer or null)",
        "  address",
        "      street (any)",
    ]


def test_a_computer_without_tools_says_so() -> None:
    assert list(show.tools([{"computer": "desk", "tools": []}], Namespace(schema=True), PLAIN)) == [
        "desk",
        "  no tools",
    ]


@pytest.mark.parametrize(
    ("event", "data", "line"),
    [
        ("update_tool_list", {"tools": [{}, {}]}, "desk: tools changed, 2 now"),
        ("update_desktop", {"desktop": []}, "desk: windows changed, 0 now"),
        ("update_finder", {"finder": {"total_count": 7}}, "desk: documents changed, 7 in all"),
        ("update_finder", {"problem": "too slow"}, "desk: documents changed, but cannot be read: too slow"),
        ("update_tool_list", {"problem": "too slow"}, "desk: tools changed, but cannot be read: too slow"),
    ],
)
def test_a_change_says_what_there_is_now(event: str, data: dict[str, Any], line: str) -> None:
    value = {"event": event, "computer": "desk", "data": data}
    assert list(show.watch(value, Namespace(), PLAIN)) == [line]
