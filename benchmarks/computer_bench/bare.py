"""A computer without MCP servers that answers at once: `python -m benchmarks.computer_bench.bare URL OFFICE`."""

import asyncio
import sys
from typing import Any

import socketio

ANSWER = {"content": [{"type": "text", "text": "x"}], "isError": False}


async def main(url: str, office: str) -> None:
    client = socketio.AsyncClient()

    async def answer(_: Any) -> dict[str, Any]:
        return ANSWER

    client.on("client:tool_call", answer, namespace="/smcp")
    await client.connect(url, namespaces=["/smcp"], transports=["websocket"])
    seat = {"role": "computer", "name": "bare", "office_id": office}
    await client.call("server:join_office", seat, namespace="/smcp")
    print("joined", flush=True)
    await client.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
