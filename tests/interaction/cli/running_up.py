"""A run of `a2c up --json`, with a terminal to type at and a home of its own."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from a2c_smcp.cli.up_ports import Ports
from tests.interaction.server.programs import command, environment, until

CAP = 60
ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "documents"
ECHO = ROOT / "tests" / "interaction" / "mcp_servers" / "office_server.py"


class Running:
    """A run of `a2c up --json`, and what it has told."""

    def __init__(self, process: asyncio.subprocess.Process, keyboard: int, env: dict[str, str]) -> None:
        self.process = process
        self.env = env
        self.keyboard = keyboard
        self.told: list[dict[str, Any]] = []
        self.ready: dict[str, Any] = {}

    async def hear(self, **wanted: Any) -> dict[str, Any]:
        """Return the first event with these facts that has not been heard; a fact may be the beginning of a text."""
        assert self.process.stdout is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CAP):
                while line := await self.process.stdout.readline():
                    event: dict[str, Any] = json.loads(line)
                    self.told.append(event)
                    if all(str(event.get(key)).startswith(str(value)) for key, value in wanted.items()):
                        return event
        raise AssertionError(f"{wanted} was not told, but {self.told[-5:]}")

    def tree(self) -> list[int]:
        """Return every process below this one, and itself."""
        parents: dict[int, int] = {}
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        found, new = set(), {self.process.pid}
        while new:
            found |= new
            new = {pid for pid, parent in parents.items() if parent in new} - found
        return sorted(found)

    async def ended(self, tree: list[int]) -> int:
        """Return the exit code, once nothing of the tree is left."""
        async with asyncio.timeout(CAP):
            code = await self.process.wait()
        await until(lambda: not any(map(lives, tree)))
        return code


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def home(folder: Path) -> dict[str, str]:
    """Return the environment of a user whose files are in a folder."""
    own = {"XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache", "TMPDIR": "tmp"}
    return environment({name: str(folder / place) for name, place in own.items()})


def remember_ports(folder: Path) -> None:
    """Let runs on the examples have ports that no other run on this machine looks for."""
    ports = Ports(folder / "state" / "a2c-smcp", [EXAMPLES])
    with contextlib.ExitStack() as stack:
        for part in ("server", "console", "bridge"):
            taken = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            ports.mine[part] = taken.getsockname()[1]
    ports.remember()


@contextlib.asynccontextmanager
async def up(
    folder: Path, *words: str, program: Sequence[str] = command(), attended: bool = True
) -> AsyncIterator[Running]:
    """Run `a2c up` in a folder, with a home of its own."""
    (folder / "cwd").mkdir(exist_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    keyboard, terminal = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *(*program, "up", "--json", *words),
        cwd=folder / "cwd",
        env=home(folder),
        stdin=terminal if attended else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=1 << 20,
    )
    os.close(terminal)
    running = Running(process, keyboard, home(folder))
    try:
        yield running
    finally:
        if process.returncode is None:
            with contextlib.suppress(TimeoutError):
                process.terminate()
                async with asyncio.timeout(CAP):
                    await process.communicate()
        if process.returncode is None:
            process.kill()
        await process.communicate()
        os.close(keyboard)
