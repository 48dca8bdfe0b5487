"""Keeping what is known of the office current: each notification is followed by a read, and bursts by few."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from a2c_smcp.agent.events import Events
from a2c_smcp.agent.office import Office
from a2c_smcp.errors import SMCPError
from a2c_smcp.messages import SessionInfo
from a2c_smcp.smcp import (
    ENTER_OFFICE_NOTIFICATION,
    LEAVE_OFFICE_NOTIFICATION,
    UPDATE_CONFIG_NOTIFICATION,
    UPDATE_DESKTOP_NOTIFICATION,
    UPDATE_FINDER_NOTIFICATION,
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

Key = tuple[str, str]
"""A Computer and an aspect of it."""


class Live:
    """Hears notifications, keeps the office, and tells the events.

    Args:
        keeping: Whether the office is kept at all; otherwise notifications are only told.
        members: Lists who is in the office.
        read: Reads an aspect of a Computer.
    """

    def __init__(
        self,
        office: Office,
        events: Events,
        *,
        keeping: bool,
        members: Callable[[], Awaitable[list[SessionInfo]]],
        read: Callable[[str, str], Awaitable[Any]],
    ) -> None:
        self._office = office
        self._events = events
        self._keeping = keeping
        self._members = members
        self._read = read
        self._news: dict[Key, int] = {}
        self._reading: dict[Key, asyncio.Task[None]] = {}
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
        elif event in UPDATES and name is not None:
            kind, aspect = UPDATES[event]
            if self._keeping and name not in self._office.computers:
                self._office.enter(name)  # whoever is heard of is there
            if aspect is None or not self._keeping:
                self._events.tell(kind, name)
            else:
                self.refresh(name, aspect)

    def _move(self, name: str, *, came: bool) -> None:
        if self._listing is not None:
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
        if key not in self._reading:
            self._reading[key] = asyncio.get_running_loop().create_task(self._follow(key))

    def mark(self, computer: str, aspect: str) -> int:
        """What `seen` needs to know of the moment at which a reading began."""
        return self._news.get((computer, aspect), 0)

    def seen(self, computer: str, aspect: str, mark: int, value: Any) -> None:
        """Somebody read an aspect; it is kept unless there have been news since."""
        if self._keeping and self.mark(computer, aspect) == mark:
            self._office.see(computer, aspect, value)

    async def _follow(self, key: Key) -> None:
        computer, aspect = key
        try:
            told = 0
            while told != self._news.get(key, told):
                told = self._news[key]
                data: dict[str, Any] = {}
                try:
                    data[aspect] = await self._read(computer, aspect)
                except (SMCPError, ConnectionError) as problem:
                    log.info("%s of a computer could not be read: %s", aspect, problem)
                    data["problem"] = str(problem)
                if computer not in self._office.computers:
                    return
                if aspect in data:
                    self._office.see(computer, aspect, data[aspect])
                self._events.tell(_KINDS[aspect], computer, data)
        finally:
            if self._reading.get(key) is asyncio.current_task():
                del self._reading[key]

    async def settled(self) -> None:
        """Wait until nothing is being read."""
        while self._reading or self._listing is not None:
            waits: list[asyncio.Future[None]] = list(self._reading.values())
            if self._listing is not None:
                waits.append(self._listing)
            await asyncio.wait(waits)

    # Where the Agent sits

    def joined(self, office_id: str) -> Awaitable[None] | None:
        """Find out who is in the office, and what has changed since the Agent was there last."""
        if not self._keeping:
            self._events.tell("joined", data={"office_id": office_id})
            return None
        self._listed()
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
            members = await self._members()
        except (SMCPError, ConnectionError) as problem:
            log.warning("who is in the office could not be found out: %s", problem)
        else:
            there = [member["name"] for member in members if member.get("role") == "computer" and "name" in member]
            there += [name for name, came in self._moves.items() if came and name not in there]
            new, gone = self._office.listed(name for name in there if self._moves.get(name, True))
        self._events.tell("joined", data={"office_id": office_id, "computers": list(self._office.computers)})
        for name in gone if again else ():
            self._forget(name)
            self._events.tell("leave_office", name, {"office_id": office_id, "computer": name})
        for name in new if again else ():
            self._events.tell("enter_office", name, {"office_id": office_id, "computer": name})
        for name, view in self._office.computers.items():
            self.refresh(name, TOOLS)
            for aspect in (DESKTOP, FINDER):
                if getattr(view, aspect) is not None:
                    self.refresh(name, aspect)

    def moved(self) -> None:
        """The Agent belongs to another office, or to none."""
        self._known = None
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

    async def close(self) -> None:
        """Read nothing more."""
        self._listed()
        tasks = list(self._reading.values())
        self._stop(list(self._reading))
        await asyncio.gather(*tasks, return_exceptions=True)


def _texts(payload: Mapping[str, Any]) -> dict[str, str]:
    return {key: payload[key] for key in ("office_id", "computer", "agent") if isinstance(payload.get(key), str)}
