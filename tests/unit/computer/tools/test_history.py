"""The history of calls."""

from typing import Any

import pytest

from a2c_smcp.computer.tools.history import MAX_ERROR, CallHistory, order_servers
from a2c_smcp.computer.types import ToolCallRecord


def record(server: str = "s", req_id: str = "r", parameters: Any = None, error: str | None = None) -> ToolCallRecord:
    return {
        "timestamp": "2026-01-01T00:00:00Z",
        "req_id": req_id,
        "server": server,
        "tool": "t",
        "parameters": parameters or {},
        "timeout": 30,
        "success": error is None,
        "error": error,
    }


@pytest.mark.rule("4.9")
def test_only_the_last_records_are_kept() -> None:
    history = CallHistory(size=2)
    for req_id in "123":
        history.add(record(req_id=req_id))
    assert history.records() == [record(req_id="2"), record(req_id="3")]


@pytest.mark.rule("4.9")
def test_the_server_called_last_comes_first_in_the_order_of_organizers() -> None:
    history = CallHistory()
    for server in ("a", "b", "c", "a"):
        history.add(record(server))
    assert order_servers(["a", "b", "c", "d"], history.servers()) == ["a", "c", "b", "d"]


def test_many_calls_to_one_server_do_not_make_the_others_forgotten() -> None:
    history = CallHistory(size=2)
    history.add(record("quiet"))
    for _ in range(10):
        history.add(record("busy"))
    assert history.servers() == ["quiet", "busy"]


def test_a_running_call_counts_already() -> None:
    history = CallHistory()
    history.add(record("a"))
    history.touch("b")
    assert history.servers() == ["a", "b"]
    assert len(history.records()) == 1


def test_a_server_that_is_gone_is_forgotten_but_not_its_calls() -> None:
    history = CallHistory()
    history.add(record("a"))
    history.forget("a")
    history.forget("never there")
    assert (history.servers(), history.records()) == ([], [record("a")])


def test_parameters_and_errors_are_kept_short_and_without_secrets() -> None:
    history = CallHistory()
    history.add(record(parameters={"password": "hunter2", "text": "x" * 10_000}, error="e" * 10_000))
    (kept,) = history.records()
    assert kept["parameters"]["password"] == "<redacted>"
    assert len(kept["parameters"]["text"]) < 1_000
    assert kept["error"] == "e" * MAX_ERROR
