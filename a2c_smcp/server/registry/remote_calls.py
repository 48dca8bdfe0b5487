"""Calls between the nodes of a cluster, in both directions.

Like the call router, this is synchronous code without I/O; it passes its `NodeBus` what to send.

During a Redis outage a request waits until its deadline: one that was not sent is sent when Redis is back; one that may
have been sent waits for its reply, which the other node keeps. It is never sent twice, because it may have run.
"""

import itertools
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Protocol

import msgspec
import orjson

from a2c_smcp.errors import BadRequest, ComputerLost, InternalError, SMCPError
from a2c_smcp.server.call_router import CallRouter
from a2c_smcp.server.calls import AckArguments as Arguments
from a2c_smcp.server.calls import PendingCall
from a2c_smcp.server.offices import Member, computer_not_found
from a2c_smcp.server.payload import Payload, RawJson
from a2c_smcp.server.registry.directory import OfficeDirectory
from a2c_smcp.server.registry.frames import (
    AbsentFrame,
    CallFrame,
    ErrorFrame,
    NodeFrame,
    ReplyFrame,
    pack_error,
    pack_frame,
    unpack_error,
)
from a2c_smcp.server.registry.redis_connection import CommandNotSent
from a2c_smcp.server.socketio_server import SMCPServer

MAX_TRIES: Final = 3
"""How often a request is sent after a lookup in Redis."""

GRACE_SECONDS: Final = 1.0
"""Seconds that the other node waits longer, so that the caller's own time-out fires first."""

MAX_UNSENT_BYTES: Final = 32_000_000
"""The total size of unsent replies that are kept; the callers of further ones get an error."""


class NodeBus(Protocol):
    """Sends to other nodes. No method waits."""

    def publish(self, node: str, frame: bytes, then: Callable[[Any], None]) -> None:
        """Send a frame; call `then` with the number of receivers, or an exception."""

    def look_up(self, office_id: str, computer: str, then: Callable[[Member | Exception | None], None]) -> None:
        """Ask Redis for a Computer."""

    def is_stable(self) -> bool:
        """Return whether the data in Redis is complete; it is not while nodes reconnect after an outage."""


class RemoteCall:
    """A call to another node."""

    __slots__ = ("body", "call", "node", "number", "office_id", "sid", "tries")

    def __init__(self, call: PendingCall, number: int, office_id: str, body: bytes) -> None:
        self.call = call
        self.number = number
        self.office_id = office_id
        self.body = body
        self.node = ""
        self.sid = ""
        self.tries = 0


