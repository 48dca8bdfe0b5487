"""The Computer against what it stands on: a bare MCP session, and a bare relay."""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import socketio
from mcp import Client, StdioServerParameters

from a2c_smcp.computer import Computer, parse_config
from benchmarks.table import Row

ROOT = Path(__file__).parent.parent
CALLS = 300
AT_ONCE = 32
SERVERS, DOCUMENTS = 10, 1_000
OFFICE = "bench"

Call = Callable[[int], Awaitable[Any]]


def run() -> list[Row]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        limits = ["requests_per_second=0", "office_requests_per_second=0"]
        server = stack.enter_context(process("a2c_smcp.cli", "server", "--port", "0", "--json", "--limits", *limits))
        url = json.loads(line(server))["url"]
        bare = stack.enter_context(process("benchmarks.computer_bench.bare", url, OFFICE))
        line(bare)
        config = folder / "config.json"
        config.write_text(json.dumps({"servers": {"bench": mcp_server("bench", 0)}}), encoding="utf-8")
        options = ["--config", str(config), "--url", url, "--office", OFFICE, "--name", "ours", "--headless", "--json"]
        ours = stack.enter_context(process("a2c_smcp.cli", "computer", *options))
        while json.loads(line(ours)).get("state") != "running":
            pass
        rows = asyncio.run(_calls(url))
    return [*rows, asyncio.run(_finder())]


def mcp_server(host: str, documents: int) -> dict[str, Any]:
    """The configuration of an MCP server to measure."""
    arguments = ["-m", "benchmarks.computer_bench.mcp_server", host, str(documents)]
    return {
        "type": "stdio",
        "server_parameters": {"command": sys.executable, "args": arguments, "cwd": str(ROOT)},
        "default_tool_meta": {"auto_apply": True},
    }


@contextmanager
def process(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A Python module that runs until the end of the block."""
    with subprocess.Popen(
        [sys.executable, "-m", *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        try:
            yield child
        finally:
            child.terminate()


def line(child: "subprocess.Popen[str]") -> str:
    """The next line that the process prints."""
    text = child.stdout.readline() if child.stdout is not None else ""
    if not text:
        raise RuntimeError(f"process {child.pid} ended")
    return text


async def _calls(url: str) -> list[Row]:
    agent = socketio.AsyncClient()
    await agent.connect(url, namespaces=["/smcp"], transports=["websocket"])
    seat = {"role": "agent", "name": "a", "office_id": OFFICE}
    await agent.call("server:join_office", seat, namespace="/smcp")

    def through(computer: str) -> Call:
        async def call(number: int) -> Any:
            request = {"agent": "a", "computer": computer, "req_id": f"{computer} {time.monotonic_ns()} {number}"}
            tool = {"tool_name": "echo", "params": {"text": "x"}, "timeout": 30}
            return await agent.call("client:tool_call", request | tool, namespace="/smcp", timeout=60)

        return call

    arguments = ["-m", "benchmarks.computer_bench.mcp_server", "bare", "0"]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, cwd=str(ROOT))
    async with Client(parameters) as client:

        async def bare_mcp(_: int) -> Any:
            return await client.call_tool("echo", {"text": "x"})

        ways = {"ours": through("ours"), "relay": through("bare"), "mcp": bare_mcp}
        one, many = await _measure(ways)
    await agent.disconnect()
    return [
        Row(
            "tool call through an office, p50 / bare MCP + bare relay",
            one["ours"],
            one["mcp"] + one["relay"],
            1.15,
            "ms",
        ),
        Row(f"tool calls a second, {AT_ONCE} at once / bare MCP", many["ours"], many["mcp"], 0.85, "/s", at_least=True),
    ]


async def _measure(ways: dict[str, Call]) -> tuple[dict[str, float], dict[str, float]]:
    """The best p50 and the best rate of each way, measured in turns."""
    one = dict.fromkeys(ways, float("inf"))
    many = dict.fromkeys(ways, 0.0)
    for _ in range(5):
        for name, call in ways.items():
            one[name] = min(one[name], await _p50(call))
            many[name] = max(many[name], await _rate(call))
    return one, many


async def _p50(call: Call) -> float:
    times = []
    for number in range(CALLS):
        start = time.perf_counter()
        await call(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


async def _rate(call: Call) -> float:
    numbers = iter(range(CALLS * 3))

    async def worker() -> None:
        for number in numbers:
            await call(number)

    start = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return CALLS * 3 / (time.perf_counter() - start)


async def _finder() -> Row:
    servers = {f"s{number}": mcp_server(f"s{number}", DOCUMENTS) for number in range(SERVERS)}
    async with Computer(parse_config({"servers": servers}).config) as computer:
        await computer.settled()
        while (await computer.finder(limit=20)).get("total_count") != SERVERS * DOCUMENTS:
            await asyncio.sleep(0.1)
        times = []
        for _ in range(50):
            start = time.perf_counter()
            await computer.finder(["finance"], limit=20)
            times.append(time.perf_counter() - start)
    title = f"warm get_finder with a keyword, {SERVERS} × {DOCUMENTS} documents / 5 ms"
    return Row(title, statistics.median(times) * 1e3, 5.0, 1, "ms")
