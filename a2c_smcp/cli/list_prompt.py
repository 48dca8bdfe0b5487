"""A prompt over a numbered list, for walks through documents: what a line is and where it leads, the walk decides."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Final, Generic, TypeVar

from a2c_smcp.cli.command import Context
from a2c_smcp.cli.terminal import one_line, printable
from a2c_smcp.errors import SMCPError

PROMPT: Final = "a2c> "

Place = TypeVar("Place")


class Walk(ABC, Generic[Place]):
    """Asks and answers until the input ends.

    Args:
        limit: How many lines of the list are shown at a time.
        hint: What can be done, in a line.
        guide: The same in full.
    """

    def __init__(self, context: Context, *, limit: int, hint: str, guide: str) -> None:
        self.context = context
        self.terminal = context.terminal
        self.limit = limit
        self.places: list[Place] = []
        self.rest: Iterator[tuple[Place, str]] = iter(())
        self._hint, self._guide = hint, guide

    @abstractmethod
    def commands(self) -> Mapping[str, Callable[[], None]]:
        """What the walk does at a letter, beside those that every walk has."""

    @abstractmethod
    def open(self, place: Place) -> None:
        """Go there, and show it."""

    @abstractmethod
    def find(self, uri: str) -> Place:
        """Return the place at a URI.

        Raises:
            SMCPError: There is none.
        """

    @abstractmethod
    def search(self, words: str) -> Iterable[tuple[Place, str]]:
        """Yield the places that these words lead to, and how each is shown."""

    def run(self) -> None:
        """Ask and answer until the input ends."""
        self.say(self.terminal.dim(self._hint))
        while True:
            self.context.stdout.write(PROMPT)
            self.context.stdout.flush()
            line = self.context.stdin.readline()
            if not line:
                self.say("")
                return
            if line.strip() == "q":
                return
            try:
                self._answer(line.strip())
            except SMCPError as error:
                self.say(f"error {error.code}: {printable(error.message)}")

    def say(self, text: str) -> None:
        """Print a line."""
        self.context.stdout.write(f"{text}\n")

    def show(self, head: str, lines: Iterable[tuple[Place, str]]) -> None:
        """Begin a list, and show its first part."""
        if head:
            self.say(head)
        self.places, self.rest = [], iter(lines)
        self._more()

    def _answer(self, word: str) -> None:
        if word.isascii() and word.isdigit():
            self._open_number(int(word))
        elif word.startswith("/"):
            sought = word[1:].strip()
            self.show(f"found for {one_line(sought)!r}", self.search(sought))
        elif "://" in word:
            self.open(self.find(word))
        elif word in ("?", "h", "help"):
            self.say(self._guide)
        elif word == "m":
            self._more()
        elif (command := self.commands().get(word)) is not None:
            command()
        elif word:
            self.say(f"{one_line(word)!r} is not understood; ? helps")

    def _open_number(self, number: int) -> None:
        if 1 <= number <= len(self.places):
            self.open(self.places[number - 1])
        else:
            self.say(f"there is no line {number} in the list" if self.places else "the list is empty")

    def _more(self) -> None:
        """Show the next part of the list, and whether something is left."""
        before = len(self.places)
        for number, (place, shown) in enumerate(islice(self.rest, self.limit), start=before + 1):
            self.places.append(place)
            self.say(f"{number:>3}. {shown}")
        if len(self.places) == before:
            self.say("     nothing more" if before else "     nothing")
        following = next(self.rest, None)
        if following is not None:
            self.rest = chain([following], self.rest)
            self.say(self.terminal.dim("     … m shows more"))
