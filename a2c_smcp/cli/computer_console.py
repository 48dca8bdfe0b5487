"""The console of `a2c computer --console`: served while the Computer works, at an address that opens it once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from a2c_smcp.cli.computer_owner import Owner

if TYPE_CHECKING:
    from a2c_smcp.console.api import Console
    from a2c_smcp.console.calls import CallLog


class OwnersConsole:
    """A console, if there is a port for it.

    Attributes:
        log: What hears of tool calls; None without a console.
    """

    def __init__(self, port: int | None = None) -> None:
        self._port = port
        self._console: Console | None = None
        self.log: CallLog | None = None if port is None else _log()

    def connection_changed(self) -> None:
        """Tell open pages that the connection is not as it was."""
        if self._console is not None:
            self._console.connection_changed()

    @asynccontextmanager
    async def open(self, owner: Owner) -> AsyncIterator[str | None]:
        """Serve it, and yield the address that opens it once; None without a console.

        Raises:
            InvalidConfig: The port cannot be used.
        """
        if self._port is None or self.log is None:
            yield None
            return
        from a2c_smcp.console.api import Console  # noqa: PLC0415
        from a2c_smcp.console.serving import serve_console  # noqa: PLC0415

        self._console = console = Console(owner.computer, owner.desk, self.log)
        async with serve_console(console, port=self._port) as base:
            owner.console = lambda: console.app.url(base)
            owner.computer.calls.consent.console = base
            yield owner.console()


# Only those who want a console need what it is made of.
def _log() -> "CallLog":
    from a2c_smcp.console.calls import CallLog  # noqa: PLC0415

    return CallLog()
