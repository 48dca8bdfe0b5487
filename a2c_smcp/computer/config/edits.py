"""Edits of a configuration, applied to the models in memory or to the text of a native file. Pure.

An edit contains only what it changes, so that it can be applied again when the file itself changes. The rest of the
file's text stays as its author wrote it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from a2c_smcp.computer.config.loaders import LoadedConfig, parse_config_text
from a2c_smcp.computer.config.models import ComputerConfig, ConfigModel, MCPServerConfig, MCPServerInput
from a2c_smcp.computer.config.problems import quoted
from a2c_smcp.types import SERVER_NAME


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """Servers and inputs to set; None removes one.

    Attributes:
        disabled: Servers to disable (True) or enable (False), independent of `servers`.
    """

    servers: Mapping[SERVER_NAME, MCPServerConfig | None] = field(default_factory=dict)
    disabled: Mapping[SERVER_NAME, bool] = field(default_factory=dict)
    inputs: Mapping[str, MCPServerInput | None] = field(default_factory=dict)

    @classmethod
    def of(cls, config: ComputerConfig) -> "ConfigEdit":
        """Return the edit that sets everything in `config`."""
        return cls(servers=dict(config.servers), inputs={entry.id: entry for entry in config.inputs})

    def over(self, base: ComputerConfig) -> ComputerConfig:
        """Return `base` with this edit applied: existing entries keep their position, new ones come last."""
        servers = {**base.servers, **self.servers}
        for name, disabled in self.disabled.items():
            if (server := servers.get(name)) is not None:
                servers[name] = server.model_copy(update={"disabled": disabled})
        inputs = {**{entry.id: entry for entry in base.inputs}, **self.inputs}
        return ComputerConfig(
            servers={name: server for name, server in servers.items() if server is not None},
            inputs=[entry for entry in inputs.values() if entry is not None],
        )

    def then(self, later: "ConfigEdit") -> "ConfigEdit":
        """Return the edit that applies this one, then `later`."""
        kept = {name: flag for name, flag in self.disabled.items() if name not in later.servers}
        return ConfigEdit(
            {**self.servers, **later.servers}, {**kept, **later.disabled}, {**self.inputs, **later.inputs}
        )

    def without(self, saved: "ConfigEdit") -> "ConfigEdit":
        """Return what remains of this edit once `saved` is part of the file."""
        return ConfigEdit(
            {name: server for name, server in self.servers.items() if name not in saved.servers},
            {
                name: flag
                for name, flag in self.disabled.items()
                # The file cannot store the flag of a server that only this edit defines.
                if name not in saved.servers and (name not in saved.disabled or name in self.servers)
            },
            {key: entry for key, entry in self.inputs.items() if key not in saved.inputs},
        )


EMPTY_CONFIG: Final = '{\n  "servers": {}\n}\n'

_INDENT: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)


class NotSaved(Exception):
    """An edit was not written to the file; the message says why. It stays applied in memory."""


def edit_text(text: str, edit: ConfigEdit, source: str = "configuration") -> tuple[str, LoadedConfig]:
    """Return the text of a native file after an edit, and the configuration it loads as.

    Raises:
        NotSaved: Rewriting the text would lose something, such as comments.
        InvalidConfig: The text is not a configuration.
    """
    before = parse_config_text(text, source)
    if before.format != "native":
        raise NotSaved("the file is not in the native format any more, and other formats are never rewritten")
    try:
        data = json.loads(text)
    except ValueError:
        raise NotSaved("the file has comments or trailing commas, which saving would lose; edit it by hand") from None
    _edit_servers(data["servers"], edit)
    if edit.inputs:
        data["inputs"] = _edit_inputs(data.get("inputs") or [], edit)
    found = _INDENT.search(text)
    new = json.dumps(data, indent=found[1] if found else 2, ensure_ascii=False) + "\n"
    after = parse_config_text(new, source)
    if after.config != edit.over(before.config):
        raise NotSaved("the rewritten file would have another meaning; edit it by hand")
    return new, after


def _edit_servers(servers: Any, edit: ConfigEdit) -> None:
    """Edit the servers in place, whether they are an object keyed by name or a list."""
    listed = isinstance(servers, list)
    keys = {entry["name"]: index for index, entry in enumerate(servers)} if listed else {name: name for name in servers}
    removed: list[Any] = []
    for name, server in edit.servers.items():
        if server is None:
            removed += [keys[name]] if name in keys else []
        elif name in keys:
            servers[keys[name]] = _server(server, named=listed)
        elif listed:
            keys[name] = len(servers)
            servers.append(_server(server, named=True))
        else:
            keys[name] = name
            servers[name] = _server(server, named=False)
    for name, disabled in edit.disabled.items():
        if name not in keys or edit.servers.get(name, ...) is None:
            raise NotSaved(f"the file has no server {quoted(name)}")
        servers[keys[name]] = _with_disabled(servers[keys[name]], disabled=disabled)
    for key in sorted(removed, reverse=True):
        del servers[key]


def _edit_inputs(inputs: list[Any], edit: ConfigEdit) -> list[Any]:
    entries = {entry["id"]: entry for entry in inputs}
    for key, entry in edit.inputs.items():
        entries[key] = None if entry is None else _input(entry)
    return [entry for entry in entries.values() if entry is not None]


def _server(server: MCPServerConfig, *, named: bool) -> dict[str, Any]:
    lead = {"name": server.name} if named else {}
    return lead | {"type": server.type} | _non_default_fields(server, without={"name", "type"})


def _input(entry: MCPServerInput) -> dict[str, Any]:
    return {"type": entry.type} | _non_default_fields(entry, without={"type"})


def _non_default_fields(model: ConfigModel, without: set[str]) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_defaults=True, exclude=without)


def _with_disabled(entry: dict[SERVER_NAME, Any], *, disabled: bool) -> dict[str, Any]:
    if disabled:
        return entry | {"disabled": True}
    return {key: value for key, value in entry.items() if key != "disabled"}
