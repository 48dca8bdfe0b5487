"""Progress on standard error: a bar for each step, where somebody can see it."""

from threading import Lock
from types import TracebackType
from typing import Final, Self

from a2c_smcp.cli.command import Context

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
            full = WIDTH * done // total
            self._out.write(f"\r{step:<10} [{'#' * full}{'.' * (WIDTH - full)}] {done}/{total}")
            self._out.flush()
