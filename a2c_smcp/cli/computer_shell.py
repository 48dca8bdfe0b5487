"""The shell of a Computer's owner: a prompt that completes, remembers, and lets others speak while one types."""

import asyncio
import logging
import signal
from argparse import Namespace
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app_or_none, in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from a2c_smcp.cli import computer_show
from a2c_smcp.cli.command import Context
from a2c_smcp.cli.computer_console import OwnersConsole
from a2c_smcp.cli.computer_events import PendingChanges
from a2c_smcp.cli.computer_line import Kind, find, offers, parse_line
from a2c_smcp.cli.computer_owner import ConnectOptions, Owner
from a2c_smcp.cli.computer_run import shown, sources
from a2c_smcp.cli.computer_verbs import VERBS, run
from a2c_smcp.cli.logs import OneLineFormatter, is_no_event, stamp
from a2c_smcp.cli.parsing import UsageError
from a2c_smcp.cli.terminal import one_line, printable
from a2c_smcp.common.state import state_folder
from a2c_smcp.computer.config.models import MCPServerInput
from a2c_smcp.computer.inputs import InputSource, InputValue, PromptSource
from a2c_smcp.computer.tools.confirmation import PendingApproval
from a2c_smcp.connection.status import ConnectionStatus
from a2c_smcp.errors import SMCPError

PROMPT: Final = "a2c> "
QUIT: Final = ("quit", "exit")
COMPLETE_SECONDS: Final = 1.0


async def interact(context: Context, arguments: Namespace, config: str | None, seat: ConnectOptions) -> None:
    """Run a Computer with a shell, until its owner quits or the process is asked to end."""
    prompt, news, console = SharedPrompt(), PendingChanges(), OwnersConsole(arguments.console)

    def connection(status: ConnectionStatus) -> None:
        news.connection(status)
        console.connection_changed()

    found = sources(context, arguments, config, prompt)
    owner = Owner(config, seat, sources=found, prompt=prompt, told=connection, observer=console.log)
    await Shell(context, owner, news, console, skip=prompt.skip).run()


class SharedPrompt:
    """Asks for inputs at a terminal where somebody may be typing a command: that line is put aside meanwhile."""

    def __init__(self, prompt: InputSource | None = None) -> None:
        self._prompt = PromptSource() if prompt is None else prompt
        self._asking: asyncio.Future[InputValue | None] | None = None
        self._skipped = False

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        """Ask for the value; whoever skips the question gives none."""
        async with in_terminal():
            self._skipped = False
            self._asking = asyncio.ensure_future(self._prompt.find(wanted))
            try:
                return await self._asking
            except asyncio.CancelledError:
                if not self._skipped:
                    raise
                return None
            finally:
                self._asking = None

    def skip(self) -> None:
        """Want no answer to the question that is open, if one is."""
        if self._asking is not None:
            self._skipped = self._asking.cancel()

    def way(self, wanted: MCPServerInput) -> str | None:
        """Where it can be typed."""
        return None if wanted.type == "command" else f"type inputs set {one_line(wanted.id)}"


