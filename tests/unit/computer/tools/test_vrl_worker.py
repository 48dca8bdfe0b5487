"""The worker's own parts, in this process."""

import io
import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from a2c_smcp.computer.tools import vrl_worker
from a2c_smcp.computer.tools.vrl_worker import ScriptRunner, check, confine, describe, main


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("\nerror[E103]: unhandled\n  ┌─ :2:6\n  │\n", "unhandled (line 2, column 6)"),
        ("error[E000]: aborted", "aborted"),
        ("recursion\n limit", "recursion limit"),
        ("x" * 1000, "x" * 500),
    ],
)
def test_an_error_is_one_line(message: str, line: str) -> None:
    assert describe(message) == line


def test_a_script_is_checked() -> None:
    assert check(".a = 1") == {"fault": None}
    assert check(".a =") == {"fault": "syntax error (line 1, column 5)"}


def test_a_script_is_compiled_once_and_run_over_events() -> None:
    runner = ScriptRunner(".a = 1")
    assert runner.run(b"{}") == runner.run(b"{}") == {"text": '{"a": 1}'}
    assert "error" in runner.run(b"{broken")


def test_without_the_library_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vrl_python", None)
    assert check(".") == ScriptRunner(".").run(b"{}") == {"missing": True}


def test_where_the_system_has_no_limits_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    confine()


def work(monkeypatch: pytest.MonkeyPatch, arguments: list[str], lines: list[Any]) -> list[Any]:
    """Run the whole program with its streams replaced, as the process would."""
    given = "".join(json.dumps(line) + "\n" for line in lines).encode()
    out = io.BytesIO()
    monkeypatch.setattr(sys, "argv", ["vrl_worker.py", *arguments])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    monkeypatch.setattr(os, "dup", lambda _: 99)
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    monkeypatch.setattr(os, "fdopen", lambda *_, **__: out)
    monkeypatch.setattr(vrl_worker, "confine", lambda: None)
    main()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_program_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert work(monkeypatch, ["check"], [".a = 1"]) == [{"fault": None}]


@pytest.mark.parametrize("alarms", [True, False])
def test_the_program_runs_over_every_line(alarms: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not alarms:
        monkeypatch.delattr(signal, "alarm")
    assert work(monkeypatch, ["run", "60"], [".a = 1", {}, {"b": 2}]) == [
        {"text": '{"a": 1}'},
        {"text": '{"a": 1, "b": 2}'},
    ]


def test_too_long_an_answer_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vrl_worker, "MAX_OUTPUT", 10)
    assert work(monkeypatch, ["run", "60"], [".", {"a": "x" * 20}]) == [
        {"error": "what the script made is larger than 0 MiB"}
    ]


def test_the_process_ends_with_its_input() -> None:
    given = b'".a = 1"\n{}\n{"b": 2}\n'
    done = subprocess.run(
        [sys.executable, "-P", vrl_worker.__file__, "run", "5"], input=given, capture_output=True, check=True
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert (lines, done.returncode) == ([{"text": '{"a": 1}'}, {"text": '{"a": 1, "b": 2}'}], 0)
