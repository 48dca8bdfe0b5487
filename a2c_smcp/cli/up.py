"""`a2c up`: an office of one's own in one command, with documents and a console."""

import json
import logging
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator
from typing import Any, Final

from a2c_smcp.cli.command import Argument, Command, Context
from a2c_smcp.cli.connect_options import INPUTS
from a2c_smcp.cli.docs_cache import CACHE
from a2c_smcp.cli.docs_options import EXCLUDE, HOST, OCR
from a2c_smcp.cli.logs import warnings_shown
from a2c_smcp.cli.terminal import Terminal, one_line, printable
from a2c_smcp.errors import InvalidConfig


# What the command needs is imported when it runs: help and completion must not wait for it, nor miss it.
def run(context: Context, arguments: Namespace) -> Iterator[Any]:
    """Yield what happens, from `ready` to `stopped`."""
    screen = Terminal.of(context.stderr, context.env)
    if screen.tty:  # to load all of it takes a second or two
        print(screen.dim("starting …"), file=context.stderr, flush=True)
    from a2c_smcp.cli import up_run  # noqa: PLC0415

    servers = logging.getLogger("a2c_smcp.computer.mcp")
    before = servers.level
    with warnings_shown(context):
        if not context.debug:
            servers.setLevel(logging.ERROR)  # what becomes of a server is told as an event
        try:
            yield from up_run.run(context, arguments)
        except InvalidConfig as error:
            # Its message tells every problem already; as data they are for programs.
            raise InvalidConfig(error.message, details=error.details if arguments.json else None) from error
        finally:
            servers.setLevel(before)


def show(value: Any, _: Namespace, terminal: Terminal) -> Iterable[str]:
    """What happened, for a person."""
    match value["event"]:
        case "ready" | "approval" | "input" as kind:
            yield from {"ready": _ready, "approval": _approval, "input": _input}[kind](value, terminal)
        case "console":
            yield f"console: {terminal.cyan(value['console'])}"
        case "server" if value["state"] != "starting":
            trouble = f": {one_line(value['problem'])}" if value["problem"] else ""
            advice = f" ({one_line(value['advice'])})" if value["problem"] and value["advice"] else ""
            yield f"server {one_line(value['name'])}: {value['state']}{trouble}{advice}"
        case "connection" if value["problem"]:
            yield f"connection: {value['state']}: {one_line(value['problem'])}"
        case "configuration":
            yield f"configuration: {printable(value['problem'] or 'in use again')}"
            if starts := value.get("starts"):
                yield from ("it would start:", *starts)
                yield "type yes and press Enter to use it"
        case "indexing" if not value["total"]:
            yield "there is no document that can be read: add files, they are found while this runs"
        case "indexing":
            yield f"{value['indexed']} of {value['total']} documents can be searched"
        case "demo":
            yield terminal.dim(f"demo agent {one_line(value['words'])}")
        case "stopping" | "stopped" as word:
            yield word


def _ready(value: Any, terminal: Terminal) -> Iterator[str]:
    count = len(value["servers"])
    servers = f"{count} MCP server{'' if count == 1 else 's'}"
    yield f"{terminal.bold(one_line(value['name']))} is up: {servers}, Ctrl-C ends all of it"
    yield f"console    {terminal.cyan(value['console'])}"
    yield terminal.dim("           opens once, in one browser; press Enter here for a new address")
    yield from (f"documents  {one_line(folder)}" for folder in value["folders"])
    if value["config"]:
        yield f"servers    of {one_line(value['config'])}: {one_line(', '.join(value['servers']))}"
    yield f"office     {value['office']} at {value['url']}"
    yield from (f"note: {one_line(note)}" for note in value["notes"])
    yield ""
    yield "look around from another terminal:"
    yield f"  {terminal.cyan(value['agent'])}"
    yield "for the configuration of Claude Desktop, or of any MCP client that starts programs:"
    yield from _client_lines(value["mcp"])
    yield "for the mcp.json of VS Code, or of any MCP client that speaks HTTP (it holds a token: keep it to yourself):"
    yield from _client_lines(value["mcp_http"])
    yield terminal.dim("all of them work at the same time, and stay good for the next start on these folders")
    yield ""


