"""The numbers, as Prometheus reads them."""

import re

import pytest

import a2c_smcp
from a2c_smcp.errors import BadRequest, Unauthorized
from a2c_smcp.server.metrics import BUCKETS, Metrics, escape
from a2c_smcp.server.observer import UnknownClient
from a2c_smcp.server.offices import Member
from a2c_smcp.server.payload import RequestHead

AGENT = Member("office-1", "agent", "ada", "s-1")
COMPUTER = Member("office-1", "computer", "desk", "s-2")
WHO = UnknownClient("s-1", "192.0.2.1", AGENT)
HEAD = RequestHead(agent="ada", req_id="r-1", computer="desk")

SAMPLE = re.compile(
    r'[a-z0-9_]+(?:\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*\})? [0-9.e+-]+'
)


def samples(metrics: Metrics, of: str) -> list[str]:
    return [line for line in metrics.render().splitlines() if re.match(rf"a2c_{of}(?![a-z])", line)]


def test_a_server_where_nothing_happened_tells_so() -> None:
    lines = [line for line in Metrics().render().splitlines() if not line.startswith("#")]
    assert lines == [
        f'a2c_info{{version="{a2c_smcp.__version__}",protocol="{a2c_smcp.PROTOCOL_VERSION}"}} 1',
        "a2c_connections 0",
        "a2c_offices 0",
    ]


def test_gauges_tell_the_latest_number() -> None:
    metrics = Metrics()
    metrics.connections(3)
    metrics.connections(2)
    metrics.offices(1)
    waiting = [7.0]
    metrics.gauge("in_flight", "Calls under way.", lambda: waiting[0])
    assert samples(metrics, "connections") == ["a2c_connections 2"]
    assert samples(metrics, "offices") == ["a2c_offices 1"]
    assert samples(metrics, "in_flight") == ["a2c_in_flight 7"]


def test_joins_and_leaves_are_counted_by_role_and_reason() -> None:
    metrics = Metrics()
    for member in (AGENT, COMPUTER, COMPUTER):
        metrics.joined(member, "192.0.2.1")
    metrics.left(AGENT, "left")
    metrics.left(COMPUTER, "transport close")
    metrics.left(COMPUTER, "something new")
    assert samples(metrics, "joins_total") == ['a2c_joins_total{role="agent"} 1', 'a2c_joins_total{role="computer"} 2']
    assert samples(metrics, "leaves_total") == [
        'a2c_leaves_total{role="agent",reason="left"} 1',
        'a2c_leaves_total{role="computer",reason="other"} 1',
        'a2c_leaves_total{role="computer",reason="transport close"} 1',
    ]


def test_requests_are_counted_by_event_and_outcome() -> None:
    metrics = Metrics()
    metrics.answered("client:tool_call", "ok", 0.1, WHO, HEAD)
    metrics.answered("client:tool_call", "ok", 0.1, WHO, HEAD)
    metrics.answered("client:tool_call", "408", 0.1, WHO, HEAD)
    metrics.served("server:list_room", 0.1, WHO)
    metrics.refused("client:tool_call", BadRequest(), WHO, "r-1")
    assert samples(metrics, "requests_total") == [
        'a2c_requests_total{event="client:tool_call",outcome="400"} 1',
        'a2c_requests_total{event="client:tool_call",outcome="408"} 1',
        'a2c_requests_total{event="client:tool_call",outcome="ok"} 2',
        'a2c_requests_total{event="server:list_room",outcome="ok"} 1',
    ]


def test_refusals_are_counted_by_code() -> None:
    metrics = Metrics()
    metrics.refused("connect", Unauthorized(), None, None)
    metrics.refused("client:get_tools", BadRequest(), WHO, None)
    metrics.refused("client:get_tools", BadRequest(), WHO, None)
    assert samples(metrics, "refused_total") == [
        'a2c_refused_total{event="client:get_tools",code="400"} 2',
        'a2c_refused_total{event="connect",code="401"} 1',
    ]


def test_events_that_nobody_knows_share_one_label() -> None:
    metrics = Metrics()
    for number in range(100):
        metrics.refused(f'client:"{number}"\n', BadRequest(), WHO, None)
        metrics.answered(f"client:new_{number}", "ok", 0.1, WHO, HEAD)
    assert samples(metrics, "requests_total") == [
        'a2c_requests_total{event="other",outcome="400"} 100',
        'a2c_requests_total{event="other",outcome="ok"} 100',
    ]


def test_times_fall_into_cumulative_buckets() -> None:
    metrics = Metrics()
    for seconds in (0.0005, 0.001, 0.3, 1_000):
        metrics.answered("client:get_tools", "ok", seconds, WHO, HEAD)
    lines = samples(metrics, "request_seconds")
    counts = [int(line.rsplit(" ", 1)[1]) for line in lines if "_bucket" in line]
    assert len(counts) == len(BUCKETS) + 1
    assert dict(zip([*BUCKETS, "more"], counts, strict=True)) == {
        bound: 2 if bound < 0.5 else 3 for bound in BUCKETS
    } | {"more": 4}
    assert lines[-2:] == [
        'a2c_request_seconds_sum{event="client:get_tools"} 1000.3015',
        'a2c_request_seconds_count{event="client:get_tools"} 4',
    ]
    assert 'a2c_request_seconds_bucket{event="client:get_tools",le="0.001"} 2' in lines
    assert 'a2c_request_seconds_bucket{event="client:get_tools",le="+Inf"} 4' in lines


def test_every_line_is_of_the_text_format_and_every_family_is_explained() -> None:
    metrics = Metrics()
    metrics.joined(AGENT, "")
    metrics.answered("client:get_tools", "ok", 0.1, WHO, HEAD)
    text = metrics.render()
    assert text.endswith("\n")
    families = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            families.add(line.split()[2])
        elif not line.startswith("# HELP "):
            assert SAMPLE.fullmatch(line), line
            name = re.sub(r"_(bucket|sum|count)$", "", line.split("{")[0].split(" ")[0])
            assert name in families, line


@pytest.mark.parametrize(("text", "written"), [("a", "a"), ('"', '\\"'), ("\\", "\\\\"), ("\n", "\\n"), ("中", "中")])
def test_label_values_are_escaped(text: str, written: str) -> None:
    assert escape(text) == written
