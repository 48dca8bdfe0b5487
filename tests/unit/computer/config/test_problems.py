"""Problems as lines: places, words, and hints."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from a2c_smcp.computer.config.models import ComputerConfig
from a2c_smcp.computer.config.problems import (
    MAX_PROBLEMS,
    JsonPath,
    Problem,
    invalid,
    json_type,
    path_text,
    problems_of,
    quoted,
)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ((), ""),
        (("servers", "github", "server_parameters", "url"), "servers.github.server_parameters.url"),
        (("inputs", 0, "id"), "inputs[0].id"),
        (("servers", "my server", "args", 1), 'servers["my server"].args[1]'),
        (("servers", "a.b"), 'servers["a.b"]'),
        (("servers", ""), 'servers[""]'),
        (("服务", "x"), '["服务"].x'),
        (("@scope/name",), "@scope/name"),
        (("a\n\x1b[2J\ud800",), '["a\\n\\u001b[2J\\ud800"]'),
        (("x" * 100,), "x" * 100),
    ],
)
def test_a_place_is_written_as_people_write_it(place: JsonPath, text: str) -> None:
    assert path_text(place) == text


@given(st.text(st.characters()))
def test_a_quoted_word_is_one_line_that_any_terminal_can_print(word: str) -> None:
    assert quoted(word).isprintable()
    assert quoted(word).encode()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true or false"),
        (1, "a number"),
        (1.5, "a number"),
        ("x", "a text"),
        ([], "a list"),
        ({}, "an object"),
        (b"", "a Python bytes"),
    ],
)
def test_a_json_value_is_told_by_its_type_only(value: object, words: str) -> None:
    assert json_type(value) == words


def test_one_problem_is_one_line() -> None:
    error = invalid("a.json", [Problem("servers.x", "is null; remove it")])
    assert (str(error), error.details) == (
        "a.json: servers.x: is null; remove it",
        {"problems": ["servers.x: is null; remove it"]},
    )


def test_problems_are_told_all_at_once_and_each_once() -> None:
    error = invalid("a.json", [Problem("", "is empty; fill it"), Problem("b", "x; y"), Problem("b", "x; y")])
    assert (str(error), error.details) == (
        "a.json:\n  is empty; fill it\n  b: x; y",
        {"problems": ["is empty; fill it", "b: x; y"]},
    )


def test_a_flood_of_problems_is_cut() -> None:
    error = invalid("a.json", [Problem(str(index), "x") for index in range(MAX_PROBLEMS + 5)])
    assert error.details is not None
    assert error.details["problems"][-1] == "and 5 more"
    assert len(error.details["problems"]) == MAX_PROBLEMS + 1


def lines(data: object, model: type[BaseModel] = ComputerConfig) -> list[str]:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(data)
    return [str(problem) for problem in problems_of(refused.value, model)]


def stdio(**more: Any) -> dict[str, Any]:
    return {"servers": {"a": {"name": "a", "type": "stdio", "server_parameters": {"command": "x"}} | more}}


KEYS = (
    "name, disabled, forbidden_tools, tool_meta, default_tool_meta, vrl, subscribe, start_timeout, "
    "max_message, type, server_parameters"
)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (
            stdio(server_parameters={}),
            'servers.a.server_parameters.command: is missing; add it, for example "npx"',
        ),
        (stdio(forbiden_tools=[]), 'servers.a.forbiden_tools: is not a known key; did you mean "forbidden_tools"?'),
        (stdio(toolMeta={}), 'servers.a.toolMeta: is not a known key; did you mean "tool_meta"?'),
        (stdio(cwd="/"), 'servers.a.cwd: is not a known key; move it into "server_parameters"'),
        (stdio(zzz=1), f"servers.a.zzz: is not a known key; the keys here are {KEYS}"),
        (stdio(type="http"), 'servers.a.type: is "http", which is not known; did you mean "streamable"?'),
        (stdio(type="sdtio"), 'servers.a.type: is "sdtio", which is not known; did you mean "stdio"?'),
        (
            stdio(type="websocket"),
            'servers.a.type: is "websocket", which is not known; write "stdio", "streamable" or "sse"',
        ),
        (stdio(type=None), 'servers.a.type: is null; write "stdio", "streamable" or "sse"'),
        ({"servers": {"a": {}}}, 'servers.a.type: is missing; write "stdio", "streamable" or "sse"'),
        (stdio(subscribe="yes"), 'servers.a.subscribe: is "yes", which is not known; write "declared" or "assume"'),
        (stdio(subscribe=1), 'servers.a.subscribe: is a number; write "declared" or "assume"'),
        (stdio(disabled="false"), "servers.a.disabled: is a text; it must be true or false"),
        (
            stdio(forbidden_tools="x"),
            'servers.a.forbidden_tools: is a text; it must be a list [ … ], for example ["delete_repository"]',
        ),
        (stdio(forbidden_tools=[1]), "servers.a.forbidden_tools[0]: is a number; it must be a text in double quotes"),
        (
            stdio(default_tool_meta={"aliass": "x"}),
            'servers.a.default_tool_meta.aliass: is not a known key; did you mean "alias"?',
        ),
        (
            stdio(tool_meta={"t": {"tags": [1]}}),
            "servers.a.tool_meta.t.tags[0]: is a number; it must be a text in double quotes",
        ),
        (stdio(tool_meta={"": {}}), 'servers.a.tool_meta[""]: must not be empty; give it a name'),
        (
            stdio(tool_meta={"t": {"ret_object_mapper": {"a": float("nan")}}}),
            "servers.a.tool_meta.t.ret_object_mapper.a: is a number; it must be a finite number",
        ),
        (
            stdio(server_parameters={"command": "x", "env": {"A": ["hunter2"]}}),
            "servers.a.server_parameters.env.A: is a list; it must be a text in double quotes",
        ),
        (
            stdio(server_parameters={"command": "x", "env": {"[key]": 1, "A=": 1}}),
            'servers.a.server_parameters.env["A="]: is not the name of a variable; use a name without = in it',
        ),
        ({"servers": {"a": 1}}, "servers.a: is a number; it must be an object { … }"),
        ({"servers": []}, "servers: is a list; it must be an object { … }"),
        (
            {"inputs": [{"type": "pickString", "id": "x", "description": ""}]},
            'inputs[0].options: is missing; add it, for example ["dev", "prod"]',
        ),
        ({"input": []}, 'input: is not a known key; did you mean "inputs"?'),
    ],
)
def test_what_a_model_refuses_is_one_line_to_act_on(data: object, line: str) -> None:
    assert lines(data) == [line]


def test_a_rule_that_has_no_words_here_keeps_those_of_pydantic() -> None:
    class Short(BaseModel):
        word: str = Field(max_length=1)

    assert lines({"word": "ab"}, Short) == ["word: String should have at most 1 character"]


def test_a_place_in_the_data_is_told_as_the_place_in_the_file() -> None:
    with pytest.raises(ValidationError) as refused:
        ComputerConfig.model_validate({"servers": {"a": 1}})
    told = problems_of(refused.value, ComputerConfig, lambda place: ("mcpServers", *place[1:]))
    assert [problem.where for problem in told] == ["mcpServers.a"]
