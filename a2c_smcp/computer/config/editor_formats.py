"""Converts the server entries of other programs to the native form. Pure.

Claude Desktop, VS Code, Cursor, Cline, Windsurf and others describe a server in one flat object and differ in a few
keys. Keys without a meaning here are ignored with a note, so that any such file loads and nothing is dropped silently.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from a2c_smcp.computer.config.field_types import json_text
from a2c_smcp.computer.config.problems import JsonPath, Problem, json_type, nearest, not_a_choice, path_text, quoted

TransportKind = Literal["stdio", "streamable", "sse"]

_KINDS: Final[Mapping[str, TransportKind]] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "streamable",
    "streamable": "streamable",
    "streamable-http": "streamable",
    "streamable_http": "streamable",
    "streamablehttp": "streamable",
    "remote": "streamable",
    "sse": "sse",
}
_TYPE_WORDS: Final = ("stdio", "http", "sse")
_URL_KEYS: Final = ("url", "serverUrl", "httpUrl")
_FORBIDDEN_KEYS: Final = ("forbidden_tools", "disabledTools", "excludeTools")
_PARAMETERS: Final[Mapping[TransportKind, tuple[str, ...]]] = {
    "stdio": ("command", "args", "env", "cwd"),
    "streamable": ("url", "headers"),
    "sse": ("url", "headers"),
}
_OWN_KEYS: Final = ("tool_meta", "default_tool_meta", "vrl", "subscribe", "start_timeout", "max_message")
_KNOWN_KEYS: Final = (
    *("type", "transport", "disabled", "enabled"),
    *("command", "args", "env", "cwd", "headers"),
    *_URL_KEYS,
    *_FORBIDDEN_KEYS,
    *_OWN_KEYS,
)

_CONSENT = 'ignored: consent given in an editor does not extend to Agents; set "auto_apply" in "tool_meta"'
_LOGIN = 'ignored: no login is run here; put a token into "headers"'
_NO_SANDBOX = "ignored: the server runs without a sandbox"
_TIMEOUT = "ignored: programs count it differently; the caller's own timeout holds"
_ALL_TOOLS = 'ignored: every tool is offered; name the unwanted ones in "forbidden_tools"'
_IGNORED: Final[Mapping[str, str]] = {
    "autoApprove": _CONSENT,
    "alwaysAllow": _CONSENT,
    "trust": _CONSENT,
    "envFile": 'not read: move its variables into "env"',
    "sandboxEnabled": _NO_SANDBOX,
    "sandbox": _NO_SANDBOX,
    "oauth": _LOGIN,
    "auth": _LOGIN,
    "authProviderType": _LOGIN,
    "headersHelper": _LOGIN,
    "timeout": _TIMEOUT,
    "requestTimeout": _TIMEOUT,
    "initTimeout": _TIMEOUT,
    "includeTools": _ALL_TOOLS,
    "enabledTools": _ALL_TOOLS,
    "tools": _ALL_TOOLS,
    **dict.fromkeys(
        ("dev", "gallery", "version", "description", "icon", "name", "metadata", "presentation", "note"),
        "ignored: it has no meaning here",
    ),
}


@dataclass(slots=True)
class Findings:
    """Notes and problems collected while a file is read."""

    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def note(self, place: JsonPath, text: str) -> None:
        """Record what was ignored or interpreted."""
        self.notes.append(f"{path_text(place)}: {text}")

    def problem(self, place: JsonPath, text: str) -> None:
        """Record what has to be fixed."""
        self.problems.append(Problem(path_text(place), text))


@dataclass(frozen=True, slots=True)
class Origin:
    """The location of a server in its file; `renamed` maps a native field to the key it was read from."""

    place: JsonPath
    flat: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)

    def locate(self, inner: JsonPath) -> JsonPath:
        """Return the path in the file for a path inside the native server."""
        if not self.flat:
            return (*self.place, *inner)
        if inner[:1] == ("server_parameters",):
            inner = inner[1:]
        if not inner or inner[0] == "name":
            return self.place
        return (*self.place, self.renamed.get(str(inner[0]), inner[0]), *inner[1:])


def read_server(name: str, entry: object, place: JsonPath, found: Findings) -> tuple[dict[str, Any], Origin] | None:
    """Return the native form of a server entry and its origin, or None after recording a problem."""
    if not isinstance(entry, dict):
        found.problem(place, f'is {json_type(entry)}; it must be an object such as {{"command": "npx"}}')
        return None
    if "server_parameters" in entry:
        found.problem(place, 'is in the native form; put it under "servers" instead of "mcpServers"')
        return None
    entry = {key: value for key, value in entry.items() if value is not None}
    renamed: dict[str, str] = {}
    url = _url(entry, place, renamed, found)
    kind = _kind(entry, place, has_url=url is not None, found=found)
    _note_other_keys(entry, kind, place, found)
    if kind is None:
        return None
    server: dict[str, Any] = {"name": name, "type": kind}
    server |= {key: entry[key] for key in _OWN_KEYS if key in entry}
    if "disabled" in entry:
        server["disabled"] = entry["disabled"]
    elif "enabled" in entry:
        enabled = entry["enabled"]
        renamed["disabled"] = "enabled"
        server["disabled"] = not enabled if isinstance(enabled, bool) else enabled
    _forbid(server, entry, place, renamed, found)
    flat = entry | ({"url": url} if url is not None else {})
    server["server_parameters"] = {
        key: _without_nulls(flat[key], (*place, key), found) for key in _PARAMETERS[kind] if key in flat
    }
    return server, Origin(place, flat=True, renamed=renamed)


def _url(entry: Mapping[str, Any], place: JsonPath, renamed: dict[str, str], found: Findings) -> Any:
    keys = [key for key in _URL_KEYS if key in entry]
    if not keys:
        return None
    for spare in keys[1:]:
        found.note((*place, spare), f'ignored: "{keys[0]}" is used')
    renamed["url"] = keys[0]
    return entry[keys[0]]


def _kind(entry: Mapping[str, Any], place: JsonPath, *, has_url: bool, found: Findings) -> TransportKind | None:
    has_command = "command" in entry
    if has_command and has_url:
        found.problem(place, "has both a command and a url; keep the one that is meant")
        return None
    if not has_command and not has_url:
        hint = ""
        for key in entry:
            if key not in _KNOWN_KEYS and (meant := nearest(key, ("command", *_URL_KEYS))):
                hint = f" (did you mean {quoted(meant)} by {quoted(key)}?)"
        found.problem(place, f'has neither a command nor a url; add "command" to start a program, or "url"{hint}')
        return None
    key = "type" if "type" in entry else "transport"
    if key not in entry:
        if has_url and any(str(entry.get(word, "")).rstrip("/").endswith("/sse") for word in _URL_KEYS):
            found.note(place, 'read as streamable HTTP; if the server speaks only SSE, add "type": "sse"')
        return "stdio" if has_command else "streamable"
    return _declared_kind(entry[key], (*place, key), has_url=has_url, found=found)


def _declared_kind(word: object, place: JsonPath, *, has_url: bool, found: Findings) -> TransportKind | None:
    kind = _KINDS.get(word.casefold()) if isinstance(word, str) else None
    if kind is None:
        found.problem(place, not_a_choice(word, _TYPE_WORDS))
    elif (kind == "stdio") == has_url:
        have, need = ("url", "http") if has_url else ("command", "stdio")
        found.problem(place, f"is {quoted(str(word))}, but the server has a {have}; write {quoted(need)}")
        return None
    return kind


def _forbid(
    server: dict[str, Any], entry: Mapping[str, Any], place: JsonPath, renamed: dict[str, str], found: Findings
) -> None:
    keys = [key for key in _FORBIDDEN_KEYS if key in entry]
    if not keys:
        return
    broken = [key for key in keys if not isinstance(entry[key], list)]
    if broken:
        renamed["forbidden_tools"] = broken[0]
        server["forbidden_tools"] = entry[broken[0]]
        return
    renamed["forbidden_tools"] = keys[0]
    merged: list[Any] = []
    for key in keys:
        merged += [tool for tool in entry[key] if tool not in merged]
        if key != "forbidden_tools":
            found.note((*place, key), 'read as "forbidden_tools"')
    server["forbidden_tools"] = merged


def _without_nulls(value: Any, place: JsonPath, found: Findings) -> Any:
    if not isinstance(value, dict):
        return value
    for key in [key for key, item in value.items() if item is None]:
        found.note((*place, key), "ignored: it is null")
    return {key: item for key, item in value.items() if item is not None}


def _note_other_keys(entry: Mapping[str, Any], kind: TransportKind | None, place: JsonPath, found: Findings) -> None:
    parameters = {"command", "args", "env", "cwd", "headers"}
    for key, value in entry.items():
        if kind is not None and key in parameters - {*_PARAMETERS[kind]}:
            found.note((*place, key), f"ignored: a server of kind {quoted(kind)} has none")
        elif key in _KNOWN_KEYS or (key == "tools" and value == ["*"]):
            continue
        elif key in _IGNORED:
            found.note((*place, key), _IGNORED[key])
        elif meant := nearest(key, (*_KNOWN_KEYS, *_IGNORED)):
            found.note((*place, key), f"ignored: it is not a known key; did you mean {quoted(meant)}?")
        else:
            found.note((*place, key), "ignored: it is not a known key")


def read_inputs(entries: object, place: JsonPath, found: Findings) -> object:
    """Return the native form of VS Code's inputs; invalid entries are kept for the model to reject."""
    if not isinstance(entries, list):
        return entries
    return [_read_input(entry, (*place, index), found) for index, entry in enumerate(entries)]


