"""Routes requests from Agents to Computers and the replies back.

The router is synchronous code that the async and the blocking server share. The server passes it what happened
(a request, an ack, a lost connection, the time), and the router passes its `ClientTransport` what to send. It opens
no sockets, starts no tasks and reads no clock of its own. A blocking server calls it under a lock.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol, runtime_checkable

from msgspec.structs import replace

from a2c_smcp.common.callbacks import call_guarded
from a2c_smcp.common.durations import seconds_text
from a2c_smcp.common.rate_limit import TokenBucket
from a2c_smcp.errors import (
    BadRequest,
    ComputerLost,
    InternalError,
    RateLimited,
    RequestTimeout,
    SMCPError,
    Unauthorized,
)
from a2c_smcp.server.calls import (
    AckArguments,
    CallDeadlines,
    ClientConnection,
    ErrorCallback,
    PendingCall,
    ReplyCallback,
)
from a2c_smcp.server.limits import ServerLimits, limit_exceeded
from a2c_smcp.server.observer import ServerObserver, event_name, guard_observer
from a2c_smcp.server.offices import (
    Identity,
    Member,
    OfficeMembers,
    computer_not_found,
    recipients,
    require_member,
    require_role,
    taken_over_error,
    unresponsive_error,
)
from a2c_smcp.server.payload import (
    Payload,
    RawJson,
    RequestHead,
    error_code_of,
    parse_head,
    payload_size,
    replace_sender,
    req_id_of,
)
from a2c_smcp.smcp import error_ack

log = logging.getLogger(__name__)


CHALLENGE_SECONDS: Final = 3.0
"""Seconds in which a client must answer a ping when another client wants its name."""


@runtime_checkable
class ClientTransport(Protocol):
    """Sends to client connections. No method waits."""

    def request(self, sid: str, event: str, payload: Payload, answered: ReplyCallback) -> int:
        """Send an event that wants an ack and call `answered` with it, at most once.

        Returns the number of the ack, for `forget`.

        Raises:
            RateLimited: Too much is queued for that connection already.
        """

    def forget(self, sid: str, ack: int) -> None:
        """Drop the callback of an ack."""

    def notify(self, sids: Iterable[str], event: str, data: Any) -> None:
        """Send an event to connections of this node."""

    def hang_up(self, sid: str, error: SMCPError, *, reconnect: bool) -> None:
        """Send the reason and close a connection.

        Args:
            reconnect: Whether a Socket.IO client should connect again by itself.
        """

    def challenge(self, sid: str, done: Callable[[bool], None]) -> None:
        """Ping a client; call `done` once with whether it answered within `CHALLENGE_SECONDS`."""


class RemoteRouter(Protocol):
    """Routes calls to the other nodes of a cluster."""

    def route(self, call: PendingCall, office_id: str, payload: Payload) -> None:
        """Take over a call to a Computer that is not on this node.

        The call ends with `CallRouter.complete` or `CallRouter.fail`. If it is not over when this returns,
        `call.ack` is set, for `forget`.
        """

    def forget(self, ack: int) -> None:
        """Drop a call that is over."""


class ServingLease(Protocol):
    """The lease under which this node serves its Agents."""

    def is_over(self) -> bool:
        """Return whether other nodes may have taken over this node's members."""


