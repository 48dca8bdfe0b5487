"""What commands that go on for long show of the log."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from a2c_smcp.cli.command import Context
from a2c_smcp.cli.terminal import printable

DEBUG_FORM: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def stamp(moment: float | None = None) -> str:
    """Return a moment, by default now, as the lines of a log begin: `2026-01-31T12:00:00Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


@contextmanager
def warnings_shown(context: Context) -> Iterator[None]:
    """Show warnings of every library on standard error, with A2C_DEBUG everything of ours."""
    root, ours = logging.getLogger(), logging.getLogger("a2c_smcp")
    before = ours.level
    handler = logging.StreamHandler(context.stderr)
    handler.setFormatter(logging.Formatter(DEBUG_FORM) if context.debug else OneLineFormatter())
    root.addHandler(handler)
    ours.setLevel(logging.DEBUG if context.debug else logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        ours.setLevel(before)


class OneLineFormatter(logging.Formatter):
    """A line for each record: tracebacks are for those who debug."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return f"{stamp(record.created)} {record.levelname.lower()}: {printable(record.getMessage())}"


def is_no_event(record: logging.LogRecord) -> bool:
    """Whether a record says something that the events of a Computer do not: they report each failure of a server."""
    return not (record.name.startswith("a2c_smcp.computer.mcp") and hasattr(record, "retry"))
