"""What an observer is told of tool calls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from a2c_smcp.types import SERVER_NAME, TOOL_NAME


class CallStage(StrEnum):
    """Where a call is."""

    ASKED = "asked"
    """The owner is being asked."""
    STARTED = "started"
    PROGRESS = "progress"
    DONE = "done"
    """The tool gave a result that is not an error."""
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    """It ended before the tool ran: unknown, forbidden, or not confirmed."""


@dataclass(frozen=True, slots=True)
class CallEvent:
    """One step of a call. `server` and `tool` are None where the name led nowhere.

    Attributes:
        listed_name: What the Agent called.
        seconds: Since the request came.
        error: Why it failed or was refused, in words.
        progress: How far, of how much, in which words.
        arguments: What the tool was called with; the call's own, not to be changed.
        result: What it gave, once it has ended.
    """

    stage: CallStage
    agent: str
    req_id: str
    listed_name: str
    server: SERVER_NAME | None
    tool: TOOL_NAME | None
    seconds: float
    error: str | None = None
    progress: tuple[float, float | None, str | None] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    result: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)


Observer: TypeAlias = Callable[[CallEvent], None]
"""Told of every step; must not wait."""
