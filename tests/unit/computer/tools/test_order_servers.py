"""The order of servers by their latest call."""

from collections import deque
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.tools.history import order_servers
from a2c_smcp.computer.types import ToolCallRecord

NAMES = st.sampled_from(["alpha", "beta", "Gamma", "数据", ""])


def call(server: str) -> ToolCallRecord:
    return {
        "timestamp": "2026-02-14T10:30:01Z",
        "req_id": "req-001",
        "server": server,
        "tool": "read",
        "parameters": {},
        "timeout": None,
        "success": True,
        "error": None,
    }


@pytest.mark.rule("6.3.servers", "7.4.servers")
def test_the_server_called_last_comes_first() -> None:
    assert order_servers(["a", "b", "c"], ["a", "c", "b", "c"]) == ["c", "b", "a"]


@pytest.mark.rule("6.3.servers", "7.4.servers")
def test_servers_never_called_follow_by_name() -> None:
    assert order_servers(["d", "b", "c", "a"], ["c"]) == ["c", "a", "b", "d"]


def test_names_compare_by_code_point() -> None:
    assert order_servers(["b", "é", "B", "a", "数"]) == ["B", "a", "b", "é", "数"]


def test_records_and_names_say_the_same() -> None:
    history = ["a", "c", "gone", "b"]

    assert order_servers("abcd", [call(server) for server in history]) == order_servers("abcd", history)


def test_records_and_names_may_be_mixed() -> None:
    assert order_servers(["a", "b", "c"], ["b", call("c")]) == ["c", "b", "a"]


@pytest.mark.rule("6.3.servers", "7.4.servers")
def test_servers_that_are_gone_are_left_out() -> None:
    assert order_servers(["a", "b"], ["gone", "b", "gone"]) == ["b", "a"]


def test_a_failed_call_counts_as_a_call() -> None:
    failed: ToolCallRecord = {**call("b"), "success": False, "error": "timed out"}

    assert order_servers(["a", "b"], [call("a"), failed]) == ["b", "a"]


def test_no_history_is_an_empty_one() -> None:
    assert order_servers(["b", "a"], None) == order_servers(["b", "a"], ()) == ["a", "b"]


def test_a_bounded_history_is_read_as_it_is() -> None:
    history = deque(["a", "b", "c"], maxlen=2)

    assert order_servers(["a", "b", "c"], history) == ["c", "b", "a"]


@given(st.lists(NAMES), st.lists(NAMES))
def test_each_server_comes_exactly_once(servers: list[str], history: list[str]) -> None:
    assert sorted(order_servers(servers, history)) == sorted(set(servers))


@given(st.lists(NAMES), st.lists(NAMES), st.randoms())
def test_the_order_does_not_depend_on_how_servers_are_listed(
    servers: list[str], history: list[str], chance: Random
) -> None:
    shuffled = chance.sample(servers, len(servers))

    assert order_servers(shuffled, history) == order_servers(servers, history)
