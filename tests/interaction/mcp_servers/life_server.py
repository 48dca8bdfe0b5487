"""A small MCP server of the older era on nothing but the standard library, which misbehaves as it is told to.

`python life_server.py [FLAG …]`; see FLAGS. Tools run in threads, so that it hears of cancellations.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

FLAGS = {
    "crash": "complain and exit with code 7 at once",
    "silent": "read, and never answer",
    "garbage": "answer everything with something that is no JSON",
    "nonsense": "answer the handshake with a result that is none",
    "chatty": "print a line to standard output before every answer",
    "ignore-unknown": "do not answer methods it does not know",
    "die-of-unknown": "exit with code 3 at a method it does not know",
    "stubborn": "ignore the end of input, SIGINT and SIGTERM",
    "declare": "declare resources.subscribe",
    "odd-results": "answer tool calls with something that is no result of one",
    "no-subscribe": "refuse subscriptions as unknown",
    "no-tools": "offer no tools",
    "no-resources": "offer no resources",
    "odd-schemas": "list tools with unusable schemas between the others",
}
WRITE = threading.Lock()
ODD_SCHEMAS: list[dict[str, Any]] = [{"required": "x"}, {"required": [1]}, {"properties": {"a": []}}, {"$schema": 5}]
TOOLS = ["echo", "wait", "die", "flood", "change", "environment", "progress", "pid", "heard", "fail", "hang", "large"]


class Server:
    """The state of one run."""

    def __init__(self, flags: argparse.Namespace) -> None:
        self.flags = flags
        self.cancelled: dict[Any, threading.Event] = {}
        self.heard: list[str] = []
        self.subscribed: set[str] = set()

    def serve(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            self.heard.append(message.get("method", ""))
            if "id" not in message:
                if message["method"] == "notifications/cancelled":
                    self.cancelled.setdefault(message["params"]["requestId"], threading.Event()).set()
            elif message["method"] == "tools/call" and message["params"]["name"] == "hang":
                threading.Event().wait()
            elif message["method"] == "tools/call":
                threading.Thread(target=self.answer, args=(message,), daemon=True).start()
            else:
                self.answer(message)

    def answer(self, message: dict[str, Any]) -> None:
        if self.flags.silent:
            return
        if self.flags.garbage:
            say_text("this is not JSON")
            return
        if self.flags.chatty:
            say_text(f"handling {message['method']}")
        try:
            result = self.result(message["method"], message.get("params") or {}, message["id"])
        except KeyError:
            if self.flags.die_of_unknown:
                os._exit(3)
            if not self.flags.ignore_unknown:
                error = {"code": -32601, "message": "Method not found"}
                say({"jsonrpc": "2.0", "id": message["id"], "error": error})
        except LookupError as error:
            say({"jsonrpc": "2.0", "id": message["id"], "error": error.args[0]})
        else:
            if result is not None:
                say({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def result(self, method: str, params: dict[str, Any], identity: Any) -> dict[str, Any] | None:
        match method:
            case "initialize" if self.flags.nonsense:
                return {"nothing": "of the kind"}
            case "initialize":
                return {
                    "protocolVersion": "2025-06-18",
                    "capabilities": self.capabilities(),
                    "serverInfo": {"name": "life", "version": "1"},
                }
            case "ping":
                return {}
            case "tools/list" if not self.flags.no_tools:
                return self.tools("cursor" in params)
            case "tools/call" if self.flags.odd_results:
                return {"content": "not a list"}
            case "tools/call":
                return self.call(params["name"], params.get("arguments") or {}, identity)
            case "resources/list" if not self.flags.no_resources:
                return {"resources": [{"uri": "window://life/main", "name": "main"}]}
            case "resources/templates/list" if not self.flags.no_resources:
                return {"resourceTemplates": [{"uriTemplate": "window://life/{name}", "name": "any"}]}
            case "resources/read":
                return {"contents": [{"uri": params["uri"], "text": "contents"}]}
            case "resources/subscribe" if not self.flags.no_subscribe:
                self.subscribed.add(params["uri"])
                return {}
            case "resources/unsubscribe":
                self.subscribed.discard(params["uri"])
                return {}
        raise KeyError(method)

    def tools(self, rest: bool) -> dict[str, Any]:
        tools = [{"name": name, "inputSchema": {"type": "object"}, "x-extra": 1} for name in TOOLS]
        if self.flags.odd_schemas:
            odd = {f"odd{i}": {"type": "object", **schema} for i, schema in enumerate(ODD_SCHEMAS)}
            tools[2:2] = [{"name": name, "inputSchema": schema} for name, schema in odd.items()]
        return {"tools": tools[5:]} if rest else {"tools": tools[:5], "nextCursor": "5"}

    def capabilities(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if not self.flags.no_tools:
            found["tools"] = {"listChanged": True}
        if not self.flags.no_resources:
            found["resources"] = {"subscribe": self.flags.declare, "listChanged": True}
        return found

    def call(self, name: str, arguments: dict[str, Any], identity: Any) -> dict[str, Any] | None:
        match name:
            case "wait":
                self.cancelled.setdefault(identity, threading.Event()).wait()
                return None
            case "die":
                sys.stderr.write("Error: told to die\n")
                sys.stderr.flush()
                os._exit(arguments.get("code", 9))
            case "flood":
                threading.Thread(target=flood, args=(arguments.get("distinct", False),), daemon=True).start()
            case "change":
                for method, uri in arguments["notifications"]:
                    say({"jsonrpc": "2.0", "method": method, "params": {"uri": uri} if uri else {}})
            case "progress":
                for step in range(3):
                    params = {"progressToken": identity, "progress": step, "total": 3, "message": f"step {step}"}
                    say({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            case "fail":
                raise LookupError(arguments)
            case "large":
                return text("x" * arguments["size"])
        answers = {
            "environment": dict(os.environ),
            "pid": os.getpid(),
            "heard": {"methods": self.heard, "subscribed": sorted(self.subscribed)},
        }
        return text(json.dumps(answers.get(name, arguments)))


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


def say(message: dict[str, Any]) -> None:
    say_text(json.dumps(message))


def say_text(line: str) -> None:
    with WRITE:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def flood(distinct: bool) -> None:
    count = 0
    while True:
        count += 1
        uri = f"window://life/{count if distinct else 'main'}"
        say({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})


def start_family(file: Path) -> None:
    sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
    near = subprocess.Popen(sleep)
    far = subprocess.Popen(sleep, start_new_session=True)
    file.write_text(json.dumps([near.pid, far.pid]))


def main() -> None:
    parser = argparse.ArgumentParser()
    for flag, meaning in FLAGS.items():
        parser.add_argument(f"--{flag}", help=meaning, action="store_true")
    parser.add_argument(
        "--family", metavar="FILE", help="start a child in its process group and one outside; write their ids"
    )
    parser.add_argument("--gate", metavar="FILE", help="begin only when the file exists")
    parser.add_argument(
        "--lives", metavar="FILE", help="crash until the file has a line for every start, as many as --crashes"
    )
    parser.add_argument("--downloads", type=float, default=0, help="write to standard error for so many seconds first")
    parser.add_argument("--crashes", type=int, default=0)
    flags = parser.parse_args()
    if flags.lives:
        with Path(flags.lives).open("a") as file:
            file.write(f"{os.getpid()}\n")
        if len(Path(flags.lives).read_text().splitlines()) <= flags.crashes:
            flags.crash = True
    if flags.crash:
        sys.stderr.write("Error: the life server was told to crash\n")
        sys.exit(7)
    if flags.stubborn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if flags.family:
        start_family(Path(flags.family))
    until = time.monotonic() + flags.downloads
    while time.monotonic() < until:
        sys.stderr.write("downloading\n")
        sys.stderr.flush()
        time.sleep(0.02)
    while flags.gate and not Path(flags.gate).exists():
        time.sleep(0.01)
    Server(flags).serve()
    if flags.stubborn:
        threading.Event().wait()


if __name__ == "__main__":
    main()
