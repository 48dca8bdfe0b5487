"""What changes, told to every open page as server-sent events; many changes of a kind become one."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Final

KEEP_ALIVE: Final = 15.0
GATHER: Final = 0.1
"""Seconds in which changes are gathered: a page that is told a thousand times a second shows nothing sooner."""


class Broadcast:
    """Tells pages which kinds of things have changed; they ask for what they show."""

    def __init__(self) -> None:
        self._pages: set[_Page] = set()

    def tell(self, kind: str) -> None:
        """Something of this kind has changed."""
        for page in self._pages:
            page.kinds[kind] = None
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
            while True:
                try:
                    async with asyncio.timeout(KEEP_ALIVE):
                        await page.woken.wait()
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                await asyncio.sleep(GATHER)
                kinds, page.kinds = page.kinds, {}
                page.woken.clear()
                for kind in kinds:
                    yield _event(kind)
        finally:
            self._pages.discard(page)


class _Page:
    def __init__(self) -> None:
        self.kinds: dict[str, None] = {}
        self.woken = asyncio.Event()


def _event(kind: str) -> bytes:
    return f"data: {json.dumps({'kind': kind})}\n\n".encode()
