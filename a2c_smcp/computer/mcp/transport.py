"""The interface of a transport to an MCP server, and of the two message streams that it gives to the SDK."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, Self, TypeAlias

import anyio
from mcp.shared.message import SessionMessage

from a2c_smcp.computer.mcp.diagnosis import ProcessOutput, ServerFailure

MAX_MESSAGE: Final = 64 * 1024 * 1024
"""The default size limit of a message from a server, in bytes."""

IDLE_BYTES: Final = 16 * 1024
IDLE_SHARE: Final = 0.02
"""The most I/O, and the most CPU time as a share of wall time, of a process that counts as idle."""

Incoming: TypeAlias = SessionMessage | Exception
"""A message, or the error for input that is not a message."""


class MessageReadStream(ABC):
    """The stream that the SDK reads from. `receive` raises `anyio.EndOfStream` at the end."""

    @abstractmethod
    async def receive(self) -> Incoming:
        """Return the next message."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close the reading side."""

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
    """The stream that the SDK writes to. `send` raises `anyio.BrokenResourceError` when the stream is closed."""

    @abstractmethod
    async def send(self, item: SessionMessage, /) -> None:
        """Send one message."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close the writing side."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class MessageReader(Protocol):
    """A stream of incoming messages: our own `MessageReadStream`, or one of the SDK's."""

    async def receive(self) -> Incoming:
        """Return the next message."""

    async def aclose(self) -> None:
        """Close the reading side."""


class MessageWriter(Protocol):
    """A stream of outgoing messages: our own `MessageWriteStream`, or one of the SDK's."""

    async def send(self, item: SessionMessage, /) -> None:
        """Send one message."""

    async def aclose(self) -> None:
        """Close the writing side."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *_: object) -> bool | None: ...


class TransportOpenError(Exception):
    """A transport could not be opened."""

    def __init__(self, failure: ServerFailure) -> None:
        super().__init__(failure.problem)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class ProcessActivity:
    """The activity of a server's processes since they started.

    Attributes:
        processes: Process ids.
        cpu: CPU time in seconds.
        moved: Bytes read and written.
        stderr: Bytes written to standard error.
    """

    processes: frozenset[int]
    cpu: float
    moved: int
    stderr: int

    def exceeds(self, before: "ProcessActivity | None", seconds: float) -> bool:
        """Whether the processes did more since `before`, `seconds` ago, than idle processes do."""
        if before is None:
            return False
        return (
            self.stderr > before.stderr
            or bool(self.processes - before.processes)
            or self.moved - before.moved > IDLE_BYTES
            or self.cpu - before.cpu > seconds * IDLE_SHARE
        )


class McpTransport(ABC):
    """One connection to one server, from opening to closing. One task enters and leaves it.

    Attributes:
        needs_probe: Whether the transport cannot detect by itself that the server is gone, so that it must be pinged.
        output: What the server's process wrote outside the protocol, if there is a process.
    """

    needs_probe: bool = True
    output: ProcessOutput | None = None

    def __init__(self) -> None:
        self.on_doubt: Callable[[], None] = _ignore
        """Called when something suggests that the server may be gone."""
        self.on_gap: Callable[[], None] = _ignore
        """Called when notifications may have been lost."""

    @abstractmethod
    async def __aenter__(self) -> tuple[MessageReader, MessageWriter]:
        """Open.

        Raises:
            TransportOpenError: The server cannot be reached or started.
        """

    @abstractmethod
    async def __aexit__(self, *_: object) -> None:
        """Close, in bounded time."""

    @property
    @abstractmethod
    def lost(self) -> ServerFailure | None:
        """Why the connection is lost; None while it works."""

    def work(self) -> ProcessActivity | None:
        """Return the activity of the server's processes; None if there are none or it is unknown."""
        return None

    @abstractmethod
    def explain(self, *, running: bool) -> ServerFailure | None:
        """Return why the server failed, as far as the transport knows.

        Args:
            running: Whether the handshake was done.
        """


def _ignore() -> None: ...


async def yield_to_loop() -> None:
    """Let other tasks run: a loop that never waits would starve them."""
    await asyncio.sleep(0)
