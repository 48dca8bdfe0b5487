"""A plain JSON answer over HTTP against the same answer of a server made with the official SDK and served by it."""

import socket
import statistics
import sys
import time
from contextlib import ExitStack
from typing import Any

import httpx

from benchmarks.computer_bench.parts import line, process
from benchmarks.table import Row

ROUNDS = 300
WARM_UP = 20
CAP = 60.0
REVISION = "2026-07-28"
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": REVISION,
    "Mcp-Method": "resources/list",
}
REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "resources/list",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}

OURS = """
from a2c_smcp.docserver import Admission, Offer
import sys
offer = Offer("com.example.bench")
offer.window("clock")(lambda: "It is noon.")
sys.stderr = sys.stdout
offer.run(http="127.0.0.1:0", admission=Admission(token="bench"))
"""
THEIRS = """
from mcp.server import MCPServer
import sys
server = MCPServer("bench", log_level="ERROR")
server.resource("window://com.example.bench/clock", name="clock")(lambda: "It is noon.")
server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""


def run() -> list[Row]:
    with ExitStack() as stack:
        ours = stack.enter_context(process(sys.executable, "-c", OURS))
        url = line(ours).split()[-1]
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        stack.enter_context(process(sys.executable, "-c", THEIRS, str(port)))
        client = stack.enter_context(httpx.Client(headers=HEADERS | {"Authorization": "Bearer bench"}, timeout=CAP))
        theirs = f"http://127.0.0.1:{port}/mcp"
        _await(client, theirs)
        times: dict[str, list[float]] = {url: [], theirs: []}
        for number in range(WARM_UP + ROUNDS):
            for target, taken in times.items():
                spent = _ask(client, target)
                if number >= WARM_UP:
                    taken.append(spent)
        return [
            Row(
                "JSON answer over HTTP / server of the official SDK",
                _fast(times[url]),
                _fast(times[theirs]),
                1.3,
                "ms",
                basis=f"resources/list of the example documents, one after another; lower quartile of {ROUNDS}",
            )
        ]


def _fast(seconds: list[float]) -> float:
    """The lower quartile in milliseconds: asked in turns, and what else the machine does counts little."""
    return statistics.quantiles(seconds, n=4)[0] * 1e3


def _ask(client: httpx.Client, url: str) -> float:
    start = time.perf_counter()
    reply = client.post(url, json=REQUEST)
    spent = time.perf_counter() - start
    answer: Any = reply.json()
    if len(answer["result"]["resources"]) != 1 or reply.headers["content-type"] != "application/json":
        raise RuntimeError(f"{url} answered {reply.text[:200]}")
    return spent


def _await(client: httpx.Client, url: str) -> None:
    end = time.monotonic() + CAP
    while time.monotonic() < end:
        try:
            client.post(url, json=REQUEST)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{url} does not answer")
