"""What commands that go on for long show of the log."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from a2c_smcp.cli.command import Context
from a2c_smcp.cli.terminal import printable


@contextmanager
def warnings_shown(context: Context) -> Iterator[None]:
    """Show warnings of every library on standard error, with A2C_DEBUG everything of ours."""
    root, ours = logging.getLogger(), logging.getLogger("a2c_smcp")
    before = ours.level
    handler = logging.StreamHandler(context.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s") if context.debug else _Lines())
    root.addHandler(handler)
    ours.setLevel(logging.DEBUG if context.debug else logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        ours.setLevel(before)


class _Lines(logging.Formatter):
    """A line for each record: tracebacks are for those who debug."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{record.levelname.lower()}: {printable(record.getMessage())}"
