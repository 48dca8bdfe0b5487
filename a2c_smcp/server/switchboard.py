"""Requests on their way from Agents to Computers and back.

The switchboard is plain synchronous code that the async and the blocking server share: it is told what happened
(a request, an ack, a lost connection, the time) and tells its `Port` what to send. It opens no socket, starts no
task and reads no clock of its own. A blocking server calls it under its lock.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from msgspec.structs import replace

from a2c_smcp.common.callbacks import call_guarded
from a2c_smcp.common.durations import seconds_text
from a2c_smcp.errors import (
    BadRequest,
    ComputerLost,
    InternalError,
    RateLimited,
    RequestTimeout,
    SMCPError,
    Unauthorized,
)
from a2c_smcp.server.calls import Answer, Call, Connection, Deadlines, Refuse, Reply
from a2c_smcp.server.labels import event_name
from a2c_smcp.server.limits import Bucket, Limits, exceeded
from a2c_smcp.server.observer import Observer, guarded
from a2c_smcp.server.payload import Head, Payload, Raw, failure_of, head_of, req_id_of, size_of, with_name
from a2c_smcp.server.rooms import (
    Identity,
    Office,
    Seat,
    as_role,
    audience,
    no_such_computer,
    seated,
    silent,
    taken_over,
)
from a2c_smcp.smcp import error_ack

log = logging.getLogger(__name__)


CHALLENGE_SECONDS: Final = 3.0
"""How long a client may take to answer a ping while another asks for its name."""


class Port(Protocol):
    """How the switchboard reaches connections. Nothing here waits."""

    def request(self, sid: str, event: str, payload: Payload, answered: Reply) -> int:
        """Send an event that wants an ack; `answered` is called with it, at most once.

        Returns the number of the ack, for `forget`.

        Raises:
            RateLimited: So much waits for that connection already that more could end it.
        """

    def forget(self, sid: str, ack: int) -> None:
        """An ack is no longer waited for."""

    def notify(self, sids: Iterable[str], event: str, data: Any) -> None:
        """Send an event to connections of this node."""

    def hang_up(self, sid: str, error: SMCPError, *, come_back: bool) -> None:
        """Say why, and end a connection.

        Args:
            come_back: Whether a client that follows the rules of Socket.IO connects again by itself.
        """

    def challenge(self, sid: str, done: Callable[[bool], None]) -> None:
        """Ping a client; `done` is told, once, whether it answered within `CHALLENGE_SECONDS`."""


class Elsewhere(Protocol):
    """The other nodes of a cluster."""

    def route(self, call: Call, office_id: str, payload: Payload) -> None:
        """Take over a call to a Computer of that office that this node does not have.

        It ends, now or later, with `Switchboard.settle` or `Switchboard.fail`. One that is not yet over when this
        returns has `call.ack` set, for `forget`.
        """

    def forget(self, ack: int) -> None:
        """A call that was taken over is over."""


class Lease(Protocol):
    """How long this node may serve its Agents."""

    def is_over(self) -> bool:
        """Whether another node may have the seats of this one by now."""


class Switchboard:
    """The connections of this node, their seats, and the calls under way."""

    def __init__(self, port: Port, limits: Limits, observer: Observer, clock: Callable[[], float]) -> None:
        self.port = port
        self.limits = limits
        self.observer = guarded(observer)
        self.clock = clock
        self.elsewhere: Elsewhere | None = None
        self.lease: Lease | None = None
        self.connections: dict[str, Connection] = {}
        self.offices: dict[str, Office] = {}
        self.addresses: dict[str, int] = {}
        self.expiring: dict[str, Connection] = {}
        self.in_flight = 0
        self.challenged: dict[str, bool | None] = {}
        self._office_buckets: dict[str, Bucket] = {}
        self._deadlines = Deadlines()

    # Connections and seats

    def connect(self, sid: str, identity: Identity, *, address: str, version: str | None) -> Connection:
        """Take a new connection.

        Raises:
            RateLimited: Its address has too many.
        """
        number = self.addresses.get(address, 0)
        if self.limits.connections_per_address and number >= self.limits.connections_per_address:
            raise exceeded("connections per address", self.limits.connections_per_address)
        self.addresses[address] = number + 1
        connection = Connection(sid, identity, self.limits, self.clock(), address=address, version=version)
        self.connections[sid] = connection
        if identity.expires is not None:
            self.expiring[sid] = connection
        self.observer.connections(len(self.connections))
        return connection

    def disconnect(self, sid: str) -> Connection | None:
        """Forget a connection: what it serves fails at once, what it asked for is nobody's any more."""
        connection = self.connections.pop(sid, None)
        if connection is None:
            return None
        self.expiring.pop(sid, None)
        left = self.addresses[connection.address] - 1
        if left:
            self.addresses[connection.address] = left
        else:
            del self.addresses[connection.address]
        for call in list(connection.asked or ()):
            self._finish(call, "gone")
        self.lose(connection)
        self.observer.connections(len(self.connections))
        return connection

    def lose(self, connection: Connection) -> None:
        """Fail every call that the connection was to answer."""
        for call in list(connection.serving or ()):
            self.fail(
                call,
                ComputerLost(
                    f"The computer {call.head.computer!r} left before it answered",
                    details={"computer": call.head.computer},
                ),
            )

    def sit(self, connection: Connection, seat: Seat) -> bool:
        """Record the seat of a connection; False, and nothing is recorded, if the connection is gone."""
        if self.connections.get(connection.sid) is not connection or connection.ended is not None:
            return False
        self.offices.setdefault(seat.office_id, Office()).add(seat)
        connection.seat = seat
        self.observer.offices(len(self.offices))
        return True

    def stand_up(self, connection: Connection) -> Seat | None:
        """Free the seat of a connection; calls that it was to answer fail."""
        seat, connection.seat = connection.seat, None
        if seat is None:
            return None
        self.lose(connection)
        office = self.offices.get(seat.office_id)
        if office is not None and office.remove(seat) and not office:
            del self.offices[seat.office_id]
            self._office_buckets.pop(seat.office_id, None)
        self.observer.offices(len(self.offices))
        return seat

    def oust(self, sid: str, office_id: str, answered: Callable[[], None] | None = None) -> None:
        """End the connection of a member whose seat is asked for.

        Args:
            answered: Makes it a challenge: the connection is pinged first, and if it answers, this is called and
                nothing else happens.
        """
        connection = self.connections.get(sid)
        if connection is None or connection.seat is None or connection.seat.office_id != office_id:
            return

        def done(alive: bool) -> None:  # noqa: FBT001
            if alive and answered is not None:
                answered()
            elif not alive:
                self._end(connection, silent(), come_back=True)

        if answered is not None:
            self.port.challenge(sid, done)
        else:
            self._end(connection, taken_over(), come_back=False)

    def _end(self, connection: Connection, error: SMCPError, *, come_back: bool) -> None:
        if connection.ended is None:
            connection.ended = error
            self.port.hang_up(connection.sid, error, come_back=come_back)

    def broadcast(self, office_id: str, event: str, data: Any, skip: str) -> None:
        """Tell the members on this node whom it concerns, the sender left out."""
        if (office := self.offices.get(office_id)) is not None:
            self.port.notify(audience(office, event, data, skip), event, data)

    # Requests

    def admit(self, connection: Connection, now: float, *, limited: bool = True) -> None:
        """Count a request against the limits of its connection and its office.

        Args:
            limited: Whether it is refused when a limit is exceeded, or only counted.

        Raises:
            Unauthorized: The credentials have expired.
            RateLimited: A limit is exceeded.
            InternalError: Another node may serve another Agent of the office by now.
            SMCPError: The connection is being closed.
        """
        if connection.ended is not None:
            raise connection.ended
        if self.lease is not None and (seat := connection.seat) is not None and seat.role == "agent":
            self._check_lease(self.lease)
        expires = connection.identity.expires
        if expires is not None and self.observer.wall_clock() >= expires:
            raise expired()
        if not connection.requests.take(now) and limited:
            raise exceeded("requests per second per connection", self.limits.requests_per_second)
        seat = connection.seat
        if seat is not None:
            self._charge(seat.office_id, now, 1, limited=limited)

    def charge(self, seat: Seat, now: float, elsewhere: int, *, limited: bool) -> None:
        """Count a notification for each member that gets it, those on other nodes included.

        Raises:
            RateLimited: The limit of the office is exceeded.
        """
        office = self.offices.get(seat.office_id)
        members = len(office.computers) + (office.agent is not None) if office is not None else 0
        if members + elsewhere > 2:  # the sender gets none, and the request itself has been counted
            self._charge(seat.office_id, now, members + elsewhere - 2, limited=limited)

    def _charge(self, office_id: str, now: float, cost: int, *, limited: bool) -> None:
        rate = self.limits.office_requests_per_second
        if not rate:
            return
        bucket = self._office_buckets.get(office_id)
        if bucket is None:
            bucket = self._office_buckets[office_id] = Bucket(rate, 2 * rate, now)
        if not bucket.take(now, cost) and limited:
            raise exceeded("requests per second per office", rate)

    def _check_lease(self, lease: Lease) -> None:
        if lease.is_over():
            raise lease_over()

    def dismiss_agents(self) -> int:
        """Disconnect every Agent of this node, because its seat may be somebody else's; return how many."""
        agents = [one for one in self.connections.values() if one.seat is not None and one.seat.role == "agent"]
        for connection in agents:
            self.port.hang_up(connection.sid, lease_over(), come_back=True)
        return len(agents)

    def route(self, sid: str, event: str, payload: Payload, reply: Reply) -> None:
        """Pass an Agent's request on; `reply` is called once, now or later, with the ack."""
        connection = self.connections.get(sid)
        if connection is None:
            return
        started = self.clock()
        try:
            call = self._accept(connection, event, payload, reply, started)
        except SMCPError as error:
            self.observer.refused(event, error, connection, req_id := req_id_of(payload))
            reply((error_ack(event, error, req_id),))
            return
        seat = seated(connection.seat)
        try:
            if call.head.agent != seat.name:
                self.misnamed(connection, event, call.head.agent)
                call.head = replace(call.head, agent=seat.name)
                payload = with_name(payload, seat.role, seat.name)
            self._forward(call, seat.office_id, payload)
        except Exception:
            log.exception("forwarding %s failed", event_name(event), extra={"req_id": call.head.req_id})
            self.fail(call, internal(event))

    def misnamed(self, connection: Connection, event: str, claimed: str) -> None:
        """Report, once per connection, that a payload's sender is not the name that the connection joined with.

        Released Agents keep an id apart from that name, so the caller replaces the name instead of refusing.
        """
        if not connection.misnamed:
            connection.misnamed = True
            self.observer.misnamed(event, claimed, connection)

    def serve(
        self, sid: str, office_id: str, event: str, payload: Payload, *, seconds: float, reply: Reply, refuse: Refuse
    ) -> bool:
        """Pass on a request that another node has accepted; `reply` or `refuse` is called once, now or later.

        Returns False, and calls neither, if the connection is not a Computer of that office.
        """
        target = self.connections.get(sid)
        seat = target.seat if target is not None else None
        if target is None or seat is None or seat.office_id != office_id or seat.role != "computer":
            return False
        now = self.clock()
        head = Head(agent="", req_id="", computer=seat.name)
        call = Call(None, event, head, reply, started=now, deadline=now + seconds, refuse=refuse)
        try:
            self._send(call, target, payload)
        except Exception:
            log.exception("forwarding %s failed", event_name(event))
            self.fail(call, internal(event))
        return True

    def _accept(self, connection: Connection, event: str, payload: Payload, reply: Reply, now: float) -> Call:
        self.admit(connection, now)
        size = size_of(payload)
        if size > self.limits.message_bytes:
            raise too_large("request", size, self.limits.message_bytes)
        head = head_of(event, payload)
        seat = seated(connection.seat)
        as_role(seat, "agent", event)
        if self.limits.in_flight and len(connection.asked or ()) >= self.limits.in_flight:
            raise exceeded("requests in flight per connection", self.limits.in_flight)
        return Call(connection, event, head, reply, started=now, deadline=now + self.limits.timeout(head.timeout))

    def _forward(self, call: Call, office_id: str, payload: Payload) -> None:
        office = self.offices.get(office_id)
        found = office.computers.get(call.head.computer) if office is not None else None
        target = self.connections.get(found.sid) if found is not None else None
        if target is not None:
            self._send(call, target, payload)
            return
        self._begin(call, None)
        if self.elsewhere is None:
            self.fail(call, no_such_computer(call.head.computer))
        else:
            self.elsewhere.route(call, office_id, payload)

    def _send(self, call: Call, target: Connection, payload: Payload) -> None:
        self._begin(call, target)
        try:
            call.ack = self.port.request(target.sid, call.event, payload, lambda answer: self.settle(call, answer))
        except RateLimited as error:
            self.fail(call, error)

    def settle(self, call: Call, answer: Answer) -> None:
        """Hand the answer to the caller; one that comes late is dropped."""
        if call.settled:
            return
        size = size_of(answer)
        if size > self.limits.message_bytes:
            self.fail(call, too_large("reply", size, self.limits.message_bytes))
        elif is_empty(answer):
            self.fail(call, BadRequest(f"The computer does not know {call.event}; it may be older than its agent"))
        else:
            if call.caller is not None and (code := failure_of(answer)) is not None:
                self.observer.forwarded(call.event, code, call.caller, call.head)
            self._finish(call, "ok")
            self._answer(call, answer)

    def fail(self, call: Call, error: SMCPError) -> None:
        """Answer the caller with an error."""
        if call.settled:
            return
        self._finish(call, str(error.code))
        if call.refuse is not None:
            call_guarded(log, "refusing a call of another node", call.refuse, error)
        if call.caller is not None:
            self.observer.failed(call.event, error, call.caller, call.head.req_id)
            self._answer(call, (error_ack(call.event, error, call.head.req_id),))

    def _answer(self, call: Call, answer: Answer) -> None:
        # What goes wrong on the way to one caller must not keep the others from their answers.
        try:
            call.reply(answer)
        except Exception:
            log.exception("answering %s failed", event_name(call.event), extra={"req_id": call.head.req_id})

    def tick(self, now: float) -> None:
        """Let what has run out of time fail, and end connections whose credentials are over."""
        for call in self._deadlines.due(now):
            waited = call.deadline - call.started
            late = RequestTimeout(
                f"The computer {call.head.computer!r} did not answer within {seconds_text(waited)}",
                details={"computer": call.head.computer, "timeout": waited},
            )
            self.fail(call, call.late or late)
        if self.expiring:
            wall = self.observer.wall_clock()
            for sid in [sid for sid, one in self.expiring.items() if wall >= (one.identity.expires or wall)]:
                del self.expiring[sid]
                self.port.hang_up(sid, expired(), come_back=False)

    def _begin(self, call: Call, target: Connection | None) -> None:
        call.target = target
        caller = call.caller
        if caller is not None:
            if caller.asked is None:
                caller.asked = set()
            caller.asked.add(call)
        if target is not None:
            serving = target.serving
            if serving is None:
                serving = target.serving = set()
            serving.add(call)
        self.in_flight += 1
        self._deadlines.add(call)

    def _finish(self, call: Call, outcome: str) -> None:
        if call.settled:
            return
        call.settled = True
        self._deadlines.forget(call)
        if call.caller is not None and call.caller.asked is not None:
            call.caller.asked.discard(call)
        if call.target is not None:
            if call.target.serving is not None:
                call.target.serving.discard(call)
            if call.ack is not None:
                self.port.forget(call.target.sid, call.ack)
        elif call.ack is not None and self.elsewhere is not None:
            self.elsewhere.forget(call.ack)
        self.in_flight -= 1
        if call.caller is not None:
            self.observer.answered(call.event, outcome, self.clock() - call.started, call.caller, call.head)


def expired() -> Unauthorized:
    """The refusal of credentials that were good once."""
    return Unauthorized("The credentials of this connection have expired; connect again with new ones")


def lease_over() -> InternalError:
    """What an Agent hears whose seat may be another's, because its node lost the registry for too long."""
    return InternalError("This node lost the registry and may not serve its agents any more; connect again")


def too_large(what: str, size: int, limit: int) -> BadRequest:
    """The refusal of a message that is too large to pass on."""
    return BadRequest(
        f"The {what} of {size} bytes is over the message limit of {limit} bytes; send it in parts",
        details={"limit": "message size", "size": size, "value": limit},
    )


def is_empty(answer: Answer) -> bool:
    """Whether an ack has no argument or only null: what a client sends for an event that it has no handler for."""
    if type(answer) is Raw:
        return answer.text in ("", "null")
    return answer in ((), (None,))


def internal(event: str) -> InternalError:
    """What a caller is told when something failed that is none of its business."""
    return InternalError(f"{event} failed on the server; it is logged there")
