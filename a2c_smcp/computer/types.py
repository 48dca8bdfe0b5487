"""Types that are internal to a Computer and never sent."""

from typing import Any, TypedDict

from a2c_smcp.types import SERVER_NAME, TOOL_NAME


class ToolCallRecord(TypedDict):
    """One tool call that a Computer made, kept in its bounded history.

    The history orders Desktop and Finder: the server called last comes first.
    """

    timestamp: str
    req_id: str
    server: SERVER_NAME
    tool: TOOL_NAME
    parameters: dict[str, Any]
    timeout: float | None
    success: bool
    error: str | None