class CallRouter:
    """The connections of this node, their office memberships, and the calls in progress."""

    def __init__(
        self, transport: ClientTransport, limits: ServerLimits, observer: ServerObserver, clock: Callable[[], float]
    ) -> None:
        self.transport = transport
        self.limits = limits
        self.observer = guard_observer(observer)
        self.clock = clock
        self.remote: RemoteRouter | None = None
        self.lease: ServingLease | None = None
        self.connections: dict[str, ClientConnection] = {}
        self.offices: dict[str, OfficeMembers] = {}
        self.addresses: dict[str, int] = {}
        self.expiring: dict[str, ClientConnection] = {}
        self.in_flight = 0
        self.challenged: dict[str, bool | None] = {}
        self._office_buckets: dict[str, TokenBucket] = {}
        self._deadlines = CallDeadlines()

    # Connections and members

    def connect(self, sid: str, identity: Identity, *, address: str, version: str | None) -> ClientConnection:
        """Add a new connection.

        Raises:
            RateLimited: Its address has too many connections.
        """
        number = self.addresses.get(address, 0)
        if self.limits.connections_per_address and number >= self.limits.connections_per_address:
            raise limit_exceeded("connections per address", self.limits.connections_per_address)
        self.addresses[address] = number + 1
        connection = ClientConnection(sid, identity, self.limits, self.clock(), address=address, version=version)
        self.connections[sid] = connection
        if identity.expires is not None:
            self.expiring[sid] = connection
        self.observer.connections(len(self.connections))
        return connection

    def disconnect(self, sid: str) -> ClientConnection | None:
        """Remove a connection: calls to it fail immediately, its own pending calls are dropped."""
        connection = self.connections.pop(sid, None)
        if connection is None:
            return None
        self.expiring.pop(sid, None)
        left = self.addresses[connection.address] - 1
        if left:
            self.addresses[connection.address] = left
        else:
            del self.addresses[connection.address]
        for call in list(connection.outgoing or ()):
            self._finish(call, "gone")
        self.fail_calls_of(connection)
        self.observer.connections(len(self.connections))
        return connection

    def fail_calls_of(self, connection: ClientConnection) -> None:
        """Fail every call that the connection has to answer."""
        for call in list(connection.incoming or ()):
            self.fail(
                call,
                ComputerLost(
                    f"The computer {call.head.computer!r} left before it replied",
                    details={"computer": call.head.computer},
                ),
            )

    def add_member(self, connection: ClientConnection, member: Member) -> bool:
        """Add a connection to its office; return False, and add nothing, if the connection is gone."""
        if self.connections.get(connection.sid) is not connection or connection.closing_error is not None:
            return False
        self.offices.setdefault(member.office_id, OfficeMembers()).add(member)
        connection.member = member
        self.observer.offices(len(self.offices))
        return True

    def remove_member(self, connection: ClientConnection) -> Member | None:
        """Remove a connection from its office and fail the calls that it has to answer."""
        member, connection.member = connection.member, None
        if member is None:
            return None
        self.fail_calls_of(connection)
        office = self.offices.get(member.office_id)
        if office is not None and office.remove(member) and not office:
            del self.offices[member.office_id]
            self._office_buckets.pop(member.office_id, None)
        self.observer.offices(len(self.offices))
        return member

    def evict(self, sid: str, office_id: str, answered: Callable[[], None] | None = None) -> None:
        """Close the connection of a member whose name another client wants.

        Args:
            answered: If given, the connection is pinged first; if it answers, this is called and it stays open.
        """
        connection = self.connections.get(sid)
        if connection is None or connection.member is None or connection.member.office_id != office_id:
            return

        def done(alive: bool) -> None:  # noqa: FBT001
            if alive and answered is not None:
                answered()
            elif not alive:
                self._end(connection, unresponsive_error(), reconnect=True)

        if answered is not None:
            self.transport.challenge(sid, done)
        else:
            self._end(connection, taken_over_error(), reconnect=False)

    def _end(self, connection: ClientConnection, error: SMCPError, *, reconnect: bool) -> None:
        if connection.closing_error is None:
            connection.closing_error = error
            self.transport.hang_up(connection.sid, error, reconnect=reconnect)

    def broadcast(self, office_id: str, event: str, data: Any, skip: str) -> None:
        """Send a notification to its recipients on this node, except the connection `skip`."""
        if (office := self.offices.get(office_id)) is not None:
            self.transport.notify(recipients(office, event, data, skip), event, data)

    # Requests

    def admit(self, connection: ClientConnection, now: float, *, limited: bool = True) -> None:
        """Count a request against the limits of its connection and its office.

        Args:
            limited: Whether to raise when a limit is exceeded, or only to count.

        Raises:
            Unauthorized: The credentials have expired.
            RateLimited: A limit is exceeded.
            InternalError: The lease is over, so another node may serve another Agent of the office.
            SMCPError: The connection is being closed.
        """
        if connection.closing_error is not None:
            raise connection.closing_error
        if self.lease is not None and (member := connection.member) is not None and member.role == "agent":
            self._check_lease(self.lease)
        expires = connection.identity.expires
        if expires is not None and self.observer.wall_clock() >= expires:
            raise credentials_expired_error()
        if not connection.requests.take(now) and limited:
            raise limit_exceeded("requests per second per connection", self.limits.requests_per_second)
        member = connection.member
        if member is not None:
            self._charge_office(member.office_id, now, 1, limited=limited)

    def count_notification(self, member: Member, now: float, remote: int, *, limited: bool) -> None:
        """Count a notification once for each recipient, those on other nodes included.

        Raises:
            RateLimited: The limit of the office is exceeded.
        """
        office = self.offices.get(member.office_id)
        members = len(office.computers) + (office.agent is not None) if office is not None else 0
        if members + remote > 2:  # without the sender, and without the request itself, which is counted
            self._charge_office(member.office_id, now, members + remote - 2, limited=limited)

    def _charge_office(self, office_id: str, now: float, cost: int, *, limited: bool) -> None:
        rate = self.limits.office_requests_per_second
        if not rate:
            return
        bucket = self._office_buckets.get(office_id)
        if bucket is None:
            bucket = self._office_buckets[office_id] = TokenBucket(rate, 2 * rate, now)
        if not bucket.take(now, cost) and limited:
            raise limit_exceeded("requests per second per office", rate)

    def _check_lease(self, lease: ServingLease) -> None:
        if lease.is_over():
            raise lease_expired_error()

    def disconnect_agents(self) -> int:
        """Disconnect every Agent of this node, because the lease is over; return how many."""
        agents = [one for one in self.connections.values() if one.member is not None and one.member.role == "agent"]
        for connection in agents:
            self.transport.hang_up(connection.sid, lease_expired_error(), reconnect=True)
        return len(agents)

    def route(self, sid: str, event: str, payload: Payload, reply: ReplyCallback) -> None:
        """Route an Agent's request; `reply` is called once, now or later, with the ack."""
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
        member = require_member(connection.member)
        try:
            if call.head.agent != member.name:
                self.sender_replaced(connection, event, call.head.agent)
                call.head = replace(call.head, agent=member.name)
                payload = replace_sender(payload, member.role, member.name)
            self._forward(call, member.office_id, payload)
        except Exception:
            log.exception("forwarding %s failed", event_name(event), extra={"req_id": call.head.req_id})
            self.fail(call, internal_error(event))

    def sender_replaced(self, connection: ClientConnection, event: str, claimed: str) -> None:
        """Report, once per connection, that a payload names a sender other than the joined name.

        Released Agents send an id that differs from that name, so the caller replaces it instead of refusing.
        """
        if not connection.sender_replaced:
            connection.sender_replaced = True
            self.observer.sender_replaced(event, claimed, connection)

    def serve(
        self,
        sid: str,
        office_id: str,
        event: str,
        payload: Payload,
        *,
        seconds: float,
        reply: ReplyCallback,
        refuse: ErrorCallback,
    ) -> bool:
        """Route a request that another node accepted; `reply` or `refuse` is called once, now or later.

        Returns False, and calls neither, if the connection is not a Computer of that office.
        """
        target = self.connections.get(sid)
        member = target.member if target is not None else None
        if target is None or member is None or member.office_id != office_id or member.role != "computer":
            return False
        now = self.clock()
        head = RequestHead(agent="", req_id="", computer=member.name)
        call = PendingCall(None, event, head, reply, started=now, deadline=now + seconds, refuse=refuse)
        try:
            self._send(call, target, payload)
        except Exception:
            log.exception("forwarding %s failed", event_name(event))
            self.fail(call, internal_error(event))
        return True

    def _accept(
        self, connection: ClientConnection, event: str, payload: Payload, reply: ReplyCallback, now: float
    ) -> PendingCall:
        self.admit(connection, now)
        size = payload_size(payload)
        if size > self.limits.message_bytes:
            raise too_large_error("request", size, self.limits.message_bytes)
        head = parse_head(event, payload)
        member = require_member(connection.member)
        require_role(member, "agent", event)
        if self.limits.in_flight and len(connection.outgoing or ()) >= self.limits.in_flight:
            raise limit_exceeded("requests in flight per connection", self.limits.in_flight)
        return PendingCall(
            connection, event, head, reply, started=now, deadline=now + self.limits.timeout(head.timeout)
        )

    def _forward(self, call: PendingCall, office_id: str, payload: Payload) -> None:
        office = self.offices.get(office_id)
        found = office.computers.get(call.head.computer) if office is not None else None
        target = self.connections.get(found.sid) if found is not None else None
        if target is not None:
            self._send(call, target, payload)
            return
        self._begin(call, None)
        if self.remote is None:
            self.fail(call, computer_not_found(call.head.computer))
        else:
            self.remote.route(call, office_id, payload)

    def _send(self, call: PendingCall, target: ClientConnection, payload: Payload) -> None:
        self._begin(call, target)
        try:
            call.ack = self.transport.request(
                target.sid, call.event, payload, lambda answer: self.complete(call, answer)
            )
        except RateLimited as error:
            self.fail(call, error)

    def complete(self, call: PendingCall, answer: AckArguments) -> None:
        """Pass the reply to the caller; a late one is dropped."""
        if call.completed:
            return
        size = payload_size(answer)
        if size > self.limits.message_bytes:
            self.fail(call, too_large_error("reply", size, self.limits.message_bytes))
        elif is_empty_ack(answer):
            self.fail(call, BadRequest(f"The computer does not know {call.event}; it may be older than its agent"))
        else:
            if call.caller is not None and (code := error_code_of(answer)) is not None:
                self.observer.forwarded(call.event, code, call.caller, call.head)
            self._finish(call, "ok")
            self._answer(call, answer)

    def fail(self, call: PendingCall, error: SMCPError) -> None:
        """Reply to the caller with an error."""
        if call.completed:
            return
        self._finish(call, str(error.code))
        if call.refuse is not None:
            call_guarded(log, "the error callback of a remote call", call.refuse, error)
        if call.caller is not None:
            self.observer.failed(call.event, error, call.caller, call.head.req_id)
            self._answer(call, (error_ack(call.event, error, call.head.req_id),))

    def _answer(self, call: PendingCall, answer: AckArguments) -> None:
        # A failure to send to one caller must not affect the others.
        try:
            call.reply(answer)
        except Exception:
            log.exception("answering %s failed", event_name(call.event), extra={"req_id": call.head.req_id})

    def tick(self, now: float) -> None:
        """Fail calls past their deadline and close connections whose credentials have expired."""
        for call in self._deadlines.due(now):
            waited = call.deadline - call.started
            late = RequestTimeout(
                f"The computer {call.head.computer!r} did not answer within {seconds_text(waited)}",
                details={"computer": call.head.computer, "timeout": waited},
            )
            self.fail(call, call.timeout_error or late)
        if self.expiring:
            wall = self.observer.wall_clock()
            for sid in [sid for sid, one in self.expiring.items() if wall >= (one.identity.expires or wall)]:
                del self.expiring[sid]
                self.transport.hang_up(sid, credentials_expired_error(), reconnect=False)

    def _begin(self, call: PendingCall, target: ClientConnection | None) -> None:
        call.target = target
        caller = call.caller
        if caller is not None:
            if caller.outgoing is None:
                caller.outgoing = set()
            caller.outgoing.add(call)
        if target is not None:
            serving = target.incoming
            if serving is None:
                serving = target.incoming = set()
            serving.add(call)
        self.in_flight += 1
        self._deadlines.add(call)

    def _finish(self, call: PendingCall, outcome: str) -> None:
        if call.completed:
            return
        call.completed = True
        self._deadlines.forget(call)
        if call.caller is not None and call.caller.outgoing is not None:
            call.caller.outgoing.discard(call)
        if call.target is not None:
            if call.target.incoming is not None:
                call.target.incoming.discard(call)
            if call.ack is not None:
                self.transport.forget(call.target.sid, call.ack)
        elif call.ack is not None and self.remote is not None:
            self.remote.forget(call.ack)
        self.in_flight -= 1
        if call.caller is not None:
            self.observer.answered(call.event, outcome, self.clock() - call.started, call.caller, call.head)


def credentials_expired_error() -> Unauthorized:
    """Return the error for expired credentials."""
    return Unauthorized("The credentials of this connection have expired; connect again with new ones")


def lease_expired_error() -> InternalError:
    """Return the error for the Agents of a node whose lease is over."""
    return InternalError("This node lost the registry and may no longer serve its agents; connect again")


def too_large_error(what: str, size: int, limit: int) -> BadRequest:
    """Return the error for a message above the message limit."""
    return BadRequest(
        f"The {what} of {size} bytes is over the message limit of {limit} bytes; send it in parts",
        details={"limit": "message size", "size": size, "value": limit},
    )


def is_empty_ack(answer: AckArguments) -> bool:
    """Return whether an ack has no argument or only null, as clients send for events without a handler."""
    if type(answer) is RawJson:
        return answer.text in ("", "null")
    return answer in ((), (None,))


def internal_error(event: str) -> InternalError:
    """Return the error for an internal failure, without its cause."""
    return InternalError(f"{event} failed on the server; it is logged there")
