"""Nodes of a cluster, in the loop of the test or as processes: `python -m tests.interaction.server.cluster.nodes`."""

import asyncio
import json
import sys
from typing import Any

import socketio
import uvicorn

from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.namespace import SMCPNamespace
from a2c_smcp.server.registry.redis_registry import RedisRegistry
from a2c_smcp.server.socketio_server import SMCPServer


class Node:
    """A server of a cluster.

    Args:
        stock: Mount the namespace in a plain python-socketio server instead of ours.
    """

    def __init__(self, redis: str, *, stock: bool = False, limits: ServerLimits | None = None, **options: Any) -> None:
        self.registry = RedisRegistry(redis, **options)
        self.limits = limits or ServerLimits(joins_per_second=1_000)
        self.namespace = SMCPNamespace(registry=self.registry, limits=self.limits)
        server = socketio.AsyncServer(async_mode="asgi") if stock else SMCPServer(self.limits)
        server.register_namespace(self.namespace)
        config = uvicorn.Config(
            socketio.ASGIApp(server),
            host="127.0.0.1",
            port=0,
            ws="websockets-sansio",
            ws_max_size=self.limits.frame_bytes,
            ws_ping_interval=None,
            log_level="warning",
            lifespan="off",
        )
        self._uvicorn = uvicorn.Server(config)
        self._serving: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        return int(self._uvicorn.servers[0].sockets[0].getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> "Node":
        await self.namespace.start()
        self._serving = asyncio.create_task(self._uvicorn._serve())
        while not self._uvicorn.started:
            await asyncio.sleep(0.005)
        return self

    async def stop(self) -> None:
        """Remove the members, then close."""
        await self.namespace.stop()
        self._uvicorn.should_exit = self._uvicorn.force_exit = True
        if self._serving is not None:
            await self._serving


async def main(redis: str, options: dict[str, Any]) -> None:
    node = await Node(redis, **options).start()
    print(json.dumps({"port": node.port}), flush=True)  # noqa: T201
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}))
