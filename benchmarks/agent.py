"""The Agent's clients against a bare `sio.call` through the same server to the same Computer."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from itertools import count
from typing import Any

import socketio

from a2c_smcp.agent import AsyncSMCPAgentClient, SMCPAgentClient
from benchmarks.computer_bench import parts
from benchmarks.table import Row

OFFICES = ("bare", "async", "blocking")
CALLS = 250
ROUNDS = 10
AT_ONCE = 1_000
ONE = f"echo of 1 B, one call after another; best p50 of {ROUNDS} rounds of {CALLS} calls"
MANY = f"echo of 1 B, {AT_ONCE} calls at once, once for each client"

Call = Callable[[], Awaitable[Any]]


def run() -> list[Row]:
    with ExitStack() as stack:
        url = parts.office(stack)
        for office in OFFICES:
            command = parts.module("benchmarks.computer_bench.bare", url, office)
            parts.line(stack.enter_context(parts.process(*command)))
        return asyncio.run(_measure(url))


async def _measure(url: str) -> list[Row]:
    bare = socketio.AsyncClient()
    await bare.connect(url, namespaces=["/smcp"], transports=["websocket"])
    seat = {"role": "agent", "name": "a", "office_id": "bare"}
    await bare.call("server:join_office", seat, namespace="/smcp")
    numbers = count()

    async def bare_call() -> Any:
        request = {"agent": "a", "computer": "bare", "req_id": f"r{next(numbers)}"}
        tool = {"tool_name": "echo", "params": {"text": "x"}, "timeout": 30}
        return await bare.call("client:tool_call", request | tool, namespace="/smcp", timeout=60)

    blocking = SMCPAgentClient(url, name="a", office_id="blocking", live=False)
    await asyncio.to_thread(blocking.connect)
    async with AsyncSMCPAgentClient(url, name="a", office_id="async", live=False) as agent:

        async def ours() -> Any:
            return await agent.call_tool("bare", "echo", {"text": "x"}, timeout=30)

        best = {"bare": float("inf"), "async": float("inf"), "blocking": float("inf")}
        for _ in range(ROUNDS):
            best["bare"] = min(best["bare"], await _p50(bare_call))
            best["async"] = min(best["async"], await _p50(ours))
            best["blocking"] = min(best["blocking"], await asyncio.to_thread(_blocking_p50, blocking))
        many = {"bare": await _all_at_once(bare_call), "async": await _all_at_once(ours)}
    await asyncio.to_thread(blocking.close)
    await bare.disconnect()
    return [
        Row("call_tool, p50 / bare sio.call", best["async"], best["bare"], 1.10, "ms", basis=ONE),
        Row("blocking call_tool, p50 / async call_tool", best["blocking"], best["async"], 1.3, "ms", basis=ONE),
        Row(
            f"{AT_ONCE} calls at once over one client / bare sio.call",
            many["async"],
            many["bare"],
            1.10,
            "ms",
            basis=MANY,
        ),
    ]


async def _p50(call: Call) -> float:
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        await call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def _blocking_p50(agent: SMCPAgentClient) -> float:
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        agent.call_tool("bare", "echo", {"text": "x"}, timeout=30)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


async def _all_at_once(call: Call) -> float:
    """The best time of three for a thousand calls, every one of which is answered."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        answers = await asyncio.gather(*(call() for _ in range(AT_ONCE)))
        best = min(best, time.perf_counter() - start)
        if any(answer["isError"] for answer in answers):
            raise RuntimeError("a call failed")
    return best * 1e3
