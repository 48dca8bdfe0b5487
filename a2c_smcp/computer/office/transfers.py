"""Large replies that Agents fetch in chunks, limited in number, bytes and time. Pure: the caller passes the clock."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from a2c_smcp.connection.chunks import MAX_REPLY, ChunkedReply
from a2c_smcp.errors import NotFound, RateLimited
from a2c_smcp.smcp import Chunked

RequestKey: TypeAlias = tuple[str, str, str]
"""Agent, event and `req_id`: the same request again replaces its pending reply."""

MAX_TRANSFERS: Final = 32
SECONDS: Final = 60.0


@dataclass(slots=True)
class _Transfer:
    request: RequestKey
    reply: ChunkedReply
    touched: float
    fetched: set[int] = field(default_factory=set)


class PendingTransfers:
    """The pending replies, by the name under which they are fetched.

    Args:
        most: The most pending replies.
        most_bytes: Their total size limit.
        seconds: How long a reply is kept after the latest fetch of a chunk.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        most: int = MAX_TRANSFERS,
        most_bytes: int = MAX_REPLY,
        seconds: float = SECONDS,
    ) -> None:
        self.seconds = seconds
        self.most_bytes = most_bytes
        self._clock = clock
        self._most = most
        self._pending: dict[str, _Transfer] = {}

    def __len__(self) -> int:
        return len(self._pending)

    @property
    def bytes(self) -> int:
        """The total size of the pending replies."""
        return sum(len(transfer.reply.body) for transfer in self._pending.values())

    def admit(self, request: RequestKey, size: int) -> None:
        """Check that the reply to a request fits.

        Raises:
            RateLimited: Too many or too large replies are pending.
        """
        self.expire()
        for name in [name for name, transfer in self._pending.items() if transfer.request == request]:
            del self._pending[name]
        for what, value, limit in (
            ("large replies waiting to be fetched", len(self) + 1, self._most),
            ("bytes of large replies waiting to be fetched", self.bytes + size, self.most_bytes),
        ):
            if value > limit:
                raise RateLimited(
                    f"Limit exceeded: {what} ({limit}); fetch those that wait, or ask again later",
                    details={"limit": what, "value": limit},
                )

    def keep(self, request: RequestKey, reply: ChunkedReply, announced: Chunked) -> None:
        """Store a reply under its announced name."""
        self._pending[announced["transfer"]] = _Transfer(request, reply, self._clock())

    def piece(self, agent: str, name: str, index: int) -> str:
        """Return a chunk; the reply is dropped once every chunk has been fetched.

        Raises:
            NotFound: No reply of that name is pending for this Agent.
            BadRequest: There is no such chunk.
        """
        self.expire()
        transfer = self._pending.get(name)
        if transfer is None or transfer.request[0] != agent:
            raise NotFound(
                "The reply is no longer kept; send the request again", details={"transfer": name, "index": index}
            )
        text = transfer.reply.piece(index)
        transfer.touched = self._clock()
        transfer.fetched.add(index)
        if len(transfer.fetched) == transfer.reply.count:
            del self._pending[name]
        return text

    def expire(self) -> None:
        """Drop replies that were not fetched for too long."""
        before = self._clock() - self.seconds
        for name in [name for name, transfer in self._pending.items() if transfer.touched <= before]:
            del self._pending[name]

    def clear(self) -> None:
        """Drop all replies."""
        self._pending.clear()


def new_name() -> str:
    """Return an unguessable name."""
    return secrets.token_urlsafe(16)
