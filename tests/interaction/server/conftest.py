"""Servers of every kind as real processes, and clients for them."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.interaction.server.client import Client
from tests.interaction.server.serve import KINDS

ROOT = Path(__file__).parents[3]
Connect = Callable[..., Coroutine[Any, Any, Client]]


@dataclass
class Running:
    """A server process."""

    url: str
    log: Path
    kind: str

    def logged(self) -> str:
        return self.log.read_text(encoding="utf-8")


def run_server(kind: str, folder: Path, **limits: Any) -> tuple[subprocess.Popen[str], Running]:
    log = folder / f"{kind}.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.interaction.server.serve", kind, json.dumps(limits)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        process.wait()
        raise RuntimeError(f"the {kind} server did not start:\n{log.read_text()}")
    return process, Running(f"http://127.0.0.1:{json.loads(line)['port']}", log, kind)


def stop_server(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


@pytest.fixture(scope="session", params=KINDS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Each kind of server, shared by the tests: each uses offices of its own."""
    process, running = run_server(request.param, tmp_path_factory.mktemp("server"))
    yield running
    stop_server(process)


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Our own server alone."""
    process, running = run_server("ready", tmp_path_factory.mktemp("ready"))
    yield running
    stop_server(process)


@pytest.fixture
def office(request: pytest.FixtureRequest) -> str:
    """An office of this test's own."""
    return f"office {request.node.nodeid}"[-200:]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Open connections that are closed when the test ends."""
    clients: list[Client] = []

    async def open_one(running: Running, **options: Any) -> Client:
        client = Client(running.url, **options)
        clients.append(client)
        return await client.connect()

    yield open_one
    await asyncio.gather(*(client.close() for client in clients), return_exceptions=True)
