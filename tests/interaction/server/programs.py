"""`a2c server` as a process, and the ready application in this one."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import socketio
import uvicorn

from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Connect

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0
"""Seconds after which a wait for a process has failed; a busy machine takes many to start one."""
POLL = "/socket.io/?EIO=4&transport=polling"


@dataclass
class Program:
    """A running `a2c server`."""

    process: "subprocess.Popen[str]"
    log: Path
    url: str = ""

    def logged(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def tell(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """The exit code, once there is one."""
        return self.process.wait(PATIENCE)

    async def logs(self, words: str) -> None:
        """Wait until the log has these words."""
        await until(lambda: words in self.logged())


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "a2c_smcp.cli", *words]


def environment(env: dict[str, str] | None = None) -> dict[str, str]:
    """The environment without what may be set for a server of the developer's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("A2C_", "OTEL_"))}
    return kept | (env or {})


def a2c(*words: str, env: dict[str, str] | None = None, typed: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a command to its end."""
    return subprocess.run(
        command(*words),
        cwd=ROOT,
        env=environment(env),
        input=typed,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@contextmanager
def a2c_server(folder: Path, *words: str, port: int = 0, env: dict[str, str] | None = None) -> Iterator[Program]:
    """Run `a2c server` while the block runs; it listens when the block begins."""
    log = folder / f"server-{time.monotonic_ns()}.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            command("server", "--port", str(port), "--json", *words),
            cwd=ROOT,
            env=environment(env),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    program = Program(process, log)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, f"the server did not start:\n{program.logged()}"
        program.url = json.loads(line)["url"]
        yield program
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@dataclass
class Here:
    """An application in this process."""

    url: str


@asynccontextmanager
async def serving(app: Any, **options: Any) -> AsyncIterator[Here]:
    """Serve an ASGI application on a free port of this process."""
    config = uvicorn.Config(
        app, port=0, ws="websockets-sansio", ws_ping_interval=None, log_config=None, access_log=False, **options
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve())
    await until(lambda: server.started or task.done())
    if task.done():
        await task
    try:
        yield Here(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}")
    finally:
        server.should_exit = True
        await asyncio.wait_for(task, PATIENCE)


async def pair(connect: Connect, server: Here, **options: Any) -> tuple[Client, Client]:
    """An agent and a computer that answers with what it is asked."""

    async def echo(_: str, data: Any) -> Any:
        return {"echo": data["req_id"]}

    agent, computer = await connect(server, **options), await connect(server, **options)
    computer.answers["*"] = echo
    assert await computer.join("computer", "desk", "lab") == (True, None)
    assert await agent.join("agent", "ada", "lab") == (True, None)
    return agent, computer


async def get(url: str, **options: Any) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.get(url, **options)


async def refused(url: str, **options: Any) -> Any:
    """What a client is told that is not let in; None where it is not even told."""
    client = Client(url, **options)
    with pytest.raises(socketio.exceptions.ConnectionError):
        await client.connect()
    if client.sio.eio.http is not None:
        await client.sio.eio.http.close()
    return client.refusal["data"] if isinstance(client.refusal, dict) else None


async def until(done: Any) -> None:
    """Wait until something is so, under a cap."""

    async def look() -> None:
        while not done():
            await asyncio.sleep(0.01)

    await asyncio.wait_for(look(), PATIENCE)
