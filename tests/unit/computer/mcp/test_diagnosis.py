"""What owners are told about servers that fail."""

import pytest

from a2c_smcp.computer.mcp import diagnosis
from a2c_smcp.computer.mcp.diagnosis import ProcessOutput, ServerFailure

PYTHON = """Traceback (most recent call last):
  File "/srv/app/server.py", line 1, in <module>
    import fastmcp
ModuleNotFoundError: No module named 'fastmcp'""".splitlines()
NODE = """node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/app/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
  code: 'MODULE_NOT_FOUND',
}

Node.js v20.20.2""".splitlines()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (PYTHON, "ModuleNotFoundError: No module named 'fastmcp'"),
        (NODE, "Error: Cannot find module '…/index.js'"),
        (["listening", "goodbye"], "listening / goodbye"),
        (["starting", "Error: one", "Error: two", "Error: three"], "Error: two / Error: three"),
        (["  ", ""], ""),
        ([], ""),
        (["Error: the token=abcdefgh is wrong"], "Error: the token=<redacted> is wrong"),
    ],
)
def test_the_last_words_are_those_that_tell_most(lines: list[str], words: str) -> None:
    assert ProcessOutput(errors=lines).error_summary() == words


def test_last_words_are_short() -> None:
    assert len(ProcessOutput(errors=["error " * 1_000]).error_summary()) == diagnosis.MAX_SUMMARY


def test_garbage_is_counted_and_its_beginning_remembered() -> None:
    output = ProcessOutput()
    assert diagnosis.prints_to_stdout(output) is None
    output.add_garbage("Server started")
    assert diagnosis.prints_to_stdout(output) == ServerFailure(
        "it prints lines to standard output that are not MCP messages: 1 so far, the first: 'Server started'",
        "make it log to standard error; standard output belongs to the protocol",
        "it prints to standard output",
    )
    for number in range(999):
        output.add_garbage(f"line {number} " * 100)

    assert (output.garbage, len(output.samples), max(map(len, output.samples))) == (1_000, 3, 120)


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ("npx", "install Node.js"),
        ("/usr/local/bin/uvx", "install uv"),
        ("C:\\tools\\docker", "install Docker"),
        ("my-server", "install it"),
    ],
)
def test_a_command_that_was_not_found_comes_with_what_to_install(command: str, advice: str) -> None:
    failure = diagnosis.not_found(command)

    assert failure.advice.startswith(f"{advice}, check its spelling")
    assert failure.problem == f"the command {command!r} was not found"
    assert failure.kind == "its command was not found"


def test_a_command_with_its_arguments_in_it_is_told_where_they_belong() -> None:
    failure = diagnosis.not_found("npx -y @x/server --token=hunter2hunter2")

    assert failure.problem == "the command 'npx -y @x/server --token=<redacted>' was not found"
    assert failure.advice == 'write the program alone into command ("npx") and its arguments into args'


def test_a_package_that_does_not_exist_is_named() -> None:
    lines = [
        "npm error code E404",
        "npm error 404 Not Found - GET https://registry.example.com/@x%2fserver - Not found",
        "npm error 404",
        "npm error 404  '@x/server@*' is not in this registry.",
        "npm error 404 Note that you can also install from a",
        "npm error 404 tarball, folder, http url, or git folder.",
        "npm error A complete log of this run can be found in: /root/.npm/_logs/debug-0.log",
    ]
    failure = diagnosis.exited(1, ProcessOutput(lines), running=False)

    assert "'@x/server@*' is not in this registry." in failure.problem
    assert failure.advice == "the package that it starts was not found: check its name and version in args"


@pytest.mark.parametrize(
    ("code", "lines", "running", "problem", "advice"),
    [
        (
            1,
            PYTHON,
            False,
            "exited with code 1 before it answered: ModuleNotFoundError",
            "a package it needs is missing",
        ),
        (127, [], False, "exited with code 127 before it answered, and said nothing", "a command it runs is missing"),
        (-9, [], True, "was killed by signal 9 while running", "perhaps for want of memory"),
        (-11, [], True, "was killed by signal 11 while running", "see its own logs; it is started again"),
        (None, [], True, "closed its output while running", "see its own logs"),
        (2, ["usage: x"], False, "exited with code 2 before it answered: usage: x", "run the command by hand"),
    ],
)
def test_the_end_of_a_process_says_how_when_and_what_to_do(
    code: int | None, lines: list[str], running: bool, problem: str, advice: str
) -> None:
    failure = diagnosis.exited(code, ProcessOutput(errors=lines), running=running)

    assert problem in failure.problem
    assert advice in failure.advice
    assert failure.problem.startswith(failure.kind)
    assert not any(line in failure.kind for line in lines)


def test_what_was_printed_speaks_when_standard_error_is_silent() -> None:
    output = ProcessOutput()
    output.add_garbage("please log in")

    assert diagnosis.exited(0, output, running=False).problem == (
        "it exited with code 0 before it answered: on standard output: please log in"
    )


def test_a_server_that_says_nothing_is_told_apart_by_its_transport() -> None:
    assert (diagnosis.no_response(60, ProcessOutput()), diagnosis.no_response(60, None)) == (
        ServerFailure(
            "it did not answer the MCP handshake within 60 s",
            "check that the command starts an MCP server in stdio mode; if it needs longer, raise its start_timeout",
            "it did not answer the MCP handshake within 60 s",
            retry="slow",
        ),
        ServerFailure(
            "it did not answer the MCP handshake within 60 s",
            "check that the URL is that of an MCP server",
            "it did not answer the MCP handshake within 60 s",
        ),
    )


@pytest.mark.parametrize(
    ("status", "retry"),
    [(401, "counted"), (403, "counted"), (404, "counted"), (405, "counted"), (400, "counted"), (307, "counted")]
    + [(status, "always") for status in (408, 429, 500, 502, 503)],
)
def test_only_trouble_that_passes_is_tried_for_ever(status: int, retry: str) -> None:
    assert diagnosis.bad_status(status).retry == retry


def test_a_person_is_not_asked_again_by_itself() -> None:
    assert diagnosis.unresolved("no value").retry == "never"


@pytest.mark.rule("3.4")
def test_what_an_agent_learns_of_a_failure_has_none_of_the_words_of_the_server() -> None:
    said = ProcessOutput(errors=["error: password is hunter2"])
    said.add_garbage("password is hunter2")
    failures = [
        diagnosis.exited(7, said, running=True),
        diagnosis.exited(None, said, running=False),
        diagnosis.no_response(60, said),
        diagnosis.no_response(30, said, running=True),
        diagnosis.refused_handshake("hunter2", said),
        diagnosis.unreachable("hunter2"),
        diagnosis.unresolved("hunter2"),
        diagnosis.not_found("/opt/hunter2"),
        diagnosis.cannot_run("/opt/hunter2", "hunter2"),
    ]
    assert all("hunter2" in failure.problem for failure in failures)
    assert not any("hunter2" in failure.kind for failure in failures)
