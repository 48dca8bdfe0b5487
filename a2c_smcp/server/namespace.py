"""The namespace `/smcp`: what the Server does with each event."""

import logging
import re
from functools import partial
from typing import Any, ClassVar, Final

from socketio.exceptions import ConnectionRefusedError as Refused

from a2c_smcp.common.callbacks import without_message
from a2c_smcp.errors import BadRequest, Forbidden, OfficeFull, SMCPError, Unauthorized
from a2c_smcp.server.auth import AuthenticationProvider, credentials_of, dropped_header, identity_of
from a2c_smcp.server.calls import Connection
from a2c_smcp.server.handshake import address_of, headers_of, may_drop_headers, version_of
from a2c_smcp.server.limits import Limits, exceeded
from a2c_smcp.server.observer import Observer, Stranger, guarded
from a2c_smcp.server.payload import Raw, req_id_of, values_of
from a2c_smcp.server.registry.memory import MemoryRegistry, Registry
from a2c_smcp.server.rooms import Identity, Seat, as_role, is_same_party, own_office, seat_for, seated
from a2c_smcp.server.shell import BaseNamespace, Gate, Slot, Ticker, clock, guard, pause, port_for, settle
from a2c_smcp.server.switchboard import Switchboard, internal
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
"""How long a join waits for a seat that its holder is to leave: longer than a ping takes, and than a lease."""
TAKE_OVER_PAUSE: Final = 0.05

_UPDATE = re.compile(r"server:update_\w{1,64}", re.ASCII)


