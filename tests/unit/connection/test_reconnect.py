"""One connection after another, with pauses between."""

import asyncio
from typing import Any

import pytest

from a2c_smcp.common.backoff import Backoff
from a2c_smcp.connection.reconnect import Reconnector
from a2c_smcp.connection.status import ConnectionStatus, Failure, StatusTracker
from a2c_smcp.errors import Unauthorized


class FakeConnection:
    """A link that opens, or fails to, as it is told."""

    why = "cut"

    def __init__(self, problem: Exception | None) -> None:
        self.problem = problem
        self.closed = False

    async def open(self) -> None:
        if self.problem is not None:
            raise self.problem

    async def close(self) -> None:
        self.closed = True


class Story:
    """Runs a reconnector over links that end one after the other, then stops it."""

    def __init__(self, *problems: Exception | None, lasts: float = 0.0) -> None:
        self.links = [FakeConnection(problem) for problem in problems]
        self.told: list[str] = []
        self.statuses: list[ConnectionStatus] = []
        self.now = 0.0
        self._lasts = lasts
        self._next = iter(self.links)

    def _link(self) -> Any:
        link = next(self._next, None)
        if link is None:
            raise asyncio.CancelledError
        return link

    async def _attend(self, _: Any) -> None:
        self.now += self._lasts

    async def run(self, backoff: Backoff) -> list[str]:
        board = StatusTracker("o", self.statuses.append)
        told = self.told

        def failed(problem: Failure) -> None:
            told.append(str(problem))

        with pytest.raises(asyncio.CancelledError):
            await Reconnector(self._link, self._attend, failed, board, backoff, lambda: self.now).run()
        assert all(link.closed for link in self.links)
        return told


async def test_one_link_follows_another_whatever_happens(caplog: pytest.LogCaptureFixture) -> None:
    story = Story(ConnectionError("nobody there"), Unauthorized("No"), KeyError("oops"), None)
    assert await story.run(Backoff(uniform=lambda *_: 0.0)) == [
        "nobody there",
        "No",
        "The connection failed with an unexpected error (KeyError)",
        "The connection was lost: cut",
    ]
    assert [(status.state.value, status.failures) for status in story.statuses] == [
        ("connecting", 0),
        ("waiting", 1),
        ("connecting", 1),
        ("waiting", 2),
        ("connecting", 2),
        ("waiting", 3),
        ("connecting", 3),
        ("waiting", 4),
    ]


@pytest.mark.parametrize(("lasts", "failures"), [(59.0, [1, 2, 3]), (60.0, [1, 1, 1])])
async def test_a_connection_that_lasted_a_minute_has_proved_itself(lasts: float, failures: list[int]) -> None:
    story = Story(None, None, None, lasts=lasts)
    await story.run(Backoff(uniform=lambda *_: 0.0))
    assert [status.failures for status in story.statuses if status.state == "waiting"] == failures
