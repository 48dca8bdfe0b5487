"""A server that speaks Engine.IO by hand, for what no library would say."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Self

from aiohttp import WSMsgType, web

CAP = 60.0
HELLO = {"sid": "e", "upgrades": [], "pingInterval": 25_000, "pingTimeout": 20_000}
WELCOME = '40/smcp,{"sid":"s"}'


class Puppet:
    """Plays `scene` with every websocket that connects; `status` refuses them instead."""

    def __init__(self, scene: "Callable[[Puppet], Awaitable[None]] | None" = None, *, status: int = 0) -> None:
        self.scene = scene
        self.status = status
        self.url = ""
        self.line: web.WebSocketResponse

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/socket.io/", self._play)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _play(self, request: web.Request) -> web.StreamResponse:
        if self.status or self.scene is None:
            return web.Response(status=self.status)
        self.line = web.WebSocketResponse(max_msg_size=0)
        await self.line.prepare(request)
        await self.scene(self)
        await self.line.close()
        return self.line

    async def say(self, *frames: str | bytes) -> None:
        for frame in frames:
            await (self.line.send_str(frame) if isinstance(frame, str) else self.line.send_bytes(frame))

    async def hear(self, prefix: str) -> str:
        """The next frame that begins so; what comes before is ignored."""
        async with asyncio.timeout(CAP):
            while True:
                message = await self.line.receive()
                if message.type is WSMsgType.TEXT and message.data.startswith(prefix):
                    return str(message.data)
                if message.type in (WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.ERROR):
                    raise ConnectionError("the computer has gone")

    async def welcome(self, **hello: Any) -> None:
        """Let the Computer into the namespace."""
        await self.say("0" + json.dumps(HELLO | hello))
        await self.hear("40/smcp,")
        await self.say(WELCOME)

    async def seat(self, **hello: Any) -> None:
        """Let the Computer into the namespace and into its office."""
        await self.welcome(**hello)
        await self.hear('42/smcp,1["server:join_office"')
        await self.say("43/smcp,1[true,null]")
