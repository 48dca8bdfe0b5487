"""The harness itself: what a test sees when a peer is slow, silent or gone."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from tests.peers.peer import Peer, PeerError

Starter = Callable[[str], Awaitable[Peer]]

ECHO = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"], "ok": request["do"] != "fail", "result": request, "error": "no"}
    for message in ({"event": "asked", "data": request["do"]}, answer):
        print(json.dumps(message), flush=True)
"""
SILENT = "import sys; sys.stdin.read()"
STUBBORN = "import signal, sys, time; sys.stdin.read(); signal.pause()"
DYING = "import sys; sys.stdin.readline(); sys.exit('out of luck')"


@pytest_asyncio.fixture
async def start() -> AsyncIterator[Starter]:
    started: list[Peer] = []

    async def run(script: str) -> Peer:
        started.append(await Peer.start([sys.executable, "-c", script]))
        return started[-1]

    yield run
    for peer in started:
        await peer.stop()


async def test_a_request_gets_its_answer(start: Starter) -> None:
    peer = await start(ECHO)

    assert await peer.ask("join", office="o") == {"id": 0, "do": "join", "office": "o"}


async def test_an_error_is_raised(start: Starter) -> None:
    peer = await start(ECHO)

    with pytest.raises(PeerError, match="no"):
        await peer.ask("fail")


async def test_events_are_taken_by_name_oldest_first(start: Starter) -> None:
    peer = await start(ECHO)
    await peer.ask("first")
    await peer.ask("second")

    assert [await peer.next_event("asked"), await peer.next_event("asked")] == ["first", "second"]


async def test_an_event_that_does_not_come_is_an_error_that_says_what_came(start: Starter) -> None:
    peer = await start(ECHO)
    await peer.ask("anything")

    with pytest.raises(PeerError, match=r"notify:leave_office: not heard within 0.05 s, only \['asked'\]"):
        await peer.next_event("notify:leave_office", within=0.05)


async def test_an_answer_that_does_not_come_is_an_error(start: Starter) -> None:
    peer = await start(SILENT)

    with pytest.raises(PeerError, match="join: no answer within"):
        await peer.ask("join", within=0.05)


async def test_a_peer_that_dies_fails_what_it_was_asked_and_says_why(start: Starter) -> None:
    peer = await start(DYING)

    with pytest.raises(PeerError, match="the peer has ended"):
        await peer.ask("join")
    await peer.stop()
    with pytest.raises(PeerError, match="out of luck"):
        await peer.ask("join")


async def test_a_peer_that_does_not_end_by_itself_is_killed() -> None:
    peer = await Peer.start([sys.executable, "-c", STUBBORN])

    await peer.stop(grace=0.05)

    with pytest.raises(PeerError, match="the peer has ended"):
        await peer.ask("join")
