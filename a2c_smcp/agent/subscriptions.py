"""Resource subscriptions of an Agent, renewed when a Computer or the Agent itself rejoins."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from a2c_smcp.agent.events import EventDispatcher, OfficeEvent
from a2c_smcp.common.backoff import Backoff
from a2c_smcp.errors import SMCPError
from a2c_smcp.smcp import SUBSCRIBE_RESOURCE_EVENT, UNSUBSCRIBE_RESOURCE_EVENT

log = logging.getLogger(__name__)

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 60.0

Ask: TypeAlias = Callable[..., Awaitable[Any]]
"""Sends a request: event, Computer, and fields."""

_Resource: TypeAlias = tuple[str | None, str]
"""The MCP server, if the caller named one, and the URI."""


class ResourceSubscriptions:
    """Subscriptions by Computer.

    A Computer loses its subscriptions when it restarts. When it rejoins, they are made again and every resource is
    reported as updated, because it may have changed meanwhile.
    """

    def __init__(self, ask: Ask, events: EventDispatcher, *, pause: float = FIRST_PAUSE) -> None:
        self._ask = ask
        self._events = events
        self._first_delay = pause
        self._wanted: dict[str, dict[_Resource, None]] = {}
        self._renewing: dict[str, asyncio.Task[None]] = {}

    async def add(self, computer: str, uri: str, mcp_server: str | None) -> str | None:
        """Subscribe; return the MCP server that serves the resource."""
        reply = await self._ask(SUBSCRIBE_RESOURCE_EVENT, computer, uri=uri, mcp_server=mcp_server)
        self._wanted.setdefault(computer, {})[mcp_server, uri] = None
        found: str | None = reply.get("mcp_server")
        return found

    async def remove(self, computer: str, uri: str, mcp_server: str | None) -> None:
        """End a subscription."""
        wanted = self._wanted.get(computer, {})
        wanted.pop((mcp_server, uri), None)
        if not wanted:
            self._wanted.pop(computer, None)
        await self._ask(UNSUBSCRIBE_RESOURCE_EVENT, computer, uri=uri, mcp_server=mcp_server)

    def on_event(self, event: OfficeEvent) -> None:
        """Renew subscriptions after an event of the office."""
        if event.kind == "joined":
            for computer in self._wanted:
                self._renew(computer)
        elif event.computer is not None and event.kind in ("enter_office", "leave_office"):
            if (task := self._renewing.pop(event.computer, None)) is not None:
                task.cancel()
            if event.kind == "enter_office":
                self._renew(event.computer)

    def clear(self) -> None:
        """Drop all subscriptions: the Agent is in another office."""
        self._wanted.clear()
        for task in self._renewing.values():
            task.cancel()
        self._renewing.clear()

    async def close(self) -> None:
        """Stop renewing."""
        tasks = list(self._renewing.values())
        self.clear()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _renew(self, computer: str) -> None:
        if self._wanted.get(computer) and computer not in self._renewing:
            self._renewing[computer] = asyncio.get_running_loop().create_task(self._resubscribe(computer))

    async def _resubscribe(self, computer: str) -> None:
        backoff = Backoff(self._first_delay, LONGEST_PAUSE)
        left = dict(self._wanted[computer])
        try:
            while left:
                updated: dict[str | None, list[str]] = {}
                for server, uri in list(left):
                    if (server, uri) not in self._wanted.get(computer, {}):
                        del left[server, uri]
                        continue
                    try:
                        reply = await self._ask(SUBSCRIBE_RESOURCE_EVENT, computer, uri=uri, mcp_server=server)
                    except (SMCPError, ConnectionError) as error:
                        # Its MCP servers may still be starting.
                        log.info("subscription not renewed: retrying computer=%s reason=%s", computer, error)
                        continue
                    del left[server, uri]
                    updated.setdefault(reply.get("mcp_server"), []).append(uri)
                for name, uris in updated.items():
                    self._events.emit("update_resources", computer, {"mcp_server": name, "uris": uris})
                if left:
                    await asyncio.sleep(backoff.exact())
        finally:
            if self._renewing.get(computer) is asyncio.current_task():
                del self._renewing[computer]
