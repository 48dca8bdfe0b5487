"""Limits on what one client may use, and the error for an exceeded one. Pure."""

from dataclasses import dataclass

from a2c_smcp.errors import RateLimited
from a2c_smcp.server.setting_types import Count, PositiveSeconds, Rate, Seconds, Size, setting
from a2c_smcp.types import MAX_MESSAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """The operator's limits; a rate or count of 0 means no limit.

    The message limit defaults to what every released client can receive, the default time-out to less than the 20
    seconds after which released clients give up. Bursts are twice the rate of requests and four times that of joins.
    """

    message_bytes: Size = setting("The largest message that is relayed; larger ones are refused.", MAX_MESSAGE)
    frame_bytes: Size = setting("The largest frame that is read; a larger one closes its connection.", 32_000_000)
    backlog_bytes: Size = setting(
        "Unsent bytes of a slow client before it is disconnected; requests for it are refused from half of it.",
        64_000_000,
    )
    backlog_total_bytes: Size = setting(
        "Unsent bytes of all clients together; above it the slowest client is disconnected.", 512_000_000
    )
    requests_per_second: Rate = setting("Requests of one connection.", 5_000)
    office_requests_per_second: Rate = setting(
        "Requests of one office; a notification counts once for each recipient.", 20_000
    )
    in_flight: Count = setting("Requests of one connection that wait for a reply.", 4_096)
    connections_per_address: Count = setting("Connections of one network address, idle ones included.", 1_024)
    early_bytes: Size = setting("The largest frame or body of a client that has not joined an office.", 65_536)
    header_seconds: PositiveSeconds = setting("Time in which a client must send the header of a request.", 10)
    hello_seconds: PositiveSeconds = setting("Time in which a new client must authenticate.", 20)
    joins_per_second: Rate = setting("Joins and leaves of one connection.", 10)
    default_timeout: PositiveSeconds = setting("Time to wait for the reply to a request without a time-out.", 15)
    max_timeout: PositiveSeconds = setting("The longest time-out a request may ask for.", 3_600)
    timeout_margin: Seconds = setting("Time added to each time-out for transmission.", 2)

    def timeout(self, asked: float | None) -> float:
        """Return how many seconds the server waits for the reply to a request with the time-out `asked`."""
        wait = self.default_timeout if asked is None else min(asked, self.max_timeout)
        return wait + self.timeout_margin


def limit_exceeded(what: str, limit: float) -> RateLimited:
    """Return the error that names the exceeded limit."""
    return RateLimited(f"Limit exceeded: {what} ({limit:g})", details={"limit": what, "value": limit})
