"""`a2c agent`: an office from an Agent's chair, for people and scripts."""

from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any, Final

from a2c_smcp.cli.command import Argument, Command, Context, Show
from a2c_smcp.cli.connect_options import CREDENTIALS, OFFICE, URL
from a2c_smcp.cli.parsing import positive
from a2c_smcp.cli.terminal import Terminal

ENV: Final = "A2C_AGENT_"
SEAT: Final = (
    URL,
    OFFICE,
    Argument("--name", "The Agent's name in the office.", default=None),
    *CREDENTIALS,
)
COMPUTER: Final = Argument("--computer", "Only this Computer.", metavar="NAME")
EXTRA: Final = "agent,cli"
HINTS: Final = {
    401: f"give --token, --token-file or --api-key, or set {ENV}TOKEN or {ENV}API_KEY",
    404: "`a2c agent rooms` lists the Computers of the office",
    4001: "`a2c agent tools` lists the tools",
    4005: "its owner has to approve the call, or to set auto_apply for the tool",
    4006: "the tool's MCP server is still starting; try again soon, or with a longer --timeout",
    4101: "an office has one Agent at a time: end the other one, or name another office",
    4201: "`a2c agent finder` lists the documents and their URIs",
    4202: "read the document's URI with ?depth=pages for its pages",
    4203: "read the page for the ids of its elements",
}
_HELP: Final = (
    f"{ENV}URL, {ENV}OFFICE, {ENV}NAME, {ENV}TOKEN, {ENV}API_KEY, {ENV}HEADER and {ENV}CA stand for the options of the "
    "seat. Without --url and --office it joins the `a2c up` that runs on this machine, in an office of its own, beside "
    "MCP clients and other Agents."
)


# What a command needs is imported when it runs: help and completion must not wait for it, nor miss it.
def _rooms(context: Context, arguments: Namespace) -> Any:
    from a2c_smcp.cli import agent_run  # noqa: PLC0415

    return agent_run.rooms(context, arguments)


def _tools(context: Context, arguments: Namespace) -> Any:
    from a2c_smcp.cli import agent_run  # noqa: PLC0415

    return agent_run.tools(context, arguments)


def _call(context: Context, arguments: Namespace) -> Any:
    from a2c_smcp.cli import agent_call  # noqa: PLC0415

    return agent_call.call(context, arguments)


def _desktop(context: Context, arguments: Namespace) -> Any:
    from a2c_smcp.cli import agent_run  # noqa: PLC0415

    return agent_run.desktop(context, arguments)


def _finder(context: Context, arguments: Namespace) -> Any:
    from a2c_smcp.cli import agent_run  # noqa: PLC0415

    return agent_run.finder(context, arguments)


def _browse(context: Context, arguments: Namespace) -> None:
    from a2c_smcp.cli import agent_run  # noqa: PLC0415

    agent_run.browse(context, arguments)


def _read(context: Context, arguments: Namespace) -> Any:
    from a2c_smcp.cli import agent_run  # noqa: PLC0415

    return agent_run.read(context, arguments)


def _watch(context: Context, arguments: Namespace) -> Iterator[Any]:
    from a2c_smcp.cli import agent_run  # noqa: PLC0415

    return agent_run.watch(context, arguments)


def _show(verb: str) -> Show:
    def lines(value: Any, arguments: Namespace, terminal: Terminal) -> Iterable[str]:
        from a2c_smcp.cli import agent_show  # noqa: PLC0415

        return agent_show.SHOWS[verb](value, arguments, terminal)

    return lines


def _failed(result: Any) -> bool:
    return bool(result.get("isError"))


def _partly_failed(answers: Any) -> bool:
    return any("error" in answer for answer in answers)


