"""The Computer's side of the watchdog process, which ends MCP servers if the Computer is killed."""

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

from a2c_smcp.common.backoff import backoff_delay
from a2c_smcp.computer.mcp import watchdog

logger = logging.getLogger(__name__)

_SCRIPT: Final = str(Path(watchdog.__file__))
_EXIT_SECONDS: Final = 20.0
LONGEST_PAUSE: Final = 60.0


class WatchdogClient:
    """The pipe to the watchdog process, which starts with the first server process."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(8)
        self._groups: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self._restarts = 0
        self._lock = threading.RLock()

    def environment(self) -> dict[str, str]:
        """Return the environment variable that marks the processes of one start; start the watchdog if needed."""
        self._send("")
        self._starts += 1
        return {watchdog.MARK: f"{self.token}.{self._starts}."}

    def watch(self, group: int) -> None:
        """Let the watchdog end this process group if the Computer dies."""
        self._groups.add(group)
        self._send(f"+{group}\n")

    def forget(self, group: int) -> None:
        """Stop watching a process group that has ended."""
        self._groups.discard(group)
        self._send(f"-{group}\n")

    async def close(self) -> None:
        """Stop the watchdog. It ends the process groups that are still registered."""
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

    def _send(self, text: str) -> None:
        with self._lock:
            if self._process is None or not self._write(self._process, text):
                self._start()

    def _start(self) -> None:
        if self._process is not None:
            logger.warning("watchdog process ended: restarting")
            self._wait(self._process)
        # The child inherits the signal mask, so that it ignores these signals from the beginning.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, watchdog.IGNORED)
        try:
            # Isolated and without `site` it starts in milliseconds; with an empty environment it has no mark.
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
        threading.Thread(target=self._supervise, args=(self._process,), name="a2c-watchdog", daemon=True).start()

    def _supervise(self, process: "subprocess.Popen[bytes]") -> None:
        """Restart the watchdog when it dies."""
        process.wait()
        pause = backoff_delay(self._restarts, base=0.1, longest=LONGEST_PAUSE)
        with self._lock:
            if self._process is not process:
                return
            self._restarts += 1
        time.sleep(pause)  # a watchdog that crashes at once must not be restarted in a tight loop
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
            process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
