"""`a2c up` at work: server, Computer, document server and console as one tree of processes, which ends as one."""

import asyncio
import json
import logging
import os
import signal
import threading
import time
import webbrowser
from argparse import Namespace
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from functools import partial
from html import escape
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from a2c_smcp.cli import demo
from a2c_smcp.cli.command import Context
from a2c_smcp.cli.computer_events import PendingChanges
from a2c_smcp.cli.up_bridge import serve_bridge
from a2c_smcp.cli.up_home import journal_folder, run_folder, token_file
from a2c_smcp.cli.up_plan import (
    DEMO,
    DOCUMENTS,
    OFFICE,
    Ask,
    OfficeAccess,
    UpPlan,
    agent_command,
    client_config,
    demo_server,
    document_server,
    free_name,
    http_config,
    make_plan,
)
from a2c_smcp.cli.up_ports import Ports
from a2c_smcp.cli.up_server import OfficesOnDemand, serve_office
from a2c_smcp.cli.up_terminal import Keyboard, TerminalInputs
from a2c_smcp.cli.up_trust import describe
from a2c_smcp.common.running_offices import RunningOffice, announced, running_offices
from a2c_smcp.common.state import write_private
from a2c_smcp.common.visible import visible
from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.config import ConfigFile
from a2c_smcp.computer.ports import ServerState
from a2c_smcp.computer.tools.confirmation import ApprovalQueue, PendingApproval
from a2c_smcp.connection.status import ConnectionStatus
from a2c_smcp.console.api import Console
from a2c_smcp.console.calls import CallLog
from a2c_smcp.console.serving import serve_console
from a2c_smcp.errors import InvalidConfig

log = logging.getLogger(__name__)

YES: Final = ("y", "yes")
LONG: Final = 20
"""More lines than this may have left the screen."""
STOP: Final = ("SIGINT", "SIGTERM", "SIGHUP")
PROGRESS: Final = "progress.json"
LOOK: Final = 0.5
"""Seconds between two looks at how far the index is."""
TELL_AT_MOST: Final = 30.0


