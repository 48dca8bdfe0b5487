"""Who sits at a Computer: the Computer itself, the questions that wait for its owner, and how it is connected."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from uuid import uuid4

from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.inputs import InputSource
from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.tools.confirmation import ApprovalQueue, Confirmation, Decision
from a2c_smcp.computer.tools.journal import CallJournal
from a2c_smcp.computer.tools.progress import CallObserver
from a2c_smcp.connection.status import ConnectionStatus

NAME: Final = "owner"
"""What the owner is called in the history of calls."""

Told: TypeAlias = Callable[[ConnectionStatus], None]


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    """Where to connect, as whom, with which credentials, and where calls are recorded."""

    url: str | None = None
    office: str | None = None
    name: str = "computer"
    credentials: Mapping[str, Any] = field(default_factory=dict, repr=False)
    journal: CallJournal | None = None


class Owner:
    """The Computer and the person, or the script, that owns it.

    Args:
        told: Hears of every change of the connection.
        prompt: Asks the person for the value of an input, where there is one.
        observer: Hears of every step of every tool call.

    Attributes:
        console: Returns a new address of the console; None without one.
        read: The numbers of the questions that were shown in full.
    """

    def __init__(
        self,
        config: str | None,
        seat: ConnectOptions,
        *,
        sources: tuple[InputSource, ...] | None = None,
        prompt: InputSource | None = None,
        told: Told | None = None,
        observer: CallObserver | None = None,
    ) -> None:
        self.desk = ApprovalQueue()
        self.seat = seat
        self.prompt = prompt
        self.console: Callable[[], str] | None = None
        self.read: set[int] = set()
        self.computer = Computer(
            config,
            name=seat.name,
            confirm=self._confirm,
            sources=sources,
            observer=observer,
            journal=seat.journal,
        )
        self._told = told
        self._own: set[str] = set()

    async def connect(self, url: str | None = None, *, wait: bool = True) -> None:
        """Connect to a server, and join the office that is wanted.

        Raises:
            SMCPError: The server refused.
            ConnectionError: There is no such server.
        """
        # The credentials are those of one server: another one never sees them.
        ours = self.seat.url is None or url in (None, self.seat.url)
        await self.computer.connect(
            url or self.seat.url or "",
            self.seat.office if ours else None,
            wait=wait,
            on_status=self._told,
            **(self.seat.credentials if ours else {}),
        )

    async def call(self, tool: str, arguments: Json, timeout: int) -> Json:  # noqa: ASYNC109 - the tool's own
        """Run a tool for the owner. To type the call is to consent to it."""
        req_id = uuid4().hex
        self._own.add(req_id)
        computer = self.computer
        try:
            return await computer.call_tool(
                {
                    "agent": NAME,
                    "computer": computer.name,
                    "req_id": req_id,
                    "tool_name": tool,
                    "params": arguments,
                    "timeout": timeout,
                }
            )
        except asyncio.CancelledError:
            # Whoever no longer waits for it does not want it either.
            await computer.cancel(NAME, req_id)
            raise
        finally:
            self._own.discard(req_id)

    async def _confirm(self, question: Confirmation) -> Decision | None:
        # By its id, which nobody can guess: an Agent may well be called "owner".
        return Decision.ONCE if question.req_id in self._own else await self.desk(question)