class SMCPNamespace(BaseNamespace):  # type: ignore[misc]
    """Offices, routing and broadcast, for any python-socketio server.

    Args:
        auth: Who may connect, and as whom. None lets everybody in: only for a server that others cannot reach.
        registry: Where seats are kept; by default in this process.
        limits: What one client may ask for.
        observer: Who is told of what happens.
    """

    OFFICE_EVENTS: ClassVar = frozenset({JOIN_OFFICE_EVENT, LEAVE_OFFICE_EVENT})

    def __init__(
        self,
        auth: AuthenticationProvider | None = None,
        *,
        registry: Registry | None = None,
        limits: Limits | None = None,
        observer: Observer | None = None,
    ) -> None:
        super().__init__(SMCP_NAMESPACE)
        self.auth = auth
        self.registry: Registry = registry or MemoryRegistry()
        self.limits = limits or Limits()
        self.observer = guarded(observer or Observer())
        self.board: Switchboard
        self.draining = False
        self._guard = guard()
        self._gates: dict[str, Any] = {}
        self._ticker = Ticker(self._tick)

    def _set_server(self, server: Any) -> None:
        super()._set_server(server)
        self.board = Switchboard(port_for(server), self.limits, self.observer, clock)
        if hasattr(server, "switchboard"):
            server.switchboard = self.board

    def _tick(self) -> None:
        with self._guard:
            self.board.tick(clock())

    async def start(self) -> None:
        """Begin the registry's work; the ready application does so before it takes connections."""
        await self.registry.start(self.board)
        self._ticker.start()

    async def stop(self) -> None:
        """Give up every seat and end."""
        self._ticker.stop()
        await self.registry.stop()

    async def trigger_event(self, event: str, *args: Any) -> Any:
        """Answer one event. Whatever happens, the sender gets an answer."""
        sid = args[0]
        # A client can send events of these names too; only the server's own come while it is not connected.
        if event in ("connect", "disconnect") and not self.server.manager.is_connected(sid, SMCP_NAMESPACE):
            return await (self._connect(*args) if event == "connect" else self._disconnect(*args))
        connection = self.board.connections.get(sid)
        if connection is None:
            return None
        payload = args[1] if len(args) == 2 else None
        try:
            if event.startswith("client:"):
                return await self._route(connection, event, payload)
            return await self._attend(connection, event, payload)
        except SMCPError as error:
            return self._refuse(connection, event, payload, error)
        except Exception:
            log.exception("%s failed", event if event in EVENTS else "an event", extra={"sid": sid})
            return self._refuse(connection, event, payload, internal(event))

    def _refuse(self, connection: Connection, event: str, payload: Any, error: SMCPError) -> Any:
        req_id = req_id_of(payload)
        self.observer.refused(event, error, connection, req_id)
        if event in self.OFFICE_EVENTS:
            return False, refusal(error)
        return error_ack(event, error, req_id)

    # Coming and going

    async def _connect(self, sid: str, environ: dict[str, Any], auth: Any = None) -> bool:
        try:
            identity = await self._identify(environ, auth)
            if self.draining:
                raise Unauthorized("The server is shutting down; connect again in a moment")
            with self._guard:
                self.board.connect(sid, identity, address=address_of(environ), version=version_of(environ))
        except SMCPError as error:
            self.observer.refused("connect", error, Stranger(sid, address_of(environ)), None)
            raise Refused(error.message, {"code": error.code, "message": error.message}) from None
        self._ticker.start()
        return True

    async def _identify(self, environ: dict[str, Any], auth: Any) -> Identity:
        if self.auth is None:
            return Identity()
        headers = headers_of(environ)
        try:
            answer = await settle(self.auth.authenticate(self.server, environ, auth, headers))
        except SMCPError:
            raise
        except Exception as problem:
            log.error("the authentication provider failed", exc_info=without_message(problem))
            raise Unauthorized("The credentials could not be checked") from None
        if not answer and may_drop_headers(environ) and not any(credentials_of(auth, headers)):
            raise dropped_header()
        return identity_of(answer)

    async def _disconnect(self, sid: str, reason: str | None = None) -> None:
        with self._guard:
            connection = self.board.disconnect(sid)
        self._gates.pop(sid, None)
        if connection is not None:
            await self._leave(connection, reason or "disconnected")

    async def _leave(self, connection: Connection, why: str) -> Seat | None:
        with self._guard:
            seat = self.board.stand_up(connection)
        if seat is None:
            return None
        self.observer.left(seat, why)
        await self.registry.release(seat)
        await self._tell(seat, LEAVE_OFFICE_NOTIFICATION, seat.notification())
        return seat

    async def _tell(self, sender: Seat, event: str, data: Any) -> None:
        with self._guard:
            self.board.broadcast(sender.office_id, event, data, sender.sid)
        await self.registry.broadcast(sender.office_id, event, data, sender.sid)

    # Events for the Server

    async def _attend(self, connection: Connection, event: str, payload: Any) -> Any:
        started = clock()
        with self._guard:
            # Whoever wants to leave is never kept by a limit.
            self.board.admit(connection, started, limited=event != LEAVE_OFFICE_EVENT)
        async with self._gates.setdefault(connection.sid, Gate()):
            answer = await self._serve(connection, event, payload)
        self.observer.served(event, clock() - started, connection)
        return answer

    async def _serve(self, connection: Connection, event: str, payload: Any) -> Any:
        row = row_of(event)
        request = parse_request(row.name, payload)
        if event == JOIN_OFFICE_EVENT:
            return await self._join(connection, request)
        seat = seated(connection.seat)
        if event == LEAVE_OFFICE_EVENT:
            return await self._depart(connection, request)
        as_role(seat, next(iter(row.senders)), event)
        if request[seat.role] != seat.name:
            with self._guard:
                self.board.misnamed(connection, event, request[seat.role])
            request[seat.role] = seat.name
        if event == LIST_ROOM_EVENT:
            own_office(seat, request["office_id"])
            return await self._list(seat, request["req_id"])
        if event != UPDATE_PROGRESS_EVENT:  # it goes to one member
            reach = self.registry.reach(seat.office_id)
            with self._guard:
                # An update that is refused comes again with the next change; a cancel does not.
                self.board.charge(seat, clock(), reach, limited=event != CANCEL_TOOL_CALL_EVENT)
        await self._tell(seat, event.replace("server:", "notify:", 1), request)
        return None

    async def _join(self, connection: Connection, request: Any) -> OfficeAck:
        self._count_join(connection)
        seat = seat_for(
            request,
            current=connection.seat,
            bound=connection.identity,
            sid=connection.sid,
            node=self.registry.node,
            version=connection.version,
        )
        if connection.seat is not None and connection.seat.office_id == seat.office_id:
            return True, None
        await self._take(connection, seat, take_over=request.get("take_over", True))
        moved = await self._leave(connection, "moved")
        with self._guard:
            there = self.board.sit(connection, seat)
        if not there:
            await self.registry.release(seat)  # it went away while it was being seated
            return False, "disconnected"
        self.observer.joined(seat, connection.address)
        await self._tell(seat, EVENTS[JOIN_OFFICE_EVENT].notification or "", seat.notification())
        if moved is not None:
            await self.registry.settled()
        return True, None

    async def _take(self, connection: Connection, seat: Seat, *, take_over: bool) -> None:
        """Take the seat; where the same party has it, or one that is not there any more, once that has left it."""
        deadline = clock() + TAKE_OVER_SECONDS
        asked: set[str] = set()
        vacant = False
        try:
            while True:
                try:
                    await self.registry.seat(seat)
                except (OfficeFull, Forbidden):
                    holder = await self.registry.holder(seat)
                    if holder is None and vacant:
                        raise  # another reason than somebody who has left since
                    vacant = holder is None
                    if holder is not None and not (take_over and await self._yields(holder, seat, asked)):
                        raise
                    if clock() >= deadline or connection.sid not in self.board.connections:
                        raise
                    await pause(TAKE_OVER_PAUSE)
                else:
                    return
        finally:
            for sid in asked:
                self.board.challenged.pop(sid, None)

    async def _yields(self, holder: Seat, seat: Seat, asked: set[str]) -> bool:
        """Whether the holder of a seat leaves it; it is asked to, once.

        The same credentials under the same name always get it. On a server without authentication nobody can prove to
        be the same party: there a connection that answers a ping keeps its seat.
        """
        same = is_same_party(holder, seat)
        if holder.sid == seat.sid or not (same or (self.auth is None and holder.name == seat.name)):
            return False
        if holder.sid not in asked:
            asked.add(holder.sid)
            await self._oust(holder, challenge=not same)
        return self.board.challenged.get(holder.sid) is not True

    async def _oust(self, holder: Seat, *, challenge: bool) -> None:
        if holder.node != self.registry.node:
            await self.registry.oust(holder, challenge=challenge)
            return
        with self._guard:
            answered = partial(self.board.challenged.__setitem__, holder.sid, True) if challenge else None
            self.board.oust(holder.sid, holder.office_id, answered)

    async def _depart(self, connection: Connection, request: Any) -> OfficeAck:
        connection.joins.take(clock())
        own_office(seated(connection.seat), request["office_id"])
        await self._leave(connection, "left")
        await self.registry.settled()
        return True, None

    def _count_join(self, connection: Connection) -> None:
        if not connection.joins.take(clock()):
            raise exceeded("joins per second per connection", self.limits.joins_per_second)

    async def _list(self, seat: Seat, req_id: str) -> ListRoomRet:
        members = await self.registry.members(seat.office_id)
        return {"sessions": [member.info() for member in members], "req_id": req_id}

    # Events for Computers

    async def _route(self, connection: Connection, event: str, payload: Any) -> Any:
        gate = self._gates.get(connection.sid)
        if gate is not None and gate.locked():
            async with gate:  # it is about to join; what comes after waits for its seat
                pass
        slot = Slot()
        with self._guard:
            self.board.route(connection.sid, event, payload, slot.put)
        answer = await slot.get()
        return values_of(answer) if isinstance(answer, Raw) else answer


def row_of(event: str) -> Event:
    """The table's row for an event that a client may send to the Server.

    An update of a kind that this release does not know is passed on like the others, so that a newer Computer can
    tell a newer Agent.

    Raises:
        BadRequest: There is no such event.
    """
    row = EVENTS.get(event)
    if row is not None and row.senders and not event.startswith("client:"):
        return row
    if row is None and _UPDATE.fullmatch(event):
        return EVENTS[UPDATE_CONFIG_EVENT]
    raise BadRequest(f"Unknown event {event!r}")
