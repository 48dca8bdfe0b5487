"""What the application says over HTTP: health, readiness, metrics, and where to look."""

from typing import Any

import httpx
import pytest

from a2c_smcp.server import MemoryRegistry, create_app
from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import get, pair, serving


class Sick(MemoryRegistry):
    """A registry with a problem."""

    trouble: str | None = "redis://:tiger@10.1.2.3 cannot be reached"

    def problem(self) -> str | None:
        return self.trouble


async def test_health_and_readiness_are_told() -> None:
    async with serving(create_app()) as server:
        health, ready = await get(f"{server.url}/healthz"), await get(f"{server.url}/readyz")
    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})


async def test_a_server_without_its_registry_is_alive_but_not_ready_and_keeps_the_secret() -> None:
    registry = Sick()
    async with serving(create_app(registry=registry)) as server:
        health, ready = await get(f"{server.url}/healthz"), await get(f"{server.url}/readyz")
        numbers = await get(f"{server.url}/metrics")
        registry.trouble = None
        again = await get(f"{server.url}/readyz")
    assert (health.status_code, ready.status_code, again.status_code) == (200, 503, 200)
    assert ready.json() == {"status": "not ready", "reason": "redis://<redacted>@<address> cannot be reached"}
    assert "a2c_ready 0" in numbers.text


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_pages_are_for_reading(path: str) -> None:
    async with serving(create_app()) as server, httpx.AsyncClient() as client:
        post, head = await client.post(f"{server.url}{path}"), await client.head(f"{server.url}{path}")
    assert (post.status_code, post.headers["allow"]) == (405, "GET, HEAD")
    assert (head.status_code, head.content) == (200, b"")


async def test_other_paths_are_not_found_and_say_where_to_look() -> None:
    async with serving(create_app()) as server:
        reply = await get(f"{server.url}/socket.iox")
    assert (reply.status_code, reply.json()) == (
        404,
        {"error": {"code": 404, "message": "Socket.IO is at /socket.io"}},
    )


async def test_a_websocket_elsewhere_is_refused_by_http() -> None:
    async with serving(create_app()) as server, httpx.AsyncClient() as client:
        upgrade = {
            "connection": "upgrade",
            "upgrade": "websocket",
            "sec-websocket-version": "13",
            "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
        }
        codes = [
            (await client.get(f"{server.url}{path}", headers=upgrade | more)).status_code
            for path, more in [("/x", {}), ("/healthz", {}), ("/socket.io/", {"origin": "http://evil.example"})]
        ]
    assert codes == [404, 405, 403]


# Metrics


@pytest.mark.parametrize(
    ("options", "header", "status"),
    [
        ({}, "", 200),
        ({"api_keys": ["k"]}, "", 403),
        ({"api_keys": ["k"]}, "Bearer k", 403),
        ({"api_keys": ["k"], "metrics_public": True}, "", 200),
        ({"api_keys": ["k"], "metrics_token": "m"}, "", 401),
        ({"api_keys": ["k"], "metrics_token": "m"}, "Bearer k", 401),
        ({"api_keys": ["k"], "metrics_token": "m"}, "Bearer \xe9", 401),
        ({"api_keys": ["k"], "metrics_token": "m"}, "Bearer m", 200),
    ],
)
async def test_metrics_are_for_those_who_may_see_them(options: dict[str, Any], header: str, status: int) -> None:
    async with serving(create_app(**options)) as server:
        headers = {"authorization": header.encode("latin-1")} if header else {}
        assert (await get(f"{server.url}/metrics", headers=headers)).status_code == status


async def test_metrics_count_what_happened(connect: Connect) -> None:
    async with serving(create_app()) as server:
        agent, _ = await pair(connect, server)
        await agent.ask("client:get_tools", "desk")
        await agent.ask("client:get_tools", "nobody")
        await agent.ask("client:new_in_later_releases", "desk")
        await agent.call("nonsense", {})
        lines = (await get(f"{server.url}/metrics")).text.splitlines()
    assert {
        "a2c_connections 2",
        "a2c_offices 1",
        "a2c_in_flight 0",
        'a2c_joins_total{role="agent"} 1',
        'a2c_joins_total{role="computer"} 1',
        'a2c_requests_total{event="client:get_tools",outcome="ok"} 1',
        'a2c_requests_total{event="client:get_tools",outcome="404"} 1',
        'a2c_requests_total{event="other",outcome="ok"} 1',
        'a2c_requests_total{event="other",outcome="400"} 1',
        'a2c_refused_total{event="other",code="400"} 1',
        'a2c_requests_total{event="server:join_office",outcome="ok"} 2',
        'a2c_request_seconds_count{event="client:get_tools"} 2',
    } <= set(lines)


async def test_an_audit_log_that_cannot_be_written_shows_in_readiness_and_metrics(connect: Connect) -> None:
    async with serving(create_app(audit_log="/dev/full")) as server:
        assert (await get(f"{server.url}/readyz")).json() == {"status": "ready"}
        await pair(connect, server)
        reply = await get(f"{server.url}/readyz")
        metrics = (await get(f"{server.url}/metrics")).text
    assert (reply.status_code, reply.json()) == (
        200,
        {"status": "ready", "warnings": ["the audit log is not writable: no space left on device"]},
    )
    assert "a2c_audit_writable 0" in metrics
    assert "a2c_audit_lost 2" in metrics
