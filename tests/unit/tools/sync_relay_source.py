# Generated from relay_source.py by tools/gen_sync.py. Edit the source, not this file.
"""A small source with every construct that the twin generator has to block on."""

from collections.abc import Iterator, Callable
from contextlib import ExitStack, contextmanager
from types import TracebackType


class SyncLine:
    """A line that delivers letters; opening and closing are counted."""

    def __init__(self, letters: list[str]) -> None:
        self.letters = letters
        self.open = 0
        self.note = "await and async in a string stay"  # async in a comment stays

    def __enter__(self) -> "SyncLine":
        self.open += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.open -= 1

    def __iter__(self) -> Iterator[str]:
        for letter in self.letters:
            yield letter

    def close(self) -> None:
        """Close the line."""
        self.open = 0


@contextmanager
def opened(*lines: SyncLine) -> Iterator[list[SyncLine]]:
    """Open several lines and close them all, whatever happens."""
    with ExitStack() as stack:
        for line in lines:
            stack.enter_context(line)
        yield list(lines)


def relay(line: SyncLine, accept: Callable[[str], bool]) -> list[str]:
    """Return the letters of `line` that `accept` takes."""
    with line as source:
        return [letter for letter in source if accept(letter)]


def first(line: SyncLine) -> str:
    """Return the first letter."""
    return next(iter(line))
