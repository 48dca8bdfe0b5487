"""What a node of a cluster knows of its offices: its own members, and those of the other nodes. Pure.

An office is known as long as this node has a member in it; just as long Redis tells the node of every change. So
what stands here is true but for what is still on its way, and a request to another node costs no look-up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from a2c_smcp.server.offices import Member, OfficeMembers


class OwnedMember(NamedTuple):
    """A seat of this node, and the stamp of the command that took it."""

    member: Member
    stamp: int


class MembershipChanges(NamedTuple):
    """What a new listing of an office says against what was known.

    Attributes:
        doubtful: Members that the listing lacks; they are kept until a final one lacks them too.
    """

    entered: list[Member]
    gone: list[Member]
    unconfirmed: list[Member]


@dataclass(slots=True)
class OfficeRecord:
    """One office."""

    own: dict[str, OwnedMember] = field(default_factory=dict)
    others: OfficeMembers = field(default_factory=OfficeMembers)
    nodes: dict[str, int] = field(default_factory=dict)

    def add(self, member: Member) -> None:
        """Seat a member of another node."""
        self.others.add(member)
        self.nodes[member.node] = self.nodes.get(member.node, 0) + 1

    def remove(self, member: Member) -> bool:
        """Free the seat of a member of another node, if it holds it."""
        if not self.others.remove(member):
            return False
        left = self.nodes[member.node] - 1
        if left:
            self.nodes[member.node] = left
        else:
            del self.nodes[member.node]
        return True


class OfficeDirectory:
    """The offices in which a node has members.

    Args:
        node: Its name.
    """

    def __init__(self, node: str) -> None:
        self.node = node
        self.size = 0
        self._rooms: dict[str, OfficeRecord] = {}

    # Members of this node

    def take(self, member: Member, stamp: int) -> None:
        """This node has a member there."""
        own = self._rooms.setdefault(member.office_id, OfficeRecord()).own
        self.size += member.sid not in own
        own[member.sid] = OwnedMember(member, stamp)

    def remove_own(self, member: Member) -> OwnedMember | None:
        """It has it no more; an office without members of this node is forgotten."""
        room = self._rooms.get(member.office_id)
        owned = room.own.pop(member.sid, None) if room is not None else None
        if room is None or owned is None:
            return None
        self.size -= 1
        if not room.own:
            del self._rooms[member.office_id]
        return owned

    def own(self) -> Iterator[OwnedMember]:
        """Every seat of this node."""
        for room in self._rooms.values():
            yield from room.own.values()

    def offices(self) -> list[str]:
        """Every office with members of this node."""
        return list(self._rooms)

    def __contains__(self, office_id: str) -> bool:
        return office_id in self._rooms

    def clear(self) -> None:
        """Forget everything."""
        self._rooms.clear()
        self.size = 0

    # Members of other nodes

    def find(self, office_id: str, computer: str) -> Member | None:
        """The Computer of that name in that office, if another node has it."""
        room = self._rooms.get(office_id)
        return room.others.computers.get(computer) if room is not None else None

    def others(self, office_id: str) -> OfficeMembers:
        """The members of an office on other nodes."""
        room = self._rooms.get(office_id)
        return room.others if room is not None else OfficeMembers()

    def nodes(self, office_id: str) -> list[str]:
        """The other nodes with members in an office."""
        room = self._rooms.get(office_id)
        return list(room.nodes) if room is not None else []

    def remote_member_count(self, office_id: str) -> int:
        """How many members of an office the other nodes have."""
        room = self._rooms.get(office_id)
        return sum(room.nodes.values()) if room is not None else 0

    def enter(self, member: Member) -> MembershipChanges:
        """A member of another node took a seat; whoever was known to sit there is gone."""
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
        """A member of another node left; False if it was not known."""
        room = self._rooms.get(member.office_id)
        return room is not None and room.remove(member)

    def compare(self, office_id: str, members: Iterable[Member], *, final: bool) -> MembershipChanges:
        """Compare with what Redis has; only a final listing makes members vanish that it lacks."""
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
