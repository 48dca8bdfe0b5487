"""The log of `a2c server`: text or JSON lines with ids as fields, never payloads or tokens.

A library adds no handlers: only the program calls `configure`.
"""

import asyncio
import json
import logging
import re
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from a2c_smcp.common.rate_limit import Throttle
from a2c_smcp.common.visible import visible_line
from a2c_smcp.errors import SMCPError
from a2c_smcp.redaction import redact_text
from a2c_smcp.server.observer import OTHER, ObservedClient, ServerObserver, event_name
from a2c_smcp.server.offices import Member
from a2c_smcp.server.payload import RequestHead

log = logging.getLogger(__name__)

FIELDS: Final = ("event", "office", "agent", "computer", "req_id", "code", "sid", "eio_sid", "address")
"""Fields of `extra` that are shown, in this order."""

REFUSALS_PER_SECOND: Final = 20
MAX_WHY: Final = 300
MAX_CAUSES: Final = 8

# These log frames, URLs with queries, or errors of clients; only warnings and errors are shown.
_CHATTY: Final = ("asyncio", "engineio", "socketio", "uvicorn", "uvicorn.access", "uvicorn.error", "websockets")
_BARE: Final = re.compile(r"[\w.:/@+-]+")


def configure(form: str, level: str, stream: TextIO | None = None) -> None:
    """Send every record of the process to `stream` (standard error) in one format.

    The traceback of an exception is always logged, its message only at the level `debug`: it may hold client data.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    formatter = JsonFormatter if form == "json" else TextFormatter
    handler.setFormatter(formatter(messages=level == "debug"))
    handler.addFilter(_is_news)
    handler.addFilter(_LibraryThrottle())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _CHATTY:
        library = logging.getLogger(name)
        library.setLevel(max(logging.WARNING, root.level))
        # Another part of the process may have added a handler.
        library.handlers.clear()
        library.propagate = True
    logging.captureWarnings(True)


class TextFormatter(logging.Formatter):
    """`2025-01-31T12:00:00.000Z INFO a2c_smcp.server.logs joined office=lab sid=x1`, always on one line.

    The lines of a traceback follow, each indented.
    """

    def __init__(self, *, messages: bool = False) -> None:
        super().__init__()
        self._messages = messages

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, followed by the traceback of an exception."""
        words = [_moment(record), record.levelname, record.name, _one_line(_message(record))]
        words += [f"{name}={_value(value)}" for name, value in _fields(record)]
        line = " ".join(words)
        lines = _traceback(record, messages=self._messages)
        return "\n".join([line, *(f"    {_one_line(one)}" for one in lines)])


class JsonFormatter(logging.Formatter):
    """One JSON object per record."""

    def __init__(self, *, messages: bool = False) -> None:
        super().__init__()
        self._messages = messages

    def format(self, record: logging.LogRecord) -> str:
        """Return the object, on one line."""
        entry: dict[str, Any] = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        entry |= _fields(record)
        if lines := _traceback(record, messages=self._messages):
            entry["traceback"] = "\n".join(lines)
        return json.dumps(entry, default=str)


class ThrottledLog:
    """A logger for events that unauthenticated clients cause: a few lines a second, the rest is counted."""

    def __init__(self, logger: logging.Logger, per_second: int = REFUSALS_PER_SECOND) -> None:
        self._logger = logger
        self._throttle = Throttle(per_second)

    def info(self, message: str, *arguments: object, extra: Mapping[str, Any]) -> None:
        """Log at the level info."""
        self._log(logging.INFO, message, arguments, extra)

    def warning(self, message: str, *arguments: object, extra: Mapping[str, Any]) -> None:
        """Log at the level warning."""
        self._log(logging.WARNING, message, arguments, extra)

    def _log(self, level: int, message: str, arguments: tuple[object, ...], extra: Mapping[str, Any]) -> None:
        if not self._logger.isEnabledFor(level) or not self._throttle.allows(time.monotonic()):
            return
        if suppressed := self._throttle.take_suppressed():
            self._logger.warning("log lines suppressed: count=%d", suppressed)
        self._logger.log(level, message, *arguments, extra=extra)


class _LibraryThrottle(logging.Filter):
    """Throttles log lines of libraries, which unauthenticated clients can cause."""

    def __init__(self) -> None:
        super().__init__()
        self._throttle = Throttle(REFUSALS_PER_SECOND)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name not in _CHATTY:
            return True
        if not self._throttle.allows(time.monotonic()):
            return False
        if suppressed := self._throttle.take_suppressed():
            record.msg, record.args = f"{record.getMessage()} (lines suppressed: {suppressed})", ()
        return True