_INPUT_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "promptString": ("default", "password"),
    "pickString": ("options", "default"),
    "command": ("command", "args"),
}


def _read_input(entry: object, place: JsonPath, found: Findings) -> object:
    kind = entry.get("type") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(kind, str) or kind not in _INPUT_KEYS:
        return entry
    known = ("type", "id", "description", *_INPUT_KEYS[kind])
    for key in entry:
        if key not in known:
            found.note((*place, key), "ignored: it has no meaning here")
    read = {"description": ""} | {key: entry[key] for key in known if entry.get(key) is not None}
    if kind == "pickString" and isinstance(read.get("options"), list):
        read["options"] = [_option(option) for option in read["options"]]
    if kind == "command":
        found.note((*place, "command"), "runs a program of that name, not a command of the editor")
        _command_args(read, place, found)
    return read


def _option(option: object) -> object:
    # VS Code shows the label and uses the value; our prompt shows the value.
    return option["value"] if isinstance(option, dict) and "value" in option else option


def _command_args(read: dict[str, Any], place: JsonPath, found: Findings) -> None:
    args = read.get("args")
    if isinstance(args, dict):
        read["args"] = {
            key: json.dumps(value) if isinstance(value, dict | list) else json_text(value)
            for key, value in args.items()
            if value is not None
        }
    elif args is not None:
        del read["args"]
        found.note((*place, "args"), "ignored: arguments are given by name, as an object")
