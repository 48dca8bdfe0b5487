"""Configuration files: the native form, the `mcpServers` files of Claude Desktop, the `mcp.json` of VS Code.

    load_config(path) → parse_config_text(text) → parse_config(data) → Loaded(config, format, notes)

Only `load_config` touches the disk, through `files`. The format is detected from the content, never from the file name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, Final, Literal

from pydantic import ValidationError

from a2c_smcp.computer.config import jsonc
from a2c_smcp.computer.config.editor_formats import Findings, Origin, read_inputs, read_server
from a2c_smcp.computer.config.files import read_text
from a2c_smcp.computer.config.models import ComputerConfig, undefined_inputs
from a2c_smcp.computer.config.problems import (
    JsonPath,
    Problem,
    invalid,
    json_type,
    nearest,
    path_text,
    problems_of,
    quoted,
)

ConfigFormat = Literal["native", "claude", "vscode"]

_HOW: Final = 'write {"servers": {}} or {"mcpServers": {}} with your servers in it'
_WRAP: Final = 'wrap it in {"mcpServers": {"name": …}}'


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A loaded configuration, its detected format, and notes on what was ignored."""

    config: ComputerConfig
    format: ConfigFormat
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Draft:
    """A file converted to native form before validation; `locate` maps its paths back to paths in the file."""

    format: ConfigFormat
    root: JsonPath = ()
    servers: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    inputs: object = field(default_factory=list)
    found: Findings = field(default_factory=Findings)

    def locate(self, place: JsonPath) -> JsonPath:
        match place:
            case ("servers", str(name), *inner) if name in self.origins:
                return self.origins[name].locate(tuple(inner))
            case _:
                return (*self.root, *place)


def load_config(path: str | PathLike[str], check: Callable[[str], None] = lambda _: None) -> LoadedConfig:
    """Read a configuration file of any of the three formats.

    Args:
        check: Called with the text before it is parsed; raises InvalidConfig to reject it.

    Raises:
        InvalidConfig: It cannot be read or used; `details["problems"]` has a line for each problem.
    """
    text, notes = read_text(path)
    check(text)
    loaded = parse_config_text(text, fspath(path))
    return LoadedConfig(loaded.config, loaded.format, (*notes, *loaded.notes))


def parse_config_text(text: str, source: str = "configuration") -> LoadedConfig:
    """Read a configuration from its JSON text; comments and trailing commas are allowed.

    Raises:
        InvalidConfig: It cannot be used.
    """
    try:
        data = jsonc.parse(text)
    except jsonc.SyntaxProblem as error:
        raise invalid(source, error.problems) from None
    return parse_config(data, source)


def parse_config(data: object, source: str = "configuration") -> LoadedConfig:
    """Read a configuration from parsed JSON.

    Args:
        source: The name of the configuration in errors, usually the file's path.

    Raises:
        InvalidConfig: It cannot be used; `details["problems"]` has a line for each problem.
    """
    if problems := _unwritable(data):
        raise invalid(source, problems)
    draft = _draft(data, source)
    problems = draft.found.problems + _repeated_ids(draft)
    try:
        config = ComputerConfig.model_validate({"servers": draft.servers, "inputs": draft.inputs})
    except ValidationError as error:
        # The model reports duplicate input ids at the root; `_repeated_ids` reports them with their path.
        found = problems_of(error, ComputerConfig, draft.locate)
        found = [problem for problem in found if problem.where != path_text(draft.root)]
        raise invalid(source, problems + found) from None
    if problems:
        raise invalid(source, problems)
    for wanted, places in undefined_inputs(config).items():
        for place in places:
            draft.found.note(draft.locate(place), f"no input has the id {quoted(wanted)}; add it to inputs")
    return LoadedConfig(config, draft.format, tuple(draft.found.notes))


def _unwritable(value: object, place: JsonPath = ()) -> list[Problem]:
    """Return a problem for excessive nesting, for keys that are not strings, and for strings with lone surrogates."""
    problems: list[Problem] = []
    if len(place) > jsonc.MAX_DEPTH:
        return [Problem(path_text(place[:3]), f"is nested deeper than {jsonc.MAX_DEPTH} levels; flatten it")]
    if isinstance(value, str) and _is_half(value):
        problems.append(Problem(path_text(place), "has half a character in it (a lone surrogate); write it in full"))
    elif isinstance(value, list):
        problems += [problem for index, item in enumerate(value) for problem in _unwritable(item, (*place, index))]
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                problems.append(Problem(path_text(place), f"has {json_type(key)} as a key; keys are texts"))
            elif _is_half(key):
                problems.append(Problem(path_text((*place, key)), "has half a character in its key; write it in full"))
            else:
                problems += _unwritable(item, (*place, key))
    return problems


