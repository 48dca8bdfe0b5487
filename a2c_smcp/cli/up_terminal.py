"""The terminal of `a2c up`: what is typed there, and inputs that are asked for there."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any, TextIO, TypeAlias

from a2c_smcp.computer.config.models import MCPServerInput
from a2c_smcp.computer.inputs import InputValue, Secret, without_echo

Tell: TypeAlias = Callable[[dict[str, Any]], None]


class Keyboard:
    """The lines that a person types, where there is a terminal: each goes to whoever asked for one, else to `act`.

    Attributes:
        act: Called with other lines, once everything is up.
        attended: Whether somebody can type.
    """

    def __init__(self, stdin: TextIO) -> None:
        self._stdin = stdin
        self.act: Callable[[str], None] | None = None
        self._asked: asyncio.Future[str | None] | None = None
        self.attended = False

    def __enter__(self) -> "Keyboard":
        if self._stdin.isatty():
            with suppress(NotImplementedError, ValueError, OSError):
                asyncio.get_running_loop().add_reader(self._stdin.fileno(), self._typed)
                self.attended = True
        return self

    def __exit__(self, *_: object) -> None:
        if self.attended:
            asyncio.get_running_loop().remove_reader(self._stdin.fileno())
            self.attended = False
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(None)

    @asynccontextmanager
    async def question(self, *, hidden: bool) -> AsyncIterator[Callable[[], "asyncio.Future[str | None]"]]:
        """Get what is typed in the block, by calling what it yields for each line; None when nobody types any more.

        Args:
            hidden: Whether it is not shown.
        """
        with without_echo(self._stdin.fileno()) if hidden else nullcontext():
            try:
                yield self._next
            finally:
                self._asked = None

    def _next(self) -> "asyncio.Future[str | None]":
        self._asked = asyncio.get_running_loop().create_future()
        if not self.attended:
            self._asked.set_result(None)
        return self._asked

    def _typed(self) -> None:
        line = self._stdin.readline()
        if not line:  # nothing will ever come again
            self.__exit__()
        elif self._asked is not None and not self._asked.done() and line.strip():
            self._asked.set_result(line.rstrip("\r\n"))
        elif self.act is not None:
            self.act(line)


class TerminalInputs:
    """Asks for inputs at the terminal of `a2c up`, one at a time, for as long as nobody gives the value elsewhere.

    Attributes:
        ready: Set once everything else is said that comes first on the screen.
    """

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._turn = asyncio.Lock()
        self.keyboard: Keyboard | None = None
        self.ready = asyncio.Event()

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        """Wait until it is typed; None where nobody can type, or it has a default."""
        keyboard = self.keyboard
        if wanted.type == "command" or wanted.default is not None or keyboard is None or not keyboard.attended:
            return None
        await self.ready.wait()
        async with self._turn, keyboard.question(hidden=is_hidden(wanted)) as line:
            problem = None
            while True:
                self._tell(input_event(wanted, problem))
                typed = await line()
                if typed is None:
                    return None
                value = chosen(wanted, typed)
                if value is not None:
                    return InputValue(Secret(value), "the terminal")
                problem = "type the number or the name of one of the options"

    def way(self, wanted: MCPServerInput) -> str | None:
        """Where it can be typed."""
        return None if wanted.type == "command" else "type it under Approvals in the console"


def is_hidden(wanted: MCPServerInput) -> bool:
    """Whether what is typed must not be shown."""
    return wanted.type == "promptString" and bool(wanted.password)


def chosen(wanted: MCPServerInput, typed: str) -> str | None:
    """Return the value that was typed; None where it is none of the options."""
    if wanted.type != "pickString":
        return typed
    word = typed.strip()
    if word in wanted.options:
        return word
    if word.isdecimal() and 1 <= int(word) <= len(wanted.options):
        return wanted.options[int(word) - 1]
    return None


def input_event(wanted: MCPServerInput, problem: str | None = None) -> dict[str, Any]:
    """Return the event that asks for an input."""
    return {
        "event": "input",
        "id": wanted.id,
        "description": wanted.description,
        "hidden": is_hidden(wanted),
        "options": list(wanted.options) if wanted.type == "pickString" else [],
        "problem": problem,
    }
