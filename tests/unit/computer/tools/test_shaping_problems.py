"""Scripts and mappings are checked when a configuration loads."""

from typing import Any

import pytest

from a2c_smcp.computer import Computer, ComputerConfig, parse_config
from a2c_smcp.computer.tools.shaping import shaping_problems
from a2c_smcp.errors import InvalidConfig


def config(**settings: Any) -> ComputerConfig:
    server = {"type": "stdio", "server_parameters": {"command": "true"}, "disabled": True} | settings
    return parse_config({"servers": {"s": server}}).config


@pytest.mark.rule("4.5")
@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"vrl": "this is = = no script"}, "servers.s.vrl"),
        ({"tool_meta": {"t": {"ret_object_mapper": {"a": "[["}}}}, "servers.s.tool_meta.t.ret_object_mapper"),
        ({"default_tool_meta": {"ret_object_mapper": {"a": "[["}}}, "servers.s.default_tool_meta.ret_object_mapper"),
    ],
)
def test_what_cannot_be_compiled_is_named_with_its_place(settings: dict[str, Any], place: str) -> None:
    (problem,) = shaping_problems(config(**settings))
    assert problem.where == place
    assert problem.what


def test_good_scripts_and_mappings_pass() -> None:
    good = config(vrl=".x = 1", default_tool_meta={"ret_object_mapper": {"a": "b.c"}})
    assert shaping_problems(good) == []


@pytest.mark.rule("4.5")
async def test_a_computer_does_not_start_with_a_broken_script() -> None:
    with pytest.raises(InvalidConfig, match=r"servers\.s\.vrl"):
        async with Computer(config(vrl="= = =")):
            pass
