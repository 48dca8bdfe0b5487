"""A small MCP server of the older era with memos, on nothing but the standard library: `python memo_server.py LABEL`.

Two of them serve the same URI with different contents. It tells what it was asked, uses every field that MCP has for
tools, and sends updates of whatever is subscribed to.
"""

import json
import sys
from typing import Any

LABEL = sys.argv[1]
SAME = "memo://same"
META = {"ui": {"resourceUri": "ui://memo", "n": [1, 2]}, "simple": 1, "text": "[not JSON"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "show",
        "title": "Show the request",
        "icons": [{"src": "data:image/png;base64,AA==", "mimeType": "image/png", "sizes": ["16x16"]}],
        "execution": {"taskSupport": "optional"},
        "_meta": META,
    },
    {"name": "job", "execution": {"taskSupport": "required"}},
    {"name": "touch"},
    {"name": "add"},
    {"name": "subscribed"},
]
memos = {SAME: LABEL, f"memo://{LABEL}/own": LABEL}
subscribed: list[str] = []


def notify(method: str, **params: str) -> None:
    say({"method": f"notifications/resources/{method}", "params": params})


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
    sys.stdout.flush()


def call(name: str, arguments: dict[str, Any], meta: Any) -> dict[str, Any]:
    if name == "touch":
        memos[arguments["uri"]] = arguments.get("text", "touched")
        notify("updated", uri=arguments["uri"])
    elif name == "add":
        memos[arguments["uri"]] = "new"
        notify("list_changed")
    shown = subscribed if name == "subscribed" else {"meta": meta, "arguments": arguments}
    return {"content": [{"type": "text", "text": json.dumps(shown)}]}


def result(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {
                    "tools": {},
                    "resources": {"subscribe": True, "listChanged": True},
                    "completions": {},
                },
                "serverInfo": {"name": "memos", "version": "1"},
                "instructions": f"Use {LABEL} for memos.",
            }
        case "ping":
            return {}
        case "tools/list":
            return {"tools": [{"inputSchema": {"type": "object"}} | tool for tool in TOOLS]}
        case "tools/call":
            return call(params["name"], params.get("arguments") or {}, params.get("_meta"))
        case "resources/list":
            return {"resources": [{"uri": uri, "name": uri} for uri in memos]}
        case "resources/templates/list":
            return {"resourceTemplates": [{"uriTemplate": "memo://t/{name}", "name": "any"}]}
        case "resources/read":
            about = {"etag": LABEL, "asked": params.get("_meta")}
            return {"contents": [{"uri": params["uri"], "text": memos[params["uri"]]}], "_meta": about}
        case "completion/complete":
            return {"completion": {"values": [LABEL]}}
        case "resources/subscribe":
            subscribed.append(params["uri"])
            return {}
        case "resources/unsubscribe":
            subscribed.remove(params["uri"])
            return {}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    try:
        answer = result(message["method"], message.get("params") or {})
        error = {"code": -32601, "message": "Method not found"}
    except KeyError:
        answer, error = None, {"code": -32002, "message": "Resource not found"}
    say({"id": message["id"]} | ({"result": answer} if answer is not None else {"error": error}))
