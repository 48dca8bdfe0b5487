"""Clusters of nodes on a Redis of the tests' own."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

import pytest

from tests.interaction.redis_server import RedisServer, redis_or_skip
from tests.interaction.server.client import CAP
from tests.interaction.server.cluster.nodes import Node
from tests.interaction.server.conftest import ROOT, stop_server

MakeNodes = Callable[..., Awaitable[list[Node]]]


@pytest.fixture(scope="session")
def shared_redis() -> Iterator[RedisServer]:
    """One Redis for all tests that do it no harm; each has a prefix of its own."""
    server = redis_or_skip()
    yield server
    server.close()


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A Redis that the test may stop, kill and empty."""
    server = redis_or_skip()
    yield server
    server.resume()
    server.close()


@pytest.fixture
async def nodes() -> AsyncIterator[MakeNodes]:
    """Start nodes of one cluster; they are stopped when the test ends."""
    started: list[Node] = []
    prefix = f"test-{token_hex(4)}"

    async def start(number: int, redis: RedisServer, **options: Any) -> list[Node]:
        settings: dict[str, Any] = {"prefix": prefix, "deadline": CAP} | options
        new = [Node(redis.url, **settings) for _ in range(number)]
        started.extend(new)
        for node in new:
            await node.start()
        return new

    yield start
    await asyncio.gather(*(node.stop() for node in started))


@pytest.fixture
async def pair(nodes: MakeNodes, shared_redis: RedisServer) -> list[Node]:
    """Two nodes."""
    return await nodes(2, shared_redis)


@dataclass
class NodeProcess:
    """A node in a process of its own."""

    process: subprocess.Popen[str]
    url: str


@pytest.fixture
def node_process() -> Iterator[Callable[..., NodeProcess]]:
    """Start nodes as processes; they are ended when the test ends."""
    started: list[subprocess.Popen[str]] = []

    def start(redis: RedisServer, **options: Any) -> NodeProcess:
        settings = json.dumps({"deadline": CAP} | options)
        command = [sys.executable, "-m", "tests.interaction.server.cluster.nodes", redis.url, settings]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        return NodeProcess(process, f"http://127.0.0.1:{port}")

    yield start
    for process in started:
        stop_server(process)
