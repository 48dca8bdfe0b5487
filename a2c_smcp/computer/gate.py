"""How a Computer asks one MCP server on its own account: a few questions at a time, none for ever."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from a2c_smcp.errors import RequestTimeout, SMCPError, ToolFailed
from a2c_smcp.types import SERVER_NAME

T = TypeVar("T")


class Gate:
    """Lets `at_once` requests through, each for `timeout` seconds.

    A server that answered nothing at all while a request timed out is taken to hang. It is left alone for `pause`
    seconds, so that fifty more requests do not each wait their time. One slow resource among good ones closes no gate.
    """

    def __init__(self, server: SERVER_NAME, *, at_once: int, timeout: float, pause: float) -> None:
        self._server = server
        self._timeout = timeout
        self._pause = pause
        self._slots = asyncio.Semaphore(at_once)
        self._answered = float("-inf")
        self._closed_until = float("-inf")

    def reset(self) -> None:
        """Forget what is known: the server is another one now."""
        self._closed_until = float("-inf")

    async def ask(self, request: Callable[[], Awaitable[T]]) -> T:
        """Return what `request()` returns.

        Raises:
            RequestTimeout: It took too long, or the server hangs.
            SMCPError: What the request raised.
        """
        clock = asyncio.get_running_loop().time
        async with self._slots:
            if clock() < self._closed_until:
                raise self._silence()
            began = clock()
            try:
                async with asyncio.timeout(self._timeout):
                    answer = await request()
            except ToolFailed:
                raise  # its server is not running: no answer, and no hang either
            except TimeoutError:
                if self._answered < began:
                    self._closed_until = clock() + self._pause
                raise self._silence() from None
            except SMCPError:
                self._answer(clock())
                raise
            self._answer(clock())
            return answer

    def _answer(self, now: float) -> None:
        self._answered = now
        self.reset()

    def _silence(self) -> RequestTimeout:
        return RequestTimeout(f"The MCP server {self._server!r} does not answer", details={"mcp_server": self._server})