class EventLogger(ServerObserver):
    """Writes joins, leaves, refusals and failures to the log."""

    def __init__(self) -> None:
        self._throttle = Throttle(REFUSALS_PER_SECOND)

    def joined(self, member: Member, address: str) -> None:
        """Log a join."""
        log.info("joined", extra=_member_ids(member) | {"address": address})

    def left(self, member: Member, why: str) -> None:
        """Log a leave."""
        log.info("left: %s", why, extra=_member_ids(member))

    def sender_replaced(self, event: str, _claimed: str, client: ObservedClient) -> None:
        """Log that a payload named another sender; the name is not logged, it may hold anything."""
        ids = _member_ids(client.member) if client.member is not None else {"sid": client.sid}
        log.info(
            "sender name replaced by the joined name: logged once per connection",
            extra=ids | {"event": event_name(event), "address": client.address},
        )

    def refused(self, event: str, error: SMCPError, client: ObservedClient | None, req_id: str | None) -> None:
        """Log a refused request."""
        self._tell("refused", event, error, client, req_id)

    def failed(self, event: str, error: SMCPError, client: ObservedClient, req_id: str) -> None:
        """Log a relayed request that ended with an error of the Server."""
        self._tell("failed", event, error, client, req_id)

    def forwarded(self, event: str, code: str, client: ObservedClient, head: RequestHead) -> None:
        """Log that a Computer replied with an error; its message is only for the Agent."""
        if not log.isEnabledFor(logging.INFO) or not self._throttle.allows(time.monotonic()):
            return
        ids = _member_ids(client.member) if client.member is not None else {"sid": client.sid}
        log.info(
            "error forwarded",
            extra=ids | {"event": event_name(event), "code": code, "req_id": head.req_id, "computer": head.computer},
        )

    def _tell(self, what: str, event: str, error: SMCPError, client: ObservedClient | None, req_id: str | None) -> None:
        if not log.isEnabledFor(logging.INFO) or not self._throttle.allows(time.monotonic()):
            return
        if suppressed := self._throttle.take_suppressed():
            log.warning("refusals suppressed: count=%d", suppressed)
        # The reason may quote the event's name, which may hold anything unless it looks like ours.
        known = event_name(event)
        why = error.title if known == OTHER else redact_text(error.message)[:MAX_WHY]
        ids: dict[str, Any] = {"event": known, "code": error.code, "req_id": req_id}
        if client is not None:
            ids |= (_member_ids(client.member) if client.member is not None else {"sid": client.sid}) | {
                "address": client.address
            }
        log.info("%s: %s", what, why, extra=ids)


def _is_news(record: logging.LogRecord) -> bool:
    message = record.getMessage()
    # uvicorn warns about a websocket that was refused by HTTP, as we do. Engine.IO logs the first bad request of each
    # kind as an error and quotes it.
    return not message.startswith("ASGI callable returned without") and "(further occurrences of this" not in message


def _member_ids(member: Member) -> dict[str, Any]:
    return {"office": member.office_id, member.role: member.name, "sid": member.sid}


def _message(record: logging.LogRecord) -> str:
    message = record.getMessage()
    # Only the type of an exception is logged: its message may hold client data.
    kind = record.exc_info[0] if record.exc_info else None
    return f"{message.rstrip()} ({kind.__name__})" if kind else message


def _traceback(record: logging.LogRecord, *, messages: bool) -> list[str]:
    problem = record.exc_info[1] if record.exc_info else None
    # A forced shutdown cancels tasks on purpose.
    if problem is None or record.exc_info is None or isinstance(problem, asyncio.CancelledError | KeyboardInterrupt):
        return []
    if messages:
        return "".join(traceback.format_exception(*record.exc_info)).splitlines()
    lines: list[str] = []
    found = [(record.exc_info[0] or type(problem), record.exc_info[2])]
    while (cause := problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)) is not None:
        problem = cause
        found.append((type(problem), problem.__traceback__))
        if len(found) == MAX_CAUSES:
            break
    for kind, trace in reversed(found):  # like Python: the cause first
        frames = "".join(traceback.format_tb(trace)).splitlines()
        lines += ["Traceback (most recent call last):", *frames, kind.__name__]
    return lines


def _fields(record: logging.LogRecord) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name in FIELDS if (value := getattr(record, name, None)) not in (None, ""))


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _value(value: object) -> str:
    text = str(value)
    return text if _BARE.fullmatch(text) else json.dumps(_one_line(text), ensure_ascii=False)


def _one_line(text: str) -> str:
    # Client data must not be able to forge a line or control the terminal.
    return visible_line(text)
