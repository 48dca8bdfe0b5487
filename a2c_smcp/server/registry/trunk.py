"""Requests between the nodes of a cluster: those that go out from here, and those that come in.

Like the switchboard, plain synchronous code: it is told what happened and tells its `Bus` what to send.

While Redis is away, a request uses the time that it has: one that was not sent is sent when Redis is back, one that may
have been sent waits for its answer, which the other node keeps meanwhile. It is never sent twice: it may have run.
"""

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Protocol

import msgspec
import orjson

from a2c_smcp.errors import BadRequest, ComputerLost, InternalError, SMCPError
from a2c_smcp.server.calls import Answer as Arguments
from a2c_smcp.server.calls import Call
from a2c_smcp.server.engine import SMCPServer
from a2c_smcp.server.payload import Payload, Raw
from a2c_smcp.server.registry.directory import Directory
from a2c_smcp.server.registry.frames import Absent, Answer, Ask, Failure, Frame, pack_error, pack_frame, unpack_error
from a2c_smcp.server.registry.link import NotSent
from a2c_smcp.server.rooms import Seat, no_such_computer
from a2c_smcp.server.switchboard import Switchboard

TRIES: Final = 3
"""How often a request is sent to where Redis says that the Computer is."""

GRACE: Final = 1.0
"""Seconds that the other node waits longer, so that the caller's own time-out comes first."""

KEPT_BYTES: Final = 32_000_000
"""What is kept of answers that could not be sent, in all; of the others the caller hears that they are lost."""


class Bus(Protocol):
    """How the trunk reaches other nodes. Nothing here waits."""

    def publish(self, node: str, frame: bytes, then: Callable[[Any], None]) -> None:
        """Send a frame; `then` is told how many listen there, or an exception."""

    def look_up(self, office_id: str, computer: str, then: Callable[[Seat | Exception | None], None]) -> None:
        """Ask Redis where a Computer is."""

    def is_settled(self) -> bool:
        """Whether what Redis says is complete: not while nodes come back to a Redis that was away."""


class Trip:
    """A call on its way to another node."""

    __slots__ = ("body", "call", "node", "number", "office_id", "sid", "tries")

    def __init__(self, call: Call, number: int, office_id: str, body: bytes) -> None:
        self.call = call
        self.number = number
        self.office_id = office_id
        self.body = body
        self.node = ""
        self.sid = ""
        self.tries = 0


