"""An answerer that does as it is told, and somebody who watches the status."""

import asyncio
from collections.abc import Callable
from typing import Any

from a2c_smcp.computer.office import ConnectionState, ConnectionStatus

CAP = 60.0
"""Seconds after which a wait has failed."""


class Scripted:
    """Answers with `answers[event]`: a reply, an error to raise, or a coroutine function of the request."""

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = {f"client:{name}": answer for name, answer in answers.items()}
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.cancelled: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self.offices: list[str | None] = []

    async def answer(self, event: str, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((event, request))
        answer = self.answers.get(event, {})
        if isinstance(answer, BaseException):
            raise answer
        reply: dict[str, Any] = await answer(request) if callable(answer) else answer
        return {"req_id": request["req_id"]} | reply

    async def cancel(self, agent: str, req_id: str) -> None:
        self.cancelled.put_nowait((agent, req_id))

    def office_changed(self, office_id: str | None) -> None:
        self.offices.append(office_id)


class Watch:
    """Remembers every status and waits for the one that is wanted."""

    def __init__(self) -> None:
        self.seen: list[ConnectionStatus] = []
        self._changed = asyncio.Event()

    def __call__(self, status: ConnectionStatus) -> None:
        self.seen.append(status)
        self._changed.set()

    @property
    def states(self) -> list[str]:
        return [status.state.value for status in self.seen]

    def forget(self) -> None:
        self.seen.clear()

    async def until(self, wanted: ConnectionState | Callable[[ConnectionStatus], bool]) -> ConnectionStatus:
        """The first status seen, since the last `forget`, that is wanted."""

        def fits(status: ConnectionStatus) -> bool:
            return status.state is wanted if isinstance(wanted, ConnectionState) else wanted(status)

        async with asyncio.timeout(CAP):
            while True:
                self._changed.clear()
                for status in self.seen:
                    if fits(status):
                        return status
                await self._changed.wait()


class Gate:
    """Holds an answer back until it is opened, and tells when somebody waits at it."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self._reply = reply
        self._open = asyncio.Event()
        self.entered: asyncio.Queue[str] = asyncio.Queue()
        self.passed: asyncio.Queue[str] = asyncio.Queue()

    async def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        self.entered.put_nowait(request["req_id"])
        await self._open.wait()
        self.passed.put_nowait(request["req_id"])
        return self._reply

    def open(self) -> None:
        self._open.set()
