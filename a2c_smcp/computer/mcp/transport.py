"""A link: an open way to an MCP server, of whatever transport, and the two streams it gives to the SDK."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, Self, TypeAlias

import anyio
from mcp.shared.message import SessionMessage

from a2c_smcp.computer.mcp.diagnosis import ProcessOutput, ServerFailure

MAX_MESSAGE: Final = 64 * 1024 * 1024
"""The longest message taken from a server, in bytes."""

IDLE_BYTES: Final = 16 * 1024
IDLE_SHARE: Final = 0.02
"""What a process that only waits may move and compute, the latter as a share of the time."""

Incoming: TypeAlias = SessionMessage | Exception
"""A message, or a piece of the stream that was none."""


class MessageReadStream(ABC):
    """What the SDK reads from. `receive` raises `anyio.EndOfStream` at the end."""

    @abstractmethod
    async def receive(self) -> Incoming:
        """The next message."""

    @abstractmethod
    async def aclose(self) -> None:
        """Nobody reads any more."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Incoming:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class MessageWriteStream(ABC):
    """What the SDK writes to. `send` raises `anyio.BrokenResourceError` when nothing can be sent any more."""

    @abstractmethod
    async def send(self, item: SessionMessage, /) -> None:
        """Send one message."""

    @abstractmethod
    async def aclose(self) -> None:
        """Nobody writes any more."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class MessageReader(Protocol):
    """A stream of incoming messages: our own `MessageReadStream`, or one of the SDK's."""

    async def receive(self) -> Incoming:
        """The next message."""

    async def aclose(self) -> None:
        """Nobody reads any more."""


class MessageWriter(Protocol):
    """A stream of outgoing messages: our own `MessageWriteStream`, or one of the SDK's."""

    async def send(self, item: SessionMessage, /) -> None:
        """Send one message."""

    async def aclose(self) -> None:
        """Nobody writes any more."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> bool | None: ...


class TransportOpenError(Exception):
    """A link could not be opened."""

    def __init__(self, failure: ServerFailure) -> None:
        super().__init__(failure.problem)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class ProcessActivity:
    """What processes have done since they started.

    Attributes:
        processes: Their ids.
        cpu: Processor time, in seconds.
        moved: Bytes read and written.
        said: Bytes written to standard error.
    """

    processes: frozenset[int]
    cpu: float
    moved: int
    said: int

    def exceeds(self, before: "ProcessActivity | None", seconds: float) -> bool:
        """Whether so much was done since `before`, these seconds ago, that a process is at work and not just there."""
        if before is None:
            return False
        return (
            self.said > before.said
            or bool(self.processes - before.processes)
            or self.moved - before.moved > IDLE_BYTES
            or self.cpu - before.cpu > seconds * IDLE_SHARE
        )


class McpTransport(ABC):
    """One connection to one server, from opening to closing. Entered and left by one task.

    Attributes:
        probed: Whether the link cannot tell by itself that the server is gone, so that it must be asked.
        output: What the server's process wrote beside the protocol, where there is a process.
    """

    probed: bool = True
    output: ProcessOutput | None = None

    def __init__(self) -> None:
        self.on_doubt: Callable[[], None] = _ignore
        """Told when something happened that makes a look at the server worth while."""
        self.on_gap: Callable[[], None] = _ignore
        """Told when notifications may have been lost."""

    @abstractmethod
    async def __aenter__(self) -> tuple[MessageReader, MessageWriter]:
        """Open.

        Raises:
            LinkError: It cannot be opened.
        """

    @abstractmethod
    async def __aexit__(self, *_: object) -> None:
        """Close, in bounded time."""

    @property
    @abstractmethod
    def lost(self) -> ServerFailure | None:
        """Why the link is of no use any more; None while it is."""

    def work(self) -> ProcessActivity | None:
        """Return what the server's processes have done so far; None where there are none, or it cannot be seen."""
        return None

    @abstractmethod
    def explain(self, *, running: bool) -> ServerFailure | None:
        """Return what the link knows of why the server failed, before it ran or after."""


def _ignore() -> None: ...


async def yield_to_loop() -> None:
    """Let everybody else have a turn. What always has something to do would otherwise starve the rest."""
    await asyncio.sleep(0)
