"""What a server says by itself is merged, bounded and told."""

import asyncio

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from a2c_smcp.computer.mcp.notifications import MAX_URIS, NotificationFilter, ServerNotifications
from a2c_smcp.computer.mcp.transport import Incoming, MessageReadStream


class Ears:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, ...]] = []
        self.pulse = asyncio.Event()

    def tools_changed(self, server: str) -> None:
        self._hear("tools", server)

    def resources_changed(self, server: str) -> None:
        self._hear("resources", server)

    def resource_updated(self, server: str, uri: str) -> None:
        self._hear("updated", server, uri)

    def status_changed(self, server: str) -> None:
        self._hear("status", server)

    def _hear(self, *what: str) -> None:
        self.heard.append(what)
        self.pulse.set()


class Script(MessageReadStream):
    """A stream of given messages, which then ends."""

    def __init__(self, *items: Incoming) -> None:
        self._items = list(items)
        self.closed = False

    async def receive(self) -> Incoming:
        if not self._items:
            raise anyio.EndOfStream
        return self._items.pop(0)

    async def aclose(self) -> None:
        self.closed = True


def said(message: JSONRPCMessage) -> SessionMessage:
    return SessionMessage(message)


def notified(method: str, **params: str) -> SessionMessage:
    return said(JSONRPCNotification(jsonrpc="2.0", method=f"notifications/{method}", params=params))


ANSWER = said(JSONRPCResponse(jsonrpc="2.0", id=1, result={}))


@pytest.mark.rule("6.6")
async def test_changes_of_one_moment_are_told_once_and_the_last_is_never_lost() -> None:
    ears = Ears()
    news = ServerNotifications("a", ears)
    for _ in range(100):
        news.tools()
        news.resources()
        news.updated("window://x")
    await ears.pulse.wait()

    first = list(ears.heard)
    news.updated("window://x")
    ears.pulse.clear()
    await ears.pulse.wait()

    assert first == [("tools", "a"), ("resources", "a"), ("updated", "a", "window://x")]
    assert ears.heard[3:] == [("updated", "a", "window://x")]


async def test_closing_tells_what_is_left() -> None:
    ears = Ears()
    news = ServerNotifications("a", ears)
    news.everything(["window://x"])

    news.close()
    news.close()

    assert ears.heard == [("tools", "a"), ("resources", "a"), ("updated", "a", "window://x")]


async def test_a_server_that_names_ever_new_resources_has_to_wait() -> None:
    ears = Ears()
    news = ServerNotifications("a", ears)
    news.tools()
    await ears.pulse.wait()
    for number in range(MAX_URIS):
        news.updated(str(number))
    waiting = asyncio.create_task(news.capacity())
    await asyncio.sleep(0)
    assert not waiting.done()

    await waiting

    assert len(ears.heard) == MAX_URIS + 1


async def test_only_what_the_sdk_has_to_see_reaches_it() -> None:
    ears = Ears()
    news = ServerNotifications("a", ears)
    request = said(JSONRPCRequest(jsonrpc="2.0", id=1, method="ping"))
    progress = notified("progress")
    source = Script(
        notified("tools/list_changed"),
        notified("resources/list_changed"),
        notified("resources/updated", uri="window://x"),
        notified("message"),
        notified("prompts/list_changed"),
        ValueError("not a message"),
        notified("resources/updated"),
        request,
        progress,
        ANSWER,
    )
    ended: list[bool] = []
    intake = NotificationFilter(source, news, lambda: ended.append(True))

    items = [item async for item in intake]
    await intake.aclose()
    news.close()

    # An update that names no resource is the SDK's to complain about.
    assert [item.message for item in items if isinstance(item, SessionMessage)] == [
        JSONRPCNotification(jsonrpc="2.0", method="notifications/resources/updated", params={}),
        request.message,
        progress.message,
        ANSWER.message,
    ]
    assert (ended, intake.ended, source.closed) == ([True], True, True)
    assert ears.heard == [("tools", "a"), ("resources", "a"), ("updated", "a", "window://x")]


async def test_a_stream_of_answers_lets_others_have_their_turn() -> None:
    intake = NotificationFilter(Script(*[ANSWER] * 1_000), ServerNotifications("a", Ears()), lambda: None)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while not intake.ended:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    assert len([item async for item in intake]) == 1_000
    await task

    assert turns > 10


async def test_what_nobody_asked_for_is_let_through_at_a_bounded_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("a2c_smcp.computer.mcp.notifications.asyncio.sleep", pause)
    intake = NotificationFilter(Script(*[notified("message")] * 3_000), ServerNotifications("a", Ears()), lambda: None)

    assert [item async for item in intake] == []

    assert sum(seconds > 0 for seconds in pauses) > 500
