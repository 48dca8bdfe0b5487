"""A small source with every construct that the twin generator has to block on."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType


class Line:
    """A line that delivers letters; opening and closing are counted."""

    def __init__(self, letters: list[str]) -> None:
        self.letters = letters
        self.open = 0
        self.note = "await and async in a string stay"  # async in a comment stays

    async def __aenter__(self) -> "Line":
        self.open += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.open -= 1

    async def __aiter__(self) -> AsyncIterator[str]:
        for letter in self.letters:
            yield letter

    async def aclose(self) -> None:
        """Close the line."""
        self.open = 0


@asynccontextmanager
async def opened(*lines: Line) -> AsyncIterator[list[Line]]:
    """Open several lines and close them all, whatever happens."""
    async with AsyncExitStack() as stack:
        for line in lines:
            await stack.enter_async_context(line)
        yield list(lines)


async def relay(line: Line, accept: Callable[[str], bool]) -> list[str]:
    """Return the letters of `line` that `accept` takes."""
    async with line as source:
        return [letter async for letter in source if accept(letter)]


async def first(line: Line) -> str:
    """Return the first letter."""
    return await anext(aiter(line))
