"""The commands of a Computer's owner, as data: the shell, `--do`, completion and help all derive from these rows."""

import json
from dataclasses import asdict
from typing import Any, Final

from a2c_smcp.cli import computer_show as show
from a2c_smcp.cli.computer_line import LineArgument, Order, Verb, Words
from a2c_smcp.cli.computer_owner import Owner
from a2c_smcp.computer.config import EditResult, servers_using
from a2c_smcp.computer.config.loaders import parse_config
from a2c_smcp.computer.config.models import MCPServerConfig
from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.tools.confirmation import Decision, PendingApproval
from a2c_smcp.errors import BadRequest, InternalError, NotFound

CALL_SECONDS: Final = 300


async def run(order: Order, owner: Owner) -> Any:
    """Do what a line asks for, and return its value.

    Raises:
        SMCPError: It failed.
    """
    try:
        return await order.verb.handler(owner, order.words)
    except OSError as error:
        raise InternalError(str(error)) from error


# What the Computer offers


async def _status(owner: Owner, _: Words) -> Any:
    return owner.computer.status()


async def _tools(owner: Owner, _: Words) -> Any:
    return await owner.computer.tools()


async def _desktop(owner: Owner, words: Words) -> Any:
    return await owner.computer.desktop(window=words.get("uri"))


async def _finder(owner: Owner, words: Words) -> Any:
    return await owner.computer.finder(words.get("words", "").split() or None)


async def _read(owner: Owner, words: Words) -> Any:
    return await owner.computer.read(words["uri"], words.get("server"))


async def _call(owner: Owner, words: Words) -> Any:
    return await owner.call(words["tool"], _object(words.get("json", "{}")), CALL_SECONDS)


async def _history(owner: Owner, _: Words) -> Any:
    return owner.computer.calls.history.records()


async def _config(owner: Owner, _: Words) -> Any:
    return owner.computer.config()


async def _console(owner: Owner, _: Words) -> Any:
    if owner.console is None:
        raise NotFound("There is no console: start the Computer with --console PORT")
    return {"event": "console", "url": owner.console()}


# Servers


async def _add(owner: Owner, words: Words) -> Any:
    server = _server(_object(words["json"]))
    return await _changed(owner, server.name, await owner.computer.settings.add_server(server))


async def _remove(owner: Owner, words: Words) -> Any:
    return await _changed(owner, words["name"], await owner.computer.settings.remove_server(words["name"]))


async def _enable(owner: Owner, words: Words) -> Any:
    return await _changed(owner, words["name"], await owner.computer.settings.enable(words["name"]))


async def _disable(owner: Owner, words: Words) -> Any:
    return await _changed(owner, words["name"], await owner.computer.settings.disable(words["name"]))


async def _start(owner: Owner, words: Words) -> Any:
    await owner.computer.servers.start(words["name"])
    return await _settled(owner, words["name"])


async def _stop(owner: Owner, words: Words) -> Any:
    await owner.computer.servers.stop(words["name"])
    return await _settled(owner, words["name"])


async def _restart(owner: Owner, words: Words) -> Any:
    await owner.computer.servers.restart(words["name"])
    return await _settled(owner, words["name"])


async def _changed(owner: Owner, name: str, outcome: EditResult) -> Json | None:
    status = await _settled(owner, name)
    return status if outcome.note is None or status is None else status | {"note": outcome.note}


async def _settled(owner: Owner, name: str) -> Json | None:
    session = owner.computer.servers.get(name)
    if session is None:
        return None
    await session.settled()
    return asdict(session.status)


# Inputs


async def _inputs(owner: Owner, _: Words) -> Any:
    return [asdict(state) for state in owner.computer.inputs.list()]


async def _set(owner: Owner, words: Words) -> Any:
    name = words["id"]
    owner.computer.inputs.set(name, words["value"] if "value" in words else await _asked(owner, name))
    enabled = owner.computer.servers.all()
    restarted = [server for server in servers_using(owner.computer.settings.config, name) if server in enabled]
    for server in restarted:
        await owner.computer.servers.restart(server)
    await owner.computer.settled()
    return {"id": name, "restarted": restarted}


