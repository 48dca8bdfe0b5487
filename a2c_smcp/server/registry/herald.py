"""Tells the members of this node what happens on the others."""

import logging
from functools import partial

import msgspec
import orjson

from a2c_smcp.server.registry.directory import Directory
from a2c_smcp.server.registry.frames import (
    Absent,
    Alive,
    Answer,
    Ask,
    Failure,
    Oust,
    Seated,
    Tell,
    pack_frame,
    unpack_frame,
)
from a2c_smcp.server.registry.scripts import unpack
from a2c_smcp.server.registry.trunk import Bus, Trunk
from a2c_smcp.server.rooms import Seat, taken
from a2c_smcp.server.switchboard import Switchboard
from a2c_smcp.smcp import ENTER_OFFICE_NOTIFICATION, LEAVE_OFFICE_NOTIFICATION

log = logging.getLogger(__name__)


class Herald:
    """Hears the channel of this node."""

    def __init__(self, board: Switchboard, directory: Directory, trunk: Trunk, bus: Bus) -> None:
        self._bus = bus
        self._board = board
        self._directory = directory
        self._trunk = trunk

    def hear(self, message: bytes) -> None:
        """Another node, or Redis for it, has something to tell."""
        try:
            head, body = unpack_frame(message)
        except msgspec.MsgspecError:
            log.error("a message of another node cannot be read; is it of another release?")
            return
        if isinstance(head, Ask | Answer | Failure | Absent):
            self._trunk.take(head, body)
        elif isinstance(head, Tell):
            self._board.broadcast(head.office_id, head.event, orjson.loads(body), head.skip)
        elif isinstance(head, Seated):
            changes = self._directory.enter(unpack(head.office_id, head.field, head.value))
            for seat in changes.gone:
                self.left(seat)
            for seat in changes.entered if head.announced else ():
                self.entered(seat)
        elif isinstance(head, Oust):
            self._board.oust(head.sid, head.office_id, partial(self._answered, head) if head.challenge else None)
        elif isinstance(head, Alive):
            self._board.challenged[head.sid] = True
        else:
            seat = unpack(head.office_id, head.field, head.value)
            self._trunk.lost(seat)
            if self._directory.leave(seat):
                self.left(seat)

    def _answered(self, oust: Oust) -> None:
        self._bus.publish(oust.node, pack_frame(Alive(oust.sid)), lambda _: None)

    def entered(self, seat: Seat) -> None:
        """A member of another node is there."""
        self._board.broadcast(seat.office_id, ENTER_OFFICE_NOTIFICATION, seat.notification(), seat.sid)

    def left(self, seat: Seat) -> None:
        """A member of another node is gone; what it was to answer fails."""
        self._trunk.lost(seat)
        self._board.broadcast(seat.office_id, LEAVE_OFFICE_NOTIFICATION, seat.notification(), seat.sid)

    def awaited(self) -> set[str]:
        """The nodes that are to answer something."""
        return self._trunk.awaited()

    def retry(self) -> None:
        """Requests that wait for a node to come back may be tried again."""
        self._trunk.retry()

    def silent(self, node: str) -> None:
        """A node that is to answer does not listen any more."""
        self._trunk.silent(node)

    def ousted(self, seat: Seat) -> None:
        """Hang up on a member whose seat somebody else has by now: it comes back and hears the reason."""
        log.warning("a member lost its seat to another node while Redis was away", extra={"sid": seat.sid})
        self._board.port.hang_up(seat.sid, taken(seat), come_back=True)
