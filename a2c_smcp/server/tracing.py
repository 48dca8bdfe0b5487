"""OpenTelemetry spans of requests, where that is configured; importing this needs the `otel` extra.

A span is made when its request is over, with the times that were: the way of a request pays nothing for it.
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
    """Makes a span of every request.

    Args:
        provider: Where spans go; by default what the process has configured, or else an exporter of our own that
            follows the `OTEL_*` variables.
    """

    def __init__(self, provider: trace.TracerProvider | None = None, clock: Callable[[], int] = time.time_ns) -> None:
        configured = provider or trace.get_tracer_provider()
        self._own = own_provider() if isinstance(configured, trace.ProxyTracerProvider) else None
        self._tracer = (self._own or configured).get_tracer(SCOPE, __version__)
        self._clock = clock

    def close(self) -> None:
        """Send what is left."""
        if self._own is not None:
            self._own.shutdown()

    def answered(self, event: str, outcome: str, seconds: float, client: ObservedClient, head: RequestHead) -> None:
        """A call is over."""
        self._span(event, outcome, seconds, client, {"a2c.computer": head.computer, "a2c.req_id": head.req_id})

    def served(self, event: str, seconds: float, client: ObservedClient) -> None:
        """An event for the Server is done."""
        self._span(event, "ok", seconds, client, {})

    def refused(self, event: str, error: SMCPError, client: ObservedClient | None, req_id: str | None) -> None:
        """A request was refused."""
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
    """A provider that sends spans over OTLP; a library does not set it for the whole process."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    named = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "a2c-server"}
    provider = TracerProvider(resource=Resource.create(named | {"service.version": __version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
