"""`a2c mcp`: an office as a plain MCP server, for clients that speak MCP and nothing else."""

import asyncio
import platform
import signal
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.connect_options import (
    CREDENTIALS,
    HTTP_TOKENS,
    NO_AUTH,
    OFFICE,
    URL,
    Access,
    access_lines,
    agent_seat,
    given,
    http_access,
    http_token,
)
from a2c_smcp.cli.logs import warnings_shown
from a2c_smcp.cli.parsing import UsageError
from a2c_smcp.cli.terminal import Terminal, one_line
from a2c_smcp.errors import BadRequest

if TYPE_CHECKING:
    from a2c_smcp.bridge import Bridge, HttpSettings

ENV: Final = "A2C_AGENT_"
PATIENCE: Final = 45.0
"""Seconds for which `a2c up` is waited for; most clients give up a little later."""
LOOK: Final = 0.25


def run(context: Context, arguments: Namespace) -> Iterator[Any]:
    """Yield where HTTP clients find the office; over standard input and output, say nothing."""
    if arguments.json and arguments.http is None:
        raise UsageError("--json needs --http: without it standard output belongs to the client", (COMMAND,))
    serving = _Serving(context, arguments)
    with warnings_shown(context), asyncio.Runner() as runner:
        try:
            found = runner.run(serving.begin())
            if found is not None:
                yield found
            runner.run(serving.end())
        finally:
            serving.stop()
            runner.run(serving.end())


def show(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """Where it is, and what clients need."""
    yield f"the office {one_line(value['office'])} is at {terminal.cyan(value['url'])} (Ctrl-C ends)"
    yield from access_lines(value, terminal)


class _Serving:
    """A bridge in two halves, so that where it listens can be told in between."""

    def __init__(self, context: Context, arguments: Namespace) -> None:
        self._context = context
        self._arguments = arguments
        self._seat = _seat(context, arguments)
        self._office = given(context, arguments, "office", ENV) or self._seat["office_id"].partition("-")[0]
        self._http, self._access = _http(context, arguments)
        self._task: asyncio.Task[None] | None = None
        self._told_to_end = False

    async def begin(self) -> Any:
        """Start; returns where it listens, or None when there is nothing to tell any more."""
        loop = asyncio.get_running_loop()
        listening: asyncio.Future[str] = loop.create_future()
        self._task = loop.create_task(self._run(listening))
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, self._signalled, number)
        awaited: list[asyncio.Future[Any]] = [self._task, listening]
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if not listening.done():
            return None
        url = listening.result()
        return {"url": url, "office": self._office, **self._access.facts(f"a2c-{self._office}", url)}

    async def end(self) -> None:
        """Wait for the end, which a client or a signal brings about."""
        if self._task is None:
            return
        try:
            await self._task
        except asyncio.CancelledError:
            if not self._told_to_end:
                raise

    def stop(self) -> None:
        """Bring about the end."""
        self._told_to_end = True
        if self._task is not None:
            self._task.cancel()

    def _signalled(self, number: int) -> None:
        asyncio.get_running_loop().remove_signal_handler(number)  # the second one does not ask
        self.stop()

    async def _run(self, listening: "asyncio.Future[str]") -> None:
        # Imported when it runs: help and completion must not wait for it, nor miss it.
        from a2c_smcp import bridge  # noqa: PLC0415
        from a2c_smcp.agent import AsyncSMCPAgentClient  # noqa: PLC0415

        http = self._http
        client = AsyncSMCPAgentClient(live=False, **self._seat)
        settings = bridge.BridgeSettings(
            plain_names=self._arguments.plain_names,
            reading_tools=self._arguments.reading_tools,
            call_timeout=self._arguments.timeout,
        )

        if http is None and self._context.stdin.isatty():
            self._context.stderr.write(
                "speaking MCP over standard input and output, as a client wants it; Ctrl-C ends\n"
            )

        async def transport(served: "Bridge") -> None:
            if http is None:
                await bridge.serve_stdio(served)
            else:
                await bridge.serve_http(served, http, listening.set_result)

        await bridge.run(bridge.Bridge(client, self._office, settings), client, transport)


