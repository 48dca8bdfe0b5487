# Generated from conveniences.py by tools/gen_sync.py. Edit the source, not this file.
"""What makes a client handy beside a language model: documents to walk, a context to show, tools of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

from a2c_smcp.agent.adapters.internal_tools import Function, InternalTools
from a2c_smcp.agent.concurrency import SYNC_AWAITS_COROUTINES
from a2c_smcp.agent.sync_desktops import SyncDesktopAgent, render_context
from a2c_smcp.agent.sync_document_walk import SyncDocumentAgent, SyncDocuments
from a2c_smcp.common.token_estimate import TokenCounter, estimate_tokens


class SyncConveniencesAgent(SyncDocumentAgent, SyncDesktopAgent, Protocol):
    """The client that these uses are part of."""

    @property
    def _libraries(self) -> dict[str, SyncDocuments]: ...


class SyncConveniences:
    """The part of an Agent's client that its users could have written themselves.

    Attributes:
        internal_tools: The Agent's own tools, by name.
    """

    @cached_property
    def internal_tools(self) -> InternalTools:
        """The Agent's own tools, by name."""
        return InternalTools(coroutines=SYNC_AWAITS_COROUTINES)

    @cached_property
    def _libraries(self) -> dict[str, SyncDocuments]:
        return {}

    def internal_tool(self, name: str, description: str | None = None) -> Callable[[Function], Function]:
        """Return the decorator that makes a function a tool of the Agent's own, which a model may call by `name`.

        Its annotations tell the arguments, its docstring, or `description`, what it does. It stands beside the tools
        of the Computers in `a2c_smcp.agent.adapters`.

        Raises:
            BadRequest: Models would not take the name, or the arguments cannot be told in JSON.
        """
        return self.internal_tools(name, description)

    def documents(self: SyncConveniencesAgent, computer: str) -> SyncDocuments:
        """Return the documents of a Computer, to walk through and to search; what was read is kept until it changes."""
        if computer not in self._libraries:
            self._libraries[computer] = SyncDocuments(self, computer)
        return self._libraries[computer]

    def render_context(
        self: SyncConveniencesAgent,
        budget: int,
        *,
        computers: Sequence[str] | None = None,
        count: TokenCounter = estimate_tokens,
    ) -> str:
        """Return the windows of the office, those of high priority first, in at most `budget` tokens.

        Each is labelled with the Computer, the MCP server and the URI it is from. Where they do not all fit, long ones
        are shortened, the last are left out, and a note says so. A Computer that does not answer is named too.

        Args:
            computers: Whose windows; by default those of every Computer in the office.
            count: What a text costs.

        Raises:
            SMCPError: As `list_room`.
        """
        return render_context(self, budget, computers=computers, count=count)
