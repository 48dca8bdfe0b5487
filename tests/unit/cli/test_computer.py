"""`a2c computer` without MCP servers: its options, `--do`, and what fails before anything starts."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.cli.computer_verbs import VERBS
from tests.unit.cli.running import Run, a2c

INPUTS = {
    "servers": {},
    "inputs": [
        {"id": "key", "type": "promptString", "description": "A key", "password": True},
        {"id": "size", "type": "pickString", "description": "", "options": ["s", "m"], "default": "m"},
    ],
}


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps(INPUTS))
    return str(path)


def do(*lines: str, config: str | None = None) -> Run:
    words = ["--config", config] if config else []
    return a2c("computer", "--name", "desk", *words, *(word for line in lines for word in ("--do", line)))


def values(*lines: str, config: str | None = None) -> list[Any]:
    words = ["--config", config] if config else []
    run = a2c("computer", "--name", "desk", "--json", *words, *(word for line in lines for word in ("--do", line)))
    assert (run.code, run.err) == (0, "")
    return [json.loads(line) for line in run.out.splitlines()]


def test_commands_are_done_in_order() -> None:
    assert do("status", "tools", "desktop", "finder", "history") == (
        0,
        "desk\nconnection: none\nno tools\nno windows\n0 of 0 documents\nno calls yet\n",
        "",
    )


def test_with_json_each_command_is_a_value() -> None:
    assert values("tools", "inputs", "disconnect", "approvals", "approvals withdraw") == [
        [],
        [],
        None,
        {"pending": [], "standing": [], "changed": []},
        {"withdrawn": 0},
    ]


def test_help_lists_every_command() -> None:
    assert [row["usage"] for row in values("help")[0]] == [verb.usage for verb in VERBS]


def test_inputs_are_set_listed_and_forgotten_and_never_shown(config: str) -> None:
    run = do("inputs set key s3cret-value", "inputs", "inputs rm key", "inputs clear", config=config)
    assert run == (
        0,
        (
            "set; restarted: nothing\n"
            "key  promptString  a value from set by hand  A key\n"
            "size  pickString  no value yet\n"
            "forgotten: 1 value; servers that run keep what they were given\n"
            "forgotten: 0 values; servers that run keep what they were given\n"
        ),
        "",
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("inputs set key", "error 400: VALUE is missing: inputs set ID VALUE\n"),
        ("inputs set size xl", 'error 400: input "size": the value is not among its options; use "s" or "m"\n'),
        ("call echo", "error 4001: "),
        ("call echo {nothing", "error 400: That is not JSON (at character 2: "),
        ("call echo []", "error 400: That is not a JSON object { … }\n"),
        ("read window://a/b", "error "),
        ("server stop x", "error 400: There is no MCP server 'x'\n"),
        ("server rm x", 'error 400: configuration: there is no server "x"; check its name\n'),
        ("server add {}", "error 400: The server needs a name: "),
        ("join lab", "error 4103: Connect to a server first\n"),
        ("leave", "error 4103: Connect to a server first\n"),
        ("approvals approve 1", "error 404: No question '1' waits; "),
        ("approvals refuse x", "error 404: No question 'x' waits; "),
    ],
)
def test_a_command_that_fails_is_an_error_with_its_code(line: str, told: str, config: str) -> None:
    run = do(line, "status", config=config)
    assert (run.code, run.out, run.err.startswith(told)) == (1, "", True), run.err


@pytest.mark.rule("3.1.ack")
def test_with_json_a_failure_is_the_error_ack() -> None:
    run = a2c("computer", "--json", "--do", "leave")
    assert (run.code, json.loads(run.out)["error"]["code"], run.err) == (1, 4103, "")


def test_a_command_that_is_not_understood_is_misuse_and_nothing_starts() -> None:
    run = a2c("computer", "--do", "status", "--do", "serve stop x")
    assert (run.code, run.out) == (2, "")
    assert "error: --do: unknown command 'serve'; did you mean 'server'?\n" in run.err


def test_a_bad_configuration_tells_every_problem(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"servers": {"a": {"type": "stdio"}, "b": {"type": "carrier pigeon"}}}')
    run = a2c("computer", "--config", str(path), "--do", "status")
    assert (run.code, run.out, run.err.count("error 400")) == (1, "", 1)
    assert all(f"  servers.{name}" in run.err for name in "ab")
    assert "problems:" not in run.err


def test_with_json_the_problems_are_data(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"servers": {"a": {"type": "stdio"}}}')
    run = a2c("computer", "--config", str(path), "--json", "--do", "status")
    assert (run.code, len(json.loads(run.out)["error"]["details"]["problems"])) == (1, 1)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "error 400: --url is missing: without a shell, a Computer works for the Agent of an office\n"),
        (
            ["--url", "http://x"],
            "error 400: --office is missing: without a shell, a Computer works for the Agent of an office\n",
        ),
        (["--token", "a", "--token-file", "b"], "error 400: --token, --token-file: one of them\n"),
        (["--token-file", "/none"], "error 400: --token-file: /none cannot be read (FileNotFoundError)\n"),
        (
            ["--do", "status", "--input", "s3cret"],
            "error 400: --input: number 1: is not of the form id=value; write --input id=value\n",
        ),
    ],
)
def test_a_mistake_is_a_line(words: list[str], line: str) -> None:
    assert a2c("computer", *words) == (1, "", line)


def test_the_environment_stands_for_the_options(config: str) -> None:
    env = {"A2C_COMPUTER_CONFIG": config, "A2C_COMPUTER_NAME": "lap"}
    run = a2c("computer", "--do", "status", "inputs list", "--json", env=env)
    status, inputs = map(json.loads, run.out.splitlines())
    assert (status["name"], [row["id"] for row in inputs]) == ("lap", ["key", "size"])


def test_logging_is_left_as_it_was() -> None:
    log = logging.getLogger("a2c_smcp")
    before = log.level, list(log.handlers), log.propagate
    do("status")
    assert (log.level, log.handlers, log.propagate) == before