def _seat(context: Context, arguments: Namespace) -> dict[str, Any]:
    """Return where the Agent sits. A client may start this before the user starts `a2c up`: that is waited for."""
    name = f"mcp-{platform.node() or 'client'}"
    ends = time.monotonic() + (PATIENCE if _is_local(context, arguments) else 0.0)
    said = False
    while True:
        try:
            return agent_seat(context, arguments, ENV, name)
        except BadRequest:
            if time.monotonic() >= ends:
                raise
        if not said:
            said = True
            context.stderr.write(f"no a2c up is running on this machine yet: waiting {PATIENCE:g} s for it\n")
            context.stderr.flush()
        time.sleep(LOOK)


def _is_local(context: Context, arguments: Namespace) -> bool:
    """Whether a client has started this to join the running `a2c up`."""
    named = (given(context, arguments, option, ENV) for option in ("url", "office"))
    return not any(named) and arguments.http is None and not context.stdin.isatty()


def _http(context: Context, arguments: Namespace) -> "tuple[HttpSettings | None, Access]":
    from a2c_smcp.bridge import HttpSettings  # noqa: PLC0415

    if arguments.http is None:
        return None, Access(None)
    host, port = arguments.http
    access = http_access(context, arguments, http_token(context, arguments, ENV), "mcp")
    return HttpSettings(host, port, access.token, tuple(arguments.allow_host or ())), access


def address(text: str) -> tuple[str, int]:
    """Convert HOST:PORT, [HOST]:PORT or PORT."""
    host, colon, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535 or (colon and not host):
        raise ArgumentTypeError(f"{text!r} is no address: HOST:PORT, or PORT alone for loopback")
    return host.strip("[]") or "127.0.0.1", int(port)


def seconds(text: str) -> float:
    """Convert a time-out."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86_400:
        raise ArgumentTypeError(f"{text!r} is no time-out: a number of seconds up to 86400")
    return value


COMMAND: Final = Command(
    name="mcp",
    summary="Serve an office as an MCP server: Claude Desktop, VS Code or any MCP client becomes its Agent.",
    help=(
        "Clients find the tools of all Computers, and their windows and documents as resources. Without --http it "
        "speaks over standard input and output, as programs do that a client starts; everything else it has to say "
        "goes to standard error. With --http it serves any number of clients, which are the office's one Agent "
        "together. They need a bearer token, which is generated and printed unless you choose one; --no-auth lets "
        f"every user of this machine in. Without --url and --office it joins the `a2c up` that runs on this machine, "
        f"beside any number of others. {ENV}URL, {ENV}OFFICE, {ENV}NAME, {ENV}TOKEN, {ENV}API_KEY, "
        f"{ENV}HEADER, {ENV}CA and {ENV}HTTP_TOKEN stand for the options."
    ),
    arguments=(
        URL,
        OFFICE,
        Argument("--name", "The Agent's name in the office (default: mcp- and the name of this machine)."),
        *CREDENTIALS,
        Argument(
            "--http", "Serve streamable HTTP here, under /mcp; port 0 is any.", metavar="HOST:PORT", convert=address
        ),
        *HTTP_TOKENS,
        NO_AUTH,
        Argument("--allow-host", "A name by which HTTP clients may call this server.", metavar="HOST", many=True),
        Argument(
            "--reading-tools",
            "Add tools that read windows and documents, for clients whose model cannot read resources.",
            flag=True,
        ),
        Argument("--plain-names", "List a tool that only one Computer has under its own name.", flag=True),
        Argument("--timeout", "How long a tool may take.", metavar="SECONDS", convert=seconds, default=600),
    ),
    handler=run,
    show=show,
    stream=True,
    extra="bridge",
    examples=(
        "a2c mcp --reading-tools",
        "a2c mcp --url http://127.0.0.1:8000 --office lab",
        "a2c mcp --url https://a2c.example.com --office lab --token-file token.txt --http 127.0.0.1:9000",
        "npx @modelcontextprotocol/inspector a2c mcp --url http://127.0.0.1:8000 --office lab",
    ),
    hints={
        4101: "an office has one Agent at a time: end the other, or serve several clients with --http",
        401: "--token or --api-key is missing or wrong",
    },
)