def _is_half(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def _draft(data: object, source: str) -> _Draft:
    if not isinstance(data, dict):
        raise invalid(source, [Problem("", f"is {json_type(data)}; {_HOW}")])
    inner = data.get("mcp")
    in_settings = isinstance(inner, dict) and "servers" in inner
    named = [key for key in ("mcpServers", "servers") if key in data] + ["mcp.servers"] * in_settings
    if len(named) > 1:
        raise invalid(source, [Problem("", f"has both {' and '.join(map(quoted, named))}; keep one of them")])
    if not named:
        raise invalid(source, [Problem("", _no_servers(data))])
    if "mcpServers" in data:
        return _editor_draft("claude", data, "mcpServers", ())
    if isinstance(inner, dict) and in_settings:
        draft = _editor_draft("vscode", inner, "servers", ("mcp",))
        _note_top(data, ("mcp",), (), draft.found)
        return draft
    if _format_of(data["servers"], source) == "vscode":
        return _editor_draft("vscode", data, "servers", ())
    return _native_draft(data)


def _no_servers(data: Mapping[str, Any]) -> str:
    if _is_server(data):
        return f"is a single server without a name; {_WRAP}"
    if data and all(_is_server(value) for value in data.values()):
        return 'has servers at its top; wrap them in {"mcpServers": {…}}'
    for key in data:
        if meant := nearest(key, ("mcpServers", "servers")):
            return f"has no servers; did you mean {quoted(meant)} by {quoted(key)}?"
    return f"has no servers; {_HOW}"


def _is_server(value: object) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint({"command", "url", "server_parameters"})


def _format_of(servers: object, source: str) -> ConfigFormat:
    """Distinguish VS Code's `servers`, whose entries contain the parameters directly, from native ones."""
    if not isinstance(servers, dict):
        return "native"
    native = [name for name, entry in servers.items() if isinstance(entry, dict) and "server_parameters" in entry]
    flat = [name for name, entry in servers.items() if name not in native and _is_server(entry)]
    if native and flat:
        raise invalid(
            source,
            [
                Problem(path_text(("servers", name)), 'is written flat; move its parameters into "server_parameters"')
                for name in flat
            ],
        )
    return "vscode" if flat else "native"


def _editor_draft(format_: ConfigFormat, data: Mapping[str, Any], key: str, root: JsonPath) -> _Draft:
    draft = _Draft(format_, root)
    if not isinstance(data[key], dict):
        draft.found.problem((*root, key), f"is {json_type(data[key])}; it must be an object with a server a key")
    else:
        for name, entry in data[key].items():
            read = read_server(name, entry, (*root, key, name), draft.found)
            if read is not None:
                draft.servers[name], draft.origins[name] = read
    if data.get("inputs") is not None:
        draft.inputs = read_inputs(data["inputs"], (*root, "inputs"), draft.found)
    _note_top(data, (key, "inputs", "$schema"), root, draft.found)
    return draft


def _native_draft(data: Mapping[str, Any]) -> _Draft:
    draft = _Draft("native")
    servers = data["servers"]
    if isinstance(servers, dict):
        for name, entry in servers.items():
            draft.servers[name], draft.origins[name] = _named(name, entry, draft.found), Origin(("servers", name))
    elif isinstance(servers, list):
        _read_list(servers, draft)
    else:
        draft.found.problem(("servers",), f"is {json_type(servers)}; it must be an object with a server a key")
    if data.get("inputs") is not None:
        draft.inputs = data["inputs"]
    for key in data:
        if key not in {"servers", "inputs", "$schema"}:
            meant = nearest(key, ("servers", "inputs"))
            hint = f"did you mean {quoted(meant)}?" if meant else "the keys here are servers, inputs"
            draft.found.problem((key,), f"is not a known key; {hint}")
    return draft


def _named(name: str, entry: object, found: Findings) -> object:
    if not isinstance(entry, dict):
        return entry
    if isinstance(entry.get("name"), str) and entry["name"] != name:
        found.problem(("servers", name, "name"), f"is not the key of its entry; write {quoted(name)}, or leave it out")
        return entry | {"name": name}
    return {"name": name} | entry


def _read_list(servers: list[Any], draft: _Draft) -> None:
    for index, entry in enumerate(servers):
        name = entry.get("name") if isinstance(entry, dict) else None
        place: JsonPath = ("servers", index)
        if isinstance(name, str) and name in draft.servers:
            draft.found.problem((*place, "name"), f"{quoted(name)} is the name of two servers; give each its own")
            continue
        # An entry without a valid name still gets a unique key, so that all its problems are reported.
        key = name if isinstance(name, str) else f"\0{index}"
        draft.servers[key], draft.origins[key] = entry, Origin(place)


def _note_top(data: Mapping[str, Any], read: tuple[str, ...], root: JsonPath, found: Findings) -> None:
    rest = [key for key in data if key not in read]
    if rest:
        more = f" and {len(rest) - 10} more" if len(rest) > 10 else ""
        names = ", ".join(quoted(key) for key in rest[:10])
        lead = f"{path_text(root)}: " if root else ""
        found.notes.append(f"{lead}ignored what has no meaning here: {names}{more}")


def _repeated_ids(draft: _Draft) -> list[Problem]:
    problems, seen = [], set()
    for index, entry in enumerate(draft.inputs if isinstance(draft.inputs, list) else []):
        wanted = entry.get("id") if isinstance(entry, dict) else None
        if isinstance(wanted, str) and wanted in seen:
            where = path_text(draft.locate(("inputs", index, "id")))
            problems.append(Problem(where, f"{quoted(wanted)} is the id of two inputs; give each its own"))
        if isinstance(wanted, str):
            seen.add(wanted)
    return problems
