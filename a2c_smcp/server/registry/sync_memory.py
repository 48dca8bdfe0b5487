# Generated from memory.py by tools/gen_sync.py. Edit the source, not this file.
"""The registry of offices, and the one that lives in this process."""

import threading
from typing import Any, Protocol

from a2c_smcp.server.call_router import CallRouter
from a2c_smcp.server.offices import Member, OfficeMembers, check_join


class SyncRegistry(Protocol):
    """Who sits in which office, across all nodes. Of two that ask for one seat, one gets it.

    Attributes:
        node: The name of this node.
    """

    node: str

    def start(self, router: CallRouter) -> None:
        """Begin to work for the connections of this node."""

    def stop(self) -> None:
        """Give up every seat of this node and end."""

    def add_member(self, member: Member) -> None:
        """Take a seat, atomically.

        Raises:
            OfficeFull: The office has an Agent.
            Forbidden: The office has a Computer of that name.
            InternalError: The registry cannot be reached.
        """

    def remove_member(self, member: Member) -> None:
        """Free a seat; nothing happens if another connection holds it by now."""

    def holder(self, member: Member) -> Member | None:
        """Return who has the seat that `member` asks for.

        Raises:
            InternalError: The registry cannot be reached.
        """

    def evict(self, holder: Member, *, challenge: bool) -> None:
        """Have the other node end the connection of a member; with a challenge, only if it does not answer a ping."""

    def wait_released(self) -> None:
        """Wait until the seats that were released are free for every node."""

    def members(self, office_id: str) -> list[Member]:
        """Everybody in an office, the Agent first, then Computers by name."""

    def broadcast(self, office_id: str, event: str, data: Any, skip: str) -> None:
        """Tell the members of an office on other nodes, the connection `skip` left out."""

    def remote_member_count(self, office_id: str) -> int:
        """How many members of an office are on other nodes."""

    def problem(self) -> str | None:
        """Why this node is not ready to serve, or None."""


class SyncMemoryRegistry:
    """The registry of a single node."""

    node = ""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offices: dict[str, OfficeMembers] = {}

    def start(self, router: CallRouter) -> None:
        """Nothing to begin."""

    def stop(self) -> None:
        """Nothing to end."""

    def add_member(self, member: Member) -> None:
        """Take a seat."""
        with self._lock:
            check_join(self._offices.get(member.office_id), member)
            self._offices.setdefault(member.office_id, OfficeMembers()).add(member)

    def remove_member(self, member: Member) -> None:
        """Free a seat."""
        with self._lock:
            office = self._offices.get(member.office_id)
            if office is not None and office.remove(member) and not office:
                del self._offices[member.office_id]

    def holder(self, member: Member) -> Member | None:
        """Return who has that seat."""
        with self._lock:
            office = self._offices.get(member.office_id)
            return office.holder(member) if office is not None else None

    def evict(self, holder: Member, *, challenge: bool) -> None:
        """There are no other nodes."""

    def wait_released(self) -> None:
        """A seat is free when it is released."""

    def members(self, office_id: str) -> list[Member]:
        """Everybody in an office."""
        with self._lock:
            office = self._offices.get(office_id, OfficeMembers())
            return [*([office.agent] if office.agent else []), *(office.computers[n] for n in sorted(office.computers))]

    def broadcast(self, office_id: str, event: str, data: Any, skip: str) -> None:
        """There are no other nodes."""

    def remote_member_count(self, office_id: str) -> int:  # noqa: ARG002
        """There are no other nodes."""
        return 0

    def problem(self) -> str | None:
        """A single node is always ready."""
        return None
