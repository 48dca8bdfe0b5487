"""Where the connection to the server stands, in words for its owner."""

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
    """Where a connection is in its life."""

    OFFLINE = "offline"
    """Nobody asked for a connection, or somebody ended it."""
    CONNECTING = "connecting"
    WAITING = "waiting"
    """It failed or was lost, and is tried again after a pause."""
    CONNECTED = "connected"
    """Connected, and in no office: none was asked for, or the server refuses."""
    JOINED = "joined"


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """What is known of the connection.

    Attributes:
        since: When this was so first, as an ISO-8601 time.
        office_id: The office it is in, or wants to be in.
        failures: Attempts that failed since it last worked.
        retry_in: Seconds from `since` to the next attempt to connect or join, where one is due.
        problem: What went wrong last, in words; None when all is well.
        advice: What its owner can do about it.
    """

    state: ConnectionState
    since: str
    office_id: str | None = None
    failures: int = 0
    retry_in: float | None = None
    problem: str | None = None
    advice: str | None = None


class StatusTracker:
    """Where the status is put up, and who is told when it changes."""

    def __init__(self, office_id: str | None, told: Callable[[ConnectionStatus], None] | None) -> None:
        self.office_id = office_id
        self.status = ConnectionStatus(ConnectionState.OFFLINE, _now(), office_id)
        self._told = told

    def show(
        self,
        state: ConnectionState,
        problem: Failure | None = None,
        *,
        failures: int = 0,
        retry_in: float | None = None,
    ) -> None:
        """Put up a new status."""
        words, advice = (None, None) if problem is None else (str(problem), _advice(state, problem))
        self.status = ConnectionStatus(state, _now(), self.office_id, failures, retry_in, words, advice)
        if self._told is not None:
            call_back(self._told, self.status)


def call_back(told: Callable[..., Any], *facts: Any) -> Any:
    """Call the owner's callback; its mistakes are logged and hurt nobody."""
    return call_guarded(log, "a callback of the connection", told, *facts)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _advice(state: ConnectionState, problem: Failure) -> str:
    match problem:
        case Forbidden() if state is ConnectionState.CONNECTED:
            return (
                "The server may not have noticed yet that the former connection ended; if this stays, choose another "
                "name, or an office that the credentials are for"
            )
        case Unauthorized() | Forbidden():
            return "Check the token or the API key; a renewed one is used at the next attempt"
        case SMCPError():
            return "It is tried again; the server's operator can say more"
        case _:
            return "Check the server's address and the network; it is tried again for ever"
