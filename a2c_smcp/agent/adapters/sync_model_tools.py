# Generated from model_tools.py by tools/gen_sync.py. Edit the source, not this file.
"""The tools of an office under names that models take, and calls by those names."""

import difflib
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias

from a2c_smcp.agent.adapters.internal_tools import InternalTools, to_model_text
from a2c_smcp.agent.adapters.model_calls import read_arguments
from a2c_smcp.agent.adapters.names import NamedTool, name_tools
from a2c_smcp.agent.adapters.results import MAX_RESULT_TOKENS, ToolAnswer, read_error, read_result
from a2c_smcp.agent.concurrency import SyncHandlerResult, sync_gather, sync_resolve
from a2c_smcp.agent.progress import ToolProgress
from a2c_smcp.common.token_estimate import TokenCounter, cut, estimate_tokens
from a2c_smcp.errors import SMCPError, ToolNotFound
from a2c_smcp.smcp import CallToolResult, SessionInfo, SMCPTool

logger = logging.getLogger(__name__)

ToolListener: TypeAlias = Callable[[NamedTool, ToolProgress], SyncHandlerResult]


class SyncToolAgent(Protocol):
    """What is asked of an Agent's client."""

    @property
    def internal_tools(self) -> InternalTools:
        """The Agent's own tools."""
        ...

    def list_room(self) -> list[SessionInfo]:
        """Who is in the office."""
        ...

    def get_tools(self, computer: str) -> list[SMCPTool]:
        """The tools of a Computer."""
        ...

    def call_tool(
        self,
        computer: str,
        tool_name: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float = 60,  # noqa: ASYNC109 - the time that the Computer gives the tool
        on_progress: Callable[[ToolProgress], SyncHandlerResult] | None = None,
    ) -> CallToolResult:
        """What a tool gave back."""
        ...


class SyncModelTools:
    """The tools that a model may call: those of the Computers in the office, and the Agent's own.

    Args:
        computers: Whose tools; by default those of every Computer that is in the office when it is asked.
        keep: Which of them; the others are neither offered nor called.
        timeout: Seconds for a call.
        max_tokens: How much of a result a model reads; `count` says how much a text is.
        on_progress: Is called with a tool and what it says of how far it is.
    """

    def __init__(
        self,
        agent: SyncToolAgent,
        computers: Sequence[str] | None = None,
        *,
        keep: Callable[[NamedTool], bool] = lambda _: True,
        timeout: float = 60,
        max_tokens: int = MAX_RESULT_TOKENS,
        count: TokenCounter = estimate_tokens,
        on_progress: ToolListener | None = None,
    ) -> None:
        self.agent = agent
        self.computers = None if computers is None else tuple(computers)
        self.keep = keep
        self.timeout = timeout
        self.max_tokens = max_tokens
        self.count = count
        self.on_progress = on_progress
        self._known: Mapping[str, NamedTool] = {}

    def tools(self) -> Mapping[str, NamedTool]:
        """Return the tools by their names for models, as they are now.

        A Computer that does not answer is left out.
        """
        computers = self.computers
        if computers is None:
            members = self.agent.list_room()
            computers = tuple(member["name"] for member in members if member["role"] == "computer")
        listed = dict(zip(computers, sync_gather(self._listed(computer) for computer in computers), strict=True))
        own = self.agent.internal_tools
        named = {name: NamedTool(name, None, own[name].tool) for name in own}
        named |= name_tools(listed, reserved=own)
        self._known = {name: tool for name, tool in named.items() if self.keep(tool)}
        return self._known

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> ToolAnswer:
        """Call a tool by its name for models, with arguments as a mapping or as the JSON text a model wrote.

        What goes wrong is told in the answer, for the model to mend.
        """
        try:
            named = self._find(name)
            params = read_arguments(arguments)
            if named.computer is None:
                return self._call_own(name, params)
            heard = None if self.on_progress is None else partial(self.on_progress, named)
            result = self.agent.call_tool(
                named.computer, named.tool["name"], params, timeout=self.timeout, on_progress=heard
            )
        except SMCPError as error:
            return read_error(error)
        return read_result(result, self.max_tokens, self.count)

    def _call_own(self, name: str, params: Mapping[str, Any]) -> ToolAnswer:
        value = sync_resolve(self.agent.internal_tools[name].start(params))
        return ToolAnswer(cut(to_model_text(value), self.max_tokens, self.count) or "(done, nothing to show)")

    def _find(self, name: str) -> NamedTool:
        if name not in self._known:
            self.tools()
        if name in self._known:
            return self._known[name]
        nearest = difflib.get_close_matches(name, self._known, n=1)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        raise ToolNotFound(f"There is no tool {name!r}{hint}")

    def _listed(self, computer: str) -> list[SMCPTool]:
        try:
            return self.agent.get_tools(computer)
        except SMCPError as error:
            logger.warning("%s does not tell its tools: %s", computer, error, extra={"computer": computer})
            return []