def run(context: Context, arguments: Namespace) -> Iterator[Any]:
    """Yield what happens, from `ready` to `stopped`.

    Everything works in a thread of its own: whoever reads slowly, or stops the terminal, stops nothing else.

    Raises:
        SMCPError: A part could not begin.
    """
    told: SimpleQueue[dict[str, Any] | BaseException | None] = SimpleQueue()
    up = Up(context, arguments, told.put)
    thread = threading.Thread(target=up.run, name="a2c-up", daemon=True)
    with _signals(up.stop):
        thread.start()
        try:
            while (event := told.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            up.stop()
            thread.join()


@contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at the first signal to end; the second one does what it does elsewhere."""
    numbers = [getattr(signal, name) for name in STOP if hasattr(signal, name)]
    before: dict[int, Any] = {}

    def signalled(*_: object) -> None:
        restore()
        stop()

    def restore() -> None:
        for number, action in before.items():
            signal.signal(number, action)

    for number in numbers:
        with suppress(ValueError):  # not in this thread
            before[number] = signal.signal(number, signalled)
    try:
        yield
    finally:
        restore()


class Up:
    """Everything together: it begins, has something to tell, and ends when it is told to, or because a part failed.

    Args:
        tell: Hears of every event, of the exception that ended it if one did, and of the end as None; from the thread
            that runs it.
    """

    def __init__(
        self, context: Context, arguments: Namespace, tell: Callable[[dict[str, Any] | BaseException | None], None]
    ) -> None:
        self._context, self._arguments, self._put = context, arguments, tell
        self._plan = make_plan(arguments, context.env, asker(context))
        self._asked: str | None = None
        self._stop: asyncio.Event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told_to_stop = False
        self._news = PendingChanges()
        self._keyboard = Keyboard(context.stdin)
        self._inputs = TerminalInputs(tell)

    def run(self) -> None:
        """Run until it is over."""
        try:
            asyncio.run(self._run())
        except BaseException as problem:  # noqa: BLE001 - raised where it is waited for
            self._put(problem)
        self._put(None)

    def stop(self) -> None:
        """End it, from any thread, before it has begun or after it has ended."""
        self._told_to_stop = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it is closed
                self._loop.call_soon_threadsafe(self._stop.set)

    def _tell(self, event: str, **facts: Any) -> None:
        self._put({"event": event, **facts})

    async def _run(self) -> None:
        plan, demonstrated = self._plan, self._arguments.demo
        self._loop = asyncio.get_running_loop()
        if self._told_to_stop:
            self._stop.set()
        async with AsyncExitStack() as stack:
            folder = stack.enter_context(run_folder())
            self._inputs.keyboard = stack.enter_context(self._keyboard)
            ports, registry, token = Ports(plan.state, plan.roots), OfficesOnDemand(OFFICE), token_file(plan.state)
            secret = (await asyncio.to_thread(token.read_text, encoding="ascii")).strip()
            url = await ports.open(
                stack, "server", self._arguments.port, lambda port: serve_office(registry, secret, port)
            )
            if demonstrated:
                await asyncio.to_thread(demo.furnish, folder / "demo")
                plan = plan.demonstrated(folder)
            desk, calls = ApprovalQueue(), CallLog()
            config = ConfigFile(plan.config, check=plan.trust.check) if plan.config and plan.trust else plan.config
            names = plan.name, *map(str, plan.roots), str(plan.config)
            computer = Computer(
                config,
                name=plan.name,
                confirm=desk,
                observer=calls,
                sources=(*plan.sources, self._inputs),
                state=plan.state,
                journal=await asyncio.to_thread(journal_folder, plan.state, *names),
            )
            await stack.enter_async_context(computer)
            await self._add_servers(computer, plan, folder / PROGRESS)
            console = Console(computer, desk, calls)
            base = await ports.open(
                stack, "console", self._arguments.console_port, lambda port: serve_console(console, port=port)
            )

            computer.calls.consent.console = base

            def connection(status: ConnectionStatus) -> None:
                console.connection_changed()
                self._news.connection(status)

            # The office is the same at every port.
            await computer.connect(url, OFFICE, token=secret, scope=str(token), on_status=connection)
            registry.attend_by(lambda office: computer.serve_office(url, office, token=secret, consent_of=OFFICE))
            stack.push_async_callback(registry.close)
            seat = await self._serve_clients(stack, ports, url, token, secret)
            opening = console.app.url(base)
            self._put(ready(plan, computer, seat, opening, ports.notes))
            self._inputs.ready.set()
            if self._arguments.open:
                await asyncio.to_thread(open_browser, opening, folder)
            await self._work(computer, desk, console, base, seat, folder)
        self._tell("stopped")

    async def _serve_clients(
        self, stack: AsyncExitStack, ports: Ports, url: str, token: Path, secret: str
    ) -> OfficeAccess:
        """Serve MCP clients, and let commands and programs of this user find the office."""
        env, http_token = self._context.env, token_file(self._plan.state, "mcp-token")
        mcp_token = (await asyncio.to_thread(http_token.read_text, encoding="ascii")).strip()
        mcp = await ports.open(
            stack, "bridge", self._arguments.mcp_port, lambda port: serve_bridge(url, OFFICE, secret, mcp_token, port)
        )
        await asyncio.to_thread(ports.remember)
        others = await asyncio.to_thread(running_offices, env)
        try:
            stack.enter_context(announced(RunningOffice(url, OFFICE, secret, os.getpid(), time.time()), env))
        except OSError as error:
            log.warning("commands do not find this office: reason=%s", error.strerror or type(error).__name__)
        return OfficeAccess(url, OFFICE, token, mcp, mcp_token, alone=not others)

    async def _add_servers(self, computer: Computer, plan: UpPlan, progress: Path) -> None:
        env, taken = self._context.env, list(computer.settings.config.servers)
        options = ["--digests", str(plan.digests), "--progress", str(progress), *_options(self._arguments)]
        servers = [document_server(free_name(DOCUMENTS, taken), plan.roots, options, env)]
        if self._arguments.demo:
            servers.append(demo_server(free_name(DEMO, taken), env))
        for server in servers:
            await computer.settings.add_server(server)

    async def _work(
        self, computer: Computer, desk: ApprovalQueue, console: Console, base: str, seat: OfficeAccess, folder: Path
    ) -> None:
        async with AsyncExitStack() as stack:
            for work in (self._follow(computer), self._index(folder / PROGRESS)):
                await stack.enter_async_context(_beside(work))
            if self._arguments.demo:
                await stack.enter_async_context(_beside(self._perform(computer, seat)))
            if self._keyboard.attended or self._arguments.json:
                # Somebody sees the question: the call waits for the console to be opened.
                stack.enter_context(desk.watch(partial(self._consent_needed, console, base)))
            self._keyboard.act = partial(self._typed, computer=computer, console=console, base=base)
            await self._stop.wait()
            self._tell("stopping")

    def _consent_needed(self, console: Console, base: str, question: PendingApproval | None) -> None:
        if question is None or console.is_own(question):
            return
        asked = question.confirmation
        self._tell(
            "approval",
            number=question.number,
            agent=asked.agent,
            tool=asked.listed_name,
            server=asked.server,
            seconds=round(asked.seconds),
            console=base,
        )

    def _typed(self, line: str, computer: Computer, console: Console, base: str) -> None:
        if self._asked is not None and line.strip().lower() in YES:
            self._agreeing = asyncio.create_task(self._agree(computer, self._asked))
            self._agreeing.add_done_callback(_report)
            self._asked = None
        else:
            self._tell("console", console=console.app.url(base))

    async def _agree(self, computer: Computer, text: str) -> None:
        """Use the text that the user was shown; one that has changed since is shown in turn."""
        if self._plan.trust is None:
            return
        self._plan.trust.add(text)
        try:
            await computer.settings.load()
        except InvalidConfig as error:
            self._put(self._held({"event": "configuration", "problem": error.message}))

    def _held(self, event: dict[str, Any]) -> dict[str, Any]:
        """Add to an event what a configuration that waits for consent would start."""
        self._asked = self._plan.trust.refused if self._plan.trust is not None else None
        if self._asked is None or event["problem"] is None:
            return event
        try:
            return {**event, "starts": describe(self._asked, str(self._plan.config))}
        except InvalidConfig as error:
            self._asked = None
            return {**event, "problem": error.message}

    async def _perform(self, computer: Computer, seat: OfficeAccess) -> None:
        await computer.settled()
        await demo.perform(seat, computer.name, lambda words: self._tell("demo", words=words))

    async def _follow(self, computer: Computer) -> None:
        known: dict[str, tuple[Any, ...]] = {}
        async for event in self._news.follow(computer):
            if event["event"] == "server" and event["state"] != ServerState.STARTING:
                # One that cannot start is tried again and again, and told of once.
                now = event["state"], event["problem"]
                if known.get(event["name"]) == now:
                    continue
                known[event["name"]] = now
            self._put(self._held(event) if event["event"] == "configuration" else event)

    async def _index(self, progress: Path) -> None:
        """Tell how far the index is, ever more rarely, and when it is complete."""
        told, pause = None, LOOK
        due = 0.0
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(LOOK)
            now = _read(progress)
            if now is None or now == told:
                continue
            complete = now["indexed"] >= now["total"]
            if complete or loop.time() >= due:
                told, pause = now, LOOK if complete else min(pause * 2, TELL_AT_MOST)
                due = loop.time() + pause
                self._tell("indexing", **now)


def asker(context: Context) -> Ask | None:
    """Return what asks the user about a configuration that was found; None without a terminal."""
    if not (context.stdin.isatty() and context.stderr.isatty()):
        return None

    def ask(path: Path, starts: Sequence[str]) -> bool:
        lines = [f"{visible(str(path))} was found in this folder. It starts programs on this machine:", *starts]
        if len(starts) > LONG:
            lines.append(f"These are {len(starts)} lines: scroll up to see all of them.")
        context.stderr.write("\n".join(lines) + "\nStart them, and use this file until it changes? [y/N] ")
        context.stderr.flush()
        return context.stdin.readline().strip().lower() in YES

    return ask


def ready(
    plan: UpPlan, computer: Computer, seat: OfficeAccess, console: str, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the first event: everything can be used."""
    return {
        "event": "ready",
        "console": console,
        "url": seat.url,
        "office": seat.office,
        "name": plan.name,
        "pid": os.getpid(),
        "folders": [str(root) for root in plan.roots],
        "config": str(plan.config) if plan.config is not None else None,
        "servers": list(computer.settings.config.servers),
        "notes": [*plan.notes, *notes, *computer.settings.notes],
        "token_file": str(seat.token_file),
        "agent": agent_command(seat),
        "mcp_url": seat.mcp,
        "mcp": client_config(seat),
        "mcp_http": http_config(seat),
    }


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    task.add_done_callback(_report)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a part of this ended early: %s", error)


def _options(arguments: Namespace) -> list[str]:
    words: list[str] = ["--host", arguments.host]
    for option in ("exclude", "ocr"):
        for value in getattr(arguments, option) or ():
            words += [f"--{option}", value]
    if arguments.ocr_model:
        words += ["--ocr-model", arguments.ocr_model]
    if arguments.ocr_allow_http:
        words.append("--ocr-allow-http")
    if arguments.cache:
        words += ["--cache", str(Path(arguments.cache).expanduser().absolute())]
    return words


def _read(path: Path) -> dict[str, int] | None:
    try:
        value = json.loads(path.read_text(encoding="ascii"))
        return {"indexed": int(value["indexed"]), "total": int(value["total"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not yet


def open_browser(url: str, folder: Path) -> None:
    """Open a browser. What it opens is a file that leads on: a command line shows its words to every user."""
    page = folder / "console.html"
    write_private(
        page,
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(url)}">'
        f'<title>A2C console</title><a href="{escape(url)}">A2C console</a>\n',
    )
    if not webbrowser.open(page.as_uri()):
        log.warning("no browser could be opened: open the address by hand")
