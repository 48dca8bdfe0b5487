"""The bridge of `a2c up`: one Agent that serves the office to every MCP client that speaks HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.bridge import Bridge, BridgeSettings, HttpSettings, run, serve_http

AGENT: Final = "mcp"


@asynccontextmanager
async def serve_bridge(url: str, office: str, token: str, http_token: str, port: int = 0) -> AsyncIterator[str]:
    """Run a bridge, and yield where its clients find it.

    Args:
        office: The office that clients are told of; the bridge has one of its own beside it.
        http_token: What clients must send.

    Raises:
        InvalidConfig: The port is taken.
    """
    client = AsyncSMCPAgentClient(url, name=AGENT, office_id=f"{office}-{AGENT}", token=token, live=False)
    bridge = Bridge(client, office, BridgeSettings(reading_tools=True))
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def transport(served: Bridge) -> None:
        await serve_http(served, HttpSettings(port=port, token=http_token), listening.set_result)

    task = asyncio.create_task(run(bridge, client, transport), name="a2c-up-bridge")
    try:
        awaited: list[asyncio.Future[None] | asyncio.Future[str]] = [task, listening]
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if not listening.done():
            await task
        yield listening.result()
    finally:
        listening.cancel()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
