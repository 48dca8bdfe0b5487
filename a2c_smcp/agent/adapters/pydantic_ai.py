"""The tools of an office as a Pydantic AI toolset. Needs the extra `pydantic-ai`."""

import asyncio
import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, Final

try:
    from pydantic_ai import exceptions
    from pydantic_ai.messages import BinaryContent
    from pydantic_ai.tools import AgentDepsT, RunContext, ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
except ModuleNotFoundError as error:
    from a2c_smcp.common.extras import install_hint

    raise ModuleNotFoundError(
        f"{error.name} is not installed: {install_hint('pydantic-ai')}", name=error.name
    ) from None
from pydantic_core import SchemaValidator, core_schema

from a2c_smcp.agent.adapters.model_tools import ModelTools
from a2c_smcp.agent.adapters.names import NamedTool
from a2c_smcp.agent.adapters.results import ResultImage, ToolAnswer
from a2c_smcp.agent.adapters.schemas import object_schema
from a2c_smcp.agent.adapters.sync_model_tools import SyncModelTools
from a2c_smcp.agent.client import AsyncSMCPAgentClient
from a2c_smcp.agent.sync_client import SMCPAgentClient

# The MCP server validates the arguments of its tool; here they only have to be an object.
_ANY_OBJECT: Final = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))

_RETRIES: Final = 1
"""Retries for a model whose arguments are not an object."""


class OfficeToolset(AbstractToolset[AgentDepsT]):
    """The tools of an office, listed again at every step, so that it follows the changes of the Computers.

    A failed call is reported to the model and does not end the run.

    Args:
        agent: Either client; use the blocking one with `run_sync`.
        computers: Only the tools of these Computers; default all in the office.
        id: Id of the toolset.
        options: Options of `ModelTools`.
    """

    def __init__(
        self,
        agent: AsyncSMCPAgentClient | SMCPAgentClient,
        computers: Sequence[str] | None = None,
        *,
        id: str | None = None,  # noqa: A002 - the name that toolsets have for it
        **options: Any,
    ) -> None:
        self._id = id
        self._model_tools: ModelTools | SyncModelTools = (
            SyncModelTools(agent, computers, **options)
            if isinstance(agent, SMCPAgentClient)
            else ModelTools(agent, computers, **options)
        )

    @property
    def id(self) -> str | None:
        """The toolset's id."""
        return self._id

    async def get_tools(
        self,
        ctx: RunContext[AgentDepsT],  # noqa: ARG002 - the toolset's signature
    ) -> dict[str, ToolsetTool[AgentDepsT]]:
        """Return the tools as they are now."""
        return {name: self._tool(tool) for name, tool in (await self._tools()).items()}

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],  # noqa: ARG002
        tool: ToolsetTool[AgentDepsT],  # noqa: ARG002
    ) -> Any:
        """Call a tool and return the reply for the model: a text, or a text and images."""
        answer = await self._call(name, tool_args)
        failure = getattr(exceptions, "ToolFailed", None)  # newer than the oldest release that is supported
        if answer.failed and failure is not None:
            raise failure(answer.text)
        return [answer.text, *map(_binary, answer.pictures)] if answer.pictures else answer.text

    async def _tools(self) -> Mapping[str, NamedTool]:
        tools = self._model_tools
        return await (asyncio.to_thread(tools.tools) if isinstance(tools, SyncModelTools) else tools.tools())

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        tools = self._model_tools
        if isinstance(tools, SyncModelTools):
            return await asyncio.to_thread(tools.call, name, arguments)
        return await tools.call(name, arguments)

    def _tool(self, tool: NamedTool) -> ToolsetTool[AgentDepsT]:
        definition = ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=object_schema(tool.parameters),
        )
        return ToolsetTool(toolset=self, tool_def=definition, max_retries=_RETRIES, args_validator=_ANY_OBJECT)


def _binary(picture: ResultImage) -> BinaryContent | str:
    try:
        return BinaryContent(base64.b64decode(picture.data), media_type=picture.mime_type)
    except binascii.Error:
        return f"[image, {picture.mime_type}: not readable]"