async def _asked(owner: Owner, name: str) -> str:
    wanted = next((entry for entry in owner.computer.settings.config.inputs if entry.id == name), None)
    if wanted is not None and owner.prompt is not None and (found := await owner.prompt.find(wanted)) is not None:
        return found.value.reveal()
    raise BadRequest("VALUE is missing: inputs set ID VALUE")


async def _forget(owner: Owner, words: Words) -> Any:
    return {"id": words["id"], "forgotten": owner.computer.inputs.remove(words["id"])}


async def _clear(owner: Owner, _: Words) -> Any:
    return {"forgotten": owner.computer.inputs.clear()}


# The connection


async def _connect(owner: Owner, words: Words) -> Any:
    await owner.connect(words.get("url"))
    return owner.computer.status()["connection"]


async def _join(owner: Owner, words: Words) -> Any:
    await owner.computer.join(words["office"])
    return owner.computer.status()["connection"]


async def _leave(owner: Owner, _: Words) -> Any:
    await owner.computer.leave()
    return owner.computer.status()["connection"]


async def _disconnect(owner: Owner, _: Words) -> Any:
    await owner.computer.disconnect()


# Approvals


async def _approvals(owner: Owner, _: Words) -> Any:
    return {
        "pending": [asdict(question) for question in owner.desk.pending()],
        "standing": [one._asdict() for one in owner.computer.calls.consent.standing()],
        "changed": [asdict(change) for change in owner.computer.changed_tools()],
    }


async def _show_approval(owner: Owner, words: Words) -> Any:
    question = _question(owner, words["number"])
    owner.read.add(question.number)
    return asdict(question)


async def _approve(owner: Owner, words: Words) -> Any:
    question = _question(owner, words["number"])
    if question.number not in owner.read and show.is_long(show.decided_on(asdict(question.confirmation))):
        raise BadRequest(f"The beginning of this call was shown, not all of it: approvals show {question.number} first")
    return _answer(owner, words["number"], Decision(words.get("how", Decision.ONCE)))


async def _refuse(owner: Owner, words: Words) -> Any:
    return _answer(owner, words["number"], Decision.REFUSE)


async def _accept(owner: Owner, words: Words) -> Any:
    return asdict(await owner.computer.accept_tool(words["tool"], words["fingerprint"]))


async def _withdraw(owner: Owner, _: Words) -> Any:
    count = len(owner.computer.calls.consent.standing())
    owner.computer.calls.consent.withdraw()
    return {"withdrawn": count}


def _question(owner: Owner, number: str) -> PendingApproval:
    for question in owner.desk.pending():
        if str(question.number) == number:
            return question
    raise _no_question(number)


def _answer(owner: Owner, number: str, answer: Decision) -> Json:
    if not number.isdecimal() or not owner.desk.answer(int(number), answer):
        raise _no_question(number)
    owner.read.discard(int(number))
    return {"number": int(number), "answer": answer.value}


def _no_question(number: str) -> NotFound:
    return NotFound(f"No question {number!r} waits; it may have been withdrawn, or have expired")


async def _help(_: Owner, __: Words) -> Any:
    return [{"usage": verb.usage, "help": verb.help} for verb in VERBS]


def _object(text: str) -> Json:
    try:
        value = json.loads(text)
    except ValueError as error:
        # Where, and not what: it may be a secret.
        place = f" (at character {error.pos + 1}: {error.msg})" if isinstance(error, json.JSONDecodeError) else ""
        raise BadRequest(f"That is not JSON{place}") from None
    if not isinstance(value, dict):
        raise BadRequest("That is not a JSON object { … }")
    return value


def _server(settings: Json) -> MCPServerConfig:
    name = settings.pop("name", None)
    if not isinstance(name, str) or not name:
        raise BadRequest('The server needs a name: {"name": "files", "command": "…", "args": […]}')
    # Both what this project writes and what editors write is understood.
    root = "servers" if "server_parameters" in settings else "mcpServers"
    return parse_config({root: {name: settings}}, "server").config.servers[name]


