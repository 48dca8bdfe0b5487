"""The tools of an office as LangChain tools. Needs the extra `langchain`."""

from collections.abc import Sequence
from typing import Any, Literal

try:
    from langchain_core.tools import BaseTool, ToolException
except ModuleNotFoundError as error:
    from a2c_smcp.common.extras import install_hint

    raise ModuleNotFoundError(f"{error.name} is not installed: {install_hint('langchain')}", name=error.name) from None
from pydantic import SkipValidation

from a2c_smcp.agent.adapters.model_calls import read_arguments
from a2c_smcp.agent.adapters.model_tools import ModelTools, ToolAgent
from a2c_smcp.agent.adapters.names import NamedTool
from a2c_smcp.agent.adapters.results import ToolAnswer
from a2c_smcp.agent.adapters.schemas import object_schema
from a2c_smcp.agent.adapters.sync_model_tools import SyncModelTools, SyncToolAgent
from a2c_smcp.smcp import CallToolResult


class _OfficeTool(BaseTool):
    """A tool of a Computer; its unchanged result is the artifact of the message."""

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True

    def _to_args_and_kwargs(
        self,
        tool_input: str | dict[str, Any],
        tool_call_id: str | None,  # noqa: ARG002 - the signature of BaseTool
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # As one value, because an argument of a tool may be named `config` or `run_manager`.
        return (dict(read_arguments(tool_input)),), {}


class AsyncOfficeTool(_OfficeTool):
    """An async tool: use `ainvoke`."""

    tools: SkipValidation[ModelTools]

    def _run(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            "This tool belongs to AsyncSMCPAgentClient: use ainvoke, or create it with sync_langchain_tools"
        )

    async def _arun(self, arguments: dict[str, Any]) -> tuple[Any, CallToolResult | None]:
        return _content(await self.tools.call(self.name, arguments))


class SyncOfficeTool(_OfficeTool):
    """A blocking tool: use `invoke`; `ainvoke` runs it on a thread."""

    tools: SkipValidation[SyncModelTools]

    def _run(self, arguments: dict[str, Any]) -> tuple[Any, CallToolResult | None]:
        return _content(self.tools.call(self.name, arguments))


async def langchain_tools(
    agent: ToolAgent, computers: Sequence[str] | None = None, **options: Any
) -> list[AsyncOfficeTool]:
    """Return the current tools of the office, including the Agent's own, to bind to chat models and agents.

    A failed call returns a tool message with `status="error"` and the reason as text.

    Args:
        computers: Only the tools of these Computers; default all in the office.
        options: Options of `ModelTools`.
    """
    tools = ModelTools(agent, computers, **options)
    return [AsyncOfficeTool(tools=tools, **_fields(tool)) for tool in (await tools.tools()).values()]


def sync_langchain_tools(
    agent: SyncToolAgent, computers: Sequence[str] | None = None, **options: Any
) -> list[SyncOfficeTool]:
    """Return the tools of `langchain_tools` for the blocking client."""
    tools = SyncModelTools(agent, computers, **options)
    return [SyncOfficeTool(tools=tools, **_fields(tool)) for tool in tools.tools().values()]


def _fields(tool: NamedTool) -> dict[str, Any]:
    metadata = {"computer": tool.computer, "tool": tool.tool["name"]}
    return {
        "name": tool.name,
        "description": tool.description,
        "args_schema": object_schema(tool.parameters),
        "metadata": metadata,
    }


def _content(answer: ToolAnswer) -> tuple[Any, CallToolResult | None]:
    if answer.failed:
        raise ToolException(answer.text)
    if not answer.pictures:
        return answer.text, answer.result
    blocks: list[dict[str, Any]] = [{"type": "text", "text": answer.text}]
    blocks += [{"type": "image", "base64": p.data, "mime_type": p.mime_type} for p in answer.pictures]
    return blocks, answer.result
