"""What the verbs of `a2c agent` return, as lines for a person. Pure."""

import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final

from a2c_smcp.cli import computer_show
from a2c_smcp.cli.agent_params import kinds_of
from a2c_smcp.cli.rendering import rendered
from a2c_smcp.cli.terminal import Terminal, one_line, printable

Lines = Iterator[str]


def rooms(value: Any, _: Namespace, terminal: Terminal) -> Lines:
    """A member a line."""
    yield terminal.bold(f"office {one_line(value['office'])}")
    for member in value["sessions"]:
        version = f"  protocol {one_line(member['a2c_version'])}" if member.get("a2c_version") else ""
        yield f"{member['role']:<8}  {terminal.cyan(one_line(member['name']))}{terminal.dim(version)}"


NOBODY: Final = "no Computer is in the office"


def _problem(one: Mapping[str, Any]) -> str:
    return one_line(f"error {one['error']['code']}: {one['error']['message']}")


def tools(value: Any, arguments: Namespace, terminal: Terminal) -> Lines:
    """A tool a line, below its Computer."""
    yield from () if value else (NOBODY,)
    for number, one in enumerate(value):
        yield from ([""] if number else [])
        yield terminal.bold(one_line(one["computer"]))
        if "error" in one:
            yield f"  {_problem(one)}"
            continue
        for line, tool in zip_longest(computer_show.tools(one["tools"], terminal, indent=2), one["tools"]):
            yield f"  {line}"
            if arguments.schema and tool:
                yield from (f"      {parameter}" for parameter in _parameters(tool.get("params_schema") or {}))


def _parameters(schema: Mapping[str, Any]) -> Lines:
    properties = schema.get("properties")
    required = schema.get("required") or ()
    for name, about in (properties if isinstance(properties, Mapping) else {}).items():
        facts = about if isinstance(about, Mapping) else {}
        kinds = " or ".join(kinds_of(about, schema)) or "any"
        needed = ", needed" if name in required else ""
        yield one_line(f"{name} ({kinds}{needed}) {facts.get('description') or ''}")


def call(value: Any, _: Namespace, terminal: Terminal) -> Lines:
    """What a tool answered."""
    yield from computer_show.result(value, terminal, more="--save FOLDER saves it")
    if not value.get("content") and value.get("structuredContent") is not None:
        yield printable(json.dumps(value["structuredContent"], ensure_ascii=False, indent=2))
    yield from (f"saved {one_line(path)}" for path in value.get("saved", ()))


def desktop(value: Any, _: Namespace, terminal: Terminal) -> Lines:
    """The windows, below their Computer."""
    yield from () if value else (NOBODY,)
    for number, one in enumerate(value):
        yield from ([""] if number else [])
        yield terminal.bold(one_line(one["computer"]))
        yield from (_problem(one),) if "error" in one else computer_show.desktop(one["windows"], terminal)


def finder(value: Any, _: Namespace, terminal: Terminal) -> Lines:
    """A document a line, numbered, below its Computer."""
    yield from () if value else (NOBODY,)
    number = 0
    for one in value:
        if "error" in one:
            yield f"{terminal.bold(one_line(one['computer']))}  {_problem(one)}"
            continue
        shown, total = len(one["documents"]), one["total_count"]
        count = f"{shown} of {total} documents" if shown < total else f"{total} document{'' if total == 1 else 's'}"
        yield f"{terminal.bold(one_line(one['computer']))}  {terminal.dim(count)}"
        for document in one["documents"]:
            number += 1
            yield f"{number:>3}. {document_line(document, terminal)}"
        for name in one.get("unavailable", ()):
            yield f"note: server {one_line(name)} cannot be asked now"


def document_line(document: Mapping[str, Any], terminal: Terminal) -> str:
    """A document on one line; what it says of itself comes from elsewhere."""
    count = document.get("page_count")
    pages = f"{count} page{'' if count == 1 else 's'}" if isinstance(count, int) else ""
    facts = ", ".join(filter(None, (one_line(str(document.get("file_type") or "")), pages)))
    title = terminal.bold(one_line(str(document.get("title") or document["uri"])))
    return "  ".join(filter(None, (title, facts, terminal.dim(one_line(str(document["uri"]))))))


def read(value: Any, _: Namespace, terminal: Terminal) -> Lines:
    """The texts, Markdown as a terminal can show it; or where it was saved."""
    if isinstance(value, Mapping):
        yield f"{value['bytes']} bytes in {one_line(value['file'])}"
        return
    for content in value:
        if "text" not in content:
            size = len(content.get("blob", "")) * 3 // 4
            yield f"({one_line(content.get('mimeType') or 'binary')}, about {size} bytes; --output FILE saves it)"
        elif content.get("mimeType") == "text/markdown":
            yield rendered(content["text"], terminal)
        else:
            yield printable(content["text"]) if terminal.tty else content["text"]


def watch(value: Any, _: Namespace, terminal: Terminal) -> Lines:
    """What happened, in a line."""
    data = value["data"]
    problem = f", but cannot be read: {one_line(str(data['problem']))}" if data.get("problem") else None
    who = terminal.cyan(one_line(value["computer"])) if value["computer"] else ""
    match value["event"]:
        case "joined" if "sessions" in data:
            names = [one_line(member["name"]) for member in data["sessions"] if member["role"] == "computer"]
            yield f"in {one_line(data['office'])} with {', '.join(names) or 'no Computer'}; Ctrl-C ends"
        case "enter_office":
            yield f"{who} came"
        case "leave_office":
            yield f"{who} left"
        case "update_tool_list":
            yield f"{who}: tools changed{problem or _now(data.get('tools'))}"
        case "update_desktop":
            yield f"{who}: windows changed{problem or _now(data.get('desktop'))}"
        case "update_finder":
            total = (data.get("finder") or {}).get("total_count", "?")
            yield f"{who}: documents changed{problem or f', {total} in all'}"
        case "update_resources":
            uris = [one_line(uri) for uri in data.get("uris") or ()]
            what = ", ".join(uris[:3]) + (f" and {len(uris) - 3} more" if len(uris) > 3 else "")
            yield f"{who}: {f'{what} changed' if uris else 'the list of resources may have changed'}"
        case "update_config":
            yield f"{who}: its configuration changed"
        case "disconnected":
            yield f"disconnected: {one_line(str(data.get('problem') or 'the connection was lost'))}; trying again"
        case kind:
            yield kind


def _now(items: Any) -> str:
    return f", {len(items) if isinstance(items, list) else 0} now"


SHOWS: Final[Mapping[str, Callable[[Any, Namespace, Terminal], Lines]]] = {
    show.__name__: show for show in (rooms, tools, call, desktop, finder, read, watch)
}
