# Generated from namespace.py by tools/gen_sync.py. Edit the source, not this file.
"""The namespace `/smcp`: handles every event of clients."""

import logging
import re
from functools import partial
from typing import Any, ClassVar, Final

from socketio.exceptions import ConnectionRefusedError as Refused

from a2c_smcp.common.callbacks import without_message
from a2c_smcp.errors import BadRequest, Forbidden, OfficeFull, SMCPError, Unauthorized
from a2c_smcp.server.blocking_runtime import (
    BaseNamespace,
    Lock,
    SyncPeriodicTimer,
    SyncReplyFuture,
    clock,
    sync_resolve,
    router_lock,
    sleep,
)
from a2c_smcp.server.auth import AuthenticationProvider, credentials_of, dropped_header_error, identity_of
from a2c_smcp.server.call_router import CallRouter, internal_error
from a2c_smcp.server.calls import ClientConnection
from a2c_smcp.server.handshake import address_of, headers_of, may_drop_headers, version_of
from a2c_smcp.server.limits import ServerLimits, limit_exceeded
from a2c_smcp.server.observer import ServerObserver, UnknownClient, event_name, guard_observer
from a2c_smcp.server.offices import (
    Identity,
    Member,
    is_same_party,
    member_for,
    require_member,
    require_office,
    require_role,
)
from a2c_smcp.server.payload import RawJson, parse_arguments, req_id_of
from a2c_smcp.server.registry.sync_memory import SyncMemoryRegistry, SyncRegistry
from a2c_smcp.server.sync_stock_transport import transport_for
from a2c_smcp.smcp import (
    CANCEL_TOOL_CALL_EVENT,
    EVENTS,
    JOIN_OFFICE_EVENT,
    LEAVE_OFFICE_EVENT,
    LEAVE_OFFICE_NOTIFICATION,
    LIST_ROOM_EVENT,
    SMCP_NAMESPACE,
    UPDATE_CONFIG_EVENT,
    UPDATE_PROGRESS_EVENT,
    Event,
    ListRoomRet,
    OfficeAck,
    error_ack,
    parse_request,
    refusal,
)

log = logging.getLogger(__name__)

TAKE_OVER_SECONDS: Final = 10.0
"""How long a join waits until the current holder of the name has left: longer than a ping and than a lease."""
TAKE_OVER_POLL_SECONDS: Final = 0.05

_UPDATE = re.compile(r"server:update_\w{1,64}", re.ASCII)


