"""`a2c agent call`: find the tool, read its arguments, and show what it gave."""

import mimetypes
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from a2c_smcp.agent import SMCPAgentClient
from a2c_smcp.cli.agent_params import params_of
from a2c_smcp.cli.agent_run import computers, decoded, seated
from a2c_smcp.cli.command import Context
from a2c_smcp.errors import BadRequest, ToolNotFound
from a2c_smcp.smcp import SMCPTool


def call(context: Context, arguments: Namespace) -> Any:
    """Call a tool and return its result."""
    with seated(context, arguments) as agent:
        computer, tool = _found(agent, computers(agent, arguments), arguments.tool)
        params = params_of(arguments.argument or (), tool.get("params_schema") or {}, context.stdin.read)
        result: dict[str, Any] = dict(agent.call_tool(computer, arguments.tool, params, timeout=arguments.timeout))
    if arguments.save is not None:
        result["saved"] = _saved(result.get("content") or [], Path(arguments.save))
    return result


def _found(agent: SMCPAgentClient, names: Sequence[str], wanted: str) -> tuple[str, SMCPTool]:
    found = [(name, tool) for name in names for tool in agent.get_tools(name) if tool["name"] == wanted]
    if not found:
        where = f"the Computer {names[0]!r}" if len(names) == 1 else f"the {len(names)} Computers of the office"
        raise ToolNotFound(f"There is no tool {wanted!r} at {where}")
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
