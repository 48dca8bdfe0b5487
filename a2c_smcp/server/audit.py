"""Who did what and when, as lines of JSON: joins, leaves, refusals and calls. Names and ids, never payloads."""

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
"""A client that is refused at a higher rate fills no disk: the rest is counted, in a line of its own."""


class AuditLog(ServerObserver):
    """Appends to a file. A file that cannot be written is reported in the log and holds up nothing.

    Attributes:
        problem: Why the last line could not be written, or None.
        lost: How many lines could not be written.

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
        # Unbuffered: each line is one append, so that processes can share a file and a full disk leaves nothing behind.
        return self._path.open("ab", buffering=0)

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._file.closed

    def reopen(self) -> None:
        """Go on in a new file of the same name, after the old one was moved away.

        Raises:
            OSError: It cannot be opened; the old one stays in use.
        """
        old, self._file = self._file, self._open()
        self.problem, self._torn = None, False
        old.close()

    def close(self) -> None:
        """End."""
        self._file.close()

    def joined(self, member: Member, address: str) -> None:
        """A member took a seat."""
        self._write("join", **_member(member), address=address)

    def left(self, member: Member, why: str) -> None:
        """A member left its seat."""
        self._write("leave", **_member(member), reason=why)

    def sender_replaced(self, event: str, claimed: str, client: ObservedClient) -> None:
        """A payload claimed another sender and was passed on under the joined name."""
        self._write("misnamed", event=event_name(event), **_client_ids(client), claimed=claimed)

    def refused(self, event: str, error: SMCPError, client: ObservedClient | None, req_id: str | None) -> None:
        """A request was refused."""
        if not self._throttle.allows(self._clock()):
            return
        if suppressed := self._throttle.take_suppressed():
            self._write("refused", count=suppressed, note="more than this log takes in a second")
        self._write("refused", event=event_name(event), **_client_ids(client), req_id=req_id, code=error.code)

    def answered(self, event: str, outcome: str, seconds: float, client: ObservedClient, head: RequestHead) -> None:
        """A call is over."""
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
            if self._file.write(line) != len(line):  # the disk took a part of it
                self._torn = True
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301
        except (OSError, ValueError) as problem:  # a full disk, or a file that was closed
            self._lose(problem)
        else:
            if self.problem is not None:
                log.warning("the audit log can be written again; lines lost: %d", self.lost)
            self.problem, self._torn = None, False

    def _lose(self, problem: Exception) -> None:
        self.lost += 1
        why = (problem.strerror or type(problem).__name__).lower() if isinstance(problem, OSError) else "it is closed"
        if self.problem is None:
            log.error("the audit log cannot be written: %s", why)
        self.problem = f"the audit log cannot be written: {why}"


def _line(record: dict[str, Any]) -> bytes:
    try:
        line = orjson.dumps(record)
    except TypeError:  # a lone surrogate
        line = json.dumps(record).encode()
    # What cannot be seen becomes an escape, which JSON reads as what it was.
    return line + b"\n" if line.isascii() else f"{visible_line(line.decode())}\n".encode()


def _member(member: Member) -> dict[str, Any]:
    return {"office": member.office_id, member.role: member.name, "sid": member.sid}


def _client_ids(client: ObservedClient | None) -> dict[str, Any]:
    if client is None:
        return {}
    member = client.member
    return (_member(member) if member is not None else {"sid": client.sid}) | {"address": client.address}