class SyncSMCPNamespace(BaseNamespace):  # type: ignore[misc]
    """Offices, routing and notifications, for any python-socketio server.

    Args:
        auth: Authenticates clients. None accepts everybody: only for a server that other machines cannot reach.
        registry: Stores the members of offices; by default in this process.
        limits: Limits on each client.
        observer: Called for joins, leaves, requests and errors.
    """

    OFFICE_EVENTS: ClassVar = frozenset({JOIN_OFFICE_EVENT, LEAVE_OFFICE_EVENT})

    def __init__(
        self,
        auth: AuthenticationProvider | None = None,
        *,
        registry: SyncRegistry | None = None,
        limits: ServerLimits | None = None,
        observer: ServerObserver | None = None,
    ) -> None:
        super().__init__(SMCP_NAMESPACE)
        self.auth = auth
        self.registry: SyncRegistry = registry or SyncMemoryRegistry()
        self.limits = limits or ServerLimits()
        self.observer = guard_observer(observer or ServerObserver())
        self.router: CallRouter
        self.draining = False
        self._lock = router_lock()
        self._order_locks: dict[str, Any] = {}
        self._timer = SyncPeriodicTimer(self._tick)

    def _set_server(self, server: Any) -> None:
        super()._set_server(server)
        self.router = CallRouter(transport_for(server), self.limits, self.observer, clock)
        if hasattr(server, "call_router"):
            server.call_router = self.router

    def _tick(self) -> None:
        with self._lock:
            self.router.tick(clock())

    def start(self) -> None:
        """Start the registry; `SMCPApp` does so before it accepts connections."""
        self.registry.start(self.router)
        self._timer.start()

    def stop(self) -> None:
        """Remove every member of this node and stop."""
        self._timer.stop()
        self.registry.stop()

    def trigger_event(self, event: str, *args: Any) -> Any:
        """Handle one event. The sender always gets a reply."""
        sid = args[0]
        # A client can send events of these names too; those of the server come while it is not connected.
        if event in ("connect", "disconnect") and not self.server.manager.is_connected(sid, SMCP_NAMESPACE):
            return (self._connect(*args) if event == "connect" else self._disconnect(*args))
        connection = self.router.connections.get(sid)
        if connection is None:
            return None
        payload = args[1] if len(args) == 2 else None
        try:
            if event.startswith("client:"):
                return self._route(connection, event, payload)
            return self._handle_server_event(connection, event, payload)
        except SMCPError as error:
            return self._refuse(connection, event, payload, error)
        except Exception:
            log.exception("event handler failed: event=%s", event_name(event), extra={"sid": sid})
            return self._refuse(connection, event, payload, internal_error(event))

    def _refuse(self, connection: ClientConnection, event: str, payload: Any, error: SMCPError) -> Any:
        req_id = req_id_of(payload)
        self.observer.refused(event, error, connection, req_id)
        if event in self.OFFICE_EVENTS:
            return False, refusal(error)
        return error_ack(event, error, req_id)

    # Connecting and leaving

    def _connect(self, sid: str, environ: dict[str, Any], auth: Any = None) -> bool:
        try:
            identity = self._identify(environ, auth)
            if self.draining:
                raise Unauthorized("The server is shutting down; connect again later")
            with self._lock:
                self.router.connect(sid, identity, address=address_of(environ), version=version_of(environ))
        except SMCPError as error:
            self.observer.refused("connect", error, UnknownClient(sid, address_of(environ)), None)
            raise Refused(error.message, {"code": error.code, "message": error.message}) from None
        self._timer.start()
        return True

    def _identify(self, environ: dict[str, Any], auth: Any) -> Identity:
        if self.auth is None:
            return Identity()
        headers = headers_of(environ)
        try:
            answer = sync_resolve(self.auth.authenticate(self.server, environ, auth, headers))
        except SMCPError:
            raise
        except Exception as problem:
            log.error("authentication provider failed", exc_info=without_message(problem))
            raise Unauthorized("The credentials could not be checked") from None
        if not answer and may_drop_headers(environ) and not any(credentials_of(auth, headers)):
            raise dropped_header_error()
        return identity_of(answer)

    def _disconnect(self, sid: str, reason: str | None = None) -> None:
        with self._lock:
            connection = self.router.disconnect(sid)
        self._order_locks.pop(sid, None)
        if connection is not None:
            self._leave(connection, reason or "disconnected")

    def _leave(self, connection: ClientConnection, why: str) -> Member | None:
        with self._lock:
            member = self.router.remove_member(connection)
        if member is None:
            return None
        self.observer.left(member, why)
        self.registry.remove_member(member)
        self._notify(member, LEAVE_OFFICE_NOTIFICATION, member.notification())
        return member

    def _notify(self, sender: Member, event: str, data: Any) -> None:
        with self._lock:
            self.router.broadcast(sender.office_id, event, data, sender.sid)
        self.registry.broadcast(sender.office_id, event, data, sender.sid)

    # Events for the Server

    def _handle_server_event(self, connection: ClientConnection, event: str, payload: Any) -> Any:
        started = clock()
        with self._lock:
            # A limit never prevents leaving.
            self.router.admit(connection, started, limited=event != LEAVE_OFFICE_EVENT)
        with self._order_locks.setdefault(connection.sid, Lock()):
            answer = self._answer(connection, event, payload)
        self.observer.served(event, clock() - started, connection)
        return answer

    def _answer(self, connection: ClientConnection, event: str, payload: Any) -> Any:
        row = event_row(event)
        request = parse_request(row.name, payload)
        if event == JOIN_OFFICE_EVENT:
            return self._join(connection, request)
        member = require_member(connection.member)
        if event == LEAVE_OFFICE_EVENT:
            return self._leave_office(connection, request)
        require_role(member, next(iter(row.senders)), event)
        if request[member.role] != member.name:
            with self._lock:
                self.router.sender_replaced(connection, event, request[member.role])
            request[member.role] = member.name
        if event == LIST_ROOM_EVENT:
            require_office(member, request["office_id"])
            return self._list(member, request["req_id"])
        if event != UPDATE_PROGRESS_EVENT:  # which has one recipient
            reach = self.registry.remote_member_count(member.office_id)
            with self._lock:
                # A refused update is repeated with the next change; a cancel is not.
                self.router.count_notification(member, clock(), reach, limited=event != CANCEL_TOOL_CALL_EVENT)
        self._notify(member, event.replace("server:", "notify:", 1), request)
        return None

    def _join(self, connection: ClientConnection, request: Any) -> OfficeAck:
        self._count_join(connection)
        member = member_for(
            request,
            current=connection.member,
            bound=connection.identity,
            sid=connection.sid,
            node=self.registry.node,
            version=connection.version,
        )
        if connection.member is not None and connection.member.office_id == member.office_id:
            return True, None
        self._claim(connection, member, take_over=request.get("take_over", True))
        moved = self._leave(connection, "moved")
        with self._lock:
            there = self.router.add_member(connection, member)
        if not there:
            self.registry.remove_member(member)  # the client disconnected during the join
            return False, "disconnected"
        self.observer.joined(member, connection.address)
        self._notify(member, EVENTS[JOIN_OFFICE_EVENT].notification or "", member.notification())
        if moved is not None:
            self.registry.wait_released()
        return True, None

    def _claim(self, connection: ClientConnection, member: Member, *, take_over: bool) -> None:
        """Add the member to the registry; if the same party or a dead connection has the name, wait until it left."""
        deadline = clock() + TAKE_OVER_SECONDS
        asked: set[str] = set()
        vacant = False
        try:
            while True:
                try:
                    self.registry.add_member(member)
                except (OfficeFull, Forbidden):
                    holder = self.registry.holder(member)
                    if holder is None and vacant:
                        raise  # refused for another reason
                    vacant = holder is None
                    if holder is not None and not (take_over and self._gives_way(holder, member, asked)):
                        raise
                    if clock() >= deadline or connection.sid not in self.router.connections:
                        raise
                    sleep(TAKE_OVER_POLL_SECONDS)
                else:
                    return
        finally:
            for sid in asked:
                self.router.challenged.pop(sid, None)

    def _gives_way(self, holder: Member, member: Member, asked: set[str]) -> bool:
        """Return whether the holder of a name gives way; evicts it once.

        The same credentials under the same name always do. Without authentication nobody can prove to be the same
        party, so a connection that answers a ping keeps its name.
        """
        same = is_same_party(holder, member)
        if holder.sid == member.sid or not (same or (self.auth is None and holder.name == member.name)):
            return False
        if holder.sid not in asked:
            asked.add(holder.sid)
            self._evict(holder, challenge=not same)
        return self.router.challenged.get(holder.sid) is not True

    def _evict(self, holder: Member, *, challenge: bool) -> None:
        if holder.node != self.registry.node:
            self.registry.evict(holder, challenge=challenge)
            return
        with self._lock:
            answered = partial(self.router.challenged.__setitem__, holder.sid, True) if challenge else None
            self.router.evict(holder.sid, holder.office_id, answered)

    def _leave_office(self, connection: ClientConnection, request: Any) -> OfficeAck:
        connection.joins.take(clock())
        require_office(require_member(connection.member), request["office_id"])
        self._leave(connection, "left")
        self.registry.wait_released()
        return True, None

    def _count_join(self, connection: ClientConnection) -> None:
        if not connection.joins.take(clock()):
            raise limit_exceeded("joins per second per connection", self.limits.joins_per_second)

    def _list(self, member: Member, req_id: str) -> ListRoomRet:
        members = self.registry.members(member.office_id)
        return {"sessions": [member.info() for member in members], "req_id": req_id}

    # Events for Computers

    def _route(self, connection: ClientConnection, event: str, payload: Any) -> Any:
        order = self._order_locks.get(connection.sid)
        if order is not None and order.locked():
            with order:  # the client is joining: later events wait for its membership
                pass
        reply = SyncReplyFuture()
        with self._lock:
            self.router.route(connection.sid, event, payload, reply.put)
        answer = reply.get()
        return parse_arguments(answer) if isinstance(answer, RawJson) else answer


def event_row(event: str) -> Event:
    """Return the row of the event table for an event that a client may send to the Server.

    Updates of unknown kinds are relayed like the others, so that newer Computers can notify newer Agents.

    Raises:
        BadRequest: The event is unknown.
    """
    row = EVENTS.get(event)
    if row is not None and row.senders and not event.startswith("client:"):
        return row
    if row is None and _UPDATE.fullmatch(event):
        return EVENTS[UPDATE_CONFIG_EVENT]
    raise BadRequest(f"Unknown event {event!r}")
