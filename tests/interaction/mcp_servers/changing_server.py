"""A small MCP server on the standard library whose tools are those of a JSON file; it says when they change.

`python changing_server.py NAME FILE [GATE]`: every tool answers `NAME/tool`. Calling `set_tools` with `tools`
writes the file and announces the change; with `quiet` it announces nothing. With GATE it begins only when that file
exists.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

NAME, FILE = sys.argv[1], Path(sys.argv[2])


def result(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": NAME, "version": "1"},
            }
        case "ping":
            return {}
        case "tools/list":
            listed = json.loads(FILE.read_text(encoding="utf-8"))
            return {"tools": [{"inputSchema": {"type": "object"}, **tool} for tool in listed]}
        case "tools/call":
            if params["name"] == "set_tools":
                FILE.write_text(json.dumps(params["arguments"]["tools"]), encoding="utf-8")
                if not params["arguments"].get("quiet"):
                    say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            return {"content": [{"type": "text", "text": f"{NAME}/{params['name']}"}]}
    return None


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


while len(sys.argv) > 3 and not Path(sys.argv[3]).exists():
    time.sleep(0.02)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        found = result(message["method"], message.get("params") or {})
        error = {"code": -32601, "message": "Method not found"}
        say({"jsonrpc": "2.0", "id": message["id"], **({"error": error} if found is None else {"result": found})})
