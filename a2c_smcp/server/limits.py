"""How much one client may ask of the Server. Pure: the clock is handed in."""

from dataclasses import dataclass

from a2c_smcp.errors import RateLimited
from a2c_smcp.types import MAX_MESSAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """The operator's settings; a rate or number of 0 means no limit.

    Attributes:
        message_bytes: The largest message passed on. Larger ones are refused with an error and the connection lives;
            the default is what every released client can receive.
        frame_bytes: The largest frame read at all; a larger one ends its connection.
        backlog_bytes: What may wait for a client that reads too slowly before it is disconnected. Requests are refused
            from half of it.
        backlog_total_bytes: What may wait for all clients together; beyond it the slowest reader is disconnected.
        requests_per_second: Requests of one connection (bursts of twice as many).
        office_requests_per_second: Requests of all members of one office. A notification counts once for each member
            that gets it.
        in_flight: Requests of one connection that wait for an answer.
        connections_per_address: Open connections from one network address, idle ones included.
        early_bytes: The largest frame or HTTP body of a client that has not joined an office.
        header_seconds: How long a client may take to send the header of a request, on a new or an idle connection.
        hello_seconds: How long it may then take to be let in.
        joins_per_second: Joins and leaves of one connection (bursts of four times as many).
        default_timeout: Seconds to wait for a reply to a request that names no time-out; released clients give up
            after 20.
        max_timeout: The longest time-out a request may name; longer ones are cut to it.
        timeout_margin: Seconds granted on top, for the way there and back.
    """

    message_bytes: int = MAX_MESSAGE
    frame_bytes: int = 32_000_000
    backlog_bytes: int = 64_000_000
    backlog_total_bytes: int = 512_000_000
    requests_per_second: float = 5_000
    office_requests_per_second: float = 20_000
    in_flight: int = 4_096
    connections_per_address: int = 1_024
    early_bytes: int = 65_536
    header_seconds: float = 10
    hello_seconds: float = 20
    joins_per_second: float = 10
    default_timeout: float = 15
    max_timeout: float = 3_600
    timeout_margin: float = 2

    def timeout(self, asked: float | None) -> float:
        """Seconds that the Server waits for an answer to a request that asked for `asked`."""
        wait = self.default_timeout if asked is None else min(asked, self.max_timeout)
        return wait + self.timeout_margin


def limit_exceeded(what: str, limit: float) -> RateLimited:
    """The refusal that says which limit was exceeded."""
    return RateLimited(f"Limit exceeded: {what} ({limit:g})", details={"limit": what, "value": limit})
