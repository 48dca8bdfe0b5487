# Generated from desktops.py by tools/gen_sync.py. Edit the source, not this file.
"""The desktops of an office as one text for a model's context, within a budget of tokens."""

from collections.abc import Sequence
from typing import Protocol

from a2c_smcp.agent.concurrency import sync_gather
from a2c_smcp.agent.packing import pack, windows_of
from a2c_smcp.common.token_estimate import TokenCounter, estimate_tokens
from a2c_smcp.errors import SMCPError
from a2c_smcp.smcp import SessionInfo
from a2c_smcp.types import Desktop


class SyncDesktopAgent(Protocol):
    """What is asked of an Agent's client."""

    def list_room(self) -> list[SessionInfo]:
        """Who is in the office."""
        ...

    def get_desktop(self, computer: str) -> list[Desktop]:
        """The windows of a Computer."""
        ...


def render_context(
    agent: SyncDesktopAgent,
    budget: int,
    *,
    computers: Sequence[str] | None = None,
    count: TokenCounter = estimate_tokens,
) -> str:
    """Return the windows of the office, those of high priority first, in at most `budget` tokens.

    Each is labelled with the Computer, the MCP server and the URI it is from. Where they do not all fit, long ones are
    shortened, the last are left out, and a note says so. A Computer that does not answer is named too.

    Args:
        computers: Whose windows; by default those of every Computer in the office.
        count: What a text costs.
    """
    if computers is None:
        computers = [member["name"] for member in agent.list_room() if member["role"] == "computer"]
    shown = sync_gather(_desktop(agent, computer) for computer in computers)
    pairs = list(zip(computers, shown, strict=True))
    windows = [window for computer, desktop in pairs for window in windows_of(computer, desktop or ())]
    silent = [computer for computer, desktop in pairs if desktop is None]
    return pack(windows, budget, count, silent)


def _desktop(agent: SyncDesktopAgent, computer: str) -> list[Desktop] | None:
    try:
        return agent.get_desktop(computer)
    except SMCPError:
        return None
