"""The state of the call router: client connections, the calls between them, and their deadlines."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from a2c_smcp.common.rate_limit import TokenBucket
from a2c_smcp.errors import SMCPError
from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.offices import Identity, Member
from a2c_smcp.server.payload import RawJson, RequestHead

AckArguments: TypeAlias = RawJson | tuple[Any, ...]
"""The arguments of an ack: unparsed JSON, or values."""

ReplyCallback: TypeAlias = Callable[[AckArguments], None]
ErrorCallback: TypeAlias = Callable[[SMCPError], None]


class ClientConnection:
    """A client connection of this node.

    Attributes:
        closing_error: Why the server closes the connection; set while it is still open.
        outgoing: Calls that this client made; None until the first.
        incoming: Calls that this client has to answer; None until the first.
        sender_replaced: Whether a wrong sender name of this connection has been reported.
    """

    __slots__ = (
        "address",
        "closing_error",
        "identity",
        "incoming",
        "joins",
        "member",
        "outgoing",
        "requests",
        "sender_replaced",
        "sid",
        "version",
    )

    def __init__(
        self, sid: str, identity: Identity, limits: ServerLimits, now: float, *, address: str, version: str | None
    ) -> None:
        self.sid = sid
        self.identity = identity
        self.address = address
        self.version = version
        self.member: Member | None = None
        self.sender_replaced = False
        self.closing_error: SMCPError | None = None
        self.requests = TokenBucket(limits.requests_per_second, 2 * limits.requests_per_second, now)
        self.joins = TokenBucket(limits.joins_per_second, 4 * limits.joins_per_second, now)
        self.outgoing: set[PendingCall] | None = None
        self.incoming: set[PendingCall] | None = None


class PendingCall:
    """A request that waits for its reply.

    A request that another node accepted has no caller here; `refuse` passes its errors to that node.

    Attributes:
        timeout_error: The error for the caller at the deadline, where the Computer is not the cause.
    """

    __slots__ = (
        "ack",
        "caller",
        "completed",
        "deadline",
        "event",
        "head",
        "refuse",
        "reply",
        "started",
        "target",
        "timeout_error",
    )

    def __init__(
        self,
        caller: ClientConnection | None,
        event: str,
        head: RequestHead,
        reply: ReplyCallback,
        *,
        started: float,
        deadline: float,
        refuse: ErrorCallback | None = None,
    ) -> None:
        self.ack: int | None = None
        self.caller = caller
        self.event = event
        self.head = head
        self.refuse = refuse
        self.reply = reply
        self.started = started
        self.deadline = deadline
        self.target: ClientConnection | None = None
        self.timeout_error: SMCPError | None = None
        self.completed = False


class CallDeadlines:
    """Calls by deadline, in slots of a quarter second, so that adding and removing are cheap."""

    SLOT = 0.25

    def __init__(self) -> None:
        self._slots: dict[int, set[PendingCall]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._slots.values()))

    def _slot(self, call: PendingCall) -> int:
        return int(call.deadline / self.SLOT) + 1

    def add(self, call: PendingCall) -> None:
        """Add a call."""
        self._slots.setdefault(self._slot(call), set()).add(call)

    def forget(self, call: PendingCall) -> None:
        """Remove a call that is over; otherwise it would stay in memory until its deadline."""
        slot = self._slot(call)
        calls = self._slots.get(slot)
        if calls is not None:
            calls.discard(call)
            if not calls:
                del self._slots[slot]

    def due(self, now: float) -> Iterator[PendingCall]:
        """Yield the calls past their deadline, each once. Callers may remove other calls, and with them later slots."""
        current = int(now / self.SLOT)
        for slot in [slot for slot in self._slots if slot <= current]:
            yield from self._slots.pop(slot, ())
