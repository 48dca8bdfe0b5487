"""Standing consent by configuration: `auto_apply` holds for a tool's definition as it was when it was first seen.

Where the configuration is a file, the definitions are remembered beside it in the user's state folder, so that a server
cannot change a tool between two runs of the Computer. Consent begins anew when the owner sets `auto_apply` again, or
lets the server run another program or connect to another URL.
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
"""How many tools of a server are remembered; the calls of further ones need confirmation."""


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool with `auto_apply` whose definition is not the one that its owner consented to.

    Attributes:
        fields: The names of the fields that differ.
        lines: What differs, as lines.
        digest: The fingerprint of the definition as it is now.
    """

    server: SERVER_NAME
    tool: TOOL_NAME
    listed: str
    fields: tuple[str, ...]
    lines: tuple[str, ...]
    digest: str


class ConsentFile:
    """What is remembered for one configuration file. It blocks: use it away from an event loop, where it matters."""

    def __init__(self, folder: Path, config: Path) -> None:
        self._config = os.path.realpath(config)
        name = hashlib.sha256(self._config.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        self.path = folder / FOLDER / f"{name}.json"
        self._stamp: tuple[int, ...] | None = None

    def has_changed(self) -> bool:
        """Whether it was written since it was last read or written here."""
        return self._stamp_now() != self._stamp

    def load(self) -> dict[SERVER_NAME, Json]:
        """Return what is remembered by server; nothing where the file is missing or cannot be believed."""
        self._stamp = self._stamp_now()
        if self._stamp is None:
            return {}
        try:
            if not is_private(self.path) or self.path.stat().st_size > MAX_FILE:
                raise ValueError("it is readable by other users, or too large")  # noqa: TRY301
            found = json.loads(self.path.read_text(encoding="utf-8"))
            return {str(name): _server(server) for name, server in found["servers"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            logger.warning("Remembered consent ignored: file=%s reason=%s", self.path, error)
            return {}

    def save(self, servers: Mapping[SERVER_NAME, Json]) -> None:
        """Remember this.

        Raises:
            OSError: It cannot be written.
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
    """The definitions that `auto_apply` holds for.

    Args:
        file: Where they are remembered; without one, until the Computer stops.
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
        """Read what is remembered."""
        if self.file is not None:
            self._servers = self.file.load()

    async def save(self, lasting: Iterable[SERVER_NAME]) -> None:
        """Remember the definitions of these servers, those of the configuration file."""
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
                logger.warning("Consent is not remembered: file=%s reason=%s", self.file.path, error.strerror)
            self._warned = True

    def configure(self, configs: Mapping[SERVER_NAME, BaseMCPServerConfig]) -> None:
        """Take over a configuration: consent that it no longer gives is forgotten."""
        before, self._servers = self._servers, {}
        self._seen.clear()
        for name, config in configs.items():
            known, runs = before.get(name), runs_as(config)
            if known is not None and known["runs"] == runs:
                tools = {tool: kept for tool, kept in known["tools"].items() if _is_auto(config, tool)}
                self._servers[name] = {"runs": runs, "tools": tools}
            else:
                self._servers[name] = {"runs": runs, "tools": {}}
        if self._servers != before:
            self._on_change()

    def see(self, routes: Iterable[Route]) -> None:
        """Bind consent to the definition of each tool that is seen for the first time, and log those that changed."""
        new, seen = False, dict[tuple[SERVER_NAME, TOOL_NAME], Json]()
        for route in routes:
            key = route.server, route.tool
            # Most tools of a new catalogue are those of the one before; a fingerprint takes a tenth of a millisecond.
            seen[key] = route.definition.tool
            if route.meta.auto_apply is not True or self._seen.get(key) is route.definition.tool:
                continue
            tools = self._tools(route)
            kept = tools.get(route.tool)
            if kept is None and len(tools) < MAX_TOOLS:
                tools[route.tool] = route.definition.kept()
                new = True
            elif kept is not None and kept["digest"] != route.definition.digest:
                self._report(route, kept)
        self._seen = seen
        if new:
            self._on_change()

    def holds(self, route: Route) -> bool:
        """Whether the definition is the one that the owner consented to."""
        digest = route.definition.digest
        if (kept := self._kept(route)) is not None and kept["digest"] == digest:
            return True
        if kept is None or self.file is None or not self.file.has_changed():
            return False
        # Another process of the owner's may have accepted the change.
        theirs = self.file.load().get(route.server, {}).get("tools", {}).get(route.tool)
        if theirs is None or theirs["digest"] != digest:
            return False
        self.accept(route)
        return True

    def accept(self, route: Route) -> None:
        """Bind consent to the definition as it is now."""
        self._tools(route)[route.tool] = route.definition.kept()
        self._reported.discard((route.server, route.tool))
        self._on_change()

    def changes(self, route: Route) -> ToolChange | None:
        """Return what changed since the owner consented, or None."""
        kept = self._kept(route)
        if route.meta.auto_apply is not True or kept is None or kept["digest"] == route.definition.digest:
            return None
        return tool_change(route, kept["fields"])

    def _kept(self, route: Route) -> Json | None:
        return self._tools(route).get(route.tool)

    def _tools(self, route: Route) -> dict[TOOL_NAME, Json]:
        server = self._servers.setdefault(route.server, {"runs": runs_as(route.config), "tools": {}})
        tools: dict[TOOL_NAME, Json] = server["tools"]
        return tools

    def _report(self, route: Route, kept: Json) -> None:
        if (route.server, route.tool) not in self._reported:
            self._reported.add((route.server, route.tool))
            logger.warning(
                "Tool %r of %s changed since auto_apply was set (%s): its calls need confirmation until you accept it",
                route.tool,
                route.server,
                ", ".join(changed_fields(kept["fields"], route.definition)),
            )


def tool_change(route: Route, before: Json | None) -> ToolChange:
    """Return how a tool differs from its earlier definition."""
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
            "digest": str(kept["digest"]),
            "fields": kept["fields"] if isinstance(kept["fields"], dict) else None,
        }
        for tool, kept in found["tools"].items()
    }
    return {"runs": str(found["runs"]), "tools": tools}
