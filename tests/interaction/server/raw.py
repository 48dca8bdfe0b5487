"""A bare websocket that speaks Engine.IO by hand, for what no library would send."""

import asyncio
import json
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.interaction.server.client import CAP


class RawClient:
    """One websocket; frames go out exactly as given."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.others: list[str | bytes] = []

    @classmethod
    async def open(cls, url: str, **options: Any) -> "RawClient":
        address = url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"
        client = cls(await connect(address, max_size=None, close_timeout=1, **options))
        await client.receive("0")
        await client.send("40/smcp,")
        await client.receive("40/smcp,")
        return client

    async def send(self, frame: str | bytes) -> None:
        await self.socket.send(frame)

    async def receive(self, prefix: str) -> str:
        """The next frame that begins with `prefix`; the others are kept aside."""
        async with asyncio.timeout(CAP):
            while True:
                frame = await self.socket.recv()
                if isinstance(frame, str) and frame.startswith(prefix):
                    return frame
                self.others.append(frame)

    async def ack(self, number: int, frame: str) -> Any:
        """Send a frame and return the arguments of the ack with that number."""
        await self.send(frame)
        answer = await self.receive(f"43/smcp,{number}[")
        return json.loads(answer[len(f"43/smcp,{number}") :])

    async def call(self, number: int, event: str, data: Any) -> Any:
        return await self.ack(number, f"42/smcp,{number}{json.dumps([event, data])}")

    async def closed(self) -> None:
        """Wait until the server has closed the connection."""
        await asyncio.wait_for(self.socket.wait_closed(), CAP)

    async def close(self) -> None:
        await self.socket.close()