COMMAND: Final = Command(
    name="agent",
    summary="Sit in an office as its Agent: look around, call tools, read documents.",
    help=_HELP,
    commands=(
        Command(
            name="rooms",
            summary="List who is in the office.",
            handler=_rooms,
            show=_show("rooms"),
            arguments=SEAT,
            help=_HELP,
            extra=EXTRA,
            hints=HINTS,
            examples=("a2c agent rooms --url http://127.0.0.1:8000 --office lab",),
        ),
        Command(
            name="tools",
            summary="List the tools of the Computers.",
            handler=_tools,
            show=_show("tools"),
            failed=_partly_failed,
            arguments=(*SEAT, COMPUTER, Argument("--schema", "Show what each tool takes.", flag=True)),
            help=_HELP,
            extra=EXTRA,
            hints=HINTS,
            examples=("a2c agent tools --schema", "a2c agent tools --computer desk --json"),
        ),
        Command(
            name="call",
            summary="Call a tool.",
            handler=_call,
            show=_show("call"),
            failed=_failed,
            arguments=(
                Argument("tool", "Its name as `tools` lists it."),
                Argument(
                    "argument",
                    "What it takes: NAME=VALUE each, or all as one JSON object, or - for JSON on standard input.",
                    many=True,
                    optional=True,
                ),
                *SEAT,
                COMPUTER,
                Argument("--timeout", "Seconds that it may take.", metavar="SECONDS", convert=positive, default=60),
                Argument("--save", "A folder for images, audio and files in the result.", completes="directory"),
            ),
            help=(
                "A value is read as the tool's schema says: a number, true or false, JSON for lists and objects, else "
                "a text. Exit code 1 where the tool failed. Ctrl-C cancels the call at the Computer. At a terminal, "
                "what the tool says of its progress is shown on standard error. " + _HELP
            ),
            extra=EXTRA,
            hints=HINTS,
            examples=(
                "a2c agent call search query=minutes limit=5",
                'a2c agent call echo \'{"text": "hello"}\' --json',
            ),
        ),
        Command(
            name="desktop",
            summary="Show the windows of the Computers: live context.",
            handler=_desktop,
            show=_show("desktop"),
            failed=_partly_failed,
            arguments=(
                *SEAT,
                COMPUTER,
                Argument("--size", "The most windows of each Computer.", metavar="N", convert=positive),
                Argument("--window", "Only the window of this URI.", metavar="URI"),
            ),
            help=_HELP,
            extra=EXTRA,
            hints=HINTS,
            examples=("a2c agent desktop", "a2c agent desktop --size 3 --json"),
        ),
        Command(
            name="finder",
            summary="List the documents of the Computers, and at a terminal browse them.",
            handler=_finder,
            show=_show("finder"),
            failed=_partly_failed,
            interact=_browse,
            arguments=(
                Argument("keyword", "Only documents with one of these words.", many=True, optional=True),
                *SEAT,
                COMPUTER,
                Argument("--type", "Only documents of this type, such as pdf.", metavar="TYPE"),
                Argument("--limit", "The most documents of each Computer.", metavar="N", convert=positive, default=20),
                Argument("--offset", "How many to leave out first.", metavar="N", convert=int, default=0),
                Argument("--plain", "Do not browse, even at a terminal.", flag=True),
            ),
            help=(
                "At a terminal it then asks what to open: a number or a URI opens, u goes up, t shows the tree of a "
                "document, r reads in the pager, /word searches, ? helps, q quits. " + _HELP
            ),
            extra=EXTRA,
            hints=HINTS,
            examples=("a2c agent finder", "a2c agent finder budget --type xlsx --json"),
        ),
        Command(
            name="read",
            summary="Print a resource: a document, page, element, window or file.",
            handler=_read,
            show=_show("read"),
            arguments=(
                Argument("uri", "A dpe:// or window:// URI, or whatever the Computers serve."),
                *SEAT,
                COMPUTER,
                Argument(
                    "--mcp-server", "Read it from this MCP server; needed where several serve the URI.", metavar="NAME"
                ),
                Argument("--output", "Write it to this file; needed for what is no text.", metavar="FILE"),
            ),
            help="Documents come as Markdown unless ?format= or --json asks otherwise. " + _HELP,
            extra=EXTRA,
            hints=HINTS,
            examples=("a2c agent read dpe://a2c.docs/glossary.txt/pages/0",),
        ),
        Command(
            name="watch",
            summary="Tell what happens in the office, until Ctrl-C.",
            handler=_watch,
            show=_show("watch"),
            stream=True,
            arguments=(*SEAT, COMPUTER),
            help=_HELP,
            extra=EXTRA,
            hints=HINTS,
            examples=("a2c agent watch --json",),
        ),
    ),
)
