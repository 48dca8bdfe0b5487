"""Consent by configuration: `auto_apply` is bound to the first definition of a tool that the Computer saw.

For a configuration file, the definitions are saved in the user's state folder, so that a server cannot change a tool
between two runs of the Computer. The consent is renewed when the owner sets `auto_apply` again, or changes the program
or URL of the server.
"""

import asyncio
import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from a2c_smcp.common.state import is_private
from a2c_smcp.computer.config.files import replace_file
from a2c_smcp.computer.config.models import BaseMCPServerConfig
from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.tools.catalogue import Route
from a2c_smcp.computer.tools.definition import change_lines, changed_fields, runs_as
from a2c_smcp.types import SERVER_NAME, TOOL_NAME

logger = logging.getLogger(__name__)

FOLDER: Final = "consent"
VERSION: Final = 1
MAX_FILE: Final = 64 << 20
MAX_TOOLS: Final = 10_000
"""How many tool definitions of a server are saved; calls of further tools need confirmation."""


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool with `auto_apply` whose definition differs from the one that its owner consented to.

    Attributes:
        fields: The names of the fields that differ.
        lines: The difference, as lines.
        digest: The fingerprint of the current definition.
    """

    server: SERVER_NAME
    tool: TOOL_NAME
    listed: str
    fields: tuple[str, ...]
    lines: tuple[str, ...]
    digest: str


class ConsentFile:
    """The saved definitions of one configuration file. It does blocking I/O."""

    def __init__(self, folder: Path, config: Path) -> None:
        self._config = os.path.realpath(config)
        name = hashlib.sha256(self._config.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        self.path = folder / FOLDER / f"{name}.json"
        self._stamp: tuple[int, ...] | None = None

    def has_changed(self) -> bool:
        """Whether another process changed the file since the latest load or save."""
        return self._stamp_now() != self._stamp

    def load(self) -> dict[SERVER_NAME, Json]:
        """Return the saved definitions by server; empty if the file is missing or not trustworthy."""
        self._stamp = self._stamp_now()
        if self._stamp is None:
            return {}
        try:
            if not is_private(self.path) or self.path.stat().st_size > MAX_FILE:
                raise ValueError("it is readable by other users, or too large")  # noqa: TRY301
            found = json.loads(self.path.read_text(encoding="utf-8"))
            return {str(name): _server(server) for name, server in found["servers"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            logger.warning("saved consent ignored: file=%s reason=%s", self.path, error)
            return {}

    def save(self, servers: Mapping[SERVER_NAME, Json]) -> None:
        """Save the definitions.

        Raises:
            OSError: The file cannot be written.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps({"version": VERSION, "config": self._config, "servers": servers}, ensure_ascii=True)
        replace_file(self.path, text + "\n")
        self._stamp = self._stamp_now()

    def _stamp_now(self) -> tuple[int, ...] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


