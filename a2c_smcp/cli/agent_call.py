"""`a2c agent call`: find the tool, read its arguments, and show what it gave."""

import base64
import json
import mimetypes
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from a2c_smcp.agent import SMCPAgentClient
from a2c_smcp.cli.agent_run import computers, seated
from a2c_smcp.cli.command import Context
from a2c_smcp.errors import BadRequest, ToolNotFound
from a2c_smcp.smcp import SMCPTool

_PLAIN: Final = "string"


def call(context: Context, arguments: Namespace) -> Any:
    """Call a tool and return its result."""
    with seated(context, arguments) as agent:
        computer, tool = _found(agent, computers(agent, arguments), arguments.tool)
        params = params_of(arguments.argument or (), tool.get("params_schema") or {}, context.stdin.read)
        result: dict[str, Any] = dict(agent.call_tool(computer, arguments.tool, params, timeout=arguments.timeout))
    if arguments.save is not None:
        result["saved"] = _saved(result.get("content") or [], Path(arguments.save))
    return result


def params_of(words: Sequence[str], schema: Mapping[str, Any], read_input: Any) -> dict[str, Any]:
    """Return the arguments of a call.

    Raises:
        BadRequest: A word is neither `NAME=VALUE` nor a JSON object.
    """
    if len(words) == 1 and (words[0] == "-" or words[0].lstrip().startswith("{")):
        return _object(read_input() if words[0] == "-" else words[0])
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    params: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign or not name:
            raise BadRequest(f"{word!r} is no argument; write NAME=VALUE, or all arguments as one JSON object")
        params[name] = _value(name, text, known.get(name))
    return params


def _value(name: str, text: str, schema: Any) -> Any:
    kind = schema.get("type", _PLAIN) if isinstance(schema, Mapping) else _PLAIN
    kinds = [kind] if isinstance(kind, str) else kind
    if _PLAIN in kinds:
        return text
    try:
        return json.loads(text)
    except ValueError:
        expected = " or ".join(map(str, kinds))
        raise BadRequest(f"{name}={text}: the tool wants {expected}, written as JSON") from None


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadRequest(f"the arguments are no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadRequest("the arguments must be one JSON object")
    return value


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
            path.write_bytes(base64.b64decode(data))
            saved.append(str(path))
    return saved
