"""The frame: exit codes, streams, failures."""

import io
import json
import os
import signal
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import a2c_smcp
from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.main import main
from a2c_smcp.cli.terminal import Terminal
from a2c_smcp.errors import PageOutOfRange
from tests.unit.cli.running import EXAMPLES, a2c

A2C = Path(sys.executable).with_name("a2c")


def echo(_: Context, arguments: Namespace) -> Any:
    return {"words": arguments.word}


def shout(value: Any, _: Namespace, __: Terminal) -> Iterable[str]:
    return [word.upper() for word in value["words"]]


def fail(_: Context, __: Namespace) -> Any:
    raise PageOutOfRange("no page 9", details={"page_index": 9, "page_count": 2})


def crash(_: Context, __: Namespace) -> Any:
    raise RuntimeError("a bug")


def interrupt(_: Context, __: Namespace) -> Any:
    raise KeyboardInterrupt


def count(_: Context, __: Namespace) -> Any:
    yield {"at": 1}
    yield {"at": 2}


def stumble(_: Context, __: Namespace) -> Any:
    yield {"at": 1}
    raise PageOutOfRange("no page 2")


def miss_a_library(_: Context, __: Namespace) -> Any:
    raise ModuleNotFoundError("No module named 'socketio'", name="socketio")


def miss_our_own(_: Context, __: Namespace) -> Any:
    raise ModuleNotFoundError("No module named 'a2c_smcp.gone'", name="a2c_smcp.gone")


def miss_a_file(_: Context, __: Namespace) -> Any:
    raise PermissionError(13, "Permission denied", "notes.md")


COMMANDS = (
    Command("echo", "Say it.", echo, (Argument("word", "A word.", many=True),), show=shout),
    Command("plain", "Return a text.", lambda _, __: "as it is"),
    Command("data", "Return data.", lambda _, __: {"名": 1}),
    Command("nothing", "Return nothing.", lambda _, __: None),
    Command("count", "Go on.", count, stream=True, show=lambda value, _, __: [f"at {value['at']}"]),
    Command("stumble", "Go on, then fail.", stumble, stream=True),
    Command("fail", "Fail.", fail, hints={4202: "count the pages"}),
    Command("crash", "Crash.", crash),
    Command("interrupt", "Be interrupted.", interrupt),
    Command("needy", "Need a library.", miss_a_library, extra="server"),
    Command("broken", "Miss our own module.", miss_our_own, extra="server"),
    Command("file", "Miss a file.", miss_a_file),
    Command("token", "Tokens.", commands=(Command("create", "Create a token.", lambda _, __: "t0"),)),
)


def test_a_value_is_shown_for_a_person() -> None:
    assert a2c("echo", "a", "b", commands=COMMANDS) == (0, "A\nB\n", "")


def test_json_prints_the_value_itself() -> None:
    run = a2c("echo", "a", "b", "--json", commands=COMMANDS)
    assert (run.code, json.loads(run.out), run.err) == (0, {"words": ["a", "b"]}, "")


def test_json_may_stand_before_the_command() -> None:
    assert json.loads(a2c("--json", "echo", "a", commands=COMMANDS).out) == {"words": ["a"]}


@pytest.mark.parametrize(
    ("word", "out"), [("plain", "as it is\n"), ("data", '{\n  "名": 1\n}\n'), ("nothing", "")], ids=str
)
def test_a_command_without_a_form_of_its_own_prints_text_or_json(word: str, out: str) -> None:
    assert a2c(word, commands=COMMANDS) == (0, out, "")


def test_a_command_that_goes_on_prints_each_value_as_it_comes() -> None:
    assert a2c("count", commands=COMMANDS) == (0, "at 1\nat 2\n", "")


def test_with_json_a_command_that_goes_on_prints_a_line_for_each_value() -> None:
    assert a2c("count", "--json", commands=COMMANDS) == (0, '{"at": 1}\n{"at": 2}\n', "")


def test_with_json_the_failure_of_a_command_that_goes_on_is_a_line_as_well() -> None:
    out = '{"at": 1}\n{"error": {"code": 4202, "message": "no page 2"}}\n'
    assert a2c("stumble", "--json", commands=COMMANDS) == (1, out, "")


def test_a_value_that_tells_of_a_failure_makes_the_exit_code_1() -> None:
    commands = (Command("try", "Try.", lambda _, __: {"bad": True}, failed=lambda value: value["bad"]),)
    out = '{\n  "bad": true\n}\n'
    assert a2c("try", commands=commands) == a2c("try", "--json", commands=commands) == (1, out, "")


def test_a_verb_is_found_under_its_noun() -> None:
    assert a2c("token", "create", commands=COMMANDS) == (0, "t0\n", "")


def test_an_error_of_the_protocol_gives_its_code_its_facts_and_a_hint() -> None:
    err = "error 4202: no page 9\n  page_index: 9, page_count: 2\nhint: count the pages\n"
    assert a2c("fail", commands=COMMANDS) == (1, "", err)


@pytest.mark.rule("3.1.ack")
def test_with_json_an_error_is_the_error_ack_on_standard_output() -> None:
    run = a2c("fail", "--json", commands=COMMANDS)
    ack = {"error": {"code": 4202, "message": "no page 9", "details": {"page_index": 9, "page_count": 2}}}
    assert (run.code, json.loads(run.out), run.err) == (1, ack, "")


def test_a_bug_is_one_line_without_a_traceback() -> None:
    err = "error 500: unexpected RuntimeError: a bug\nhint: A2C_DEBUG=1 shows where it happened\n"
    assert a2c("crash", commands=COMMANDS) == (1, "", err)


def test_debug_shows_the_traceback() -> None:
    run = a2c("crash", commands=COMMANDS, env={"A2C_DEBUG": "1"})
    assert run.code == 1
    assert run.err.startswith("Traceback (most recent call last):\n")


