"""Keeping what is known of the office current: each notification is followed by a read, and bursts by few.

A view that is known to be out of date is read again, with growing pauses, until it is not.
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
"""The kind of event that a notification becomes, and what is read anew before it is told."""

_KINDS: Final = {aspect: kind for kind, aspect in UPDATES.values() if aspect is not None}

MAX_CONCURRENT_READS: Final = 4
"""Views that are read at a time: a large office is read in turns, not refused for too many requests."""

RETRY: Final = 0.5
LONGEST_RETRY: Final = 60.0
"""Seconds before a read that failed is repeated: at first, and at most."""

Key = tuple[str, str]
"""A Computer and an aspect of it."""


class OfficeTracker:
    """Hears notifications, keeps the office, and tells the events.

    Args:
        keeping: Whether the office is kept at all; otherwise notifications are only told.
        members: Lists who is in the office.
        read: Reads an aspect of a Computer.
        retry: The pauses after a failed read.
    """

    def __init__(
        self,
        office: OfficeView,
        events: EventDispatcher,
        *,
        keeping: bool,
        members: Callable[[], Awaitable[list[SessionInfo]]],
        read: Callable[[str, str], Awaitable[Any]],
        retry: Backoff | None = None,
    ) -> None:
        self._office = office
        self._events = events
        self._keeping = keeping
        self._members = members
        self._read = read
        self._retry = retry or Backoff(RETRY, LONGEST_RETRY)
        self._turns = asyncio.Semaphore(MAX_CONCURRENT_READS)
        self._news: dict[Key, int] = {}
        self._reading: dict[Key, asyncio.Task[None]] = {}
        self._pausing: dict[Key, asyncio.Event] = {}
        self._progressed = asyncio.Event()
        self._relisting: asyncio.Task[None] | None = None
        self._moves: dict[str, bool] = {}
        self._listing: asyncio.Future[None] | None = None
        self._known: str | None = None

    # What is heard

    def heard(self, event: str, payload: Any) -> None:
        """Take a notification; what is malformed or unknown is ignored."""
        if not isinstance(payload, Mapping):
            return
        computer = payload.get("computer")
        name = computer if isinstance(computer, str) else None
        if event in (ENTER_OFFICE_NOTIFICATION, LEAVE_OFFICE_NOTIFICATION):
            came = event == ENTER_OFFICE_NOTIFICATION
            if name is not None and self._keeping:
                self._move(name, came=came)
            self._events.tell("enter_office" if came else "leave_office", name, _texts(payload))
            if name is not None and came:
                self.refresh(name, TOOLS)
        elif event == UPDATE_RESOURCES_NOTIFICATION and name is not None:
            if self._keeping and name not in self._office.computers:
                self._office.enter(name)
            self._events.tell("update_resources", name, _resources(payload))
        elif event in UPDATES and name is not None:
            kind, aspect = UPDATES[event]
            if self._keeping and name not in self._office.computers:
                self._office.enter(name)  # whoever is heard of is there
            if aspect is None or not self._keeping:
                self._events.tell(kind, name)
            else:
                self.refresh(name, aspect)

    def _move(self, name: str, *, came: bool) -> None:
        if self._listing is not None or self._relisting is not None:
            self._moves[name] = came
        self._forget(name)
        if came:
            self._office.enter(name)
        else:
            self._office.leave(name)

    # What is read

    def refresh(self, computer: str, aspect: str) -> None:
        """Read an aspect of a Computer anew and tell the event; news that come meanwhile make one more reading."""
        if not self._keeping:
            return
        key = (computer, aspect)
        self._news[key] = self._news.get(key, 0) + 1
        self._office.doubt(computer, aspect)
        if key in self._pausing:
            self._pausing[key].set()
        if key not in self._reading:
            self._reading[key] = asyncio.get_running_loop().create_task(self._follow(key))

    def mark(self, computer: str, aspect: str) -> int:
        """What `seen` needs to know of the moment at which a reading began."""
        return self._news.get((computer, aspect), 0)

    def seen(self, computer: str, aspect: str, mark: int, value: Any) -> None:
        """Somebody read an aspect; it is kept unless there have been news since."""
        if self._keeping and self.mark(computer, aspect) == mark:
            self._office.see(computer, aspect, value)
            if (computer, aspect) in self._pausing:
                self._pausing[computer, aspect].set()

    async def _follow(self, key: Key) -> None:
        computer, aspect = key
        retry = self._retry.fresh()
        told = 0
        try:
            while self._is_stale(key):
                news = self._news.get(key, 0)
                try:
                    async with self._turns:
                        value = await self._read(computer, aspect)
                except (SMCPError, ConnectionError) as problem:
                    if news != told:  # a retry of the same read that fails again is no event
                        log.info("read failed, retrying: %s aspect=%s computer=%s", problem, aspect, computer)
                        self._tell(key, {"problem": str(problem)})
                        retry.reset()
                    told = news
                    await self._pause(key, retry.slow())
                    continue
                if news == self._news.get(key, news):
                    self._office.see(computer, aspect, value)
                self._tell(key, {aspect: value})
                told = 0
        finally:
            if self._reading.get(key) is asyncio.current_task():
                del self._reading[key]
            self._progressed.set()

    def _is_stale(self, key: Key) -> bool:
        view = self._office.computers.get(key[0])
        return view is not None and key[1] in view.stale

    def _tell(self, key: Key, data: Mapping[str, Any]) -> None:
        if key[0] in self._office.computers:
            self._events.tell(_KINDS[key[1]], key[0], data)

    async def _pause(self, key: Key, seconds: float) -> None:
        """Wait, or until there is news of what is to be read."""
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
        """Wait until nothing is being read; reads that wait to be repeated are not waited for."""
        while self._reading.keys() - self._pausing.keys() or self._listing is not None:
            if self._listing is not None:
                await asyncio.shield(self._listing)
            else:
                self._progressed.clear()
                await self._progressed.wait()

    # Where the Agent sits

    def joined(self, office_id: str) -> Awaitable[None] | None:
        """Find out who is in the office, and what has changed since the Agent was there last."""
        if not self._keeping:
            self._events.tell("joined", data={"office_id": office_id})
            return None
        self._listed()
        self._stop_relisting()
        self._listing = listing = asyncio.get_running_loop().create_future()
        self._moves = {}
        return self._arrive(office_id, listing)

    async def _arrive(self, office_id: str, listing: "asyncio.Future[None]") -> None:
        try:
            await self._list(office_id)
        finally:
            if self._listing is listing:
                self._listed()

    def _listed(self) -> None:
        listing, self._listing = self._listing, None
        if listing is not None and not listing.done():
            listing.set_result(None)

    async def arrived(self) -> None:
        """Wait until it is known who is in the office."""
        if self._listing is not None:
            await asyncio.shield(self._listing)

    async def _list(self, office_id: str) -> None:
        again, self._known = self._known == office_id, office_id
        new: list[str] = []
        gone: list[str] = []
        try:
            new, gone = await self._list_members()
            if not self._office.computers:
                log.info(
                    "office is empty: no Computer is in it yet; check the office name", extra={"office": office_id}
                )
        except (SMCPError, ConnectionError) as problem:
            log.warning("list_room failed, retrying: %s", problem)
            self._relisting = asyncio.get_running_loop().create_task(self._list_again(office_id))
        self._events.tell("joined", data={"office_id": office_id, "computers": list(self._office.computers)})
        self._catch_up(office_id, new if again else [], gone if again else [])

    async def _list_members(self) -> tuple[list[str], list[str]]:
        """Take over who is in the office; return who is new and who has gone."""
        members = await self._members()
        there = [member["name"] for member in members if member.get("role") == "computer" and "name" in member]
        there += [name for name, came in self._moves.items() if came and name not in there]
        return self._office.listed(name for name in there if self._moves.get(name, True))

    async def _list_again(self, office_id: str) -> None:
        retry = self._retry.fresh()
        while True:
            await asyncio.sleep(retry.slow())
            self._moves = {}
            try:
                new, gone = await self._list_members()
            except (SMCPError, ConnectionError) as problem:
                log.info("list_room failed again: %s", problem)
                continue
            self._relisting = None
            self._catch_up(office_id, new, gone)
            return

    def _stop_relisting(self) -> None:
        relisting, self._relisting = self._relisting, None
        if relisting is not None:
            relisting.cancel()

    def _catch_up(self, office_id: str, new: Sequence[str], gone: Sequence[str]) -> None:
        """Report who came and went unheard, and read every view anew."""
        for name in gone:
            self._forget(name)
            self._events.tell("leave_office", name, {"office_id": office_id, "computer": name})
        for name in new:
            self._events.tell("enter_office", name, {"office_id": office_id, "computer": name})
        for name, view in self._office.computers.items():
            self.refresh(name, TOOLS)
            for aspect in (DESKTOP, FINDER):
                if getattr(view, aspect) is not None:
                    self.refresh(name, aspect)

    def moved(self) -> None:
        """The Agent belongs to another office, or to none."""
        self._known = None
        self._stop_relisting()
        self._office.clear()
        self._stop(list(self._reading))
        self._news.clear()

    def _forget(self, computer: str) -> None:
        keys = [(computer, aspect) for aspect in _KINDS]
        self._stop(keys)
        for key in keys:
            self._news.pop(key, None)

    def _stop(self, keys: list[Key]) -> None:
        for key in keys:
            if (task := self._reading.pop(key, None)) is not None:
                task.cancel()
                self._pausing.pop(key, None)
        self._progressed.set()

    async def close(self) -> None:
        """Read nothing more."""
        self._listed()
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
    # One that says nothing says that anything may have changed.
    found["list_changed"] = payload.get("list_changed") is True or not found["uris"]
    return found


def _texts(payload: Mapping[str, Any]) -> dict[str, str]:
    return {key: payload[key] for key in ("office_id", "computer", "agent") if isinstance(payload.get(key), str)}
