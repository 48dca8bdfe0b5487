"""`a2c computer`: a Computer at work, with or without a person before it."""

import asyncio
import logging
import platform
from argparse import ArgumentTypeError, Namespace
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.connect_options import CREDENTIALS, INPUTS, OFFICE, URL, credentials, given
from a2c_smcp.cli.logs import DEBUG_FORM, OneLineFormatter, is_no_event
from a2c_smcp.cli.parsing import UsageError
from a2c_smcp.cli.terminal import Terminal
from a2c_smcp.errors import InvalidConfig

if TYPE_CHECKING:
    from a2c_smcp.cli.computer_owner import ConnectOptions
    from a2c_smcp.computer.tools.journal import CallJournal

ENV: Final = "A2C_COMPUTER_"
NO_JOURNAL: Final = "none"
MAX_PORT: Final = 65_535
_END: Final = object()


# What the command needs is imported when it runs: help and completion must not wait for it, nor miss it.
def run(context: Context, arguments: Namespace) -> Iterator[Any]:
    """Yield what happens: the values of `--do`, or the events of a headless Computer; a shell yields nothing."""
    from a2c_smcp.cli import computer_run  # noqa: PLC0415

    attended = _is_attended(context, arguments)
    try:
        _check(arguments)
        seat = _seat(context, arguments)
        config = given(context, arguments, "config", ENV)
        with _logging(context, arguments, shown=not attended):
            if attended:
                from a2c_smcp.cli import computer_shell  # noqa: PLC0415

                asyncio.run(computer_shell.interact(context, arguments, config, seat))
            elif arguments.do:
                yield from _driven(computer_run.script(context, arguments, config, seat))
            else:
                yield from _driven(computer_run.headless(context, arguments, config, seat))
    except UsageError as error:
        raise UsageError(str(error), (COMMAND,)) from None
    except InvalidConfig as error:
        # Its message tells every problem already; as data they are for programs.
        details = error.details if arguments.json else None
        raise InvalidConfig(error.message, details=details) from error


def show(value: Any, _: Namespace, __: Terminal) -> Iterable[str]:
    """The lines: without `--json` they come ready-made."""
    lines: Iterable[str] = value
    return lines


def _driven(values: AsyncGenerator[Any, None]) -> Iterator[Any]:
    """Yield what an asynchronous generator yields, and end it in any case."""

    async def step() -> Any:
        return await anext(values, _END)

    async def close() -> None:
        await values.aclose()

    with asyncio.Runner() as runner:
        try:
            while (value := runner.run(step())) is not _END:
                yield value
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None  # a signal to end
        finally:
            runner.run(close())


def _check(arguments: Namespace) -> None:
    if arguments.do and arguments.console is not None:
        raise UsageError("--console: a Computer that ends after --do has no time for one")


def _is_attended(context: Context, arguments: Namespace) -> bool:
    wanted = not (arguments.headless or arguments.json or arguments.do)
    return wanted and context.stdin.isatty() and context.stdout.isatty()


def _seat(context: Context, arguments: Namespace) -> "ConnectOptions":
    from a2c_smcp.cli.computer_owner import ConnectOptions  # noqa: PLC0415

    url, office = given(context, arguments, "url", ENV), given(context, arguments, "office", ENV)
    name = given(context, arguments, "name", ENV) or platform.node() or "computer"
    return ConnectOptions(
        url=url,
        office=office,
        name=name,
        credentials=credentials(context, arguments, ENV),
        # Without a server there is no Agent, and no call that could be sent again.
        journal=_journal(context, arguments, url, office or "", name) if url is not None else None,
    )


