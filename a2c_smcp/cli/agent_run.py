"""What the verbs of `a2c agent` do; each returns plain JSON."""

import base64
import logging
import signal
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from a2c_smcp.agent import SMCPAgentClient
from a2c_smcp.agent.events import OfficeEvent
from a2c_smcp.cli import known_offices
from a2c_smcp.cli.agent import ENV
from a2c_smcp.cli.agent_browser import OfficeBrowser
from a2c_smcp.cli.command import Context
from a2c_smcp.cli.connect_options import agent_seat, given
from a2c_smcp.cli.terminal import printable
from a2c_smcp.errors import BadRequest, DocumentNotFound, InternalError, InvalidDPEUri, NotFound, SMCPError, to_wire

_ABSENT: Final = (DocumentNotFound, NotFound)


@contextmanager
def seated(context: Context, arguments: Namespace, *, live: bool = False) -> Iterator[SMCPAgentClient]:
    """Sit in the office that the options name, or in one of the running `a2c up`, until the end of the block."""
    with (
        _once_told(context),
        _ended_by_sigterm(),
        SMCPAgentClient(live=live, **agent_seat(context, arguments, ENV, "a2c-agent")) as agent,
    ):
        yield agent


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does, so that a call that is under way is cancelled at the Computer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _once_told(context: Context) -> Iterator[None]:
    """Keep the log from saying what the command says anyway; those who debug see both."""
    ours, nobody = logging.getLogger("a2c_smcp"), logging.NullHandler()
    if not context.debug:
        ours.addHandler(nobody)
    try:
        yield
    finally:
        ours.removeHandler(nobody)


def present(context: Context, agent: SMCPAgentClient, arguments: Namespace) -> list[str]:
    """Return the Computers that a command is about: the one that is named, or all in the office."""
    if arguments.computer is not None:
        return [arguments.computer]
    return _met(context, arguments, agent.list_room())


