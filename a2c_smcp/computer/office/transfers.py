"""Large replies that wait to be fetched in pieces: bounded in number, bytes and time. The clock is handed in."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from a2c_smcp.connection.chunks import MAX_REPLY, ChunkedReply
from a2c_smcp.errors import NotFound, RateLimited
from a2c_smcp.smcp import Chunked

RequestKey: TypeAlias = tuple[str, str, str]
"""Agent, event and `req_id`: asking the same again replaces what waits."""

MAX_TRANSFERS: Final = 32
SECONDS: Final = 60.0


@dataclass(slots=True)
class _Transfer:
    request: RequestKey
    parcel: ChunkedReply
    touched: float
    given: set[int] = field(default_factory=set)


class PendingTransfers:
    """What waits, by the name it is fetched by.

    Args:
        most: How many replies wait at most.
        most_bytes: How much they hold together.
        seconds: How long one waits after the last time somebody fetched a piece of it.
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
        self._waiting: dict[str, _Transfer] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def bytes(self) -> int:
        """How much waits."""
        return sum(len(transfer.parcel.body) for transfer in self._waiting.values())

    def admit(self, request: RequestKey, size: int) -> None:
        """Decide whether the reply to a request can wait here.

        Raises:
            RateLimited: Too much waits already.
        """
        self.expire()
        for name in [name for name, transfer in self._waiting.items() if transfer.request == request]:
            del self._waiting[name]
        for what, value, limit in (
            ("large replies waiting to be fetched", len(self) + 1, self._most),
            ("bytes of large replies waiting to be fetched", self.bytes + size, self.most_bytes),
        ):
            if value > limit:
                raise RateLimited(
                    f"Limit exceeded: {what} ({limit}); fetch those that wait, or ask again later",
                    details={"limit": what, "value": limit},
                )

    def keep(self, request: RequestKey, parcel: ChunkedReply, announced: Chunked) -> None:
        """Let a reply wait under the name it was announced by."""
        self._waiting[announced["transfer"]] = _Transfer(request, parcel, self._clock())

    def piece(self, agent: str, name: str, index: int) -> str:
        """Return a piece; the reply is forgotten when each has been given out.

        Raises:
            NotFound: Nothing of that name waits for this Agent.
            BadRequest: There is no such piece.
        """
        self.expire()
        transfer = self._waiting.get(name)
        if transfer is None or transfer.request[0] != agent:
            raise NotFound(
                "The reply is no longer kept; send the request again", details={"transfer": name, "index": index}
            )
        text = transfer.parcel.piece(index)
        transfer.touched = self._clock()
        transfer.given.add(index)
        if len(transfer.given) == transfer.parcel.count:
            del self._waiting[name]
        return text

    def expire(self) -> None:
        """Forget what nobody fetched for too long."""
        before = self._clock() - self.seconds
        for name in [name for name, transfer in self._waiting.items() if transfer.touched <= before]:
            del self._waiting[name]

    def clear(self) -> None:
        """Forget everything."""
        self._waiting.clear()


def new_name() -> str:
    """A name that nobody can guess."""
    return secrets.token_urlsafe(16)
