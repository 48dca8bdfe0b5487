"""Handles the messages that other nodes, or Redis scripts, publish for this node."""

import logging
from functools import partial

import msgspec
import orjson

from a2c_smcp.server.call_router import CallRouter
from a2c_smcp.server.offices import Member, name_taken_error
from a2c_smcp.server.registry.directory import OfficeDirectory
from a2c_smcp.server.registry.frames import (
    AbsentFrame,
    AliveFrame,
    CallFrame,
    ErrorFrame,
    EvictFrame,
    JoinedFrame,
    NotifyFrame,
    ReplyFrame,
    pack_frame,
    unpack_frame,
)
from a2c_smcp.server.registry.remote_calls import NodeBus, RemoteCalls
from a2c_smcp.server.registry.scripts import unpack_member
from a2c_smcp.smcp import ENTER_OFFICE_NOTIFICATION, LEAVE_OFFICE_NOTIFICATION

log = logging.getLogger(__name__)


class BusListener:
    """Applies messages to the directory, the remote calls and the members of this node."""

    def __init__(self, router: CallRouter, directory: OfficeDirectory, remote_calls: RemoteCalls, bus: NodeBus) -> None:
        self._bus = bus
        self._router = router
        self._directory = directory
        self._remote_calls = remote_calls

    def handle(self, message: bytes) -> None:
        """Handle a message of the channel of this node."""
        try:
            head, body = unpack_frame(message)
        except msgspec.MsgspecError:
            log.error("message of another node is malformed: do all nodes run the same release?")
            return
        if isinstance(head, CallFrame | ReplyFrame | ErrorFrame | AbsentFrame):
            self._remote_calls.take(head, body)
        elif isinstance(head, NotifyFrame):
            self._router.broadcast(head.office_id, head.event, orjson.loads(body), head.skip)
        elif isinstance(head, JoinedFrame):
            changes = self._directory.enter(unpack_member(head.office_id, head.field, head.value))
            for member in changes.gone:
                self.left(member)
            for member in changes.entered if head.announced else ():
                self.entered(member)
        elif isinstance(head, EvictFrame):
            self._router.evict(head.sid, head.office_id, partial(self._answered, head) if head.challenge else None)
        elif isinstance(head, AliveFrame):
            self._router.challenged[head.sid] = True
        else:
            member = unpack_member(head.office_id, head.field, head.value)
            self._remote_calls.lost(member)
            if self._directory.leave(member):
                self.left(member)

    def _answered(self, evict: EvictFrame) -> None:
        self._bus.publish(evict.node, pack_frame(AliveFrame(evict.sid)), lambda _: None)

    def entered(self, member: Member) -> None:
        """Notify the members of this node that a member joined on another node."""
        self._router.broadcast(member.office_id, ENTER_OFFICE_NOTIFICATION, member.notification(), member.sid)

    def left(self, member: Member) -> None:
        """Notify the members of this node that a member left another node, and fail the calls to it."""
        self._remote_calls.lost(member)
        self._router.broadcast(member.office_id, LEAVE_OFFICE_NOTIFICATION, member.notification(), member.sid)

    def awaited_nodes(self) -> set[str]:
        """Return the nodes that owe a reply."""
        return self._remote_calls.awaited_nodes()

    def retry(self) -> None:
        """Send the requests again that wait for a node."""
        self._remote_calls.retry()

    def node_lost(self, node: str) -> None:
        """Fail the calls to a node that no longer listens."""
        self._remote_calls.node_lost(node)

    def evicted(self, member: Member) -> None:
        """Close the connection of a member whose name another node has; the client reconnects and gets the error."""
        log.warning("member replaced by another node during a Redis outage", extra={"sid": member.sid})
        self._router.transport.hang_up(member.sid, name_taken_error(member), reconnect=True)
