"""The registry interface, and the registry in memory."""

import threading
from typing import Any, Protocol

from a2c_smcp.server.call_router import CallRouter
from a2c_smcp.server.offices import Member, OfficeMembers, check_join


class Registry(Protocol):
    """The members of all offices, across all nodes. Of two clients that ask for the same name, one gets it.

    Attributes:
        node: The name of this node.
    """

    node: str

    async def start(self, router: CallRouter) -> None:
        """Start to serve the connections of this node."""

    async def stop(self) -> None:
        """Remove every member of this node and stop."""

    async def add_member(self, member: Member) -> None:
        """Add a member, atomically.

        Raises:
            OfficeFull: The office has an Agent.
            Forbidden: The office has a Computer of that name.
            InternalError: The registry cannot be reached.
        """

    async def remove_member(self, member: Member) -> None:
        """Remove a member; does nothing if another connection has its name by now."""

    async def holder(self, member: Member) -> Member | None:
        """Return the member that has the role or name which `member` asks for.

        Raises:
            InternalError: The registry cannot be reached.
        """

    async def evict(self, holder: Member, *, challenge: bool) -> None:
        """Ask another node to close a member's connection; with a challenge, only if it does not answer a ping."""

    async def wait_released(self) -> None:
        """Wait until every node sees the names of removed members as free."""

    async def members(self, office_id: str) -> list[Member]:
        """Return the members of an office, the Agent first, then Computers by name."""

    async def broadcast(self, office_id: str, event: str, data: Any, skip: str) -> None:
        """Send a notification to the members of an office on other nodes, except the connection `skip`."""

    def remote_member_count(self, office_id: str) -> int:
        """Return how many members of an office are on other nodes."""

    def problem(self) -> str | None:
        """Return why this node is not ready, or None."""


class MemoryRegistry:
    """The registry of a single node."""

    node = ""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offices: dict[str, OfficeMembers] = {}

    async def start(self, router: CallRouter) -> None:
        """Do nothing."""

    async def stop(self) -> None:
        """Do nothing."""

    async def add_member(self, member: Member) -> None:
        """Add a member."""
        with self._lock:
            check_join(self._offices.get(member.office_id), member)
            self._offices.setdefault(member.office_id, OfficeMembers()).add(member)

    async def remove_member(self, member: Member) -> None:
        """Remove a member."""
        with self._lock:
            office = self._offices.get(member.office_id)
            if office is not None and office.remove(member) and not office:
                del self._offices[member.office_id]

    async def holder(self, member: Member) -> Member | None:
        """Return the member that has the role or name which `member` asks for."""
        with self._lock:
            office = self._offices.get(member.office_id)
            return office.holder(member) if office is not None else None

    async def evict(self, holder: Member, *, challenge: bool) -> None:
        """Do nothing: there are no other nodes."""

    async def wait_released(self) -> None:
        """Do nothing: a removed member is gone."""

    async def members(self, office_id: str) -> list[Member]:
        """Return the members of an office."""
        with self._lock:
            office = self._offices.get(office_id, OfficeMembers())
            return [*([office.agent] if office.agent else []), *(office.computers[n] for n in sorted(office.computers))]

    async def broadcast(self, office_id: str, event: str, data: Any, skip: str) -> None:
        """Do nothing: there are no other nodes."""

    def remote_member_count(self, office_id: str) -> int:  # noqa: ARG002
        """Do nothing: there are no other nodes."""
        return 0

    def problem(self) -> str | None:
        """Return None: a single node is always ready."""
        return None
