"""The difference between two configurations, as the actions that a running Computer has to take. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from a2c_smcp.computer.config.field_types import input_ids
from a2c_smcp.computer.config.models import ComputerConfig, MCPServerConfig, MCPServerInput, strings_of
from a2c_smcp.types import SERVER_NAME

_TOOL_VIEW: Final = frozenset({"forbidden_tools", "tool_meta", "default_tool_meta", "vrl"})
_NEXT_START: Final = frozenset({"start_timeout"})
"""Settings that take effect at the next start. Changing any other setting outside `_TOOL_VIEW` requires a restart."""
# These fields of an input do not change its value.
_INPUT_LABELS: Final = {"description", "password"}


@dataclass(frozen=True, slots=True)
class ConfigDiff:
    """The difference between two configurations. Each server is in at most one group, in the order of the new one.

    Attributes:
        added: New servers; start those that are not disabled.
        removed: Servers to stop and drop.
        changed: Servers to restart: their parameters changed, or an input that they use.
        enabled: Servers to start; other settings may have changed too.
        disabled: Servers to stop.
        tool_view_changed: Servers that keep running and whose tools are presented differently.
        updated: Servers that keep running; the new settings take effect at their next start.
        dormant: Disabled servers whose settings changed: nothing to do.
        inputs_changed: The ids of inputs that were added, removed or changed.
        reordered: Whether the order of the remaining servers changed.
        tools_may_have_changed: Whether Agents may see other tools than before.
    """

    added: tuple[SERVER_NAME, ...] = ()
    removed: tuple[SERVER_NAME, ...] = ()
    changed: tuple[SERVER_NAME, ...] = ()
    enabled: tuple[SERVER_NAME, ...] = ()
    disabled: tuple[SERVER_NAME, ...] = ()
    tool_view_changed: tuple[SERVER_NAME, ...] = ()
    updated: tuple[SERVER_NAME, ...] = ()
    dormant: tuple[SERVER_NAME, ...] = ()
    inputs_changed: tuple[str, ...] = ()
    reordered: bool = False
    tools_may_have_changed: bool = False

    @property
    def config_changed(self) -> bool:
        """Whether anything differs."""
        return any(getattr(self, field.name) for field in fields(self))

    def __bool__(self) -> bool:
        return self.config_changed


def diff_configs(old: ComputerConfig, new: ComputerConfig) -> ConfigDiff:
    """Return the difference from `old` to `new`."""
    kinds: dict[str, list[SERVER_NAME]] = {}
    affected = set(_changed_inputs(old.inputs, new.inputs, ignore=_INPUT_LABELS))
    for name, server in new.servers.items():
        before = old.servers.get(name)
        kind = "added" if before is None else _kind(before, server, affected)
        kinds.setdefault(kind, []).append(name)
    kinds.pop("same", None)
    removed = tuple(name for name in old.servers if name not in new.servers)
    reordered = [name for name in old.servers if name in new.servers] != [
        name for name in new.servers if name in old.servers
    ]
    return ConfigDiff(
        **{kind: tuple(names) for kind, names in kinds.items()},
        removed=removed,
        inputs_changed=_changed_inputs(old.inputs, new.inputs),
        reordered=reordered,
        tools_may_have_changed=reordered
        or any(not old.servers[name].disabled for name in removed)
        or any(not new.servers[name].disabled for name in kinds.get("added", ()))
        or not kinds.keys().isdisjoint({"changed", "enabled", "disabled", "tool_view_changed"}),
    )


def servers_using(config: ComputerConfig, input_id: str) -> tuple[SERVER_NAME, ...]:
    """Return the servers whose settings contain `${input:id}`."""
    return tuple(name for name, server in config.servers.items() if input_id in _inputs_of(server))


def _kind(old: MCPServerConfig, new: MCPServerConfig, affected: set[str]) -> str:
    if old.disabled != new.disabled:
        return "disabled" if new.disabled else "enabled"
    if new.disabled:
        return "dormant" if old != new else "same"
    differing = _differing(old, new)
    if differing - _TOOL_VIEW - _NEXT_START or not affected.isdisjoint(_inputs_of(new)):
        return "changed"
    if differing & _TOOL_VIEW:
        return "tool_view_changed"
    return "updated" if differing else "same"


def _differing(old: MCPServerConfig, new: MCPServerConfig) -> set[str]:
    names = type(old).model_fields | type(new).model_fields
    return {name for name in names if getattr(old, name, None) != getattr(new, name, None)}


def _inputs_of(server: MCPServerConfig) -> set[str]:
    return {wanted for _, text in strings_of(server.model_dump(mode="json")) for wanted in input_ids(text)}


def _changed_inputs(
    old: Iterable[MCPServerInput], new: Iterable[MCPServerInput], ignore: set[str] | None = None
) -> tuple[str, ...]:
    before, after = _by_id(old, ignore), _by_id(new, ignore)
    return tuple(key for key in {**before, **after} if before.get(key) != after.get(key))


def _by_id(inputs: Iterable[MCPServerInput], ignore: set[str] | None) -> Mapping[str, dict[str, Any]]:
    return {entry.id: entry.model_dump(exclude=ignore) for entry in inputs}
