"""Asking the owner of the Computer before a tool runs, and what an answer is worth.

A question shows the exact arguments, and the answer holds for them alone, except "always": that is for every call of
this tool by this Agent, until the Computer stops, the server is configured otherwise, or the owner takes it back.
"""

import copy
import hashlib
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from a2c_smcp.computer.mcp_clients.model import BaseMCPServerConfig
from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.tools.catalogue import Route
from a2c_smcp.computer.tools.kept import CallKey
from a2c_smcp.errors import ConfirmationRequired
from a2c_smcp.types import SERVER_NAME, TOOL_NAME

logger = logging.getLogger(__name__)

_canonical: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

Reason: TypeAlias = Literal["refused", "nobody", "expired"]


class Answer(StrEnum):
    """What the owner says to a question."""

    ONCE = "once"
    ALWAYS = "always"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The question whether an Agent may run a tool with exactly these arguments.

    Attributes:
        listed_name: The name the Agent called it by in its list.
        arguments: A copy: changing it changes nothing.
        fingerprint: Says which tool of which server and which arguments; the call is made only if it still holds.
        seconds: How long the Agent waits; a later answer is worth nothing.
    """

    server: SERVER_NAME
    tool: TOOL_NAME
    listed_name: str
    arguments: Json
    agent: str
    req_id: str
    fingerprint: str
    seconds: float


Confirm: TypeAlias = Callable[[Confirmation], Awaitable[Answer | bool | None]]
"""Asks the owner; True is "once", None "nobody is there". Cancelled when the question is withdrawn or has expired."""


class Standing(NamedTuple):
    """Whom "always" was said to, and about what."""

    office: str
    agent: str
    server: SERVER_NAME
    tool: TOOL_NAME


def fingerprint(*parts: Any) -> str:
    """Return a text that differs where the JSON of `parts` differs; the order of keys does not count."""
    return hashlib.sha256(_canonical(parts).encode()).hexdigest()


def refusal(route: Route, reason: Reason, seconds: float) -> ConfirmationRequired:
    """Return the error for a call that was not confirmed; its message says how to allow it."""
    why = {
        "refused": "the owner of this Computer refused it",
        "nobody": "nobody is there to ask",
        "expired": f"nobody answered within {seconds:g} s",
    }[reason]
    return ConfirmationRequired(
        f"The tool {route.listed!r} needs a confirmation and {why}. To allow it without asking, set auto_apply: true "
        f"in tool_meta[{route.tool!r}] of the MCP server {route.server!r}.",
        details={"tool_name": route.listed, "mcp_server": route.server, "reason": reason},
    )


class Gate:
    """Lets calls pass that may run, and asks about the others."""

    def __init__(self, confirm: Confirm | None = None) -> None:
        self._confirm = confirm
        self._always: dict[Standing, BaseMCPServerConfig] = {}

    def is_open(self, route: Route, key: CallKey) -> bool:
        """Whether the call may run unasked: by `auto_apply`, or because the owner said "always"."""
        if route.meta.auto_apply is True:
            return True
        return self._always.get(_standing(route, key)) == route.config

    async def ask(
        self,
        route: Route,
        key: CallKey,
        arguments: Json,
        seconds: float,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """Return when the owner allows the call.

        Args:
            is_wanted: Whether the call still waits for an answer; one that comes later counts for nothing.

        Raises:
            ConfirmationRequired: Refused, or nobody is there to ask.
        """
        if self._confirm is None:
            raise refusal(route, "nobody", seconds)
        asked = fingerprint(route.server, route.tool, arguments)
        shown = copy.deepcopy(arguments)
        question = Confirmation(
            route.server, route.tool, route.listed, shown, key.agent, key.req_id, asked, seconds=seconds
        )
        try:
            answer = await self._confirm(question)
        except Exception:
            # Whatever breaks on the way to the owner, the call is not allowed.
            logger.exception("A confirmation could not be asked for", extra={"req_id": key.req_id})
            raise refusal(route, "nobody", seconds) from None
        if not is_wanted():
            raise refusal(route, "expired", seconds)
        if answer is None:
            raise refusal(route, "nobody", seconds)
        if answer is True:
            answer = Answer.ONCE
        # Not `in`: a callback that answers anything else that counts as true has not said yes.
        if answer is not Answer.ONCE and answer is not Answer.ALWAYS:
            raise refusal(route, "refused", seconds)
        if fingerprint(route.server, route.tool, arguments) != asked:
            raise refusal(route, "refused", seconds)
        if answer is Answer.ALWAYS:
            self._always[_standing(route, key)] = route.config

    def standing(self) -> list[Standing]:
        """Return what the owner said "always" to."""
        return list(self._always)

    def withdraw(self, *standing: Standing) -> None:
        """Ask again from now on: about these, or without any about everything."""
        for one in standing or list(self._always):
            self._always.pop(one, None)


def _standing(route: Route, key: CallKey) -> Standing:
    return Standing(key.office, key.agent, route.server, route.tool)
