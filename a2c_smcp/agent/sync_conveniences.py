# Generated from conveniences.py by tools/gen_sync.py. Edit the source, not this file.
"""Methods of the client for language models: documents, a rendered context, and the Agent's own tools."""

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
    """The client that `Conveniences` is part of."""

    @property
    def _libraries(self) -> dict[str, SyncDocuments]: ...


class SyncConveniences:
    """The methods of an Agent's client that are built on its other public methods.

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
        """Return a decorator that registers a function as the Agent's own tool, which a model can call by `name`.

        The annotations define the arguments; the docstring, or `description`, is the description. The adapters in
        `a2c_smcp.agent.adapters` offer it together with the tools of the Computers.

        Raises:
            BadRequest: Model APIs do not accept the name, or the arguments have no JSON Schema.
        """
        return self.internal_tools(name, description)

    def documents(self: SyncConveniencesAgent, computer: str) -> SyncDocuments:
        """Return the documents of a Computer, to iterate and search; replies are cached until a document changes."""
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
        """Return the windows of the office, by priority, in at most `budget` tokens.

        Each window is labelled with its Computer, MCP server and URI. If they do not all fit, long ones are shortened,
        the last are omitted, and a note says so. The note also names Computers that did not reply.

        Args:
            computers: Only the windows of these Computers; default all in the office.
            count: Returns the number of tokens of a text.

        Raises:
            SMCPError: As `list_room`.
        """
        return render_context(self, budget, computers=computers, count=count)
