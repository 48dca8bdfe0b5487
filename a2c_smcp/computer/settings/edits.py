"""Changes that somebody made to a configuration beside its file. Pure.

An edit names only what it touches, so that it can be laid over the file again when the file itself changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from a2c_smcp.computer.mcp_clients.model import ComputerConfig, MCPServerConfig, MCPServerInput
from a2c_smcp.types import SERVER_NAME


@dataclass(frozen=True, slots=True)
class Edit:
    """What to set; None removes.

    Attributes:
        disabled: Servers to disable or enable, whatever else is known of them.
    """

    servers: Mapping[SERVER_NAME, MCPServerConfig | None] = field(default_factory=dict)
    disabled: Mapping[SERVER_NAME, bool] = field(default_factory=dict)
    inputs: Mapping[str, MCPServerInput | None] = field(default_factory=dict)

    @classmethod
    def of(cls, config: ComputerConfig) -> "Edit":
        """Return the edit that sets everything in `config`."""
        return cls(servers=dict(config.servers), inputs={entry.id: entry for entry in config.inputs})

    def over(self, base: ComputerConfig) -> ComputerConfig:
        """Return `base` with this edit: what it has keeps its place, what is new comes last."""
        servers = {**base.servers, **self.servers}
        for name, disabled in self.disabled.items():
            if (server := servers.get(name)) is not None:
                servers[name] = server.model_copy(update={"disabled": disabled})
        inputs = {**{entry.id: entry for entry in base.inputs}, **self.inputs}
        return ComputerConfig(
            servers={name: server for name, server in servers.items() if server is not None},
            inputs=[entry for entry in inputs.values() if entry is not None],
        )

    def then(self, later: "Edit") -> "Edit":
        """Return one edit that does this one, then `later`."""
        kept = {name: flag for name, flag in self.disabled.items() if name not in later.servers}
        return Edit({**self.servers, **later.servers}, {**kept, **later.disabled}, {**self.inputs, **later.inputs})

    def without(self, saved: "Edit") -> "Edit":
        """Return what is left of this edit once `saved` has become part of the file."""
        return Edit(
            {name: server for name, server in self.servers.items() if name not in saved.servers},
            {
                name: flag
                for name, flag in self.disabled.items()
                # Over a server that the file does not have, the flag is still ours to keep.
                if name not in saved.servers and (name not in saved.disabled or name in self.servers)
            },
            {key: entry for key, entry in self.inputs.items() if key not in saved.inputs},
        )
