"""A Computer without a shell: working until a signal, or doing a few commands."""

import asyncio
import signal
from argparse import Namespace
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from a2c_smcp.cli import computer_show, known_offices
from a2c_smcp.cli.command import Context
from a2c_smcp.cli.computer_console import OwnersConsole
from a2c_smcp.cli.computer_events import PendingChanges, ready
from a2c_smcp.cli.computer_line import Order, Verb, parse_line
from a2c_smcp.cli.computer_owner import ConnectOptions, Owner
from a2c_smcp.cli.computer_verbs import VERBS, run
from a2c_smcp.cli.logs import stamp
from a2c_smcp.cli.parsing import UsageError
from a2c_smcp.cli.terminal import Terminal
from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.inputs import (
    InputSource,
    PromptSource,
    is_attended,
    parse_input_options,
    read_input_file,
    standard_sources,
    workspace_of,
)
from a2c_smcp.computer.ports import Json, ServerState
from a2c_smcp.connection.status import ConnectionState, ConnectionStatus
from a2c_smcp.errors import BadRequest, ToolFailed

PATIENCE_SECONDS: Final = 3.0


async def headless(
    context: Context, arguments: Namespace, config: str | None, seat: ConnectOptions
) -> AsyncGenerator[Any, None]:
    """Work until a signal; yield every change of state, and say it on standard error."""
    if seat.url is None or seat.office is None:
        missing = "--url" if seat.url is None else "--office"
        raise BadRequest(f"{missing} is missing: without a shell, a Computer works for the Agent of an office")
    news, console = PendingChanges(), OwnersConsole(arguments.console)

    def connection(status: ConnectionStatus) -> None:
        news.connection(status)
        console.connection_changed()
        if status.state is ConnectionState.JOINED and seat.url is not None and status.office_id is not None:
            known_offices.remember(context.env, seat.url, status.office_id)

    found = sources(context, arguments, config)
    owner = Owner(config, seat, sources=found, told=connection, observer=console.log)
    _on_signals(news.end)
    terminal = Terminal.of(context.stderr, context.env)

    def told(event: Json) -> Any:
        context.stderr.writelines(f"{stamp()} {line}\n" for line in computer_show.event(event, terminal))
        context.stderr.flush()
        return event if arguments.json else ()

    async with owner.computer, console.open(owner) as address:
        yield told(ready(owner))
        if address is not None:
            yield told({"event": "console", "url": address})
            _on_usr1(lambda: news.tell({"event": "console", "url": owner.console() if owner.console else ""}))
        await owner.connect(wait=False)
        async for event in news.follow(owner.computer):
            yield told(event)
    yield told({"event": "stopped"})


async def script(
    context: Context, arguments: Namespace, config: str | None, seat: ConnectOptions
) -> AsyncGenerator[Any, None]:
    """Do the commands of `--do` in order, once no server is starting any more; yield the value of each."""
    orders = [_understood(line) for line in arguments.do]
    prompt = PromptSource() if is_attended() and not arguments.headless else None
    owner = Owner(config, seat, sources=sources(context, arguments, config, prompt), prompt=prompt)
    _end_on_sigterm()
    async with owner.computer as computer:
        await _settled(context, computer)
        if seat.url is not None:
            await owner.connect()
        for order in orders:
            value = await run(order, owner)
            yield value if arguments.json else shown(order.verb, value, context.terminal)
            if isinstance(value, dict) and value.get("isError"):
                raise ToolFailed(
                    f"--do: {order.verb.name} {order.words['tool']}: the tool failed, see what it answered"
                )
            _end_on_sigterm()


async def _settled(context: Context, computer: Computer) -> None:
    """Wait for the servers, and say for which where that takes longer than a moment."""
    settling = asyncio.ensure_future(computer.settled())
    done, _ = await asyncio.wait([settling], timeout=PATIENCE_SECONDS)
    if not done:
        names = [status.name for status in computer.servers.statuses() if status.state is ServerState.STARTING]
        context.stderr.write(f"waiting for {', '.join(names)} to start\n")
    await settling


def sources(
    context: Context, arguments: Namespace, config: str | None, prompt: InputSource | None = None
) -> tuple[InputSource, ...]:
    """Return where the values of inputs come from.

    Raises:
        InvalidConfig: One of `--input` or the file of `--input-file` cannot be understood.
    """
    given = read_input_file(arguments.input_file) if arguments.input_file is not None else {}
    given |= parse_input_options(arguments.input or ())
    workspace = Path(workspace_of(Path(config).absolute())) if config is not None else Path.cwd()
    found = standard_sources(given, env=context.env, workspace=workspace)
    return found if prompt is None else (*found, prompt)


def shown(verb: Verb, value: Any, terminal: Terminal) -> Iterable[str]:
    """Return a command's value as lines."""
    return (verb.show or computer_show.plain)(value, terminal)


def _on_signals(end: Callable[[], object]) -> None:
    """Call `end` when the process is asked to end; where there are no such signals, Ctrl-C interrupts."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, end)


def _on_usr1(act: Callable[[], object]) -> None:
    """Call `act` on SIGUSR1, where there is such a signal."""
    with suppress(NotImplementedError, AttributeError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, act)


def _end_on_sigterm() -> None:
    # As Ctrl-C does: whatever this step is doing is cancelled. The next step is another task.
    if (task := asyncio.current_task()) is not None:
        with suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def _understood(line: str) -> Order:
    try:
        return parse_line(line, VERBS)
    except UsageError as error:
        raise UsageError(f"--do: {error}") from None
