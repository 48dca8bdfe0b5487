"""Renders the desktops of an office as one text for a model's context, within a token budget."""

from collections.abc import Sequence
from typing import Protocol

from a2c_smcp.agent.concurrency import gather
from a2c_smcp.agent.packing import pack, windows_of
from a2c_smcp.common.token_estimate import TokenCounter, estimate_tokens
from a2c_smcp.errors import SMCPError
from a2c_smcp.smcp import SessionInfo
from a2c_smcp.types import Desktop


class DesktopAgent(Protocol):
    """The methods of an Agent's client that this module needs."""

    async def list_room(self) -> list[SessionInfo]:
        """List the members of the office."""
        ...

    async def get_desktop(self, computer: str) -> list[Desktop]:
        """Return the windows of a Computer."""
        ...


async def render_context(
    agent: DesktopAgent,
    budget: int,
    *,
    computers: Sequence[str] | None = None,
    count: TokenCounter = estimate_tokens,
) -> str:
    """Return the windows of the office, by priority, in at most `budget` tokens.

    Each window is labelled with its Computer, MCP server and URI. If they do not all fit, long ones are shortened, the
    last are omitted, and a note says so. The note also names Computers that did not reply.

    Args:
        computers: Only the windows of these Computers; default all in the office.
        count: Returns the number of tokens of a text.
    """
    if computers is None:
        computers = [member["name"] for member in await agent.list_room() if member["role"] == "computer"]
    shown = await gather(_desktop(agent, computer) for computer in computers)
    pairs = list(zip(computers, shown, strict=True))
    windows = [window for computer, desktop in pairs for window in windows_of(computer, desktop or ())]
    silent = [computer for computer, desktop in pairs if desktop is None]
    return pack(windows, budget, count, silent)


async def _desktop(agent: DesktopAgent, computer: str) -> list[Desktop] | None:
    try:
        return await agent.get_desktop(computer)
    except SMCPError:
        return None
