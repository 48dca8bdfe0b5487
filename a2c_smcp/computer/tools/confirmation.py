"""Consent of the owner before a tool runs: the policy, the question, and the queue of pending approvals.

A question shows the exact arguments, and a decision is valid for them only, except "always": that allows every call of
this tool by this Agent, until the Computer stops, the server's configuration or the tool's definition changes, or the
owner withdraws it.
"""

import asyncio
import copy
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import Final, Literal, NamedTuple, TypeAlias

from a2c_smcp.common.callbacks import notify_guarded
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

RefusalReason: TypeAlias = Literal["refused", "nobody", "expired", "changed"]


class Decision(StrEnum):
    """The owner's decision about a call."""

    ONCE = "once"
    ALWAYS = "always"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The question whether an Agent may run a tool with exactly these arguments.

    Attributes:
        listed_name: The tool's name in the Agent's list.
        arguments: A copy of the arguments.
        fingerprint: A hash of server, tool and arguments; the call runs only if it is unchanged.
        seconds: How long the Agent waits; a later decision has no effect.
        description: The server's description of the tool; the call runs only if the definition is unchanged.
        annotations: MCP's hints for the tool.
        changes: The difference of the definition from the one with standing consent, as lines; empty without such
            consent. "Always" accepts the new definition.
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


Confirm: TypeAlias = Callable[[Confirmation], Awaitable[Decision | bool | None]]
"""Asks the owner; True means "once", None that nobody can be asked. Cancelled when the call ends or times out."""


_TRACE: Final = frozenset({"traceparent", "tracestate", "baggage"})


class StandingConsent(NamedTuple):
    """The Agent and the tool that the owner decided "always" for."""

    office: str
    agent: str
    server: SERVER_NAME
    tool: TOOL_NAME


class _Always(NamedTuple):
    config: BaseMCPServerConfig
    definition: Definition


def with_request_meta(arguments: Json, meta: Json | None) -> Json:
    """Return the arguments as the owner sees them: with the request's `_meta` except trace fields."""
    more = {key: value for key, value in (meta or {}).items() if key not in _TRACE}
    return {**arguments, "_meta of the request": more} if more else arguments


def refusal(
    route: Route, reason: RefusalReason, seconds: float, change: ToolChange | None = None, console: str | None = None
) -> ConfirmationRequired:
    """Return the error for a call that was not confirmed; its message says how to allow it.

    Args:
        console: The address of the Computer's console, without its secret.
    """
    details = {"tool_name": route.listed, "mcp_server": route.server, "reason": reason}
    if reason == "changed":
        return ConfirmationRequired(
            f"The tool {route.listed!r} changed while its owner was asked about the call. List the tools again.",
            details=details,
        )
    why = {
        "refused": "the owner of this Computer refused it",
        "nobody": "nobody is there to ask",
        "expired": f"nobody answered within {seconds_text(seconds)}",
    }[reason]
    if change is not None:
        return ConfirmationRequired(
            f"The tool {route.listed!r} changed since its owner allowed it ({', '.join(change.fields)}), needs a "
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


class ConsentPolicy:
    """Decides which calls may run without asking, and asks the owner about the others."""

    def __init__(self, confirm: Confirm | None = None, auto_apply: AutoApply | None = None) -> None:
        self._confirm = confirm
        self.auto_apply = AutoApply() if auto_apply is None else auto_apply
        self.console: str | None = None
        """The address of the console, for refusals."""
        self._always: dict[StandingConsent, _Always] = {}
        self.same_as: dict[str, str] = {}
        """Offices that share the standing consent of another office."""

    def is_allowed(self, route: Route, key: CallKey) -> bool:
        """Whether the call may run without asking: by `auto_apply` or "always" for the current definition."""
        if route.meta.auto_apply is True:
            return self.auto_apply.is_valid(route)
        return self._always.get(self._standing(route, key)) == (route.config, route.definition)

    def changes(self, route: Route, key: CallKey) -> ToolChange | None:
        """Return the difference of the tool from the definition with standing consent, or None."""
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
            is_wanted: Whether the call still waits for the decision; a later one has no effect.

        Raises:
            ConfirmationRequired: The owner refused, or nobody can be asked.
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
            # If asking fails, the call is not allowed.
            logger.exception("confirmation failed: req_id=%s", key.req_id, extra={"req_id": key.req_id})
            raise refusal(route, "nobody", seconds, change, self.console) from None
        if not is_wanted():
            raise refusal(route, "expired", seconds, change, self.console)
        if answer is None:
            raise refusal(route, "nobody", seconds, change, self.console)
        if answer is True:
            answer = Decision.ONCE
        # Identity, not equality or truth: only these two values allow the call.
        if answer is not Decision.ONCE and answer is not Decision.ALWAYS:
            raise refusal(route, "refused", seconds)
        if fingerprint(route.server, route.tool, arguments) != asked:
            raise refusal(route, "refused", seconds)
        if answer is Decision.ALWAYS and route.meta.auto_apply is True:
            self.auto_apply.accept(route)
        elif answer is Decision.ALWAYS:
            self._always[self._standing(route, key)] = _Always(route.config, route.definition)

    def standing(self) -> list[StandingConsent]:
        """Return the standing consents."""
        return list(self._always)

    def withdraw(self, *standing: StandingConsent) -> None:
        """Withdraw these standing consents, or all of them without arguments."""
        for one in standing or list(self._always):
            self._always.pop(one, None)

    def _standing(self, route: Route, key: CallKey) -> StandingConsent:
        return StandingConsent(self.same_as.get(key.office, key.office), key.agent, route.server, route.tool)


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A pending confirmation with its number."""

    number: int
    confirmation: Confirmation
    until: float = 0.0
    """The deadline, by the clock of the event loop."""


class ApprovalQueue:
    """A `Confirm` callback that queues questions until a watcher decides them.

    Without a watcher, nobody can be asked.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._pending: dict[int, tuple[PendingApproval, asyncio.Future[Decision]]] = {}
        self._watchers: list[Callable[[PendingApproval | None], None]] = []

    async def __call__(self, confirmation: Confirmation) -> Decision | None:
        """Wait for the decision."""
        if not self._watchers:
            return None
        loop = asyncio.get_running_loop()
        question = PendingApproval(next(self._numbers), confirmation, loop.time() + confirmation.seconds)
        reply: asyncio.Future[Decision] = loop.create_future()
        self._pending[question.number] = question, reply
        self._notify(question)
        try:
            return await reply
        finally:
            # Decided, cancelled or expired.
            self._pending.pop(question.number, None)
            self._notify(None)

    @contextmanager
    def watch(self, watcher: Callable[[PendingApproval | None], None]) -> Iterator[None]:
        """Register a watcher while the block runs: called with each new question, and with None when one is decided."""
        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)

    def pending(self) -> list[PendingApproval]:
        """Return the pending questions, oldest first."""
        return [question for question, _ in self._pending.values()]

    def answer(self, number: int, answer: Decision) -> bool:
        """Decide a question; return False if it is already decided or unknown."""
        waiting = self._pending.get(number)
        if waiting is None or waiting[1].done():
            return False
        waiting[1].set_result(answer)
        return True

    def _notify(self, question: PendingApproval | None) -> None:
        for watcher in tuple(self._watchers):
            notify_guarded(logger, "a watcher of the approval queue", watcher, question)
