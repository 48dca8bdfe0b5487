"""Help for a person, derived from the table: on the terminal and as the reference page. Pure."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from a2c_smcp.cli.command import COMMON, Argument, Command
from a2c_smcp.cli.parsing import usage
from a2c_smcp.cli.terminal import Terminal
from a2c_smcp.common.extras import checkout_command

WIDTH = 100
EXIT_CODES = (("0", "done"), ("1", "failed"), ("2", "misused"), ("3", "partly done"), ("130", "interrupted"))
VARIABLES = (
    ("NO_COLOR", "Set to anything: no colours."),
    ("A2C_DEBUG", "Set to 1: failures show their traceback."),
)
VERSION = ("--version", "Print the version.")


def help_lines(path: Sequence[Command], commands: Sequence[Command], terminal: Terminal) -> Iterator[str]:
    """Yield the help of the last command of `path`, or of the whole program."""
    command = path[-1] if path else None
    yield f"{terminal.bold('usage:')} {usage(path)}"
    yield ""
    yield from _paragraphs(_text(command) if command else "Tools, live context and documents for AI agents.")
    rows = command.commands if command else commands
    if rows:
        yield from _block("commands", ((row.name, row.summary) for row in rows), terminal)
    arguments = (*command.arguments, *COMMON) if command else COMMON
    options = [(_name(argument), _help(argument)) for argument in arguments]
    yield from _block("arguments" if command else "options", options if command else [*options, VERSION], terminal)
    if command is None:
        yield from _block("environment", VARIABLES, terminal)
        yield from _block("exit codes", EXIT_CODES, terminal)
    if command and command.examples:
        yield ""
        yield terminal.bold("examples:")
        yield from (f"  {example}" for example in command.examples)


def reference(commands: Sequence[Command]) -> str:
    """Return the reference page of every command, in Markdown."""
    lines = [
        "# The `a2c` command",
        "",
        "<!-- Generated from the command table: python -m a2c_smcp.cli.reference > docs/reference/cli.md -->",
        "",
        "Results go to standard output, everything else to standard error.",
        "",
        *_table(("exit code", "meaning"), EXIT_CODES),
        "",
        *_table(("variable", "meaning"), ((f"`{name}`", text) for name, text in VARIABLES)),
        "",
        "Every command takes `--json` (the result, or the error ack, as JSON) and `--help`.",
        "`a2c --version` prints the version.",
    ]
    for path in leaves(commands):
        lines += ["", *_section(path)]
    return "\n".join(lines) + "\n"


def leaves(commands: Sequence[Command], above: tuple[Command, ...] = ()) -> Iterator[tuple[Command, ...]]:
    """Yield the path to every command that can be run."""
    for command in commands:
        path = (*above, command)
        if command.handler is not None:
            yield path
        yield from leaves(command.commands, path)


def _section(path: Sequence[Command]) -> Iterator[str]:
    command = path[-1]
    yield f"## `a2c {' '.join(step.name for step in path)}`"
    yield ""
    yield _text(command)
    yield ""
    yield from ("```text", usage(path), "```", "")
    yield from _table(("argument", "meaning"), ((f"`{_name(a)}`", _help(a)) for a in command.arguments))
    if command.extra:
        yield ""
        yield f"Needs the `{command.extra}` extra: `{checkout_command(command.extra)}` in a checkout."
    if command.examples:
        yield from ("", "```console", *(f"$ {example}" for example in command.examples), "```")


def _text(command: Command) -> str:
    return "\n\n".join(filter(None, (command.summary, command.help)))


def _name(argument: Argument) -> str:
    if argument.is_option:
        return argument.name if argument.flag else f"{argument.name} {argument.placeholder}{_dots(argument)}"
    return f"{argument.placeholder}{_dots(argument)}"


def _dots(argument: Argument) -> str:
    return "..." if argument.many or argument.repeated else ""


def _help(argument: Argument) -> str:
    default = f" (default: {argument.default})" if argument.default is not None else ""
    return f"{argument.help}{default}"


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ""
        yield from textwrap.wrap(paragraph, WIDTH)


def _block(title: str, rows: Iterable[tuple[str, str]], terminal: Terminal) -> Iterator[str]:
    pairs = list(rows)
    indent = min(max((len(name) for name, _ in pairs), default=0), 28) + 4
    yield ""
    yield terminal.bold(f"{title}:")
    for name, text in pairs:
        first, *others = textwrap.wrap(text, WIDTH - indent) or [""]
        if len(name) + 4 > indent:
            yield f"  {name}"
            name = ""  # noqa: PLW2901 - too long for its column, so it got a line of its own
        yield f"  {name:<{indent - 2}}{first}".rstrip()
        yield from (" " * indent + line for line in others)


def _table(head: tuple[str, str], rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"| {head[0]} | {head[1]} |"
    yield "| --- | --- |"
    yield from (f"| {left.replace('|', chr(92) + '|')} | {right.replace('|', chr(92) + '|')} |" for left, right in rows)
