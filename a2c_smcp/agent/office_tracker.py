"""Keeps the view of the office current: reads what notifications report as changed, once per burst.

A view that is known to be out of date is read again, with back-off, until a read succeeds.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from a2c_smcp.agent.events import EventDispatcher
from a2c_smcp.agent.office_view import OfficeView
from a2c_smcp.common.backoff import Backoff
from a2c_smcp.errors import SMCPError
from a2c_smcp.messages import SessionInfo
from a2c_smcp.smcp import (
    ENTER_OFFICE_NOTIFICATION,
    LEAVE_OFFICE_NOTIFICATION,
    UPDATE_CONFIG_NOTIFICATION,
    UPDATE_DESKTOP_NOTIFICATION,
    UPDATE_FINDER_NOTIFICATION,
    UPDATE_RESOURCES_NOTIFICATION,
    UPDATE_TOOL_LIST_NOTIFICATION,
)

log = logging.getLogger(__name__)

TOOLS: Final = "tools"
DESKTOP: Final = "desktop"
FINDER: Final = "finder"

UPDATES: Final[Mapping[str, tuple[str, str | None]]] = {
    UPDATE_CONFIG_NOTIFICATION: ("update_config", None),
    UPDATE_TOOL_LIST_NOTIFICATION: ("update_tool_list", TOOLS),
    UPDATE_DESKTOP_NOTIFICATION: ("update_desktop", DESKTOP),
    UPDATE_FINDER_NOTIFICATION: ("update_finder", FINDER),
}
"""The event kind of a notification, and the aspect that is read before the event is emitted."""

_KINDS: Final = {aspect: kind for kind, aspect in UPDATES.values() if aspect is not None}

MAX_CONCURRENT_READS: Final = 4
"""Concurrent reads: more would exceed the request limits of a server in a large office."""

RETRY: Final = 0.5
LONGEST_RETRY: Final = 60.0
"""First and longest delay in seconds before a failed read is repeated."""

Key = tuple[str, str]
"""A Computer and an aspect of it."""


class OfficeTracker:
    """Handles notifications: updates the view of the office and emits events.

    Args:
        enabled: Whether the office is kept at all; otherwise notifications are only reported.
        members: Lists who is in the office.
        read: Reads an aspect of a Computer.
        retry: The pauses after a failed read.
    """

    def __init__(
        self,
        office: OfficeView,
        events: EventDispatcher,
        *,
        enabled: bool,
        members: Callable[[], Awaitable[list[SessionInfo]]],
        read: Callable[[str, str], Awaitable[Any]],
        retry: Backoff | None = None,
    ) -> None:
        self._office = office
        self._events = events
        self._enabled = enabled
        self._members = members
        self._read = read
        self._retry = retry or Backoff(RETRY, LONGEST_RETRY)
        self._slots = asyncio.Semaphore(MAX_CONCURRENT_READS)
        self._versions: dict[Key, int] = {}
        self._reading: dict[Key, asyncio.Task[None]] = {}
        self._pausing: dict[Key, asyncio.Event] = {}
        self._progressed = asyncio.Event()
        self._relisting: asyncio.Task[None] | None = None
        self._changes_while_listing: dict[str, bool] = {}
        self._listing: asyncio.Future[None] | None = None
        self._known: str | None = None

    # Notifications

    def on_notification(self, event: str, payload: Any) -> None:
        """Handle a notification; malformed and unknown ones are ignored."""
        if not isinstance(payload, Mapping):
            return
        computer = payload.get("computer")
        name = computer if isinstance(computer, str) else None
        if event in (ENTER_OFFICE_NOTIFICATION, LEAVE_OFFICE_NOTIFICATION):
            present = event == ENTER_OFFICE_NOTIFICATION
            if name is not None and self._enabled:
                self._set_presence(name, present=present)
            self._events.emit("enter_office" if present else "leave_office", name, _texts(payload))
            if name is not None and present:
                self.refresh(name, TOOLS)
        elif event == UPDATE_RESOURCES_NOTIFICATION and name is not None:
            if self._enabled and name not in self._office.computers:
                self._office.enter(name)
            self._events.emit("update_resources", name, _resources(payload))
        elif event in UPDATES and name is not None:
            kind, aspect = UPDATES[event]
            if self._enabled and name not in self._office.computers:
                self._office.enter(name)  # a Computer that sends updates is in the office
            if aspect is None or not self._enabled:
                self._events.emit(kind, name)
            else:
                self.refresh(name, aspect)

    def _set_presence(self, name: str, *, present: bool) -> None:
        if self._listing is not None or self._relisting is not None:
            self._changes_while_listing[name] = present
        self._forget(name)
        if present:
            self._office.enter(name)
        else:
            self._office.leave(name)

    # Reads

    def refresh(self, computer: str, aspect: str) -> None:
        """Read an aspect of a Computer again and emit the event; changes during the read cause one more."""
        if not self._enabled:
            return
        key = (computer, aspect)
        self._versions[key] = self._versions.get(key, 0) + 1
        self._office.mark_stale(computer, aspect)
        if key in self._pausing:
            self._pausing[key].set()
        if key not in self._reading:
            self._reading[key] = asyncio.get_running_loop().create_task(self._follow(key))

    def version(self, computer: str, aspect: str) -> int:
        """Return the version of an aspect; read it before a request whose result goes to `record`."""
        return self._versions.get((computer, aspect), 0)

    def record(self, computer: str, aspect: str, version: int, value: Any) -> None:
        """Record an aspect that was read, unless it changed since `version`."""
        if self._enabled and self.version(computer, aspect) == version:
            self._office.update(computer, aspect, value)
            if (computer, aspect) in self._pausing:
                self._pausing[computer, aspect].set()

    async def _follow(self, key: Key) -> None:
        computer, aspect = key
        retry = self._retry.fresh()
        reported = 0
        try:
            while self._is_stale(key):
                version = self._versions.get(key, 0)
                try:
                    async with self._slots:
                        value = await self._read(computer, aspect)
                except (SMCPError, ConnectionError) as problem:
                    if version != reported:  # a repeated failure of the same read emits no event
                        log.info("read failed: retrying reason=%s aspect=%s computer=%s", problem, aspect, computer)
                        self._emit(key, {"problem": str(problem)})
                        retry.reset()
                    reported = version
                    await self._pause(key, retry.slow())
                    continue
                if version == self._versions.get(key, version):
                    self._office.update(computer, aspect, value)
                self._emit(key, {aspect: value})
                reported = 0
        finally:
            if self._reading.get(key) is asyncio.current_task():
                del self._reading[key]
            self._progressed.set()

    def _is_stale(self, key: Key) -> bool:
        view = self._office.computers.get(key[0])
        return view is not None and key[1] in view.stale

    def _emit(self, key: Key, data: Mapping[str, Any]) -> None:
        if key[0] in self._office.computers:
            self._events.emit(_KINDS[key[1]], key[0], data)

    async def _pause(self, key: Key, seconds: float) -> None:
        """Wait, or until there is version of what is to be read."""
        self._pausing[key] = woken = asyncio.Event()
        self._progressed.set()
        try:
            async with asyncio.timeout(seconds):
                await woken.wait()
        except TimeoutError:
            pass
        finally:
            if self._pausing.get(key) is woken:
                del self._pausing[key]

    async def settled(self) -> None:
        """Wait until no read is running; reads that wait for a retry are not waited for."""
        while self._reading.keys() - self._pausing.keys() or self._listing is not None:
            if self._listing is not None:
                await asyncio.shield(self._listing)
            else:
                self._progressed.clear()
                await self._progressed.wait()

    # Membership of the Agent

    def joined(self, office_id: str) -> Awaitable[None] | None:
        """List the members of the office, and read what may have changed since the Agent was in it."""
        if not self._enabled:
            self._events.emit("joined", data={"office_id": office_id})
            return None
        self._finish_listing()
        self._stop_relisting()
        self._listing = listing = asyncio.get_running_loop().create_future()
        self._changes_while_listing = {}
        return self._on_joined(office_id, listing)

    async def _on_joined(self, office_id: str, listing: "asyncio.Future[None]") -> None:
        try:
            await self._list(office_id)
        finally:
            if self._listing is listing:
                self._finish_listing()

    def _finish_listing(self) -> None:
        listing, self._listing = self._listing, None
        if listing is not None and not listing.done():
            listing.set_result(None)

    async def wait_listed(self) -> None:
        """Wait until the members of the office are listed."""
        if self._listing is not None:
            await asyncio.shield(self._listing)

    async def _list(self, office_id: str) -> None:
        again, self._known = self._known == office_id, office_id
        new: list[str] = []
        gone: list[str] = []
        try:
            new, gone = await self._list_members()
            if not self._office.computers:
                log.info("office has no Computer yet: check its name if one is expected", extra={"office": office_id})
        except (SMCPError, ConnectionError) as problem:
            log.warning("list_room failed: retrying reason=%s", problem)
            self._relisting = asyncio.get_running_loop().create_task(self._list_again(office_id))
        self._events.emit("joined", data={"office_id": office_id, "computers": list(self._office.computers)})
        self._catch_up(office_id, new if again else [], gone if again else [])

    async def _list_members(self) -> tuple[list[str], list[str]]:
        """List the members; return the names of new and of removed Computers."""
        members = await self._members()
        there = [member["name"] for member in members if member.get("role") == "computer" and "name" in member]
        there += [name for name, present in self._changes_while_listing.items() if present and name not in there]
        return self._office.set_members(name for name in there if self._changes_while_listing.get(name, True))

    async def _list_again(self, office_id: str) -> None:
        retry = self._retry.fresh()
        while True:
            await asyncio.sleep(retry.slow())
            self._changes_while_listing = {}
            try:
                new, gone = await self._list_members()
            except (SMCPError, ConnectionError) as problem:
                log.info("list_room failed again: retrying reason=%s", problem)
                continue
            self._relisting = None
            self._catch_up(office_id, new, gone)
            return

    def _stop_relisting(self) -> None:
        relisting, self._relisting = self._relisting, None
        if relisting is not None:
            relisting.cancel()

    def _catch_up(self, office_id: str, new: Sequence[str], gone: Sequence[str]) -> None:
        """Emit events for members that joined or left unnoticed, and read every view again."""
        for name in gone:
            self._forget(name)
            self._events.emit("leave_office", name, {"office_id": office_id, "computer": name})
        for name in new:
            self._events.emit("enter_office", name, {"office_id": office_id, "computer": name})
        for name, view in self._office.computers.items():
            self.refresh(name, TOOLS)
            for aspect in (DESKTOP, FINDER):
                if getattr(view, aspect) is not None:
                    self.refresh(name, aspect)

    def reset(self) -> None:
        """Drop all state: the Agent is in another office, or in none."""
        self._known = None
        self._stop_relisting()
        self._office.clear()
        self._stop(list(self._reading))
        self._versions.clear()

    def _forget(self, computer: str) -> None:
        keys = [(computer, aspect) for aspect in _KINDS]
        self._stop(keys)
        for key in keys:
            self._versions.pop(key, None)

    def _stop(self, keys: list[Key]) -> None:
        for key in keys:
            if (task := self._reading.pop(key, None)) is not None:
                task.cancel()
                self._pausing.pop(key, None)
        self._progressed.set()

    async def close(self) -> None:
        """Stop all reads."""
        self._finish_listing()
        tasks = list(self._reading.values())
        if self._relisting is not None:
            tasks.append(self._relisting)
        self._stop_relisting()
        self._stop(list(self._reading))
        await asyncio.gather(*tasks, return_exceptions=True)


def _resources(payload: Mapping[str, Any]) -> dict[str, Any]:
    server, uris = payload.get("mcp_server"), payload.get("uris")
    found: dict[str, Any] = {"mcp_server": server if isinstance(server, str) else None}
    found["uris"] = [uri for uri in uris if isinstance(uri, str)] if isinstance(uris, list) else []
    # Without details, anything may have changed.
    found["list_changed"] = payload.get("list_changed") is True or not found["uris"]
    return found


def _texts(payload: Mapping[str, Any]) -> dict[str, str]:
    return {key: payload[key] for key in ("office_id", "computer", "agent") if isinstance(payload.get(key), str)}
