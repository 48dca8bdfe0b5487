"""The Computer against what it stands on: a bare MCP session, and a bare relay."""

import asyncio
import json
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from a2c_smcp.computer import Computer, parse_config
from benchmarks.computer_bench import parts
from benchmarks.computer_bench.parts import OFFICE, ROOT, Call
from benchmarks.table import Row

CALLS = 300
AT_ONCE = 32
SERVERS, DOCUMENTS = 10, 1_000
ROUNDS = 5


def run() -> list[Row]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = parts.office(stack)
        bare = stack.enter_context(parts.process(*parts.module("benchmarks.computer_bench.bare", url, OFFICE)))
        parts.line(bare)
        parts.our_computer(stack, url, folder, parts.mcp_server("bench"))
        rows = asyncio.run(_calls(url))
    return [*rows, asyncio.run(_finder()), asyncio.run(_cold())]


async def _calls(url: str) -> list[Row]:
    agent = await parts.agent(url)

    def through(computer: str) -> Call:
        async def call(number: int) -> Any:
            request = {"agent": "a", "computer": computer, "req_id": f"{computer} {time.monotonic_ns()} {number}"}
            tool = {"tool_name": "echo", "params": {"text": "x"}, "timeout": 30}
            return await agent.call("client:tool_call", request | tool, namespace="/smcp", timeout=60)

        return call

    async with Client(_parameters(parts.mcp_server("bare"))) as client:

        async def bare_mcp(_: int) -> Any:
            return await client.call_tool("echo", {"text": "x"})

        one, many = await _measure({"ours": through("ours"), "relay": through("bare"), "mcp": bare_mcp})
    await agent.disconnect()
    title = "tool call through an office, p50 / bare MCP + bare relay"
    return [
        Row(title, one["ours"], one["mcp"] + one["relay"], 1.15, "ms"),
        Row(f"tool calls a second, {AT_ONCE} at once / bare MCP", many["ours"], many["mcp"], 0.85, "/s", at_least=True),
    ]


def _parameters(command: list[str]) -> StdioServerParameters:
    return StdioServerParameters(command=command[0], args=command[1:], cwd=str(ROOT))


async def _measure(ways: dict[str, Call]) -> tuple[dict[str, float], dict[str, float]]:
    """The best p50 and the best rate of each way, measured in turns."""
    one = dict.fromkeys(ways, float("inf"))
    many = dict.fromkeys(ways, 0.0)
    for _ in range(ROUNDS):
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


def _computer(servers: int) -> Computer:
    names = [f"s{number}" for number in range(servers)]
    configs = {name: parts.stdio_config(parts.mcp_server(name, documents=DOCUMENTS)) for name in names}
    return Computer(parse_config({"servers": configs}).config)


async def _finder() -> Row:
    async with _computer(SERVERS) as computer:
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


async def _cold() -> Row:
    """The first `get_finder` of a Computer whose server offers level 0, and the bare reading of that level."""
    ours = theirs = float("inf")
    for _ in range(ROUNDS):
        async with _computer(1) as computer:
            await computer.settled()
            await computer.index.settled()
            start = time.perf_counter()
            found = await computer.finder(limit=20)
            ours = min(ours, time.perf_counter() - start)
            if found["total_count"] != DOCUMENTS:
                raise RuntimeError(f"found {found['total_count']} documents")
        async with Client(_parameters(parts.mcp_server("s0", documents=DOCUMENTS))) as client:
            await client.list_resources()
            start = time.perf_counter()
            reply = await client.read_resource("dpe://s0")
            json.loads(getattr(reply.contents[0], "text", ""))
            theirs = min(theirs, time.perf_counter() - start)
    return Row(f"cold collection of {DOCUMENTS} documents / bare reading of level 0", ours * 1e3, theirs * 1e3, 2, "ms")
