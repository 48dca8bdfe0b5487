"""A Computer on a bench: one server whose tools run unasked, and whose calls are watched."""

import asyncio
from typing import Any

from a2c_smcp.computer.ports import Json, ProgressCallback
from a2c_smcp.computer.tools.calls import ToolCalls
from a2c_smcp.computer.tools.progress import CallEvent
from a2c_smcp.computer.tools.tool_cache import ToolCache
from tests.unit.computer.tools.fakes import Behaviour, FakeSession, FakeSessions, free, request

DONE = {"content": [{"type": "text", "text": "done"}], "structuredContent": {}, "isError": False}


class Bench:
    """A Computer with one server `s`, whose tool `echo` runs unasked unless it is configured otherwise."""

    def __init__(self, behaviour: Behaviour | None = None, server: Any = None, **options: Any) -> None:
        self.session = FakeSession("s", ["echo", "other"], behaviour)
        self.now = 0.0
        self.events: list[CallEvent] = []
        sessions = FakeSessions(self.session)
        self.box = ToolCache(sessions, {"s": server or free("s")})
        options = {"observer": self.events.append, "clock": lambda: self.now, **options}
        self.calls = ToolCalls(sessions, self.box, **options)

    def start(self, **fields: Any) -> "asyncio.Task[Json]":
        return asyncio.ensure_future(self.calls.run(request(**fields)))

    async def running(self, **fields: Any) -> "asyncio.Task[Json]":
        """Start a call and return when it has reached the server."""
        self.session.called.clear()
        task = self.start(**fields)
        await self.session.called.wait()
        return task

    @property
    def ran(self) -> int:
        return len(self.session.calls)

    @property
    def stages(self) -> list[str]:
        return [str(event.stage) for event in self.events]


def gated(gate: asyncio.Event) -> Behaviour:
    async def wait(arguments: Json, _: ProgressCallback) -> Json:
        await gate.wait()
        return {"content": [], "structuredContent": arguments}

    return wait
