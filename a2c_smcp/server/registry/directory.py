"""What a node of a cluster knows of its offices: its own members, and those of the other nodes. Pure.

An office is known as long as this node has a member in it; just as long Redis tells the node of every change. So
what stands here is true but for what is still on its way, and a request to another node costs no look-up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from a2c_smcp.server.rooms import Office, Seat


class Held(NamedTuple):
    """A seat of this node, and the stamp of the command that took it."""

    seat: Seat
    stamp: int


class Changes(NamedTuple):
    """What a new listing of an office says against what was known.

    Attributes:
        doubtful: Members that the listing lacks; they are kept until a final one lacks them too.
    """

    entered: list[Seat]
    gone: list[Seat]
    doubtful: list[Seat]


@dataclass(slots=True)
class Room:
    """One office."""

    mine: dict[str, Held] = field(default_factory=dict)
    others: Office = field(default_factory=Office)
    nodes: dict[str, int] = field(default_factory=dict)

    def add(self, seat: Seat) -> None:
        """Seat a member of another node."""
        self.others.add(seat)
        self.nodes[seat.node] = self.nodes.get(seat.node, 0) + 1

    def remove(self, seat: Seat) -> bool:
        """Free the seat of a member of another node, if it holds it."""
        if not self.others.remove(seat):
            return False
        left = self.nodes[seat.node] - 1
        if left:
            self.nodes[seat.node] = left
        else:
            del self.nodes[seat.node]
        return True


class Directory:
    """The offices in which a node has members.

    Args:
        node: Its name.
    """

    def __init__(self, node: str) -> None:
        self.node = node
        self.size = 0
        self._rooms: dict[str, Room] = {}

    # Members of this node

    def take(self, seat: Seat, stamp: int) -> None:
        """This node has a member there."""
        mine = self._rooms.setdefault(seat.office_id, Room()).mine
        self.size += seat.sid not in mine
        mine[seat.sid] = Held(seat, stamp)

    def give_up(self, seat: Seat) -> Held | None:
        """It has it no more; an office without members of this node is forgotten."""
        room = self._rooms.get(seat.office_id)
        held = room.mine.pop(seat.sid, None) if room is not None else None
        if room is None or held is None:
            return None
        self.size -= 1
        if not room.mine:
            del self._rooms[seat.office_id]
        return held

    def mine(self) -> Iterator[Held]:
        """Every seat of this node."""
        for room in self._rooms.values():
            yield from room.mine.values()

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

    def find(self, office_id: str, computer: str) -> Seat | None:
        """The Computer of that name in that office, if another node has it."""
        room = self._rooms.get(office_id)
        return room.others.computers.get(computer) if room is not None else None

    def others(self, office_id: str) -> Office:
        """The members of an office on other nodes."""
        room = self._rooms.get(office_id)
        return room.others if room is not None else Office()

    def nodes(self, office_id: str) -> list[str]:
        """The other nodes with members in an office."""
        room = self._rooms.get(office_id)
        return list(room.nodes) if room is not None else []

    def reach(self, office_id: str) -> int:
        """How many members of an office the other nodes have."""
        room = self._rooms.get(office_id)
        return sum(room.nodes.values()) if room is not None else 0

    def enter(self, seat: Seat) -> Changes:
        """A member of another node took a seat; whoever was known to sit there is gone."""
        room = self._rooms.get(seat.office_id)
        if room is None or seat.node == self.node:
            return Changes([], [], [])
        holder = room.others.holder(seat)
        if holder is not None and holder.sid == seat.sid:
            return Changes([], [], [])
        gone = [holder] if holder is not None and room.remove(holder) else []
        room.add(seat)
        return Changes([seat], gone, [])

    def leave(self, seat: Seat) -> bool:
        """A member of another node left; False if it was not known."""
        room = self._rooms.get(seat.office_id)
        return room is not None and room.remove(seat)

    def compare(self, office_id: str, seats: Iterable[Seat], *, final: bool) -> Changes:
        """Compare with what Redis has; only a final listing makes members vanish that it lacks."""
        changes = Changes([], [], [])
        present = set()
        for seat in seats:
            present.add((seat.role, seat.name, seat.sid))
            one = self.enter(seat)
            changes.entered.extend(one.entered)
            changes.gone.extend(one.gone)
        room = self._rooms.get(office_id)
        missing = [s for s in room.others if (s.role, s.name, s.sid) not in present] if room is not None else []
        for seat in missing:
            if final:
                self.leave(seat)
            (changes.gone if final else changes.doubtful).append(seat)
        return changes
