"""OpenTelemetry spans of requests; importing this module needs the `otel` extra.

A span is created after its request, with the recorded times, so that it does not slow down the relay.
"""

import os
import time
from collections.abc import Callable
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from a2c_smcp import __version__
from a2c_smcp.errors import SMCPError
from a2c_smcp.server.observer import ObservedClient, ServerObserver, event_name
from a2c_smcp.server.payload import RequestHead

SCOPE: Final = "a2c_smcp.server"


class Tracing(ServerObserver):
    """Creates a span for every request.

    Args:
        provider: The tracer provider; by default the one of the process, or else an own OTLP exporter that the
            `OTEL_*` variables configure.
    """

    def __init__(self, provider: trace.TracerProvider | None = None, clock: Callable[[], int] = time.time_ns) -> None:
        configured = provider or trace.get_tracer_provider()
        self._own = own_provider() if isinstance(configured, trace.ProxyTracerProvider) else None
        self._tracer = (self._own or configured).get_tracer(SCOPE, __version__)
        self._clock = clock

    def close(self) -> None:
        """Export the remaining spans."""
        if self._own is not None:
            self._own.shutdown()

    def answered(self, event: str, outcome: str, seconds: float, client: ObservedClient, head: RequestHead) -> None:
        """Create the span of a call."""
        self._span(event, outcome, seconds, client, {"a2c.computer": head.computer, "a2c.req_id": head.req_id})

    def served(self, event: str, seconds: float, client: ObservedClient) -> None:
        """Create the span of an event for the Server."""
        self._span(event, "ok", seconds, client, {})

    def refused(self, event: str, error: SMCPError, client: ObservedClient | None, req_id: str | None) -> None:
        """Create the span of a refused request."""
        self._span(event, str(error.code), 0, client, {"a2c.req_id": req_id} if req_id is not None else {})

    def _span(
        self, event: str, outcome: str, seconds: float, client: ObservedClient | None, more: dict[str, str]
    ) -> None:
        end = self._clock()
        name = event_name(event)
        attributes = {"a2c.event": name, "a2c.outcome": outcome} | more
        if client is not None:
            attributes["client.address"] = client.address
            if client.member is not None:
                attributes |= {"a2c.office": client.member.office_id, f"a2c.{client.member.role}": client.member.name}
        start = end - int(seconds * 1e9)
        span = self._tracer.start_span(name, kind=SpanKind.SERVER, attributes=attributes, start_time=start)
        if outcome != "ok":
            span.set_status(Status(StatusCode.ERROR, outcome))
        span.end(end)


def own_provider() -> Any:
    """Return a provider that exports over OTLP; it is not set for the whole process."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    named = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "a2c-server"}
    provider = TracerProvider(resource=Resource.create(named | {"service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
