"""A client of the tests: joins, asks, answers, and remembers what it heard."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import socketio

from a2c_smcp.smcp import SMCP_NAMESPACE

CAP = 60.0
"""Seconds after which a wait has failed."""

Handler = Callable[[str, Any], Awaitable[Any]]


class Client:
    """One Socket.IO connection in the namespace."""

    def __init__(self, url: str, **options: Any) -> None:
        self.url = url
        self.options: dict[str, Any] = {"transports": ["websocket"]} | options
        self.sio = socketio.AsyncClient(reconnection=False, websocket_extra_options={"max_msg_size": 0})
        self.heard: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self.gone = asyncio.Event()
        self.answers: dict[str, Handler] = {}
        self.sio.on("*", self._on_event, namespace=SMCP_NAMESPACE)
        self.sio.on("disconnect", self._on_disconnect, namespace=SMCP_NAMESPACE)
        self.sio.on("connect_error", self._on_refusal, namespace=SMCP_NAMESPACE)
        self.refusal: Any = None
        self.name = ""

    async def _on_refusal(self, data: Any = None) -> None:
        self.refusal = data

    async def _on_event(self, event: str, data: Any = None) -> Any:
        if event.startswith("client:"):
            handler = self.answers.get(event) or self.answers.get("*")
            return await handler(event, data) if handler else None
        self.heard.put_nowait((event, data))
        return None

    async def _on_disconnect(self, *_: Any) -> None:
        self.gone.set()

    async def connect(self) -> "Client":
        await self.sio.connect(self.url, namespaces=[SMCP_NAMESPACE], wait_timeout=CAP, **self.options)
        return self

    async def close(self) -> None:
        await self.sio.disconnect()
        if self.sio.eio.http is not None and not self.sio.eio.http.closed:
            await self.sio.eio.http.close()

    async def call(self, event: str, data: Any, within: float = CAP) -> Any:
        return await self.sio.call(event, data, namespace=SMCP_NAMESPACE, timeout=within)

    async def emit(self, event: str, data: Any) -> None:
        await self.sio.emit(event, data, namespace=SMCP_NAMESPACE)

    async def join(self, role: str, name: str, office: str) -> Any:
        self.name = name
        return await self.call("server:join_office", {"role": role, "name": name, "office_id": office})

    async def ask(self, event: str, computer: str, req_id: str = "r-1", **fields: Any) -> Any:
        payload = {"agent": self.name, "req_id": req_id, "computer": computer} | fields
        return await self.call(event, payload)

    async def tool(
        self, computer: str, tool: str = "echo", req_id: str = "r-1", timeout: float = 60, **params: Any
    ) -> Any:
        return await self.ask("client:tool_call", computer, req_id, tool_name=tool, params=params, timeout=timeout)

    async def next(self) -> tuple[str, Any]:
        """The next notification heard."""
        return await asyncio.wait_for(self.heard.get(), CAP)

    async def hears_nothing_before(self, settled: Awaitable[Any]) -> None:
        """Fail if a notification came before something else that was sent later is settled."""
        await settled
        assert self.heard.empty(), self.heard.get_nowait()
