"""The members of offices that a node of a cluster knows: its own, and those of other nodes. Pure.

A node tracks an office while it has a member there. During that time Redis sends it every change, so the directory is
current except for messages in transit, and a request to another node needs no lookup.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from a2c_smcp.server.offices import Member, OfficeMembers


class OwnedMember(NamedTuple):
    """A member of this node, and the stamp of the command that added it."""

    member: Member
    stamp: int


class MembershipChanges(NamedTuple):
    """The differences between a new listing of an office and the directory.

    Attributes:
        unconfirmed: Members that the listing lacks; they are kept until a final listing lacks them too.
    """

    entered: list[Member]
    gone: list[Member]
    unconfirmed: list[Member]


@dataclass(slots=True)
class OfficeRecord:
    """The members of one office."""

    own: dict[str, OwnedMember] = field(default_factory=dict)
    others: OfficeMembers = field(default_factory=OfficeMembers)
    nodes: dict[str, int] = field(default_factory=dict)

    def add(self, member: Member) -> None:
        """Add a member of another node."""
        self.others.add(member)
        self.nodes[member.node] = self.nodes.get(member.node, 0) + 1

    def remove(self, member: Member) -> bool:
        """Remove a member of another node; return whether it was there."""
        if not self.others.remove(member):
            return False
        left = self.nodes[member.node] - 1
        if left:
            self.nodes[member.node] = left
        else:
            del self.nodes[member.node]
        return True


class OfficeDirectory:
    """The offices with members of this node.

    Args:
        node: The name of this node.
    """

    def __init__(self, node: str) -> None:
        self.node = node
        self.size = 0
        self._rooms: dict[str, OfficeRecord] = {}

    # Members of this node

    def take(self, member: Member, stamp: int) -> None:
        """Add a member of this node."""
        own = self._rooms.setdefault(member.office_id, OfficeRecord()).own
        self.size += member.sid not in own
        own[member.sid] = OwnedMember(member, stamp)

    def remove_own(self, member: Member) -> OwnedMember | None:
        """Remove a member of this node; an office without own members is no longer tracked."""
        room = self._rooms.get(member.office_id)
        owned = room.own.pop(member.sid, None) if room is not None else None
        if room is None or owned is None:
            return None
        self.size -= 1
        if not room.own:
            del self._rooms[member.office_id]
        return owned

    def own(self) -> Iterator[OwnedMember]:
        """Yield every member of this node."""
        for room in self._rooms.values():
            yield from room.own.values()

    def offices(self) -> list[str]:
        """Return every office with members of this node."""
        return list(self._rooms)

    def __contains__(self, office_id: str) -> bool:
        return office_id in self._rooms

    def clear(self) -> None:
        """Remove everything."""
        self._rooms.clear()
        self.size = 0

    # Members of other nodes

    def find(self, office_id: str, computer: str) -> Member | None:
        """Return the Computer of that name if another node has it."""
        room = self._rooms.get(office_id)
        return room.others.computers.get(computer) if room is not None else None

    def others(self, office_id: str) -> OfficeMembers:
        """Return the members of an office on other nodes."""
        room = self._rooms.get(office_id)
        return room.others if room is not None else OfficeMembers()

    def nodes(self, office_id: str) -> list[str]:
        """Return the other nodes with members in an office."""
        room = self._rooms.get(office_id)
        return list(room.nodes) if room is not None else []

    def remote_member_count(self, office_id: str) -> int:
        """Return how many members of an office are on other nodes."""
        room = self._rooms.get(office_id)
        return sum(room.nodes.values()) if room is not None else 0

    def enter(self, member: Member) -> MembershipChanges:
        """Add a member of another node, in place of any that has its role or name."""
        room = self._rooms.get(member.office_id)
        if room is None or member.node == self.node:
            return MembershipChanges([], [], [])
        holder = room.others.holder(member)
        if holder is not None and holder.sid == member.sid:
            return MembershipChanges([], [], [])
        gone = [holder] if holder is not None and room.remove(holder) else []
        room.add(member)
        return MembershipChanges([member], gone, [])

    def leave(self, member: Member) -> bool:
        """Remove a member of another node; return whether it was known."""
        room = self._rooms.get(member.office_id)
        return room is not None and room.remove(member)

    def compare(self, office_id: str, members: Iterable[Member], *, final: bool) -> MembershipChanges:
        """Update an office from a listing of Redis; only a final listing removes members that it lacks."""
        changes = MembershipChanges([], [], [])
        present = set()
        for member in members:
            present.add((member.role, member.name, member.sid))
            one = self.enter(member)
            changes.entered.extend(one.entered)
            changes.gone.extend(one.gone)
        room = self._rooms.get(office_id)
        missing = [s for s in room.others if (s.role, s.name, s.sid) not in present] if room is not None else []
        for member in missing:
            if final:
                self.leave(member)
            (changes.gone if final else changes.unconfirmed).append(member)
        return changes