_SERVER: Final = (LineArgument("name", "server"),)
_URI: Final = LineArgument("uri")

VERBS: Final[tuple[Verb, ...]] = (
    Verb("status", "The connection, the servers, and what needs care.", _status, show=show.status),
    Verb("tools", "The tools that Agents may call.", _tools, show=show.tools),
    Verb("desktop", "The windows.", _desktop, (LineArgument("uri", optional=True),), show.desktop),
    Verb(
        "finder",
        "The documents, or those with the words.",
        _finder,
        (LineArgument("words", optional=True, rest=True),),
        show.finder,
    ),
    Verb("read", "What is at a URI.", _read, (_URI, LineArgument("server", "server", optional=True)), show.contents),
    Verb(
        "call",
        "Run a tool.",
        _call,
        (LineArgument("tool", "tool"), LineArgument("json", optional=True, rest=True)),
        show.result,
    ),
    Verb("history", "The tool calls so far.", _history, show=show.history),
    Verb("config", "The configuration as Agents see it, without secrets.", _config),
    Verb("console", "A new address that opens the console once.", _console, show=show.event),
    Verb(
        "server add", "Add a server and start it.", _add, (LineArgument("json", rest=True),), show.server, private=True
    ),
    Verb("server rm", "Stop a server and remove it.", _remove, _SERVER, show.server),
    Verb("server start", "Start a server that is stopped or has failed.", _start, _SERVER, show.server),
    Verb("server stop", "Stop a server.", _stop, _SERVER, show.server),
    Verb("server restart", "Stop a server and start it anew.", _restart, _SERVER, show.server),
    Verb("server enable", "Start a server that is disabled.", _enable, _SERVER, show.server),
    Verb("server disable", "Stop a server and keep its settings.", _disable, _SERVER, show.server),
    Verb("inputs list", "The inputs and where their values came from.", _inputs, show=show.inputs),
    Verb(
        "inputs set",
        "Give a value, or be asked for it; servers that use it start anew.",
        _set,
        (LineArgument("id", "input"), LineArgument("value", optional=True, rest=True)),
        show.input_set,
        private=True,
    ),
    Verb("inputs rm", "Forget a value.", _forget, (LineArgument("id", "input"),), show.forgotten),
    Verb("inputs clear", "Forget all values.", _clear, show=show.forgotten),
    Verb("connect", "Connect to a server.", _connect, (LineArgument("url", optional=True),), show.connection),
    Verb("join", "Join an office.", _join, (LineArgument("office", rest=True),), show.connection),
    Verb("leave", "Leave the office and stay connected.", _leave, show=show.connection),
    Verb("disconnect", "End the connection.", _disconnect, show=show.connection),
    Verb("approvals list", "Calls that wait for consent, and consent that stands.", _approvals, show=show.approvals),
    Verb(
        "approvals show",
        "A call that waits, in full; a long one can be approved after that.",
        _show_approval,
        (LineArgument("number", "approval"),),
        show.whole_approval,
    ),
    Verb(
        "approvals approve",
        "Let a call run: this one, or from now on every one of this tool by this Agent.",
        _approve,
        (LineArgument("number", "approval"), LineArgument("how", choices=("once", "always"), optional=True)),
        show.answered,
    ),
    Verb("approvals refuse", "Refuse a call.", _refuse, (LineArgument("number", "approval"),), show.answered),
    Verb(
        "approvals accept",
        "Let auto_apply hold for a tool that changed since; approvals shows the fingerprint.",
        _accept,
        (LineArgument("tool", "tool"), LineArgument("fingerprint")),
        show.accepted,
    ),
    Verb("approvals withdraw", "Ask again about everything.", _withdraw, show=show.withdrawn),
    Verb(
        "help", "These commands; in the shell, quit or Ctrl-D ends, and Ctrl-C stops a command.", _help, show=show.guide
    ),
)