class Shell:
    """Reads lines and does what they ask for; meanwhile tells what changes, and which calls wait for consent."""

    def __init__(
        self,
        context: Context,
        owner: Owner,
        news: PendingChanges,
        console: OwnersConsole | None = None,
        skip: Callable[[], None] = lambda: None,
    ) -> None:
        self._context = context
        self._console = console or OwnersConsole()
        self._terminal = context.terminal
        self._owner = owner
        self._news = news
        self._skip = skip
        self._command: asyncio.Task[Any] | None = None
        self._ending = False
        self._speaking: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Until the end."""
        loop, reading = asyncio.get_running_loop(), asyncio.ensure_future(self._work())
        with suppress(NotImplementedError):
            loop.add_signal_handler(signal.SIGINT, self._interrupt)
            loop.add_signal_handler(signal.SIGTERM, self._end, reading)
        try:
            await reading
        except asyncio.CancelledError:
            if not self._ending:
                raise

    async def _work(self) -> None:
        session: PromptSession[str] = PromptSession(
            PROMPT,
            history=history(self._context.env),
            completer=ShellCompleter(self._owner),
            complete_while_typing=False,
        )
        handler = _SpokenLog(self)
        logging.getLogger("a2c_smcp").addHandler(handler)
        try:
            async with self._owner.computer as computer, self._console.open(self._owner) as address:
                with self._owner.desk.watch(self._asked):
                    telling = asyncio.create_task(self._tell())
                    try:
                        if self._owner.seat.url is not None:
                            await self._owner.connect(wait=False)
                        self.say(*(f"note: {one_line(note)}" for note in computer.settings.notes))
                        if address is not None:
                            self.say(*computer_show.event({"event": "console", "url": address}, self._terminal))
                        await self._converse(session)
                    finally:
                        self._news.end()
                        await telling
        finally:
            logging.getLogger("a2c_smcp").removeHandler(handler)

    async def _converse(self, session: "PromptSession[str]") -> None:
        while True:
            try:
                # Ctrl-C is a key here; while a command runs it is a signal.
                line = (await session.prompt_async(handle_sigint=False)).strip()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if line in QUIT:
                return
            if line:
                await self._obey(line)

    async def _obey(self, line: str) -> None:
        try:
            order = parse_line(line, VERBS)
        except UsageError as error:
            self.say(f"error 400: {printable(str(error))}", "hint: help")
            return
        self._command = asyncio.create_task(run(order, self._owner))
        try:
            value = await self._command
            self.say(*shown(order.verb, value, self._terminal))
        except asyncio.CancelledError:
            if self._ending or not self._command.cancelled():
                self._command.cancel()
                raise
            self.say("cancelled")
        except SMCPError as error:
            self.say(f"error {error.code}: {printable(error.message)}")
        except Exception as error:  # noqa: BLE001 - the outermost handler: a command that fails ends no shell
            self.say(f"error 500: unexpected {type(error).__name__}: {printable(str(error))}")
        finally:
            self._command = None

    def say(self, *lines: str) -> None:
        """Write lines, above the one that is being typed."""
        text = "".join(f"{line}\n" for line in lines)
        app = get_app_or_none()
        if not text:
            return
        if app is None or not app.is_running:
            self._write(text)
            return
        task = asyncio.ensure_future(self._write_above(text))
        self._speaking.add(task)
        task.add_done_callback(self._speaking.discard)

    async def _write_above(self, text: str) -> None:
        async with in_terminal():
            self._write(text)

    def _write(self, text: str) -> None:
        self._context.stdout.write(text)
        self._context.stdout.flush()

    async def _tell(self) -> None:
        async for event in self._news.follow(self._owner.computer):
            self.say(*(f"{stamp()} {line}" for line in computer_show.event(event, self._terminal)))

    def _asked(self, question: PendingApproval | None) -> None:
        if question is not None:
            self.say(*computer_show.approval(asdict(question), self._terminal))

    def _interrupt(self) -> None:
        if self._command is not None:
            self._command.cancel()
        else:
            self._skip()  # a server that starts may have asked for an input

    def _end(self, reading: "asyncio.Future[None]") -> None:
        self._ending = True
        reading.cancel()


class ShellCompleter(Completer):
    """Offers commands, and the names that a command takes."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        """Nothing: the names of tools have to be waited for."""
        return ()

    async def get_completions_async(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002
    ) -> AsyncGenerator[Completion, None]:
        """Offer what the word before the cursor may become."""
        tools: list[str] = []
        with suppress(TimeoutError, SMCPError):
            async with asyncio.timeout(COMPLETE_SECONDS):
                tools = [tool["name"] for tool in await self._owner.computer.tools()]
        typed, words = offers(document.text_before_cursor, VERBS, lambda kind: self._names(kind, tools))
        if " " not in document.text_before_cursor.lstrip():
            words += [word for word in QUIT if word.startswith(typed)]
        for word in words:
            yield Completion(word, start_position=-len(typed))

    def _names(self, kind: Kind, tools: Iterable[str]) -> Iterator[str]:
        match kind:
            case "server":
                yield from self._owner.computer.settings.config.servers
            case "tool":
                yield from tools
            case "input":
                yield from (entry.id for entry in self._owner.computer.settings.config.inputs)
            case "approval":
                yield from (str(question.number) for question in self._owner.desk.pending())


class ShellHistory(FileHistory):
    """Remembers lines, but none that may hold a secret."""

    def append_string(self, string: str) -> None:
        """Remember a line."""
        if is_kept(string):
            super().append_string(string)


def is_kept(line: str) -> bool:
    """Whether a history may keep a line: one that is not understood may be a secret with a slip before it."""
    try:
        return not find(line, VERBS)[0].private
    except UsageError:
        return line.strip() in QUIT


def history(env: Mapping[str, str]) -> History:
    """Return the history in the user's state directory, or one for this time alone where there is no place for it."""
    path = state_folder(env) / "computer-history"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return ShellHistory(str(path))


class _SpokenLog(logging.Handler):
    """What is logged, above the line that is being typed."""

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self.setFormatter(OneLineFormatter())
        self.addFilter(is_no_event)
        self._shell = shell
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        with suppress(RuntimeError):  # a thread that outlives the shell has nobody to tell
            self._loop.call_soon_threadsafe(self._shell.say, line)