def _approval(value: Any, terminal: Terminal) -> Iterator[str]:
    bell = "\a" if terminal.tty else ""
    yield (
        f"{bell}{terminal.bold('approval needed')}: {one_line(value['agent'])} wants to call {one_line(value['tool'])} "
        f"of {one_line(value['server'])}"
    )
    yield (
        f"  answer within {value['seconds']} s under Approvals at {terminal.cyan(value['console'])}; "
        "press Enter here for an address that opens it"
    )


def _input(value: Any, terminal: Terminal) -> Iterator[str]:
    if value["problem"]:
        yield value["problem"]
    about = f" ({one_line(value['description'])})" if value["description"] else ""
    bell = "\a" if terminal.tty else ""
    hidden = ", which is not shown" if value["hidden"] else ""
    yield f"{bell}{terminal.bold('input needed')}: {one_line(value['id'])}{about}"
    yield from (f"  {number}) {one_line(option)}" for number, option in enumerate(value["options"], 1))
    yield f"  type its value here{hidden}, and press Enter; or give it under Approvals in the console"


def _client_lines(config: Any) -> Iterator[str]:
    """JSON as a person would write it: a line for each field."""
    for key, servers in config.items():
        yield f"  {{{json.dumps(key)}: {{"
        for name, server in servers.items():
            yield f"    {json.dumps(name)}: {{"
            fields = [f"      {json.dumps(field)}: {json.dumps(value)}" for field, value in server.items()]
            yield from (f"{line}," for line in fields[:-1])
            yield from (fields[-1], "    }")
        yield "  }}"


def port(text: str) -> int:
    """Convert a port; 0 is any that is free."""
    if not text.isascii() or not text.isdecimal() or int(text) > 65_535:
        raise ArgumentTypeError(f"{text!r} is no port: a number up to 65535, 0 for any that is free")
    return int(text)


COMMAND: Final = Command(
    name="up",
    summary="Start everything on this machine: server, Computer with documents, and console.",
    help=(
        "Offers folders as documents, and the MCP servers of mcp.json or .vscode/mcp.json in this folder, to the Agent "
        "of an office on this machine. Such a file is used once you have agreed to what it starts, and again after "
        "each change; without a terminal it is skipped unless you pass --trust. Prints the address of the console, a "
        "configuration for MCP clients, and a command to look around with. Nobody beyond this machine can connect, and "
        "on it nobody who cannot read the token file. Tools that change something wait for your consent in the "
        "console; while it is closed, calls wait as long as their Agent does, and the terminal says so. An input "
        "without a value is asked for at the terminal and in the console. A2C_LLM_BASE_URL, A2C_LLM_API_KEY and "
        "A2C_LLM_MODEL name the model that writes digests."
    ),
    arguments=(
        Argument(
            "folder",
            "A folder, or a file, to offer (default: this folder).",
            many=True,
            optional=True,
            completes="directory",
        ),
        Argument("--open", "Open the console in a browser.", flag=True),
        Argument("--demo", "Let a scripted Agent work, so that there is something to watch.", flag=True),
        Argument("--name", "The name of the Computer (default: the name of this machine)."),
        Argument(
            "--port",
            "The port of the server; 0 is any (default: the one of the last time on these folders).",
            metavar="PORT",
            convert=port,
        ),
        Argument("--console-port", "The port of the console, likewise.", metavar="PORT", convert=port),
        Argument("--mcp-port", "The port for MCP clients that speak HTTP, likewise.", metavar="PORT", convert=port),
        Argument(
            "--config",
            "The MCP servers: a native, Claude Desktop or VS Code file. It is followed while it changes.",
            metavar="FILE",
            completes="file",
        ),
        Argument("--no-config", "Look for no such file.", flag=True),
        *INPUTS,
        Argument("--trust", "Use the file found in this folder without asking, until it changes.", flag=True),
        HOST,
        EXCLUDE,
        Argument(
            "--digests",
            "Where digests of PDFs go (default: in --state).",
            metavar="DIR",
            completes="directory",
        ),
        *OCR,
        CACHE,
        Argument(
            "--state",
            "Where the token and digests are kept (default: the user's folder for such things).",
            metavar="DIR",
            completes="directory",
        ),
    ),
    handler=run,
    show=show,
    stream=True,
    extra="all",
    examples=("a2c up", "a2c up ~/Documents ~/Papers --open", "a2c up examples/ --demo", "a2c up --port 8000 --json"),
)