def _journal(context: Context, arguments: Namespace, *names: str) -> "CallJournal | None":
    from a2c_smcp.cli.up_home import journal_folder  # noqa: PLC0415
    from a2c_smcp.common.state import state_folder  # noqa: PLC0415
    from a2c_smcp.computer.tools.journal import CallJournal  # noqa: PLC0415

    named = given(context, arguments, "journal", ENV)
    if named == NO_JOURNAL:
        return None
    folder = Path(named).expanduser() if named is not None else journal_folder(state_folder(context.env), *names)
    return CallJournal(folder, strict=arguments.journal_strict)


@contextmanager
def _logging(context: Context, arguments: Namespace, *, shown: bool) -> Iterator[None]:
    """Show warnings, with A2C_DEBUG everything; a shell shows its own, so that none falls into a line being typed."""
    log, connection = logging.getLogger("a2c_smcp"), logging.getLogger("a2c_smcp.computer.office")
    before = log.level, connection.level, log.propagate
    handler = logging.StreamHandler(context.stderr) if shown else logging.NullHandler()
    handler.setFormatter(logging.Formatter(DEBUG_FORM) if context.debug else OneLineFormatter())
    if not context.debug and not arguments.do:
        handler.addFilter(is_no_event)
    log.addHandler(handler)
    log.propagate = False
    log.setLevel(logging.DEBUG if context.debug else logging.WARNING)
    if not context.debug:
        connection.setLevel(logging.ERROR)  # what becomes of the connection is told as an event
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before[0])
        connection.setLevel(before[1])
        log.propagate = before[2]


def _port(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) > MAX_PORT:
        raise ArgumentTypeError(f"{text!r} is no port: write a number up to {MAX_PORT}, or 0 for any")
    return int(text)


COMMAND: Final = Command(
    name="computer",
    summary="Run a Computer: MCP servers with a seat in an office.",
    help=(
        "At a terminal it is a shell (help lists its commands); with --do it runs commands of that shell and ends, "
        "at the first that fails; otherwise it works until SIGTERM or Ctrl-C, tells every change of state on standard "
        "error, and with --json as lines of JSON on standard output. Tools without auto_apply in the configuration run "
        f"only if somebody at the shell approves. {ENV}CONFIG, {ENV}URL, {ENV}OFFICE, {ENV}NAME, {ENV}TOKEN, "
        f"{ENV}API_KEY, {ENV}HEADER, {ENV}CA and {ENV}JOURNAL stand for the options."
    ),
    arguments=(
        Argument(
            "--config",
            "The MCP servers: a native, Claude Desktop or VS Code file. It is followed while it changes.",
            metavar="FILE",
            completes="file",
        ),
        URL,
        OFFICE,
        Argument("--name", "The name in the office (default: the name of this machine)."),
        *CREDENTIALS,
        *INPUTS,
        Argument("--do", "Run this command of the shell, then end.", metavar="COMMAND", many=True),
        Argument(
            "--console",
            "Serve a console for the browser on this port of this machine; 0 picks one. SIGUSR1, or `console` in the "
            "shell, gives a new address.",
            "PORT",
            convert=_port,
        ),
        Argument(
            "--journal",
            "The folder where calls are recorded, so that none runs twice after a restart (default: one of this "
            f"Computer's own in the user's state folder); {NO_JOURNAL} for no record.",
            metavar="FOLDER",
            completes="file",
        ),
        Argument(
            "--journal-strict",
            "Refuse calls while the journal cannot be written, as on a full disk, instead of running them unrecorded.",
            flag=True,
        ),
        Argument("--headless", "No shell, and nobody is asked, even at a terminal.", flag=True),
    ),
    handler=run,
    show=show,
    stream=True,
    extra="computer,cli",
    examples=(
        "a2c computer --config mcp.json",
        "a2c computer --config mcp.json --url http://127.0.0.1:8000 --office lab --name desk --headless",
        "a2c computer --config mcp.json --console 0",
        'a2c computer --config mcp.json --do status --do \'call echo {"text": "hello"}\' --json',
    ),
    hints={4005: "at the shell `approvals` shows what waits; auto_apply in tool_meta allows a tool without asking"},
)
