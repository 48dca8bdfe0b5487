"""Asking the owner of the Computer before a tool runs, and what an answer is worth.

A question shows the exact arguments, and the answer holds for them alone, except "always": that is for every call of
this tool by this Agent, until the Computer stops, the server is configured otherwise, the definition of the tool
changes, or the owner takes it back.
"""

import copy
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, NamedTuple, TypeAlias

from a2c_smcp.common.durations import seconds_text
from a2c_smcp.computer.config.models import BaseMCPServerConfig
from a2c_smcp.computer.ports import Json
from a2c_smcp.computer.tools.catalogue import Route
from a2c_smcp.computer.tools.completed_calls import CallKey
from a2c_smcp.computer.tools.consent import AutoApply, ToolChange, tool_change
from a2c_smcp.computer.tools.definition import Definition, fingerprint
from a2c_smcp.errors import ConfirmationRequired
from a2c_smcp.types import SERVER_NAME, TOOL_NAME

logger = logging.getLogger(__name__)

Reason: TypeAlias = Literal["refused", "nobody", "expired", "changed"]


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
        description: What the server says of the tool; the call is made only if its definition is still the same.
        annotations: MCP's hints for the tool.
        changes: How the definition differs from the one that standing consent was given for, as lines; empty where
            there is no such consent. "Always" then accepts the new definition.
    """

    server: SERVER_NAME
    tool: TOOL_NAME
    listed_name: str
    arguments: Json
    agent: str
    req_id: str
    fingerprint: str
    seconds: float
    description: str = ""
    annotations: Json = field(default_factory=dict)
    changes: tuple[str, ...] = ()


Confirm: TypeAlias = Callable[[Confirmation], Awaitable[Answer | bool | None]]
"""Asks the owner; True is "once", None "nobody is there". Cancelled when the question is withdrawn or has expired."""


_TRACE: Final = frozenset({"traceparent", "tracestate", "baggage"})


class Standing(NamedTuple):
    """Whom "always" was said to, and about what."""

    office: str
    agent: str
    server: SERVER_NAME
    tool: TOOL_NAME


class _Always(NamedTuple):
    config: BaseMCPServerConfig
    definition: Definition


def with_request_meta(arguments: Json, meta: Json | None) -> Json:
    """Return the arguments as the owner sees them: with the request's `_meta`, unless it only carries a trace."""
    more = {key: value for key, value in (meta or {}).items() if key not in _TRACE}
    return {**arguments, "_meta of the request": more} if more else arguments


def refusal(
    route: Route, reason: Reason, seconds: float, change: ToolChange | None = None, console: str | None = None
) -> ConfirmationRequired:
    """Return the error for a call that was not confirmed; its message says how to allow it.

    Args:
        console: Where the owner finds the console of the Computer, without what opens it.
    """
    details = {"tool_name": route.listed, "mcp_server": route.server, "reason": reason}
    if reason == "changed":
        return ConfirmationRequired(
            f"The tool {route.listed!r} tool_change while its owner was asked about the call. List the tools again.",
            details=details,
        )
    why = {
        "refused": "the owner of this Computer refused it",
        "nobody": "nobody is there to ask",
        "expired": f"nobody answered within {seconds_text(seconds)}",
    }[reason]
    if change is not None:
        return ConfirmationRequired(
            f"The tool {route.listed!r} tool_change since its owner allowed it ({', '.join(change.fields)}), needs a "
            f"confirmation and {why}. Its owner can accept the change at the shell of the Computer (`approvals`) or at "
            f"{f'its console at {console}' if console else 'its console'}.",
            details={**details, "changed": list(change.fields)},
        )
    place = f" Its owner can answer such questions in the console at {console}." if console else ""
    place = "" if reason == "refused" else place
    return ConfirmationRequired(
        f"The tool {route.listed!r} needs a confirmation and {why}.{place} To allow it without asking, set auto_apply: "
        f"true in tool_meta[{route.tool!r}] of the MCP server {route.server!r}.",
        details=details,
    )


class Gate:
    """Lets calls pass that may run, and asks about the others."""

    def __init__(self, confirm: Confirm | None = None, auto_apply: AutoApply | None = None) -> None:
        self._confirm = confirm
        self.auto_apply = AutoApply() if auto_apply is None else auto_apply
        self.console: str | None = None
        """Where the owner finds the console; refusals name it."""
        self._always: dict[Standing, _Always] = {}
        self.same_as: dict[str, str] = {}
        """Offices in which the standing consent of another office holds."""

    def is_open(self, route: Route, key: CallKey) -> bool:
        """Whether the call may run unasked: by `auto_apply` or "always", given for the tool's present definition."""
        if route.meta.auto_apply is True:
            return self.auto_apply.is_valid(route)
        return self._always.get(self._standing(route, key)) == (route.config, route.definition)

    def changes(self, route: Route, key: CallKey) -> ToolChange | None:
        """Return how the tool differs from the one that standing consent was given for, or None."""
        if route.meta.auto_apply is True:
            return self.auto_apply.changes(route)
        given = self._always.get(self._standing(route, key))
        if given is None or given.config != route.config or given.definition == route.definition:
            return None
        return tool_change(route, given.definition.fields)

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
        change = self.changes(route, key)
        if self._confirm is None:
            raise refusal(route, "nobody", seconds, change, self.console)
        asked = fingerprint(route.server, route.tool, arguments)
        shown = copy.deepcopy(arguments)
        about, hints = route.definition.fields.get("description"), route.definition.fields.get("annotations")
        question = Confirmation(
            route.server,
            route.tool,
            route.listed,
            shown,
            key.agent,
            key.req_id,
            asked,
            seconds=seconds,
            description=about if isinstance(about, str) else "",
            annotations=copy.deepcopy(hints) if isinstance(hints, dict) else {},
            changes=change.lines if change is not None else (),
        )
        try:
            answer = await self._confirm(question)
        except Exception:
            # Whatever breaks on the way to the owner, the call is not allowed.
            logger.exception("A confirmation could not be asked for", extra={"req_id": key.req_id})
            raise refusal(route, "nobody", seconds, change, self.console) from None
        if not is_wanted():
            raise refusal(route, "expired", seconds, change, self.console)
        if answer is None:
            raise refusal(route, "nobody", seconds, change, self.console)
        if answer is True:
            answer = Answer.ONCE
        # Not `in`: a callback that answers anything else that counts as true has not said yes.
        if answer is not Answer.ONCE and answer is not Answer.ALWAYS:
            raise refusal(route, "refused", seconds)
        if fingerprint(route.server, route.tool, arguments) != asked:
            raise refusal(route, "refused", seconds)
        if answer is Answer.ALWAYS and route.meta.auto_apply is True:
            self.auto_apply.accept(route)
        elif answer is Answer.ALWAYS:
            self._always[self._standing(route, key)] = _Always(route.config, route.definition)

    def standing(self) -> list[Standing]:
        """Return what the owner said "always" to."""
        return list(self._always)

    def withdraw(self, *standing: Standing) -> None:
        """Ask again from now on: about these, or without any about everything."""
        for one in standing or list(self._always):
            self._always.pop(one, None)

    def _standing(self, route: Route, key: CallKey) -> Standing:
        return Standing(self.same_as.get(key.office, key.office), key.agent, route.server, route.tool)
