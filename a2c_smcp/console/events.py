"""What changes, told to every open page as server-sent events; many changes of a kind become one."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, aclosing
from typing import Any, Final

from a2c_smcp.console.guard import Send

KEEP_ALIVE: Final = 15.0
GATHER: Final = 0.1
"""Seconds in which changes are gathered: a page that is told a thousand times a second shows nothing sooner."""


class Broadcast:
    """Tells pages which kinds of things have changed; they ask for what they show."""

    def __init__(self, *, keep_alive: float = KEEP_ALIVE) -> None:
        self._keep_alive = keep_alive
        self._pages: set[_Page] = set()
        self._over = False

    def tell(self, kind: str) -> None:
        """Something of this kind has changed."""
        for page in self._pages:
            page.kinds[kind] = None
            page.woken.set()

    def close(self) -> None:
        """End every stream."""
        self._over = True
        for page in self._pages:
            page.woken.set()

    @property
    def watched(self) -> bool:
        """Whether a page is open."""
        return bool(self._pages)

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield the events for one page, until it is closed."""
        page = _Page()
        self._pages.add(page)
        try:
            yield _event("hello")
            while page.kinds or not self._over:
                try:
                    async with asyncio.timeout(self._keep_alive):
                        await page.woken.wait()
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if not self._over:
                    await asyncio.sleep(GATHER)
                kinds, page.kinds = page.kinds, {}
                page.woken.clear()
                for kind in kinds:
                    yield _event(kind)
        finally:
            self._pages.discard(page)


class ServerSentEvents:
    """The answer of a page that listens; it ends, and its `presence` too, when the page is gone or `until` returns."""

    def __init__(
        self,
        events: AsyncIterator[bytes],
        presence: AbstractContextManager[None],
        until: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self._events = events
        self._presence = presence
        self._until = until or asyncio.Event().wait

    async def __call__(self, _: Any, receive: Any, send: Send) -> None:
        """Send events."""
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        with self._presence:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            sending = asyncio.create_task(self._send(send))
            leaving = asyncio.create_task(_left(receive))
            ending = asyncio.ensure_future(self._until())
            tasks = (sending, leaving, ending)
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
            if sending.cancelled():
                await send({"type": "http.response.body", "body": b""})

    async def _send(self, send: Send) -> None:
        async with aclosing(self._events) as events:  # type: ignore[type-var]
            async for event in events:
                await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _left(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _Page:
    def __init__(self) -> None:
        self.kinds: dict[str, None] = {}
        self.woken = asyncio.Event()


def _event(kind: str) -> bytes:
    return f"data: {json.dumps({'kind': kind})}\n\n".encode()
