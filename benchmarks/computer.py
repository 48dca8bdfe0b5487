"""The Computer against what it stands on: a bare MCP session, and a bare relay."""

import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.common.state import state_folder
from a2c_smcp.computer import Computer, parse_config
from benchmarks.computer_bench import parts
from benchmarks.computer_bench.parts import OFFICE, ROOT, Call
from benchmarks.table import Row

CALLS = 300
AT_ONCE = 32
SERVERS, DOCUMENTS = 10, 1_000
ROUNDS = 5
ONE = f"echo, one call after another; best p50 of {ROUNDS} rounds of {CALLS} calls"
WAYS = ("ours", "writing", "relay", "mcp")


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
    one, many = dict.fromkeys(WAYS, float("inf")), dict.fromkeys(WAYS, 0.0)
    async with Client(_parameters(parts.mcp_server("bare"))) as client:
        for _ in range(ROUNDS):
            await _round("ours", _ours(url, "echo"), one, many)
            await _round("writing", _ours(url, "write"), one, many)
            await _round("relay", _relay(url), one, many)
            await _round("mcp", _bare_mcp(client), one, many)
    title = "tool call through an office, p50 / bare MCP + bare relay"
    bare = one["mcp"] + one["relay"]
    writing = "call of a tool that is not read-only, p50 / bare MCP + bare relay + a sync of the disk"
    return [
        Row(title, one["ours"], bare, 1.15, "ms", basis=ONE),
        Row(writing, one["writing"], bare + _sync(), 1.25, "ms", basis=ONE.replace("echo", "write")),
        Row(
            f"tool calls a second, {AT_ONCE} at once / bare MCP",
            many["ours"],
            many["mcp"],
            0.85,
            "/s",
            at_least=True,
            basis=f"echo, {CALLS * 3} calls; best of {ROUNDS} rounds",
        ),
    ]


def _parameters(command: list[str]) -> StdioServerParameters:
    return StdioServerParameters(command=command[0], args=command[1:], cwd=str(ROOT))


async def _round(
    name: str, way: AbstractAsyncContextManager[Call], one: dict[str, float], many: dict[str, float]
) -> None:
    """Keep the best p50 and the best rate of a way; the ways take turns, because an office has one Agent."""
    async with way as call:
        one[name] = min(one[name], await _p50(call))
        many[name] = max(many[name], await _rate(call))


@asynccontextmanager
async def _ours(url: str, tool: str) -> AsyncIterator[Call]:
    """A tool call of our Agent through our server and our Computer."""
    async with AsyncSMCPAgentClient(url, name="a", office_id=OFFICE, live=False) as agent:
        yield lambda _: agent.call_tool("ours", tool, {"text": "x"}, timeout=30)


@asynccontextmanager
async def _relay(url: str) -> AsyncIterator[Call]:
    """The same message of a stock client to one that answers at once."""
    agent = await parts.agent(url)

    def call(number: int) -> Any:
        request = {"agent": "a", "computer": "bare", "req_id": f"{time.monotonic_ns()} {number}"}
        tool = {"tool_name": "echo", "params": {"text": "x"}, "timeout": 30}
        return agent.call("client:tool_call", request | tool, namespace="/smcp", timeout=60)

    yield call
    await agent.disconnect()


@asynccontextmanager
async def _bare_mcp(client: Client) -> AsyncIterator[Call]:
    yield lambda _: client.call_tool("echo", {"text": "x"})


def _sync() -> float:
    """How many milliseconds the disk takes to sync a line, p50; the journal waits for that before such a tool runs."""
    times = []
    with tempfile.NamedTemporaryFile(dir=state_folder(os.environ).parent) as file:
        for _ in range(CALLS):
            file.write(b"x" * 100)
            file.flush()
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


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
    return Row(title, statistics.median(times) * 1e3, 5.0, 1, "ms", basis="generated documents; median of 50")


async def _cold() -> Row:
    """The first `get_finder` of a Computer whose server offers level 0, and the bare reading of that level."""
    ours = theirs = float("inf")
    for _ in range(ROUNDS):
        async with _computer(1) as computer:
            await computer.settled()
            await computer.resource_cache.settled()
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
    title = f"cold collection of {DOCUMENTS} documents / bare reading of level 0"
    basis = f"generated documents of one MCP server; best of {ROUNDS}"
    return Row(title, ours * 1e3, theirs * 1e3, 2, "ms", basis=basis)