class AutoApply:
    """The tool definitions that `auto_apply` is valid for.

    Args:
        file: Where they are saved; without it they are lost when the Computer stops.
        on_change: Called when there is something to save.
    """

    def __init__(self, file: ConsentFile | None = None, on_change: Callable[[], None] = lambda: None) -> None:
        self.file = file
        self._on_change = on_change
        self._servers: dict[SERVER_NAME, Json] = {}
        self._reported: set[tuple[SERVER_NAME, TOOL_NAME]] = set()
        self._warned = False
        self._seen: dict[tuple[SERVER_NAME, TOOL_NAME], Json] = {}

    def load(self) -> None:
        """Load the saved definitions."""
        if self.file is not None:
            self._servers = self.file.load()

    async def save(self, lasting: Iterable[SERVER_NAME]) -> None:
        """Save the definitions of these servers, which are those of the configuration file."""
        if self.file is None:
            return
        servers = {
            name: {"runs": self._servers[name]["runs"], "tools": dict(self._servers[name]["tools"])}
            for name in lasting
            if name in self._servers
        }
        try:
            await asyncio.to_thread(self.file.save, servers)
        except OSError as error:
            if not self._warned:
                logger.warning("consent not saved: file=%s reason=%s", self.file.path, error.strerror)
            self._warned = True

    def configure(self, configs: Mapping[SERVER_NAME, BaseMCPServerConfig]) -> None:
        """Apply a configuration: drop consent that it no longer gives."""
        before, self._servers = self._servers, {}
        self._seen.clear()
        for name, config in configs.items():
            known, runs = before.get(name), runs_as(config)
            if known is not None and known["runs"] == runs:
                tools = {tool: saved for tool, saved in known["tools"].items() if _is_auto(config, tool)}
                self._servers[name] = {"runs": runs, "tools": tools}
            else:
                self._servers[name] = {"runs": runs, "tools": {}}
        if self._servers != before:
            self._on_change()

    def see(self, routes: Iterable[Route]) -> None:
        """Bind consent to the definition of each new tool, and log tools that changed."""
        new, seen = False, dict[tuple[SERVER_NAME, TOOL_NAME], Json]()
        for route in routes:
            key = route.server, route.tool
            # Most tools are unchanged objects of the previous catalogue; a fingerprint takes a tenth of a millisecond.
            seen[key] = route.definition.tool
            if route.meta.auto_apply is not True or self._seen.get(key) is route.definition.tool:
                continue
            tools = self._tools(route)
            saved = tools.get(route.tool)
            if saved is None and len(tools) < MAX_TOOLS:
                tools[route.tool] = route.definition.to_saved()
                new = True
            elif saved is not None and saved["digest"] != route.definition.digest:
                self._report(route, saved)
        self._seen = seen
        if new:
            self._on_change()

    def is_valid(self, route: Route) -> bool:
        """Whether the owner consented to the current definition."""
        digest = route.definition.digest
        if (saved := self._saved(route)) is not None and saved["digest"] == digest:
            return True
        if saved is None or self.file is None or not self.file.has_changed():
            return False
        # Another process of the owner may have accepted the change.
        theirs = self.file.load().get(route.server, {}).get("tools", {}).get(route.tool)
        if theirs is None or theirs["digest"] != digest:
            return False
        self.accept(route)
        return True

    def accept(self, route: Route) -> None:
        """Bind consent to the current definition."""
        self._tools(route)[route.tool] = route.definition.to_saved()
        self._reported.discard((route.server, route.tool))
        self._on_change()

    def changes(self, route: Route) -> ToolChange | None:
        """Return the change since the owner consented, or None."""
        saved = self._saved(route)
        if route.meta.auto_apply is not True or saved is None or saved["digest"] == route.definition.digest:
            return None
        return tool_change(route, saved["fields"])

    def _saved(self, route: Route) -> Json | None:
        return self._tools(route).get(route.tool)

    def _tools(self, route: Route) -> dict[TOOL_NAME, Json]:
        server = self._servers.setdefault(route.server, {"runs": runs_as(route.config), "tools": {}})
        tools: dict[TOOL_NAME, Json] = server["tools"]
        return tools

    def _report(self, route: Route, saved: Json) -> None:
        if (route.server, route.tool) not in self._reported:
            self._reported.add((route.server, route.tool))
            logger.warning(
                "tool definition changed: tool=%r mcp_server=%s fields=%s; confirm its calls or accept it",
                route.tool,
                route.server,
                ", ".join(changed_fields(saved["fields"], route.definition)),
            )


def tool_change(route: Route, before: Json | None) -> ToolChange:
    """Return the difference of a tool from its earlier definition."""
    return ToolChange(
        route.server,
        route.tool,
        route.listed,
        tuple(changed_fields(before, route.definition)),
        tuple(change_lines(before, route.definition)),
        route.definition.digest,
    )


def _is_auto(config: BaseMCPServerConfig, tool: TOOL_NAME) -> bool:
    meta = config.meta_of(tool)
    return meta is not None and meta.auto_apply is True


def _server(found: Any) -> Json:
    tools = {
        str(tool): {
            "digest": str(saved["digest"]),
            "fields": saved["fields"] if isinstance(saved["fields"], dict) else None,
        }
        for tool, saved in found["tools"].items()
    }
    return {"runs": str(found["runs"]), "tools": tools}
