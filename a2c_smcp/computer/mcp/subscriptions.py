"""Resource subscriptions: `resources/subscribe` in the older era, one `subscriptions/listen` stream in the newer."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

import anyio
import anyio.abc
from mcp import ClientSession, MCPError
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.types import (
    METHOD_NOT_FOUND,
    EmptyResult,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)

from a2c_smcp.computer.mcp.negotiation import is_modern
from a2c_smcp.computer.mcp.notifications import ServerNotifications
from a2c_smcp.types import SERVER_NAME

logger = logging.getLogger(__name__)

MAX_CONCURRENT: Final = 16
ACKNOWLEDGED_WITHIN: Final = 30.0
LISTEN_AGAIN: Final = (0.1, 0.5, 2.0, 5.0, 15.0, 60.0)


class ServerSubscriptions:
    """The subscriptions of one session.

    Attributes:
        uris: The latest requested set.
        refused: Those that the server refused, with its error.
        unsupported: Whether the server does not support subscriptions.
    """

    def __init__(
        self, server: SERVER_NAME, session: ClientSession, news: ServerNotifications, tasks: anyio.abc.TaskGroup
    ) -> None:
        self._server = server
        self._session = session
        self._notifications = news
        self._tasks = tasks
        self._lock = asyncio.Lock()
        self.uris: frozenset[str] = frozenset()
        self.refused: dict[str, MCPError] = {}
        self._stream: anyio.CancelScope | None = None
        self._first = True
        self.unsupported = False

    async def subscribe(self, uris: Sequence[str]) -> None:
        """Subscribe to exactly these resources, and return when the server has acknowledged them.

        A resource that the server refuses is skipped: it may be gone already.
        """
        async with self._lock:
            wanted = frozenset(uris)
            if is_modern(self._session):
                if self._stream is None or wanted != self.uris:
                    await self._listen(wanted)
            else:
                await self._change(wanted)
            self.uris = wanted
            self.refused = {uri: error for uri, error in self.refused.items() if uri in wanted}

    async def _change(self, wanted: frozenset[str]) -> None:
        slots = asyncio.Semaphore(MAX_CONCURRENT)

        async def ask(request: SubscribeRequest | UnsubscribeRequest) -> None:
            async with slots:
                if self.unsupported:
                    return
                if isinstance(request, SubscribeRequest):
                    self.refused.pop(request.params.uri, None)
                try:
                    await self._session.send_request(request, EmptyResult)
                except MCPError as error:
                    self.unsupported = error.code == METHOD_NOT_FOUND
                    if isinstance(request, SubscribeRequest):
                        self.refused[request.params.uri] = error
                    logger.debug(
                        "subscription refused: mcp_server=%s code=%s",
                        self._server,
                        error.code,
                        extra={"server": self._server},
                    )

        news = [SubscribeRequest(params=SubscribeRequestParams(uri=uri)) for uri in sorted(wanted - self.uris)]
        olds = [UnsubscribeRequest(params=UnsubscribeRequestParams(uri=uri)) for uri in sorted(self.uris - wanted)]
        await asyncio.gather(*map(ask, news), *map(ask, olds))

    async def _listen(self, uris: frozenset[str]) -> None:
        """Open a stream for `uris`, and close the previous one only then, so that no change is missed."""
        if self.unsupported:
            return
        before = self._stream
        opened = asyncio.Event()
        scope = anyio.CancelScope()
        try:
            self._tasks.start_soon(self._keep_listening, scope, uris, opened)
        except RuntimeError:
            return  # this run of the server has ended; the next one subscribes again
        self._stream = scope
        with anyio.move_on_after(ACKNOWLEDGED_WITHIN):
            await opened.wait()
        if before is not None:
            before.cancel()

    async def _keep_listening(self, scope: anyio.CancelScope, uris: frozenset[str], opened: asyncio.Event) -> None:
        clock = asyncio.get_running_loop().time
        tries = 0
        with scope:
            while True:
                began = clock()
                try:
                    async with listen(
                        self._session,
                        tools_list_changed=True,
                        resources_list_changed=True,
                        resource_subscriptions=sorted(uris),
                    ) as stream:
                        if opened.is_set() or self._first:
                            # Changes may have been missed while no stream was open.
                            self._notifications.everything(uris)
                        self._first = False
                        opened.set()
                        # `NotificationFilter` has handled the events; only the end of the stream matters here.
                        async for _ in stream:
                            pass
                except MCPError as error:
                    self.unsupported = error.code == METHOD_NOT_FOUND
                except SubscriptionLost:
                    pass
                opened.set()
                if self.unsupported:
                    return
                # A stream that lasted long does not count as a failure, however it ended.
                tries = 0 if clock() - began > LISTEN_AGAIN[-1] else min(tries + 1, len(LISTEN_AGAIN) - 1)
                await asyncio.sleep(LISTEN_AGAIN[tries])
