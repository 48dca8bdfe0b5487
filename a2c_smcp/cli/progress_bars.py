"""Progress on standard error: bars that grow in place, where somebody can see them."""

from threading import Lock
from types import TracebackType
from typing import Final, Self

from a2c_smcp.cli.command import Context
from a2c_smcp.cli.terminal import Terminal, columns, one_line

WIDTH: Final = 30


class Bars:
    """Bars that grow in place on a terminal; elsewhere nothing is written. May be told from any thread."""

    def __init__(self, context: Context, *, quiet: bool = False) -> None:
        self._out = context.stderr
        self._shown = context.stderr.isatty() and not quiet
        self._lock = Lock()
        self._step = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._step:
            self._out.write("\n")

    def tell(self, step: str, done: int, total: int) -> None:
        """Show how far a step is."""
        if not self._shown or not total:
            return
        with self._lock:
            if self._step and self._step != step:
                self._out.write("\n")
            self._step = step
            self._out.write(f"\r{step:<10} {_bar(done / total)} {done}/{total}")
            self._out.flush()


class Gauge:
    """How far one thing is, on a line of a terminal that is written anew each time. May be told from any thread.

    Attributes:
        shown: Whether there is a terminal; elsewhere nothing is written.
    """

    def __init__(self, context: Context) -> None:
        self._out = context.stderr
        self._terminal = Terminal.of(context.stderr, context.env)
        self._lock = Lock()
        self._used = 0
        self.shown = self._terminal.tty

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._used:
            self._out.write("\n")

    def tell(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Show how far it is, of how much where that is known, and in which words."""
        if not self.shown:
            return
        share = max(0.0, min(1.0, done / total)) if total else None
        number = f"{done:g}" if share is None else f"{_bar(share)} {share:4.0%}"
        text = self._terminal.fit(f"{number} {one_line(message or '')}".rstrip())
        with self._lock:
            rest = " " * max(0, self._used - columns(text))
            self._used = columns(text)
            self._out.write(f"\r{text}{rest}")
            self._out.flush()


def _bar(share: float) -> str:
    full = int(WIDTH * share)
    return f"[{'#' * full}{'.' * (WIDTH - full)}]"
