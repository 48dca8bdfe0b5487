"""What the Computer's benchmarks start: an office, MCP servers, and Computers in processes of their own."""

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import socketio

ROOT = Path(__file__).parents[2]
OFFICE = "bench"

Call = Callable[[int], Awaitable[Any]]


@contextmanager
def process(*command: str) -> Iterator["subprocess.Popen[str]"]:
    """Run a program until the end of the block."""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        try:
            yield child
        finally:
            child.terminate()


def module(*arguments: str) -> list[str]:
    """The command that runs a Python module of this project."""
    return [sys.executable, "-m", *arguments]


def line(child: "subprocess.Popen[str]") -> str:
    """The next line that the process prints."""
    text = child.stdout.readline() if child.stdout is not None else ""
    if not text:
        raise RuntimeError(f"process {child.pid} ended")
    return text


def mcp_server(host: str, *, documents: int = 0, tools: int = 1, windows: int = 0) -> list[str]:
    """The command of an MCP server to measure."""
    return module("benchmarks.computer_bench.mcp_server", host, str(documents), str(tools), str(windows))


def stdio_config(command: list[str]) -> dict[str, Any]:
    """The configuration of that MCP server."""
    return {
        "type": "stdio",
        "server_parameters": {"command": command[0], "args": command[1:], "cwd": str(ROOT)},
        "default_tool_meta": {"auto_apply": True},
    }


def office(stack: ExitStack) -> str:
    """Start a server without limits, and return its URL."""
    limits = ["requests_per_second=0", "office_requests_per_second=0"]
    server = stack.enter_context(
        process(*module("a2c_smcp.cli", "server", "--port", "0", "--json", "--limits", *limits))
    )
    return str(json.loads(line(server))["url"])


def our_computer(stack: ExitStack, url: str, folder: Path, command: list[str]) -> None:
    """Start our Computer with one MCP server, and return when that is running."""
    config = folder / "config.json"
    config.write_text(json.dumps({"servers": {"bench": stdio_config(command)}}), encoding="utf-8")
    options = ["--config", str(config), "--url", url, "--office", OFFICE, "--name", "ours", "--headless", "--json"]
    ours = stack.enter_context(process(*module("a2c_smcp.cli", "computer", *options)))
    while json.loads(line(ours)).get("state") != "running":
        pass


async def agent(url: str) -> socketio.AsyncClient:
    """Join as the stock client of Socket.IO."""
    client = socketio.AsyncClient()
    await client.connect(url, namespaces=["/smcp"], transports=["websocket"])
    await client.call("server:join_office", {"role": "agent", "name": "a", "office_id": OFFICE}, namespace="/smcp")
    return client
