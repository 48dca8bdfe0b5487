"""State of the connection to the server, with advice for its owner."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeAlias

from a2c_smcp.common.callbacks import call_guarded
from a2c_smcp.errors import Forbidden, SMCPError, Unauthorized

log = logging.getLogger(__name__)

Failure: TypeAlias = SMCPError | ConnectionError


class ConnectionState(StrEnum):
    """The states of a connection."""

    OFFLINE = "offline"
    """Not connected, and not trying to."""
    CONNECTING = "connecting"
    WAITING = "waiting"
    """The connection failed or was lost; the next attempt follows after a delay."""
    CONNECTED = "connected"
    """Connected, but in no office: none is set, or the server refuses."""
    JOINED = "joined"


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """The state of a connection with its details.

    Attributes:
        since: Begin of this state, as an ISO-8601 time.
        office_id: The office that it is in, or tries to join.
        failures: Failed attempts since the last success.
        retry_in: Seconds from `since` to the next attempt to connect or join, if one is scheduled.
        problem: The last error as text; None without one.
        advice: What the owner can do about it.
    """

    state: ConnectionState
    since: str
    office_id: str | None = None
    failures: int = 0
    retry_in: float | None = None
    problem: str | None = None
    advice: str | None = None


class StatusTracker:
    """Holds the current status and calls back when it changes."""

    def __init__(self, office_id: str | None, on_change: Callable[[ConnectionStatus], None] | None) -> None:
        self.office_id = office_id
        self.status = ConnectionStatus(ConnectionState.OFFLINE, _now(), office_id)
        self._on_change = on_change

    def show(
        self,
        state: ConnectionState,
        problem: Failure | None = None,
        *,
        failures: int = 0,
        retry_in: float | None = None,
    ) -> None:
        """Set a new status."""
        words, advice = (None, None) if problem is None else (str(problem), _advice(state, problem))
        self.status = ConnectionStatus(state, _now(), self.office_id, failures, retry_in, words, advice)
        if self._on_change is not None:
            call_back(self._on_change, self.status)


def call_back(on_change: Callable[..., Any], *arguments: Any) -> Any:
    """Call a callback of the owner; its exceptions are logged."""
    return call_guarded(log, "a callback of the connection", on_change, *arguments)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _advice(state: ConnectionState, problem: Failure) -> str:
    match problem:
        case Forbidden() if state is ConnectionState.CONNECTED:
            return (
                "The server may not have noticed yet that the previous connection ended. If this persists, choose "
                "another name, or an office that the credentials allow"
            )
        case Unauthorized() | Forbidden():
            return "Check the token or the API key; a new one is used at the next attempt"
        case SMCPError():
            return "The client keeps trying; ask the operator of the server"
        case _:
            return "Check the URL of the server and the network; the client keeps trying"
