"""Spans, with the real SDK."""

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from a2c_smcp.errors import Unauthorized
from a2c_smcp.server.observer import UnknownClient
from a2c_smcp.server.offices import Member
from a2c_smcp.server.payload import RequestHead
from a2c_smcp.server.tracing import Tracing, own_provider

NOW = 1_700_000_000_000_000_000
WHO = UnknownClient("s-1", "192.0.2.1", Member("office-1", "agent", "ada", "s-1"))
HEAD = RequestHead(agent="ada", req_id="r-1", computer="desk")
SENDER = {"a2c.office": "office-1", "a2c.agent": "ada", "client.address": "192.0.2.1"}


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracing(spans: InMemorySpanExporter) -> Iterator[Tracing]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    yield Tracing(provider, lambda: NOW)
    provider.shutdown()


def facts(span: ReadableSpan) -> tuple[str, dict[str, Any], StatusCode]:
    return span.name, dict(span.attributes or {}), span.status.status_code


def test_a_call_is_a_span_with_its_ids_and_its_times(tracing: Tracing, spans: InMemorySpanExporter) -> None:
    tracing.answered("client:tool_call", "ok", 1.5, WHO, HEAD)
    (span,) = spans.get_finished_spans()
    more = {"a2c.event": "client:tool_call", "a2c.outcome": "ok", "a2c.computer": "desk", "a2c.req_id": "r-1"}
    assert facts(span) == ("client:tool_call", SENDER | more, StatusCode.UNSET)
    assert (span.kind, span.start_time, span.end_time) == (SpanKind.SERVER, NOW - 1_500_000_000, NOW)


def test_a_call_that_failed_is_an_error(tracing: Tracing, spans: InMemorySpanExporter) -> None:
    tracing.answered("client:tool_call", "408", 1.5, WHO, HEAD)
    (span,) = spans.get_finished_spans()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "408")


def test_an_event_for_the_server_is_a_span(tracing: Tracing, spans: InMemorySpanExporter) -> None:
    tracing.served("server:list_room", 0.5, WHO)
    (span,) = spans.get_finished_spans()
    assert facts(span) == (
        "server:list_room",
        SENDER | {"a2c.event": "server:list_room", "a2c.outcome": "ok"},
        StatusCode.UNSET,
    )


@pytest.mark.parametrize(
    ("who", "req_id", "more"),
    [
        (None, None, {}),
        (UnknownClient("s-9", "192.0.2.9"), None, {"client.address": "192.0.2.9"}),
        (WHO, "r-1", SENDER | {"a2c.req_id": "r-1"}),
    ],
)
def test_a_refusal_is_an_error(
    who: UnknownClient | None, req_id: str | None, more: dict[str, str], tracing: Tracing, spans: InMemorySpanExporter
) -> None:
    tracing.refused("connect", Unauthorized(), who, req_id)
    (span,) = spans.get_finished_spans()
    assert facts(span) == ("connect", {"a2c.event": "connect", "a2c.outcome": "401"} | more, StatusCode.ERROR)


def test_our_own_exporter_is_named_after_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_SERVICE_NAME", raising=False)
    provider = own_provider()
    assert provider.resource.attributes["service.name"] == "a2c-server"
    provider.shutdown()


def test_the_name_in_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "signal")
    provider = own_provider()
    assert provider.resource.attributes["service.name"] == "signal"
    provider.shutdown()
