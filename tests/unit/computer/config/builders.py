"""Files and Computers for the tests of settings."""

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

from a2c_smcp.computer import ComputerConfig
from a2c_smcp.computer.config import ConfigDiff


def native(**commands: str) -> str:
    """The text of a native file with a server for each name."""
    servers = {name: {"type": "stdio", "server_parameters": {"command": command}} for name, command in commands.items()}
    return json.dumps({"servers": servers}, indent=2) + "\n"


def claude(**commands: str) -> str:
    """The same as a file of Claude Desktop."""
    return json.dumps({"mcpServers": {name: {"command": command} for name, command in commands.items()}})


def commands_of(config: ComputerConfig) -> dict[str, Any]:
    """What each server runs; None for one that is disabled."""
    servers: dict[str, dict[str, Any]] = config.model_dump()["servers"]
    return {
        name: None if server["disabled"] else server["server_parameters"]["command"] for name, server in servers.items()
    }


def put(path: Path, text: str) -> None:
    """Replace a file as editors do: all at once."""
    new = path.with_name(f"{path.name}.swap")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def text_of(path: Path) -> str:
    """What stands in a file."""
    return path.read_text(encoding="utf-8")


def mode_of(path: Path) -> int:
    """Who may do what with a file."""
    return stat.S_IMODE(path.stat().st_mode)


class Machine:
    """Stands for a Computer: notes what it is made to run with."""

    def __init__(self) -> None:
        self.applied: list[tuple[ConfigDiff, dict[str, Any]]] = []
        self.told: list[str | None] = []
        self.stirred = asyncio.Event()
        self.fails: Exception | None = None

    async def apply(self, changes: ConfigDiff, config: ComputerConfig) -> None:
        self.stirred.set()
        if self.fails is not None:
            raise self.fails
        self.applied.append((changes, commands_of(config)))

    def report(self, problem: str | None) -> None:
        self.told.append(problem)
        self.stirred.set()

    async def next(self) -> None:
        """Wait until something has been applied or reported."""
        async with asyncio.timeout(60):
            await self.stirred.wait()
        self.stirred.clear()
