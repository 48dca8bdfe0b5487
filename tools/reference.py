"""The pages of the reference that are made from the code: events, messages, errors, configuration, variables.

python tools/reference.py            write docs/reference/*.md
python tools/reference.py --check    exit 1 when one of them is missing or stale
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from a2c_smcp.computer import config_schema
from a2c_smcp.errors import BY_CODE, SMCPError
from a2c_smcp.smcp import EVENTS, SMCP_NAMESPACE, SOCKETIO_PATH, Event
from tools.reference_environment import sections
from tools.reference_types import describe, messages, name_of

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "reference"
NOTE: Final = "<!-- Generated from the code: python tools/reference.py -->"
ROLES: Final = {"agent": "Agent", "computer": "Computer"}
SCHEMA: Final = "computer.schema.json"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def page(title: str, *parts: Iterable[str]) -> str:
    lines = [f"# {title}", "", NOTE]
    for part in parts:
        lines += ["", *part]
    return "\n".join(lines) + "\n"


def link(kind: Any) -> str:
    if kind is None:
        return "–"
    name = name_of(kind)
    return f"[`{name}`](messages.md#{name.lower()})"


def first_line(kind: Any) -> str:
    return (kind.__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")


def events_page() -> str:
    groups: dict[str, Callable[[Event], bool]] = {
        "Agent to Computer": lambda event: event.name.startswith("client:"),
        "To the Server": lambda event: event.name.startswith("server:"),
        "Server to an office": lambda event: event.name.startswith("notify:"),
    }
    texts = {
        "Agent to Computer": (
            "Only an Agent sends them. The Server passes them to the Computer that `computer` names, in the sender's "
            "own office; the ack of the Computer is the ack that the Agent gets."
        ),
        "To the Server": (
            "What the Server does itself. Where a notification is named, it goes to the other members of the "
            "office when the Server has accepted the event."
        ),
        "Server to an office": "Nobody else may send them. They have no ack, and the one who caused them gets none.",
    }
    parts: list[Iterable[str]] = [
        [f"Socket.IO namespace `{SMCP_NAMESPACE}`, HTTP path `{SOCKETIO_PATH}` unless the operator chose another."]
    ]
    for group, belongs in groups.items():
        rows = [event for event in EVENTS.values() if belongs(event)]
        parts += [[f"## {group}", "", texts[group], "", *_event_rows(rows)]]
    return page("Events", *parts)


def _event_rows(rows: Sequence[Event]) -> Iterator[str]:
    if all(not event.senders for event in rows):
        yield from table(("event", "payload", "tells"), ((_code(e.name), link(e.request), _says(e)) for e in rows))
        return
    if all(event.name.startswith("client:") for event in rows):
        requests = ((_code(e.name), link(e.request), link(e.reply), _says(e)) for e in rows)
        yield from table(("event", "request", "ack", "does"), requests)
        return
    yield from table(
        ("event", "from", "request", "ack", "notification", "does"),
        (
            (
                _code(event.name),
                ", ".join(ROLES[role] for role in sorted(event.senders)),
                link(event.request),
                link(event.reply),
                _code(event.notification) if event.notification else "–",
                _says(event),
            )
            for event in rows
        ),
    )


SAYS: Final = {
    "server:tool_call_cancel": "Cancel the call with this `req_id`.",
    "server:update_config": "Tell that the configuration changed.",
    "server:update_tool_list": "Tell that the tools changed.",
    "server:update_desktop": "Tell that the windows changed.",
    "server:update_finder": "Tell that the documents changed.",
    "client:subscribe_resource": "Hear of updates of a resource.",
    "client:unsubscribe_resource": "Hear of updates of a resource no more.",
    "notify:tool_call_cancel": "A call was cancelled.",
    "notify:disconnect": "The Server is about to close this connection; only the client it concerns is told.",
}


def _says(event: Event) -> str:
    return SAYS.get(event.name) or first_line(event.request)


def _code(text: str) -> str:
    return f"`{text}`"


def messages_page() -> str:
    parts: list[Iterable[str]] = [
        [
            "Every message is a TypedDict of `a2c_smcp.smcp`. Fields that are not known are ignored, so that newer",
            "peers can talk to older ones. A *name* has 1 to 256 characters and no control characters.",
            "Which message belongs to which event: [events](events.md).",
        ]
    ]
    for kind in messages():
        rows = [(_code(name), text, "yes" if needed else "no") for name, text, needed in describe(kind)]
        parts.append([f"## {kind.__name__}", "", first_line(kind), "", *table(("field", "type", "needed"), rows)])
    pair = "Two ack arguments: `true, null` where it was done, or `false` and a text: the code, a colon, and why."
    parts.append(["## OfficeAck", "", pair])
    return page("Messages", *parts)


def errors_page() -> str:
    rows = (
        (str(code), f"`{kind.__name__}`", kind.title, first_line(kind), _also(kind))
        for code, kind in sorted(BY_CODE.items())
    )
    example = {"error": {"code": 4202, "message": "Page 99 is out of range", "details": {"page_count": 12}}}
    return page(
        "Errors and codes",
        [
            "An error is an ack of this form. `details` are facts that help to mend the call; secrets, host paths,",
            "internal addresses and stack traces are taken out before it is sent.",
            "",
            "```json",
            json.dumps(example | {"req_id": "r-1"}),
            "```",
        ],
        table(("code", "class of `a2c_smcp.errors`", "title", "means", "is also"), rows),
        [
            "A code that is not in the table, from a newer peer, arrives as a plain `SMCPError` with that code.",
            "Where an Agent catches `ToolError`, it catches 4001 to 4005; `OfficeError` is 4101 to 4104,",
            "`DocumentError` 4201 to 4204.",
        ],
        [
            "On `client:tool_call` the ack also has `content` and `isError`, so that it parses as a `CallToolResult`;",
            "on other `client:*` events `code` and `message` stand at the top as well: the forms that released clients",
            "read. A tool that ran and failed is no error but a result with `isError`, whose `meta` says why.",
        ],
    )


def _also(kind: type[SMCPError]) -> str:
    builtin = [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins"]
    return next((f"`{name}`" for name in builtin if name not in ("Exception", "BaseException", "object")), "")


def configuration_page() -> str:
    schema = config_schema()
    parts: list[Iterable[str]] = [
        [
            "The JSON Schema of the native configuration of a Computer, in words. The schema itself is",
            f"[{SCHEMA}]({SCHEMA}); an editor that is pointed at it (`$schema` at the top of the file)",
            "completes and checks. What the fields do, and the other two formats: [configuration](configuration.md).",
        ]
    ]
    for name, shape in (("The file", schema), *sorted(schema["$defs"].items())):
        if "properties" in shape:
            parts.append([f"## {name}", "", shape.get("description", ""), "", *_fields(shape)])
    return page("Configuration schema", *parts)


def _fields(shape: Mapping[str, Any]) -> Iterator[str]:
    needed = set(shape.get("required", ()))
    rows = (
        (
            _code(name),
            _kind(value),
            "needed" if name in needed else _default(value),
            value.get("description", ""),
        )
        for name, value in shape["properties"].items()
    )
    yield from table(("field", "type", "default", "meaning"), rows)


def _default(value: Mapping[str, Any]) -> str:
    empty: Any = {"array": [], "object": {}}.get(value.get("type", ""))
    default = value.get("default", empty)
    return _code(json.dumps(default)) if default is not None or "default" in value else ""


def _kind(value: Mapping[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return "any value" if name == "JsonValue" else f"[{name}](#{name.lower()})"
    if "const" in value:
        return _code(json.dumps(value["const"]))
    if "enum" in value:
        return " or ".join(_code(json.dumps(word)) for word in value["enum"])
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in value:
            return " or ".join(dict.fromkeys(filter(None, map(_kind, value[choice]))))
    if value.get("type") == "array":
        return f"list of {_kind(value.get('items', {}))}"
    if isinstance(more := value.get("additionalProperties"), Mapping) and more:
        return f"object of {_kind(more)}"
    return str(value.get("type", ""))


def environment_page() -> str:
    parts: list[Iterable[str]] = [
        [
            "An option of the command line goes over its variable. Prefer variables for secrets: other users of a",
            "machine can see the command line of a running program.",
        ]
    ]
    for title, text, rows in sections():
        body = table(("variable", "meaning", "default"), ((_code(row.name), row.meaning, row.default) for row in rows))
        parts.append([f"## {title}", "", *([text, ""] if text else []), *body])
    return page("Environment variables", *parts)


@cache
def files() -> Mapping[str, str]:
    """Return every file as it should be, by its name."""
    return {
        "events.md": events_page(),
        "messages.md": messages_page(),
        "errors.md": errors_page(),
        "configuration-schema.md": configuration_page(),
        "environment.md": environment_page(),
        SCHEMA: json.dumps(config_schema(), indent=2, ensure_ascii=False) + "\n",
    }


def stale(folder: Path) -> list[str]:
    """Return the names of the files that are missing or not as they should be."""
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}
    return sorted(name for name, text in files().items() if there.get(name) != text)


def main(argv: list[str] | None = None, folder: Path = FOLDER) -> int:
    parser = argparse.ArgumentParser(description="Write the generated pages of the reference.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when a page is stale")
    if not parser.parse_args(argv).check:
        for name, text in files().items():
            (folder / name).write_text(text, encoding="utf-8")
        return 0
    names = stale(folder)
    for name in names:
        print(f"docs/reference/{name} is stale: run python tools/reference.py", file=sys.stderr)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
