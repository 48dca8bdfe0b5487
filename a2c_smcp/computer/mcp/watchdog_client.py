"""Keeps a Computer from leaving processes behind: one small process that ends them when the Computer cannot."""

import asyncio
import logging
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Final, Self

from a2c_smcp.computer.mcp import watchdog

logger = logging.getLogger(__name__)

_SCRIPT: Final = str(Path(watchdog.__file__))
_FAREWELL_SECONDS: Final = 20.0
LONGEST_PAUSE: Final = 60.0


class WatchdogClient:
    """The Computer's end of the pipe to its watchdog, which is started with the first process to be watched over."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(8)
        self._groups: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self._restarts = 0
        self._lock = threading.RLock()

    def environment(self) -> dict[str, str]:
        """Return the variable that marks the processes of one start, and starts the watchdog if need be."""
        self._tell("")
        self._starts += 1
        return {watchdog.MARK: f"{self.token}.{self._starts}."}

    def watch(self, group: int) -> None:
        """End this process group should the Computer die."""
        self._groups.add(group)
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """The process group has ended."""
        self._groups.discard(group)
        self._tell(f"-{group}\n")

    async def close(self) -> None:
        """Send the watchdog home. What it still watched over is ended by it."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        if not self._groups:
            self._write(process, ".\n")
        await asyncio.to_thread(self._wait, process)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _tell(self, text: str) -> None:
        with self._lock:
            if self._process is None or not self._write(self._process, text):
                self._start()

    def _start(self) -> None:
        if self._process is not None:
            logger.warning("The watchdog of the MCP servers' processes has ended and is started again")
            self._wait(self._process)
        # It inherits the mask, so that it is deaf to these signals from its first moment.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, watchdog.IGNORED)
        try:
            # Isolated and without `site`, it is ready in milliseconds; with an empty environment it carries no mark.
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", "-S", _SCRIPT, f"{self.token}."],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._write(self._process, "".join(f"+{group}\n" for group in sorted(self._groups)))
        threading.Thread(target=self._attend, args=(self._process,), name="a2c-watchdog", daemon=True).start()

    def _attend(self, process: "subprocess.Popen[bytes]") -> None:
        """Start the watchdog again when it dies: it is what ends the processes of a Computer that is killed."""
        process.wait()
        pause = min(0.1 * 2 ** min(self._restarts, 16), LONGEST_PAUSE)
        with self._lock:
            if self._process is not process:
                return
            self._restarts += 1
        time.sleep(pause)  # one that cannot live is no reason to start processes without end
        with self._lock:
            if self._process is process:
                self._start()

    @staticmethod
    def _write(process: subprocess.Popen[bytes], text: str) -> bool:
        if process.stdin is None or process.stdin.closed or process.poll() is not None:
            return False
        try:
            os.write(process.stdin.fileno(), text.encode())
        except OSError:
            return False
        return True

    @staticmethod
    def _wait(process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(_FAREWELL_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