def test_a_missing_extra_names_its_install_command() -> None:
    hint = "pip install '.[server]' in the checkout of this project"
    err = f"error 500: needy needs the module 'socketio', which is not installed\nhint: {hint}\n"
    assert a2c("needy", commands=COMMANDS) == (1, "", err)


def test_a_missing_module_of_our_own_is_a_bug_not_a_missing_extra() -> None:
    assert "unexpected ModuleNotFoundError" in a2c("broken", commands=COMMANDS).err


def test_a_file_that_cannot_be_used_is_told_with_its_name() -> None:
    assert a2c("file", commands=COMMANDS) == (1, "", "error 500: notes.md: Permission denied\n")


def test_control_characters_in_a_message_do_not_reach_the_terminal() -> None:
    def hostile(_: Context, __: Namespace) -> Any:
        raise PageOutOfRange("\x1b]0;owned\x07")

    assert "\x1b" not in a2c("x", commands=(Command("x", "x", hostile),)).err


def test_an_interrupt_is_quiet() -> None:
    assert a2c("interrupt", commands=COMMANDS) == (130, "", "")


def test_an_unknown_command_is_misuse_and_suggests_the_nearest() -> None:
    err = "usage: a2c COMMAND ...\nerror: unknown command 'ehco'; did you mean 'echo'?\nhint: a2c --help\n"
    assert a2c("ehco", commands=COMMANDS) == (2, "", err)


def test_with_json_misuse_is_an_error_ack_too() -> None:
    run = a2c("echo", "--json", commands=COMMANDS)
    assert (run.code, json.loads(run.out)["error"]["code"], run.err) == (2, 400, "")


def test_no_command_is_misuse_and_shows_the_help() -> None:
    run = a2c(commands=COMMANDS)
    assert (run.code, run.out) == (2, "")
    assert "\ncommands:\n  echo" in run.err


def test_help_goes_to_standard_output() -> None:
    runs = [a2c(*words, commands=COMMANDS) for words in (("echo", "--help"), ("echo", "-h"), ("help", "echo"))]
    assert [run.code for run in runs] == [0, 0, 0]
    assert {run.out for run in runs} == {runs[0].out}
    assert runs[0].out.startswith("usage: a2c echo WORD... [--json]\n\nSay it.\n")


def test_the_version_is_that_of_the_package() -> None:
    expected = f"a2c {a2c_smcp.__version__} (protocol {a2c_smcp.PROTOCOL_VERSION})\n"
    assert a2c("--version") == (0, expected, "")


def test_a_terminal_without_unicode_gets_escapes_instead_of_a_failure() -> None:
    raw = io.BytesIO()
    stdout = io.TextIOWrapper(raw, encoding="ascii")
    assert main(["data"], stdin=io.StringIO(), stdout=stdout, stderr=io.StringIO(), env={}, commands=COMMANDS) == 0
    assert raw.getvalue() == b'{\n  "\\u540d": 1\n}\n'


def test_interaction_follows_only_at_a_terminal() -> None:
    def chat(context: Context, _: Namespace) -> None:
        context.stdout.write(f"you said {context.stdin.readline()}")

    commands = (Command("talk", "Talk.", lambda _, __: "hello", interact=chat),)
    outs = [a2c("talk", commands=commands).out, a2c("talk", commands=commands, typed="yes\n").out]
    assert outs == ["hello\n", "hello\nyou said yes\n"]


def test_with_json_nobody_is_asked() -> None:
    def chat(context: Context, _: Namespace) -> None:
        context.stdout.write("?")

    commands = (Command("talk", "Talk.", lambda _, __: "hello", interact=chat),)
    assert a2c("talk", "--json", commands=commands, typed="").out == '"hello"\n'


class ClosedPipe(io.StringIO):
    """A stream whose reader went away."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_broken_pipe_without_a_descriptor_is_no_error_either() -> None:
    assert main(["plain"], stdin=io.StringIO(), stdout=ClosedPipe(), env={}, commands=COMMANDS) == 0


def test_the_installed_command_prints_the_tree_and_exits_at_once() -> None:
    run = subprocess.run(
        [A2C, "docs", EXAMPLES], capture_output=True, stdin=subprocess.DEVNULL, timeout=110, check=False
    )
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"dpe://a2c.docs/glossary.txt/elements/txt-001" in run.stdout


def test_a_reader_that_goes_away_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)  # every write fails from the start
    process = subprocess.Popen([A2C, "docs", EXAMPLES], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    _, err = process.communicate(timeout=110)
    assert (process.returncode, err) == (0, b"")


def test_the_package_runs_as_a_module_too() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "a2c_smcp.cli", "--version"], capture_output=True, timeout=110, check=False
    )
    assert (run.returncode, run.stdout.split()[0]) == (0, b"a2c")


def test_help_and_completion_import_no_library_of_an_extra() -> None:
    code = (
        "import io, sys; from a2c_smcp.cli.main import main;"
        "main(['completion', 'bash'], stdout=io.StringIO()); main(['--help'], stdout=io.StringIO());"
        "print([name for name in ('pydantic', 'markdown_it', 'a2c_smcp.documents') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=110, check=False)
    assert (run.stdout, run.stderr) == ("[]\n", "")


def test_ctrl_c_at_the_prompt_of_a_process_exits_130() -> None:
    code = (
        "import os, signal, sys; from a2c_smcp.cli.command import Command; from a2c_smcp.cli.main import main;"
        "sys.exit(main(['x'], commands=(Command('x', 'x', lambda _, __: os.kill(os.getpid(), signal.SIGINT)),)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=110, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (128 + signal.SIGINT, b"", b"")
