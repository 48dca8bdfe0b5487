"""Metrics in the text format of Prometheus."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from a2c_smcp import PROTOCOL_VERSION, __version__
from a2c_smcp.errors import SMCPError
from a2c_smcp.server.observer import OTHER, ObservedClient, ServerObserver, event_label
from a2c_smcp.server.offices import Member
from a2c_smcp.server.payload import RequestHead

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_REASONS: Final = frozenset(
    {"left", "moved", "client disconnect", "server disconnect", "ping timeout", "transport close", "transport error"}
)

Labels = tuple[tuple[str, str], ...]
Sample = tuple[str, Labels, float]


class Histogram:
    """A histogram of durations."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.total += seconds

    def within(self, part: float) -> float | None:
        """Return the bucket bound of a quantile; None if it is above all bounds."""
        wanted, passed = part * sum(self.counts), 0
        for bound, count in zip(BUCKETS, self.counts, strict=False):
            passed += count
            if passed >= wanted:
                return bound
        return None

    def samples(self, name: str, labels: Labels) -> Iterator[Sample]:
        """Yield the cumulative buckets, the sum and the count."""
        passed = 0
        for bound, count in zip((*map(_number, BUCKETS), "+Inf"), self.counts, strict=True):
            passed += count
            yield f"{name}_bucket", (*labels, ("le", bound)), passed
        yield f"{name}_sum", labels, self.total
        yield f"{name}_count", labels, passed


class Metrics(ServerObserver):
    """Counts events of the server and renders them."""

    def __init__(self) -> None:
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self._connections = 0
        self._offices = 0
        self._joins: dict[Labels, int] = {}
        self._leaves: dict[Labels, int] = {}
        self._requests: dict[tuple[str, str], int] = {}
        self._refused: dict[Labels, int] = {}
        self._seconds: dict[str, Histogram] = {}

    def gauge(self, name: str, help_: str, read: Callable[[], float]) -> None:
        """Add a gauge that is read when the metrics are rendered."""
        self._gauges[name] = (help_, read)

    def connections(self, number: int) -> None:
        """Set the gauge."""
        self._connections = number

    def offices(self, number: int) -> None:
        """Set the gauge."""
        self._offices = number

    def joined(self, member: Member, address: str) -> None:  # noqa: ARG002
        """Count a join."""
        _count(self._joins, role=member.role)

    def left(self, member: Member, why: str) -> None:
        """Count a leave."""
        _count(self._leaves, role=member.role, reason=why if why in _REASONS else OTHER)

    def refused(self, event: str, error: SMCPError, client: ObservedClient | None, req_id: str | None) -> None:  # noqa: ARG002
        """Count a refusal."""
        label = event_label(event)
        _count(self._refused, event=label, code=str(error.code))
        self._request(label, str(error.code))

    def served(self, event: str, seconds: float, client: ObservedClient) -> None:  # noqa: ARG002
        """Count an event for the Server."""
        label = event_label(event)
        self._request(label, "ok")
        self._time(label, seconds)

    def answered(self, event: str, outcome: str, seconds: float, client: ObservedClient, head: RequestHead) -> None:  # noqa: ARG002
        """Count a request to a Computer."""
        label = event_label(event)
        self._request(label, outcome)
        self._time(label, seconds)

    def _request(self, label: str, outcome: str) -> None:
        key = (label, outcome)
        self._requests[key] = self._requests.get(key, 0) + 1

    def _time(self, label: str, seconds: float) -> None:
        histogram = self._seconds.get(label)
        if histogram is None:
            histogram = self._seconds[label] = Histogram()
        histogram.add(seconds)

    def now(self) -> dict[str, float]:
        """Return the current gauges by name."""
        return {"connections": self._connections, **{name: read() for name, (_, read) in self._gauges.items()}}

    def by_event(self) -> list[dict[str, Any]]:
        """Return an entry for each event since the start: number of requests, errors by code, durations."""
        events: dict[str, dict[str, Any]] = {}
        for (event, outcome), number in sorted(self._requests.items()):
            entry = events.setdefault(event, {"event": event, "requests": 0, "errors": {}})
            entry["requests"] += number
            if outcome != "ok":
                entry["errors"][outcome] = number
        for event, entry in events.items():
            times = self._seconds.get(event)
            entry |= {"median": times and times.within(0.5), "most": times and times.within(0.95)}
        return list(events.values())

    def render(self) -> str:
        """Return all metrics in the text format."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        info: Labels = (("version", __version__), ("protocol", PROTOCOL_VERSION))
        yield from _family("info", "gauge", "Version of the server.", [("a2c_info", info, 1)])
        yield from _single("connections", "Open connections of this node.", self._connections)
        yield from _single("offices", "Offices with members on this node.", self._offices)
        for name, (help_, read) in self._gauges.items():
            yield from _single(name, help_, read())
        yield from _counter("joins_total", "Joins by role.", self._joins)
        yield from _counter("leaves_total", "Leaves by role and reason.", self._leaves)
        requests: dict[Labels, int] = {
            (("event", event), ("outcome", outcome)): number for (event, outcome), number in self._requests.items()
        }
        yield from _counter("requests_total", "Requests by event and outcome: ok, gone or an error code.", requests)
        yield from _counter("refused_total", "Requests refused by this server, by error code.", self._refused)
        times = (
            sample
            for event, histogram in sorted(self._seconds.items())
            for sample in histogram.samples("a2c_request_seconds", (("event", event),))
        )
        yield from _family("request_seconds", "histogram", "Time from a request to its reply.", times)


def _count(counts: dict[Labels, int], **labels: str) -> None:
    key = tuple(labels.items())
    counts[key] = counts.get(key, 0) + 1


def _single(name: str, help_: str, value: float) -> Iterator[str]:
    return _family(name, "gauge", help_, [(f"a2c_{name}", (), value)])


def _counter(name: str, help_: str, counts: Mapping[Labels, int]) -> Iterator[str]:
    return _family(name, "counter", help_, [(f"a2c_{name}", labels, counts[labels]) for labels in sorted(counts)])


def _family(name: str, kind: str, help_: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP a2c_{name} {help_}"
    yield f"# TYPE a2c_{name} {kind}"
    for full, labels, value in samples:
        listed = ",".join(f'{label}="{escape(text)}"' for label, text in labels)
        yield f"{full}{{{listed}}} {_number(value)}" if labels else f"{full} {_number(value)}"


def escape(text: str) -> str:
    """Return the value of a label, escaped for quotes."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
