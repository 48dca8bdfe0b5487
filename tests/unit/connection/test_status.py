"""The status says what is wrong and what to do."""

import pytest

from a2c_smcp.connection.status import ConnectionState, ConnectionStatus, Failure, StatusTracker
from a2c_smcp.errors import Forbidden, RateLimited, Unauthorized


@pytest.mark.parametrize(
    ("state", "problem", "advice"),
    [
        (ConnectionState.WAITING, Unauthorized("No"), "Check the token"),
        (ConnectionState.WAITING, Forbidden("No"), "Check the token"),
        (ConnectionState.CONNECTED, Forbidden("No"), "choose another name"),
        (ConnectionState.WAITING, RateLimited("No"), "operator"),
        (ConnectionState.WAITING, ConnectionError("No"), "URL of the server and the network"),
    ],
)
def test_every_problem_comes_with_advice(state: ConnectionState, problem: Failure, advice: str) -> None:
    board = StatusTracker("o", None)
    board.show(state, problem, failures=3, retry_in=1.5)
    assert advice in (board.status.advice or "")
    assert board.status == ConnectionStatus(
        state, board.status.since, "o", failures=3, retry_in=1.5, problem="No", advice=board.status.advice
    )


def test_without_a_problem_there_is_no_advice() -> None:
    seen: list[ConnectionStatus] = []
    board = StatusTracker("o", seen.append)
    board.show(ConnectionState.JOINED)
    assert seen == [ConnectionStatus(ConnectionState.JOINED, board.status.since, "o")]


def test_whoever_is_told_may_fail() -> None:
    def fail(_: ConnectionStatus) -> None:
        raise LookupError

    board = StatusTracker(None, fail)
    board.show(ConnectionState.CONNECTING)
    assert board.status.state is ConnectionState.CONNECTING
