"""The Computer against the one of the published SDK, a2c-smcp 0.4.2, behind one server and one Agent."""

import asyncio
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import socketio

from benchmarks.computer_bench import parts
from benchmarks.computer_bench.parts import OFFICE
from benchmarks.table import Row
from tests.peers.environments import interpreter_of

TOOLS, WINDOWS = 100, 50
ROUNDS = 25
BASIS = f"one generated MCP server, one request after another; {ROUNDS} rounds"


def run() -> list[Row]:
    command = parts.mcp_server("bench", tools=TOOLS, windows=WINDOWS)
    program = [str(interpreter_of("a2c-smcp-0.4.2")), "-s", str(Path(parts.__file__).with_name("released.py"))]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = parts.office(stack)
        released = stack.enter_context(parts.process(*program, url, OFFICE, *command))
        parts.line(released)
        parts.our_computer(stack, url, folder, command)
        return asyncio.run(_compare(url))


async def _compare(url: str) -> list[Row]:
    agent = await parts.agent(url)
    tools, windows = await _ask(agent, "get_tools"), await _ask(agent, "get_desktop")
    await agent.disconnect()
    return [
        Row(f"get_tools of {TOOLS} tools a second / a2c-smcp 0.4.2", *tools, 7, "/s", at_least=True, basis=BASIS),
        Row(
            f"warm get_desktop of {WINDOWS} windows a second / a2c-smcp 0.4.2",
            *windows,
            20,
            "/s",
            at_least=True,
            basis=BASIS,
        ),
    ]


async def _ask(agent: socketio.AsyncClient, event: str) -> tuple[float, float]:
    """How often a second each Computer answers, by the median of answers taken in turns."""
    times: dict[str, list[float]] = {"ours": [], "released": []}
    for number in range(ROUNDS):
        for computer, taken in times.items():
            request = {"agent": "a", "computer": computer, "req_id": f"{event} {computer} {number}"}
            start = time.perf_counter()
            reply = await agent.call(f"client:{event}", request, namespace="/smcp", timeout=60)
            taken.append(time.perf_counter() - start)
            _check(computer, reply)
    return 1 / statistics.median(times["ours"]), 1 / statistics.median(times["released"])


def _check(computer: str, reply: Any) -> None:
    if len(reply.get("tools", ())) != TOOLS and len(reply.get("desktops", ())) != WINDOWS:
        raise RuntimeError(f"{computer} answered {str(reply)[:200]}")
