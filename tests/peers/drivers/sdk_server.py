# mypy: ignore-errors
# This runs against another release of the package, which is not the one the type checker sees.
"""The published SDK as Server, which lets everybody in and checks nobody's version."""

import asyncio
import os
from importlib.metadata import version
from typing import Any

import socketio
from aiohttp import web
from lines import Lines

from a2c_smcp.server.auth import AuthenticationProvider
from a2c_smcp.server.namespace import SMCPNamespace


class OpenDoor(AuthenticationProvider):
    """Lets everybody in."""

    async def authenticate(self, *_: Any, **__: Any) -> bool:
        return True


class ServerDriver:
    """The one action of a server. In 0.4 the version is checked by a middleware, which is not put in."""

    def __init__(self) -> None:
        self._runner: web.AppRunner | None = None

    async def start(self) -> Any:
        server = socketio.AsyncServer(async_mode="aiohttp")
        server.register_namespace(SMCPNamespace(OpenDoor()))
        app = web.Application()
        server.attach(app)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return {"url": f"http://127.0.0.1:{self._runner.addresses[0][1]}", "sdk": version("a2c-smcp")}


async def main() -> None:
    await Lines().serve({"start": ServerDriver().start})
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
