"""Consent to a configuration that was found, not named: what it would start, and which text the user agreed to.

A folder that comes from elsewhere (a clone, an archive, a share) may bring a configuration along. It starts programs,
so its text counts only once the user has seen what it starts. A change of the text needs consent again.
"""

import hashlib
import json
import logging
import os
import secrets
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from a2c_smcp.common.state import is_private, write_private
from a2c_smcp.common.visible import visible
from a2c_smcp.computer.config.loaders import parse_config_text
from a2c_smcp.computer.config.models import ComputerConfig, MCPServerCommandInput, MCPServerConfig
from a2c_smcp.computer.inputs.commands import argv_of
from a2c_smcp.computer.inputs.resolution import Unresolved
from a2c_smcp.errors import InvalidConfig

log = logging.getLogger(__name__)

FILE: Final = "trusted-configs.json"
MAX_ENTRIES: Final = 1_000


class Trust:
    """Whether the user consented to the text of one configuration file.

    Consent is kept in a file that only the user can read: for each path the digest of path and text.

    Attributes:
        refused: The text that was read last and lacks consent.
    """

    def __init__(self, folder: Path, path: Path) -> None:
        self._folder = folder
        self.path = path
        self._key = os.path.realpath(path)
        self._agreed: str | None = None
        self.refused: str | None = None

    def covers(self, text: str) -> bool:
        """Whether the user consented to this text."""
        digest = self._digest(text)
        return digest in (self._agreed, _read(self._folder / FILE).get(self._key))

    def add(self, text: str) -> None:
        """Remember the user's consent; where it cannot be written, for this run."""
        self._agreed = self._digest(text)
        if self.refused == text:
            self.refused = None
        try:
            _write(self._folder, {**_read(self._folder / FILE), self._key: self._agreed})
        except OSError as error:
            log.warning("consent to %s is not remembered: %s", self.path, error.strerror or type(error).__name__)

    def check(self, text: str) -> None:
        """Refuse a text without consent.

        Raises:
            InvalidConfig: The user has not seen it.
        """
        if not self.covers(text):
            self.refused = text
            raise InvalidConfig(
                f"{self.path} has changed since you trusted it: its MCP servers stay as they were. "
                "Answer yes at the terminal of a2c up, or restart it with --trust"
            )
        self.refused = None

    def _digest(self, text: str) -> str:
        return hashlib.sha256(f"{self._key}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def describe(text: str, source: str = "configuration") -> list[str]:
    """Return what a configuration starts and where it connects, as lines that nothing in it can disguise.

    Raises:
        InvalidConfig: It is no configuration.
    """
    config = parse_config_text(text, source).config
    return [*_servers(config), *_inputs(config)] or ["  (no servers)"]


def _servers(config: ComputerConfig) -> Iterator[str]:
    for name, server in config.servers.items():
        disabled = " (disabled)" if server.disabled else ""
        yield f"  server {_quoted(name)}{disabled}: {_what(server)}"
        parameters: Any = server.server_parameters
        for label, value in (
            ("in the folder", [getattr(parameters, "cwd", None) or ""]),
            ("with the variables", getattr(parameters, "env", None) or ()),
            ("with the headers", getattr(parameters, "headers", None) or ()),
            ("tools that run without asking you", _unasked(server)),
        ):
            if words := ", ".join(_line(str(one)) for one in value if one):
                yield f"      {label}: {words}"


def _what(server: MCPServerConfig) -> str:
    match server.type:
        case "stdio":
            parameters = server.server_parameters
            return f"runs {_line(shlex.join([parameters.command, *parameters.args]))}"
        case _:
            return f"connects to {_line(server.server_parameters.url)}"


def _unasked(server: MCPServerConfig) -> list[str]:
    default = server.default_tool_meta
    everything = ["all of them"] if default is not None and default.auto_apply else []
    return everything + [tool for tool, meta in server.tool_meta.items() if meta.auto_apply]


def _inputs(config: ComputerConfig) -> Iterator[str]:
    for entry in config.inputs:
        if isinstance(entry, MCPServerCommandInput):
            try:
                words = shlex.join(argv_of(entry))
            except Unresolved:
                words = entry.command
            yield f"  input {_quoted(entry.id)}: runs {_line(words)}"


def _quoted(text: str) -> str:
    return json.dumps(_line(text), ensure_ascii=False)


def _line(text: str) -> str:
    return visible(text).replace("\n", "\\n")


def _read(path: Path) -> dict[str, str]:
    if not is_private(path):
        return {}
    try:
        known = json.loads(path.read_text(encoding="utf-8"))["trusted"]
        return {str(key): str(value) for key, value in known.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write(folder: Path, known: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    kept = dict(list(known.items())[-MAX_ENTRIES:])
    part = folder / f".{FILE}-{secrets.token_hex(8)}"
    write_private(part, json.dumps({"trusted": kept}, indent=2) + "\n")
    try:
        part.replace(folder / FILE)
    finally:
        part.unlink(missing_ok=True)
