"""`a2c mcp`: an office as a plain MCP server, for clients that speak MCP and nothing else."""

import asyncio
import logging
import platform
import signal
from argparse import ArgumentTypeError, Namespace
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.parsing import UsageError
from a2c_smcp.cli.terminal import Terminal, printable
from a2c_smcp.errors import BadRequest

if TYPE_CHECKING:
    from a2c_smcp.agent import AsyncSMCPAgentClient
    from a2c_smcp.bridge import Bridge, HttpSettings

ENV: Final = "A2C_AGENT_"
_END: Final = object()


# What the command needs is imported when it runs: help and completion must not wait for it, nor miss it.
def run(context: Context, arguments: Namespace) -> Iterator[Any]:
    """Yield where HTTP clients find the office; over standard input and output, say nothing."""
    if arguments.json and arguments.http is None:
        raise UsageError("--json needs --http: without it standard output belongs to the client", (COMMAND,))
    url, office = (_needed(context, arguments, name) for name in ("url", "office"))
    with _logging(context):
        yield from _driven(_serve(context, arguments, url, office))


def show(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """The one line."""
    return [f"the office {value['office']} is at {terminal.cyan(value['url'])} (Ctrl-C ends)"]


async def _serve(context: Context, arguments: Namespace, url: str, office: str) -> AsyncGenerator[Any, None]:
    from a2c_smcp.bridge import run as run_bridge  # noqa: PLC0415
    from a2c_smcp.bridge import serve_http, serve_stdio  # noqa: PLC0415

    http = _http(context, arguments)
    client = _client(context, arguments, url, office)
    bridge = _bridge(arguments, client, office)
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def transport(bridge: "Bridge") -> None:
        if http is None:
            await serve_stdio(bridge)
        else:
            await serve_http(bridge, http, listening.set_result)

    task = asyncio.get_running_loop().create_task(run_bridge(bridge, client, transport))
    _end_on_signals(task)
    awaited: list[asyncio.Future[Any]] = [task, listening]
    try:
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if listening.done():
            yield {"url": listening.result(), "office": office}
        with suppress(asyncio.CancelledError):  # a signal to end
            await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _client(context: Context, arguments: Namespace, url: str, office: str) -> "AsyncSMCPAgentClient":
    from a2c_smcp.agent import AsyncSMCPAgentClient  # noqa: PLC0415

    return AsyncSMCPAgentClient(
        url,
        name=_given(context, arguments, "name") or f"mcp-{platform.node() or 'client'}",
        office_id=office,
        token=_secret(context, arguments, "token"),
        api_key=_given(context, arguments, "api_key"),
        live=False,
    )


def _bridge(arguments: Namespace, client: "AsyncSMCPAgentClient", office: str) -> "Bridge":
    from a2c_smcp.bridge import Bridge, BridgeSettings  # noqa: PLC0415

    settings = BridgeSettings(plain_names=arguments.plain_names, call_timeout=arguments.timeout)
    return Bridge(client, office, settings)


def _http(context: Context, arguments: Namespace) -> "HttpSettings | None":
    from a2c_smcp.bridge import HttpSettings  # noqa: PLC0415

    if arguments.http is None:
        return None
    host, port = arguments.http
    token = _secret(context, arguments, "http_token")
    return HttpSettings(host, port, token() if callable(token) else token, tuple(arguments.allow_host or ()))


def _needed(context: Context, arguments: Namespace, name: str) -> str:
    value = _given(context, arguments, name)
    if value is None:
        raise UsageError(f"--{name} is missing (or set {ENV}{name.upper()})", (COMMAND,))
    return value


def _given(context: Context, arguments: Namespace, name: str) -> str | None:
    value = getattr(arguments, name)
    return value if value is not None else context.env.get(ENV + name.upper()) or None


def _secret(context: Context, arguments: Namespace, name: str) -> str | Callable[[], str] | None:
    option = name.replace("_", "-")
    file = getattr(arguments, f"{name}_file")
    if file is None:
        return _given(context, arguments, name)
    if getattr(arguments, name) is not None:
        raise BadRequest(f"--{option}, --{option}-file: one of them")
    _read(file, option)
    return lambda: _read(file, option)


def _read(path: Path, option: str) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise BadRequest(f"--{option}-file: {path} cannot be read ({type(error).__name__})") from None


def _end_on_signals(task: "asyncio.Task[None]") -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)


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
        finally:
            runner.run(close())


@contextmanager
def _logging(context: Context) -> Iterator[None]:
    """Show warnings on standard error, with A2C_DEBUG everything."""
    log = logging.getLogger("a2c_smcp")
    before = log.level, log.propagate
    handler = logging.StreamHandler(context.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s") if context.debug else _Lines())
    log.addHandler(handler)
    log.propagate = False
    log.setLevel(logging.DEBUG if context.debug else logging.WARNING)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before[0])
        log.propagate = before[1]


class _Lines(logging.Formatter):
    """A line for each record: tracebacks are for those who debug."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{record.levelname.lower()}: {printable(record.getMessage())}"


def address(text: str) -> tuple[str, int]:
    """Convert HOST:PORT, [HOST]:PORT or PORT."""
    host, colon, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535 or (colon and not host):
        raise ArgumentTypeError(f"{text!r} is no address: HOST:PORT, or PORT alone for 127.0.0.1")
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
        f"together. {ENV}URL, {ENV}OFFICE, {ENV}NAME, {ENV}TOKEN, {ENV}API_KEY and {ENV}HTTP_TOKEN stand for the "
        "options."
    ),
    arguments=(
        Argument("--url", "The server to connect to."),
        Argument("--office", "The office to join."),
        Argument("--name", "The Agent's name in the office (default: mcp- and the name of this machine)."),
        Argument("--token", "The token to connect with; other users of the machine can see it here."),
        Argument(
            "--token-file",
            "A file with the token, read again at every attempt.",
            metavar="FILE",
            convert=Path,
            completes="file",
        ),
        Argument("--api-key", "The API key to connect with.", metavar="KEY"),
        Argument(
            "--http", "Serve streamable HTTP here, under /mcp; port 0 is any.", metavar="HOST:PORT", convert=address
        ),
        Argument("--http-token", "What HTTP clients must send as bearer token; needed beyond loopback."),
        Argument("--http-token-file", "A file with that token.", metavar="FILE", convert=Path, completes="file"),
        Argument("--allow-host", "A name by which HTTP clients may call this server.", metavar="HOST", many=True),
        Argument("--plain-names", "List a tool that only one Computer has under its own name.", flag=True),
        Argument(
            "--timeout", "How long a tool may take (default: 600).", metavar="SECONDS", convert=seconds, default=600.0
        ),
    ),
    handler=run,
    show=show,
    stream=True,
    extra="bridge",
    examples=(
        "a2c mcp --url http://127.0.0.1:8000 --office lab",
        "a2c mcp --url https://a2c.example.com --office lab --token-file token.txt --http 127.0.0.1:9000",
        "npx @modelcontextprotocol/inspector a2c mcp --url http://127.0.0.1:8000 --office lab",
    ),
    hints={
        4101: "an office has one Agent at a time: end the other, or serve several clients with --http",
        401: "--token or --api-key is missing or wrong",
    },
)
