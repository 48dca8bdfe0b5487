"""The audit log: joins, leaves, refusals and calls as JSON lines. Names and ids, never payloads."""

import errno
import json
import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any, Final

import orjson

from a2c_smcp.common.rate_limit import Throttle
from a2c_smcp.common.visible import visible_line
from a2c_smcp.errors import SMCPError
from a2c_smcp.server.observer import ObservedClient, ServerObserver, event_name
from a2c_smcp.server.offices import Member
from a2c_smcp.server.payload import RequestHead

log = logging.getLogger(__name__)

REFUSALS_PER_SECOND: Final = 1_000
"""Logged refusals; the rest is counted in one line, so that a client cannot fill the disk."""


class AuditLog(ServerObserver):
    """Appends to a file. A write failure is logged once and does not affect requests.

    Attributes:
        problem: Why the last line was not written, or None.
        lost: How many lines were not written.

    Raises:
        OSError: The file cannot be opened.
    """

    def __init__(self, path: Path, clock: Callable[[], float] | None = None) -> None:
        self._path = path
        self._clock = clock or self.wall_clock
        self._file = self._open()
        self._throttle = Throttle(REFUSALS_PER_SECOND)
        self.problem: str | None = None
        self.lost = 0
        self._torn = False

    def _open(self) -> FileIO:
        # Unbuffered: each line is one append, so that processes can share a file and no line is written in part.
        return self._path.open("ab", buffering=0)

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._file.closed

    def reopen(self) -> None:
        """Open a new file of the same name after log rotation moved the old one.

        Raises:
            OSError: The file cannot be opened; the old one stays in use.
        """
        old, self._file = self._file, self._open()
        self.problem, self._torn = None, False
        old.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def joined(self, member: Member, address: str) -> None:
        """Record a join."""
        self._write("join", **_member(member), address=address)

    def left(self, member: Member, why: str) -> None:
        """Record a leave."""
        self._write("leave", **_member(member), reason=why)

    def sender_replaced(self, event: str, claimed: str, client: ObservedClient) -> None:
        """Record that a payload named another sender."""
        self._write("misnamed", event=event_name(event), **_client_ids(client), claimed=claimed)

    def refused(self, event: str, error: SMCPError, client: ObservedClient | None, req_id: str | None) -> None:
        """Record a refusal."""
        if not self._throttle.allows(self._clock()):
            return
        if suppressed := self._throttle.take_suppressed():
            self._write("refused", count=suppressed, note="refusals above the rate of this log")
        self._write("refused", event=event_name(event), **_client_ids(client), req_id=req_id, code=error.code)

    def answered(self, event: str, outcome: str, seconds: float, client: ObservedClient, head: RequestHead) -> None:
        """Record a finished call."""
        self._write(
            "call",
            event=event_name(event),
            **_client_ids(client),
            computer=head.computer,
            req_id=head.req_id,
            outcome=outcome,
            seconds=round(seconds, 6),
        )

    def _write(self, what: str, **facts: Any) -> None:
        moment = f"{datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec='milliseconds')[:-6]}Z"
        record = {"time": moment, "what": what} | {name: fact for name, fact in facts.items() if fact not in (None, "")}
        line = b"\n" * self._torn + _line(record)
        try:
            if self._file.write(line) != len(line):  # written in part: the disk is full
                self._torn = True
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301
        except (OSError, ValueError) as problem:  # a full disk, or a file that was closed
            self._lose(problem)
        else:
            if self.problem is not None:
                log.warning("audit log writable again: lines_lost=%d", self.lost)
            self.problem, self._torn = None, False

    def _lose(self, problem: Exception) -> None:
        self.lost += 1
        why = (problem.strerror or type(problem).__name__).lower() if isinstance(problem, OSError) else "closed"
        if self.problem is None:
            log.error("audit log not writable: reason=%r", why)
        self.problem = f"the audit log is not writable: {why}"


def _line(record: dict[str, Any]) -> bytes:
    try:
        line = orjson.dumps(record)
    except TypeError:  # a lone surrogate
        line = json.dumps(record).encode()
    # Invisible characters become JSON escapes.
    return line + b"\n" if line.isascii() else f"{visible_line(line.decode())}\n".encode()


def _member(member: Member) -> dict[str, Any]:
    return {"office": member.office_id, member.role: member.name, "sid": member.sid}


def _client_ids(client: ObservedClient | None) -> dict[str, Any]:
    if client is None:
        return {}
    member = client.member
    return (_member(member) if member is not None else {"sid": client.sid}) | {"address": client.address}