def _met(context: Context, arguments: Namespace, members: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the Computers among these members; where there is none, the user is told what to check."""
    names = sorted(member["name"] for member in members if member["role"] == "computer")
    url, office = given(context, arguments, "url", ENV), given(context, arguments, "office", ENV)
    if url is None or office is None:
        return names  # an office of `a2c up`, which is not for suggestions
    if names:
        known_offices.remember(context.env, url, office)
    else:
        context.stderr.write(f"hint: {printable(known_offices.empty(context.env, url, office))}\n")
    return names


def computers(context: Context, agent: SMCPAgentClient, arguments: Namespace) -> list[str]:
    """Return the same where the command cannot do without.

    Raises:
        NotFound: There is none.
    """
    found = present(context, agent, arguments)
    if not found:
        raise NotFound(f"No Computer is in the office {agent.office_id!r}")
    return found


def of_each(names: Sequence[str], ask: Callable[[str], Mapping[str, Any]], nothing: Mapping[str, Any]) -> list[Any]:
    """Return what each Computer answers; one that fails has `error` and `nothing` in its place.

    Raises:
        SMCPError: None of them has answered.
    """
    answers, problems = [], []
    for name in names:
        try:
            answers.append({"computer": name, **ask(name)})
        except SMCPError as problem:
            problems.append(problem)
            answers.append({"computer": name, **nothing, **to_wire(problem)})
    if problems and len(problems) == len(answers):
        raise problems[0]
    return answers


def rooms(context: Context, arguments: Namespace) -> Any:
    """Return who is in the office."""
    with seated(context, arguments) as agent:
        members = agent.list_room()
        _met(context, arguments, members)
        return {"office": agent.office_id, "sessions": members}


def tools(context: Context, arguments: Namespace) -> Any:
    """Return the tools of each Computer."""
    with seated(context, arguments) as agent:
        return of_each(present(context, agent, arguments), lambda name: {"tools": agent.get_tools(name)}, {"tools": []})


def desktop(context: Context, arguments: Namespace) -> Any:
    """Return the windows of each Computer."""
    with seated(context, arguments) as agent:

        def ask(name: str) -> Any:
            return {"windows": agent.get_desktop(name, size=arguments.size, window=arguments.window)}

        return of_each(present(context, agent, arguments), ask, {"windows": []})


def finder(context: Context, arguments: Namespace) -> Any:
    """Return a page of each Computer's catalogue."""
    with seated(context, arguments) as agent:

        def ask(name: str) -> Any:
            limit = min(arguments.limit, 100)
            return agent.get_finder(name, arguments.keyword or None, arguments.type, arguments.offset, limit)

        return of_each(present(context, agent, arguments), ask, {"documents": [], "total_count": 0})


def browse(context: Context, arguments: Namespace) -> None:
    """Go on with a person at the terminal, after the list."""
    if arguments.plain:
        return
    with seated(context, arguments) as agent:
        if names := present(context, agent, arguments):
            OfficeBrowser(agent, names, context, limit=min(arguments.limit, 100)).start(arguments.keyword or None)


def read(context: Context, arguments: Namespace) -> Any:
    """Return what is at a URI, or write it to a file and return how much that was."""
    uri = arguments.uri if arguments.json or arguments.output else readable(arguments.uri)
    with seated(context, arguments) as agent:
        contents = _first(agent, computers(context, agent, arguments), uri, arguments.mcp_server)
    if arguments.output is not None:
        return _save(contents, Path(arguments.output))
    return contents


def readable(uri: str) -> str:
    """Ask for Markdown where a `dpe://` URI asks for no format."""
    parts = urlsplit(uri)
    if parts.scheme.lower() != "dpe" or "format=" in parts.query:
        return uri
    return f"{uri}{'&' if parts.query else '?'}format=markdown"


def watch(context: Context, arguments: Namespace) -> Iterator[Any]:
    """Yield what happens, first who is here."""
    with seated(context, arguments, live=True) as agent:
        events = agent.events()
        members = [dict(member) for member in agent.list_room()]
        _met(context, arguments, members)
        yield {"event": "joined", "computer": None, "data": {"office": agent.office_id, "sessions": members}}
        for event in events:
            if arguments.computer in (None, event.computer):
                yield _told(event)


def _told(event: OfficeEvent) -> dict[str, Any]:
    return {"event": event.kind, "computer": event.computer, "data": dict(event.data)}


def _first(
    agent: SMCPAgentClient, names: Sequence[str], uri: str, mcp_server: str | None = None
) -> list[dict[str, Any]]:
    """Read from the first Computer that has it; MCP servers have many ways to say that they have not."""
    problem: SMCPError | None = None
    for name in names:
        try:
            return agent.read_contents(name, uri, mcp_server=mcp_server)
        except InvalidDPEUri:
            raise
        except SMCPError as error:
            if isinstance(error, BadRequest) and "mcp_servers" in (error.details or {}):
                raise  # it has the resource more than once; another Computer's would be a guess
            if problem is None or isinstance(problem, _ABSENT):
                problem = error
    raise problem or NotFound("No Computer is in the office")


def decoded(data: Any) -> bytes:
    """Return what is behind base64.

    Raises:
        InternalError: It is none.
    """
    try:
        return base64.b64decode(data)
    except (ValueError, TypeError):
        raise InternalError("The data is no base64, so it cannot be saved; --json prints it as it came") from None


def _save(contents: Sequence[dict[str, Any]], path: Path) -> Any:
    if len(contents) != 1:
        raise BadRequest(f"The resource has {len(contents)} contents, and a file takes one; --json prints all")
    content = contents[0]
    data = decoded(content["blob"]) if "blob" in content else str(content.get("text", "")).encode()
    path.write_bytes(data)
    return {"file": str(path), "bytes": len(data), "mimeType": content.get("mimeType")}
