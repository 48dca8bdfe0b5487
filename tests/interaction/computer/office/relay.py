"""A relay on a stock python-socketio server in the test's own process, which answers and refuses as it is told."""

import asyncio
from collections.abc import Callable
from typing import Any, Self

import socketio
from aiohttp import web

from a2c_smcp.smcp import SMCP_NAMESPACE

CAP = 60.0


class Relay:
    """One Socket.IO server for one Computer.

    Attributes:
        refusal: What to refuse a connection with, given its `auth` and headers; None lets it in.
        join: The ack of a join.
        acknowledges: Whether updates are acknowledged.
    """

    def __init__(self, **options: Any) -> None:
        self.path = options.pop("path", "socket.io")
        self.sio = socketio.AsyncServer(async_mode="aiohttp", **options)
        self.refusal: Callable[[Any, dict[str, str]], Any] = lambda _auth, _headers: None
        self.join: Any = (True, None)
        self.events: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self.answers: dict[str, Any] = {}
        self.knocks: list[tuple[Any, dict[str, str], str]] = []
        self.sid = ""
        self.url = ""
        self.sio.on("connect", self._connect, namespace=SMCP_NAMESPACE)
        self.sio.on("*", self._event, namespace=SMCP_NAMESPACE)

    async def __aenter__(self) -> Self:
        app = web.Application()
        self.sio.attach(app, self.path)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.sio.shutdown()
        await self._runner.cleanup()

    async def _connect(self, sid: str, environ: dict[str, Any], auth: Any = None) -> None:
        headers = {key[5:].lower(): value for key, value in environ.items() if key.startswith("HTTP_")}
        self.knocks.append((auth, headers, environ["QUERY_STRING"]))
        refusal = self.refusal(auth, headers)
        if refusal is not None:
            raise socketio.exceptions.ConnectionRefusedError(*refusal)
        self.sid = sid

    async def _event(self, event: str, _sid: str, data: Any = None) -> Any:
        self.events.put_nowait((event, data))
        if event == "server:join_office":
            return self.join
        return self.answers.get(event, ())

    async def next(self, event: str) -> Any:
        """The payload of the next event of that name."""
        async with asyncio.timeout(CAP):
            while True:
                name, data = await self.events.get()
                if name == event:
                    return data

    async def ask(self, event: str, computer: str = "c", req_id: str = "r-1", **fields: Any) -> Any:
        payload = {"agent": "a", "req_id": req_id, "computer": computer} | fields
        return await self.call(event, payload)

    async def call(self, event: str, payload: Any) -> Any:
        return await self.sio.call(event, payload, to=self.sid, namespace=SMCP_NAMESPACE, timeout=CAP)

    async def tell(self, event: str, payload: Any) -> None:
        await self.sio.emit(event, payload, to=self.sid, namespace=SMCP_NAMESPACE)

    async def kick(self) -> None:
        """End the Computer's session."""
        await self.sio.disconnect(self.sid, namespace=SMCP_NAMESPACE)
