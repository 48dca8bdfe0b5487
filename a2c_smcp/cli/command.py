"""What a command is. Help, completion, documentation and parsing all derive from these rows.

A handler returns a plain JSON value and prints nothing: `--json` prints that value, `show` turns it into lines
for a person, and `interact` may go on with whoever sits at a terminal. The frame in `main` does all of it.
"""

from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TextIO, TypeAlias

from a2c_smcp.cli.terminal import Terminal

Completes: TypeAlias = Literal["", "file", "directory"]
"""What a shell offers for an argument's value when it has no fixed choices."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: `folder` is positional, `--host` an option, `--json` with `flag` an option without a value.

    An option may be left out unless it is `required`, and given several times, or with several values, if it takes
    `many`; one that is `repeated` is given once for each value, so that places may follow it. A place has to be filled
    unless it is `optional`.
    """

    name: str
    help: str
    metavar: str = ""
    many: bool = False
    repeated: bool = False
    flag: bool = False
    choices: tuple[str, ...] = ()
    convert: Callable[[str], Any] = str
    default: Any = None
    completes: Completes = ""
    required: bool = False
    optional: bool = False

    @property
    def is_option(self) -> bool:
        """Whether it is named on the command line instead of placed."""
        return self.name.startswith("-")

    @property
    def field(self) -> str:
        """The attribute of the parsed arguments that holds it."""
        return self.name.lstrip("-").replace("-", "_")

    @property
    def placeholder(self) -> str:
        """How its value is written in a usage line."""
        return self.metavar or ("|".join(self.choices) if self.choices else self.field.upper())


JSON = Argument("--json", "Print the result as JSON; a failure is printed as the error ack.", flag=True)
HELP = Argument("--help", "Show this help.", flag=True)
COMMON = (JSON, HELP)
"""Every command takes these."""


@dataclass(frozen=True, slots=True)
class Context:
    """Where a command runs: its streams and environment, and the table it is a row of."""

    commands: "tuple[Command, ...]"
    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    env: Mapping[str, str]

    @property
    def terminal(self) -> Terminal:
        """What standard output can show."""
        return Terminal.of(self.stdout, self.env)

    @property
    def debug(self) -> bool:
        """Whether tracebacks are wanted."""
        return self.env.get("A2C_DEBUG", "") not in ("", "0")


Handler: TypeAlias = Callable[[Context, Namespace], Any]
Show: TypeAlias = Callable[[Any, Namespace, Terminal], Iterable[str]]
Interact: TypeAlias = Callable[[Context, Namespace], None]


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table: a verb with a handler, a noun with `commands` of its own, or both.

    Attributes:
        extra: The optional dependencies it needs, named to the user when they are missing.
        hints: What to tell a user to do next, by error code.
        stream: It goes on after it has something to say: the handler yields values, and each is printed as it comes,
            with `--json` as one line.
        failed: Whether a value, which is printed like any other, tells of a failure: the exit code is then 1.
        partial: Whether it tells of something that is only partly done: the exit code is then 3.
    """

    name: str
    summary: str
    handler: Handler | None = None
    arguments: tuple[Argument, ...] = ()
    help: str = ""
    examples: tuple[str, ...] = ()
    show: Show | None = None
    interact: Interact | None = None
    extra: str = ""
    hints: Mapping[int, str] = field(default_factory=dict)
    commands: "tuple[Command, ...]" = ()
    stream: bool = False
    failed: Callable[[Any], bool] | None = None
    partial: Callable[[Any], bool] | None = None