class RemoteCalls:
    """The calls between this node and the other nodes."""

    def __init__(self, router: CallRouter, directory: OfficeDirectory, bus: NodeBus) -> None:
        self._router = router
        self._directory = directory
        self._bus = bus
        self._numbers = itertools.count(1)
        self._calls: dict[int, RemoteCall] = {}
        self._by_seat: dict[tuple[str, str], set[int]] = {}
        self._waiting: dict[int, RemoteCall] = {}
        self._unsent: list[tuple[str, bytes]] = []
        self._unsent_bytes = 0
        self._takes_text = isinstance(router.transport, SMCPServer)

    # Outgoing

    def route(self, call: PendingCall, office_id: str, payload: Payload) -> None:
        """Route a call to a Computer on another node."""
        try:
            body = encode_body(payload)
        except BadRequest as error:
            self._router.fail(call, error)
            return
        number = call.ack = next(self._numbers)
        remote = self._calls[number] = RemoteCall(call, number, office_id, body)
        self._begin(remote)

    def _begin(self, remote: RemoteCall) -> None:
        target = self._directory.find(remote.office_id, remote.call.head.computer)
        if target is not None:
            self._send(remote, target)
        else:
            self._look_up(remote)

    def forget(self, ack: int) -> None:
        """Drop a call that is over."""
        remote = self._calls.pop(ack, None)
        if remote is not None:
            self._waiting.pop(ack, None)
            self._unbind(remote)

    def lost(self, member: Member) -> None:
        """A Computer of another node left its office: what it was to answer there fails."""
        for number in list(self._by_seat.get((member.office_id, member.sid), ())):
            call = self._calls[number].call
            self._router.fail(call, computer_lost_error(call.head.computer, "left before it replied"))

    def awaited_nodes(self) -> set[str]:
        """Return the nodes that owe a reply."""
        return {remote.node for remote in self._calls.values() if remote.node}

    def node_lost(self, node: str) -> None:
        """Fail the calls to a node that is gone; they are not sent again, because they may have run."""
        for remote in [remote for remote in self._calls.values() if remote.node == node]:
            self._router.fail(remote.call, computer_lost_error(remote.call.head.computer, "left before it replied"))

    def abandon(self, error: SMCPError) -> None:
        """Fail every call, because this node stops."""
        for remote in list(self._calls.values()):
            self._router.fail(remote.call, error)

    def resume(self) -> None:
        """Send the unsent replies and requests after an outage."""
        unsent, self._unsent, self._unsent_bytes = self._unsent, [], 0
        for node, frame in unsent:
            self._bus.publish(node, frame, lambda _: None)
        self.retry()

    def retry(self) -> None:
        """Send the requests that wait for their node."""
        waiting, self._waiting = self._waiting, {}
        for remote in waiting.values():
            remote.tries = 0
            self._begin(remote)

    def _wait_for_node(self, remote: RemoteCall) -> None:
        self._unbind(remote)
        remote.node = ""
        remote.call.timeout_error = registry_unavailable_error()
        self._waiting[remote.number] = remote

    def _send(self, remote: RemoteCall, target: Member) -> None:
        remote.tries += 1
        remote.node = target.node
        remote.sid = target.sid
        self._by_seat.setdefault((remote.office_id, target.sid), set()).add(remote.number)
        seconds = max(0.0, remote.call.deadline - self._router.clock()) + GRACE_SECONDS
        head = CallFrame(remote.number, self._directory.node, target.sid, remote.office_id, remote.call.event, seconds)
        self._bus.publish(target.node, pack_frame(head, remote.body), lambda receivers: self._sent(remote, receivers))

    def _sent(self, remote: RemoteCall, receivers: int | Exception) -> None:
        if remote.number not in self._calls:
            return
        if isinstance(receivers, CommandNotSent):
            self._wait_for_node(remote)
        elif isinstance(receivers, ConnectionError):
            remote.call.timeout_error = registry_unavailable_error()  # it may have been sent: wait for the reply
        elif isinstance(receivers, Exception):
            self._router.fail(remote.call, registry_unavailable_error())
        elif receivers == 0:
            self._retry_elsewhere(remote)
        else:
            remote.call.timeout_error = None

    def _retry_elsewhere(self, remote: RemoteCall) -> None:
        # No receiver. The Computer may be on another node by now, so look it up again.
        self._unbind(remote)
        if remote.tries < MAX_TRIES:
            self._look_up(remote)
        elif not self._bus.is_stable():
            self._wait_for_node(remote)
        else:
            self._router.fail(remote.call, computer_lost_error(remote.call.head.computer, "cannot be reached"))

    def _look_up(self, remote: RemoteCall) -> None:
        self._bus.look_up(remote.office_id, remote.call.head.computer, lambda found: self._found(remote, found))

    def _found(self, remote: RemoteCall, found: Member | Exception | None) -> None:
        if remote.number not in self._calls:
            return
        if isinstance(found, ConnectionError):
            self._wait_for_node(remote)
        elif isinstance(found, Exception):
            self._router.fail(remote.call, registry_unavailable_error())
        elif found is None and not self._bus.is_stable():
            self._wait_for_node(remote)
        elif found is None or found.node == self._directory.node:
            self._router.fail(remote.call, computer_not_found(remote.call.head.computer))
        else:
            self._send(remote, found)

    def _unbind(self, remote: RemoteCall) -> None:
        key = remote.office_id, remote.sid
        numbers = self._by_seat.get(key)
        if numbers is not None:
            numbers.discard(remote.number)
            if not numbers:
                del self._by_seat[key]

    # Incoming

    def take(self, head: CallFrame | ReplyFrame | ErrorFrame | AbsentFrame, body: bytes) -> None:
        """Handle a call or a reply of another node."""
        if type(head) is CallFrame:
            self._serve(head, body)
            return
        remote = self._calls.get(head.number)
        if remote is None:
            return  # late
        if type(head) is ReplyFrame:
            self._router.complete(remote.call, RawJson(body.decode()))
        elif type(head) is ErrorFrame:
            self._router.fail(remote.call, unpack_error(body))
        else:
            self._retry_elsewhere(remote)

    def _serve(self, ask: CallFrame, body: bytes) -> None:
        raw = self._takes_text and _is_plain(ask.event)
        payload: Payload = RawJson(body.decode()) if raw else orjson.loads(body)
        there = self._router.serve(
            ask.sid,
            ask.office_id,
            ask.event,
            payload,
            seconds=ask.seconds,
            reply=lambda arguments: self._answer(ask, arguments),
            refuse=lambda error: self._return(ask, ErrorFrame(ask.number), pack_error(error)),
        )
        if not there:
            self._return(ask, AbsentFrame(ask.number))

    def _answer(self, ask: CallFrame, arguments: Arguments) -> None:
        try:
            body = encode_body(arguments) if isinstance(arguments, RawJson) else encode_body(list(arguments))[1:-1]
        except BadRequest as error:
            self._return(ask, ErrorFrame(ask.number), pack_error(error))
        else:
            self._return(ask, ReplyFrame(ask.number), body)

    def _return(self, ask: CallFrame, head: NodeFrame, body: bytes = b"") -> None:
        frame = pack_frame(head, body)

        def sent(receivers: int | Exception) -> None:
            if isinstance(receivers, Exception):
                self._keep_unsent(ask, frame)

        self._bus.publish(ask.node, frame, sent)

    def _keep_unsent(self, ask: CallFrame, frame: bytes) -> None:
        if self._unsent_bytes + len(frame) > MAX_UNSENT_BYTES:
            frame = pack_frame(
                ErrorFrame(ask.number), pack_error(InternalError("The reply was lost between two nodes"))
            )
        self._unsent_bytes += len(frame)
        self._unsent.append((ask.node, frame))


@lru_cache(maxsize=256)
def _is_plain(event: str) -> bool:
    # Text is relayed only with an event name that needs no JSON escapes.
    return msgspec.json.encode(event) == b'"%b"' % event.encode()


def encode_body(payload: Payload) -> bytes:
    """Return a payload encoded for another node.

    Raises:
        BadRequest: The payload has binary parts.
    """
    try:
        if type(payload) is RawJson:
            return payload.text.encode()
        return orjson.dumps(payload, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, UnicodeError):
        raise BadRequest("Binary parts cannot pass between the nodes of a cluster; send them as base64 text") from None


def computer_lost_error(computer: str, how: str) -> ComputerLost:
    """Return the error for a call whose Computer was lost."""
    return ComputerLost(f"The computer {computer!r} {how}", details={"computer": computer})


def registry_unavailable_error() -> InternalError:
    """Return the error for requests that need the registry during an outage."""
    return InternalError("The registry cannot be reached; try again")
