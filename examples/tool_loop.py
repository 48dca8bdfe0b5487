"""A model works with the tools of an office, through any endpoint that speaks OpenAI's Chat Completions.

OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=qwen3 \
    python examples/tool_loop.py http://127.0.0.1:8000 OFFICE "What changed in the report?"

OPENAI_API_KEY is sent where it is set, and A2C_TOKEN to the A2C server.
"""

import json
import os
import sys
import urllib.request
from typing import Any

from a2c_smcp.agent import SMCPAgentClient
from a2c_smcp.agent.adapters import SyncOpenAITools

STEPS = 10


def complete(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return the message that the model answers with."""
    body = {"model": os.environ.get("OPENAI_MODEL", "gpt-5-mini"), "messages": messages} | (
        {"tools": tools} if tools else {}
    )
    request = urllib.request.Request(  # noqa: S310 - the user names the address
        f"{os.environ['OPENAI_BASE_URL'].rstrip('/')}/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"},
    )
    with urllib.request.urlopen(request, timeout=120) as reply:  # noqa: S310
        message: dict[str, Any] = json.load(reply)["choices"][0]["message"]
        return message


def main(url: str, office: str, task: str) -> None:
    with SMCPAgentClient(url, name="tool-loop", office_id=office, token=os.environ.get("A2C_TOKEN")) as agent:
        tools = SyncOpenAITools(agent)
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": f"You work on these computers:\n\n{agent.render_context(budget=2_000)}"},
            {"role": "user", "content": task},
        ]
        for _ in range(STEPS):
            reply = complete(messages, tools.definitions())
            messages.append(reply)
            answers = tools.run(reply)
            if not answers:
                print(reply["content"])
                return
            for answer in answers:
                print(f"  {answer['role']}: {str(answer['content'])[:200]}", file=sys.stderr)
            messages += answers
        sys.exit(f"The model was not done after {STEPS} steps")


if __name__ == "__main__":
    main(*sys.argv[1:])
