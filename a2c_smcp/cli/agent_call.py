"""`a2c agent call`: find the tool, read its arguments, and show what it gave."""

import mimetypes
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from a2c_smcp.agent import SMCPAgentClient, ToolProgress
from a2c_smcp.cli.agent_params import params_of
from a2c_smcp.cli.agent_run import computers, decoded, of_each, seated
from a2c_smcp.cli.command import Context
from a2c_smcp.cli.progress_bars import Gauge
from a2c_smcp.errors import BadRequest, ToolNotFound
from a2c_smcp.messages import CallToolResult


def call(context: Context, arguments: Namespace) -> Any:
    """Call a tool and return its result."""
    with seated(context, arguments) as agent:
        computer, tool = _found(agent, computers(context, agent, arguments), arguments.tool)
        params = params_of(arguments.argument or (), tool.get("params_schema") or {}, context.stdin.read)
        result = _run(context, arguments, partial(agent.call_tool, computer, arguments.tool, params))
    if arguments.save is not None:
        result["saved"] = _saved(result.get("content") or [], Path(arguments.save))
    return result


def _run(context: Context, arguments: Namespace, run: Callable[..., CallToolResult]) -> dict[str, Any]:
    """Return the result of a call; whoever sits at a terminal sees how far it is."""
    with Gauge(context) as gauge:

        def tell(told: ToolProgress) -> None:
            gauge.tell(told.progress, told.total, told.message)

        seen = gauge.shown and not arguments.json
        return dict(run(timeout=arguments.timeout, on_progress=tell if seen else None))


def _found(agent: SMCPAgentClient, names: Sequence[str], wanted: str) -> tuple[str, Mapping[str, Any]]:
    """Return the Computer that has the tool, and the tool."""
    answers = of_each(names, lambda name: {"tools": agent.get_tools(name)}, {"tools": []})
    found = [(one["computer"], tool) for one in answers for tool in one["tools"] if tool["name"] == wanted]
    if not found and len(names) == 1:
        return names[0], {}  # it knows best why it does not list it: forbidden, or its server is not there just now
    if not found:
        silent = [one["computer"] for one in answers if "error" in one]
        why = f"; {', '.join(silent)} could not be asked" if silent else ""
        raise ToolNotFound(f"There is no tool {wanted!r} at the {len(names)} Computers of the office{why}")
    if len(found) > 1:
        which = ", ".join(name for name, _ in found)
        raise BadRequest(f"{len(found)} Computers have a tool {wanted!r}: {which}; name one with --computer")
    return found[0]


def _saved(content: Sequence[Mapping[str, Any]], folder: Path) -> list[str]:
    """Write what is no text into files of `folder`; their names say only what they are."""
    folder.mkdir(parents=True, exist_ok=True)
    saved = []
    for number, block in enumerate(content, start=1):
        resource = block.get("resource")
        source = resource if isinstance(resource, Mapping) else block
        data = source.get("data") or source.get("blob")
        if isinstance(data, str):
            suffix = mimetypes.guess_extension(str(source.get("mimeType", ""))) or ".bin"
            path = folder / f"result-{number}{suffix}"
            path.write_bytes(decoded(data))
            saved.append(str(path))
    return saved
