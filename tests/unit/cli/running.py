"""Running `a2c` in this process, with streams of our own."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from a2c_smcp.cli.command import Command, Context
from a2c_smcp.cli.main import main
from a2c_smcp.cli.table import COMMANDS

EXAMPLES: Final = str(Path(__file__).parents[3] / "examples" / "documents")


class Run(NamedTuple):
    """What a run left behind."""

    code: int
    out: str
    err: str


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def context(stdin: io.StringIO | None = None, stderr: io.StringIO | None = None) -> Context:
    """Where a command runs, with streams that are no terminals unless given."""
    return Context(COMMANDS, stdin or io.StringIO(), io.StringIO(), stderr or io.StringIO(), {})


def a2c(
    *words: str,
    typed: str | None = None,
    env: Mapping[str, str] | None = None,
    commands: Sequence[Command] = COMMANDS,
) -> Run:
    """Run a command line; with `typed`, somebody sits at a terminal and types that."""
    stream = io.StringIO if typed is None else Terminal
    stdin, stdout, stderr = stream(typed or ""), stream(), io.StringIO()
    code = main(words, stdin=stdin, stdout=stdout, stderr=stderr, env=env or {}, commands=commands)
    return Run(code, stdout.getvalue(), stderr.getvalue())