class Trunk:
    """The calls between this node and the others."""

    def __init__(self, board: Switchboard, directory: Directory, bus: Bus) -> None:
        self._board = board
        self._directory = directory
        self._bus = bus
        self._numbers = itertools.count(1)
        self._trips: dict[int, Trip] = {}
        self._by_seat: dict[tuple[str, str], set[int]] = {}
        self._parked: dict[int, Trip] = {}
        self._kept: list[tuple[str, bytes]] = []
        self._kept_bytes = 0
        self._takes_text = isinstance(board.port, SMCPServer)

    # Out

    def route(self, call: Call, office_id: str, payload: Payload) -> None:
        """Take over a call to a Computer that this node does not have."""
        try:
            body = body_of(payload)
        except BadRequest as error:
            self._board.fail(call, error)
            return
        number = call.ack = next(self._numbers)
        trip = self._trips[number] = Trip(call, number, office_id, body)
        self._begin(trip)

    def _begin(self, trip: Trip) -> None:
        target = self._directory.find(trip.office_id, trip.call.head.computer)
        if target is not None:
            self._send(trip, target)
        else:
            self._look_up(trip)

    def forget(self, ack: int) -> None:
        """A call is over."""
        trip = self._trips.pop(ack, None)
        if trip is not None:
            self._parked.pop(ack, None)
            self._unbind(trip)

    def lost(self, seat: Seat) -> None:
        """A Computer of another node left its office: what it was to answer there fails."""
        for number in list(self._by_seat.get((seat.office_id, seat.sid), ())):
            call = self._trips[number].call
            self._board.fail(call, gone(call.head.computer, "left before it answered"))

    def awaited(self) -> set[str]:
        """The nodes that are to answer something."""
        return {trip.node for trip in self._trips.values() if trip.node}

    def silent(self, node: str) -> None:
        """A node is no longer there: what its Computers were to answer fails. It is not sent again: it may have run."""
        for trip in [trip for trip in self._trips.values() if trip.node == node]:
            self._board.fail(trip.call, gone(trip.call.head.computer, "left before it answered"))

    def abandon(self, error: SMCPError) -> None:
        """This node ends: everything under way fails."""
        for trip in list(self._trips.values()):
            self._board.fail(trip.call, error)

    def resume(self) -> None:
        """The other nodes are in reach again: send the answers and the requests that could not be sent."""
        kept, self._kept, self._kept_bytes = self._kept, [], 0
        for node, frame in kept:
            self._bus.publish(node, frame, lambda _: None)
        self.retry()

    def retry(self) -> None:
        """Send the requests that wait for their node to come back."""
        parked, self._parked = self._parked, {}
        for trip in parked.values():
            trip.tries = 0
            self._begin(trip)

    def _park(self, trip: Trip) -> None:
        self._unbind(trip)
        trip.node = ""
        trip.call.late = unreachable()  # what the caller hears should its time be over first
        self._parked[trip.number] = trip

    def _send(self, trip: Trip, target: Seat) -> None:
        trip.tries += 1
        trip.node = target.node
        trip.sid = target.sid
        self._by_seat.setdefault((trip.office_id, target.sid), set()).add(trip.number)
        seconds = max(0.0, trip.call.deadline - self._board.clock()) + GRACE
        head = Ask(trip.number, self._directory.node, target.sid, trip.office_id, trip.call.event, seconds)
        self._bus.publish(target.node, pack_frame(head, trip.body), lambda heard: self._sent(trip, heard))

    def _sent(self, trip: Trip, heard: int | Exception) -> None:
        if trip.number not in self._trips:
            return
        if isinstance(heard, NotSent):
            self._park(trip)
        elif isinstance(heard, ConnectionError):
            trip.call.late = unreachable()  # it may be there: its answer is worth waiting for
        elif isinstance(heard, Exception):
            self._board.fail(trip.call, unreachable())
        elif heard == 0:
            self._astray(trip)
        else:
            trip.call.late = None

    def _astray(self, trip: Trip) -> None:
        # Nobody was there. What Redis says now is worth another try: the Computer may have come back elsewhere.
        self._unbind(trip)
        if trip.tries < TRIES:
            self._look_up(trip)
        elif not self._bus.is_settled():
            self._park(trip)
        else:
            self._board.fail(trip.call, gone(trip.call.head.computer, "cannot be reached"))

    def _look_up(self, trip: Trip) -> None:
        self._bus.look_up(trip.office_id, trip.call.head.computer, lambda found: self._found(trip, found))

    def _found(self, trip: Trip, found: Seat | Exception | None) -> None:
        if trip.number not in self._trips:
            return
        if isinstance(found, ConnectionError):
            self._park(trip)
        elif isinstance(found, Exception):
            self._board.fail(trip.call, unreachable())
        elif found is None and not self._bus.is_settled():
            self._park(trip)
        elif found is None or found.node == self._directory.node:
            self._board.fail(trip.call, no_such_computer(trip.call.head.computer))
        else:
            self._send(trip, found)

    def _unbind(self, trip: Trip) -> None:
        key = trip.office_id, trip.sid
        numbers = self._by_seat.get(key)
        if numbers is not None:
            numbers.discard(trip.number)
            if not numbers:
                del self._by_seat[key]

    # In

    def take(self, head: Ask | Answer | Failure | Absent, body: bytes) -> None:
        """Another node asks or answers."""
        if type(head) is Ask:
            self._serve(head, body)
            return
        trip = self._trips.get(head.number)
        if trip is None:
            return  # too late
        if type(head) is Answer:
            self._board.settle(trip.call, Raw(body.decode()))
        elif type(head) is Failure:
            self._board.fail(trip.call, unpack_error(body))
        else:
            self._astray(trip)

    def _serve(self, ask: Ask, body: bytes) -> None:
        raw = self._takes_text and _is_plain(ask.event)
        payload: Payload = Raw(body.decode()) if raw else orjson.loads(body)
        there = self._board.serve(
            ask.sid,
            ask.office_id,
            ask.event,
            payload,
            seconds=ask.seconds,
            reply=lambda arguments: self._answer(ask, arguments),
            refuse=lambda error: self._return(ask, Failure(ask.number), pack_error(error)),
        )
        if not there:
            self._return(ask, Absent(ask.number))

    def _answer(self, ask: Ask, arguments: Arguments) -> None:
        try:
            body = body_of(arguments) if isinstance(arguments, Raw) else body_of(list(arguments))[1:-1]
        except BadRequest as error:
            self._return(ask, Failure(ask.number), pack_error(error))
        else:
            self._return(ask, Answer(ask.number), body)

    def _return(self, ask: Ask, head: Frame, body: bytes = b"") -> None:
        frame = pack_frame(head, body)

        def sent(heard: int | Exception) -> None:
            if isinstance(heard, Exception):
                self._keep(ask, frame)

        self._bus.publish(ask.node, frame, sent)

    def _keep(self, ask: Ask, frame: bytes) -> None:
        if self._kept_bytes + len(frame) > KEPT_BYTES:
            frame = pack_frame(Failure(ask.number), pack_error(InternalError("The reply was lost between two nodes")))
        self._kept_bytes += len(frame)
        self._kept.append((ask.node, frame))


@lru_cache(maxsize=256)
def _is_plain(event: str) -> bool:
    # Text is passed through only behind a name that reads the same in JSON.
    return msgspec.json.encode(event) == b'"%b"' % event.encode()


def body_of(payload: Payload) -> bytes:
    """A payload as it travels between nodes.

    Raises:
        BadRequest: It has parts that JSON cannot carry.
    """
    try:
        if type(payload) is Raw:
            return payload.text.encode()
        return orjson.dumps(payload, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, UnicodeError):
        raise BadRequest("Binary parts cannot pass between the nodes of a cluster; send them as base64 text") from None


def gone(computer: str, how: str) -> ComputerLost:
    """The answer to a request whose Computer got lost."""
    return ComputerLost(f"The computer {computer!r} {how}", details={"computer": computer})


def unreachable() -> InternalError:
    """The answer to whatever needs the registry while it is away."""
    return InternalError("The registry cannot be reached; try again")
