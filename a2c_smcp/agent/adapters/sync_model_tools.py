# Generated from model_tools.py by tools/gen_sync.py. Edit the source, not this file.
"""The tools of an office under names that model APIs accept, and calls by these names."""

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
    """The methods of an Agent's client that this module needs."""

    @property
    def internal_tools(self) -> InternalTools:
        """The Agent's own tools."""
        ...

    def list_room(self) -> list[SessionInfo]:
        """List the members of the office."""
        ...

    def get_tools(self, computer: str) -> list[SMCPTool]:
        """Return the tools of a Computer."""
        ...

    def call_tool(
        self,
        computer: str,
        tool_name: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float = 60,  # noqa: ASYNC109 - the time-out of the tool, sent to the Computer
        on_progress: Callable[[ToolProgress], SyncHandlerResult] | None = None,
    ) -> CallToolResult:
        """Call a tool and return its result."""
        ...


class SyncModelTools:
    """The tools that a model can call: those of the Computers in the office, and the Agent's own.

    Args:
        computers: Only the tools of these Computers; default all that are in the office at the time.
        keep: Returns whether to offer a tool; others cannot be called either.
        timeout: Seconds for a call.
        max_tokens: Maximum length of a result; `count` returns the number of tokens of a text.
        on_progress: Called with a tool and its progress report.
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
        """Return the current tools by their names for models.

        A Computer that does not reply is omitted.
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
        """Call a tool by its name for models, with arguments as a mapping or as the JSON text of a model.

        Errors are returned as the reply, so that the model can correct its call.
        """
        try:
            named = self._find(name)
            params = read_arguments(arguments)
            if named.computer is None:
                return self._call_own(name, params)
            report = None if self.on_progress is None else partial(self.on_progress, named)
            result = self.agent.call_tool(
                named.computer, named.tool["name"], params, timeout=self.timeout, on_progress=report
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
            logger.warning("get_tools failed: %s computer=%s", error, computer, extra={"computer": computer})
            return []
