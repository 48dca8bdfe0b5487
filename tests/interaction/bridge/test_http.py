"""Who may talk to the bridge over HTTP."""

from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from a2c_smcp.bridge import HttpSettings
from tests.interaction.bridge.conftest import bridge_to
from tests.interaction.server.conftest import Running

TOKEN = "a-token-of-the-tests"
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


async def test_without_the_token_nobody_is_let_in(relay: Running, office: str) -> None:
    async with bridge_to(relay.url, office, http=HttpSettings(token=TOKEN)) as url, httpx.AsyncClient() as http:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
            refused = await http.post(url, json=HELLO, headers=ACCEPT | headers)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="a2c"')
        async with (
            create_mcp_http_client({"Authorization": f"bearer {TOKEN}"}) as opened,
            Client(streamable_http_client(url, http_client=opened)) as client,
        ):
            assert (await client.list_tools()).tools == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example.com"}, 421),
        ({"Host": "evil.example.com", "MCP-Protocol-Version": "2026-07-28"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "bridge.example.com"}, 200),
        ({}, 200),
    ],
)
async def test_a_web_page_cannot_talk_to_it(relay: Running, office: str, headers: dict[str, str], status: int) -> None:
    settings = HttpSettings(hosts=["bridge.example.com"])
    async with bridge_to(relay.url, office, http=settings) as url, httpx.AsyncClient() as http:
        assert (await http.post(url, json=HELLO, headers=ACCEPT | headers)).status_code == status


async def test_elsewhere_there_is_nothing(relay: Running, office: str) -> None:
    async with bridge_to(relay.url, office) as url, httpx.AsyncClient() as http:
        missing = await http.get(url.removesuffix("/mcp"))
        assert (missing.status_code, missing.text) == (404, "MCP is at /mcp")
