"""What open pages are told."""

import asyncio
from contextlib import aclosing, contextmanager
from typing import Any

from a2c_smcp.console.events import Broadcast, ServerSentEvents

CAP = 60


def event(kind: str) -> bytes:
    return b'data: {"kind": "%s"}\n\n' % kind.encode()


async def test_many_changes_of_a_kind_become_one() -> None:
    news = Broadcast()
    async with aclosing(news.stream()) as stream:  # type: ignore[type-var]
        assert await anext(stream) == event("hello")
        for _ in range(100):
            news.tell("calls")
        news.tell("desktop")
        news.close()
        assert [one async for one in stream] == [event("calls"), event("desktop")]
    assert news.watched is False


async def test_a_quiet_stream_shows_that_it_is_alive() -> None:
    news = Broadcast(keep_alive=0.001)
    async with aclosing(news.stream()) as stream:  # type: ignore[type-var]
        await anext(stream)
        assert await asyncio.wait_for(anext(stream), CAP) == b": still here\n\n"


async def test_every_page_hears_of_a_change() -> None:
    news = Broadcast()
    one, other = news.stream(), news.stream()
    await anext(one)
    await anext(other)
    news.tell("finder")
    news.close()
    assert [[e async for e in stream] for stream in (one, other)] == [[event("finder")]] * 2


async def test_a_page_that_leaves_is_gone_at_once() -> None:
    news, gone, present = Broadcast(), asyncio.Event(), []

    @contextmanager
    def presence() -> Any:
        present.append("came")
        yield
        present.append("went")

    async def receive() -> Any:
        await gone.wait()
        return {"type": "http.disconnect"}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)
        if message.get("body"):
            gone.set()

    await asyncio.wait_for(ServerSentEvents(news.stream(), presence())({}, receive, send), CAP)
    assert (present, news.watched) == (["came", "went"], False)
    assert sent[0]["headers"][0] == (b"content-type", b"text/event-stream")
