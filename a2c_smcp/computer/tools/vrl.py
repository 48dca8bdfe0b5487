"""Runs VRL scripts over the results of tools, each in a worker process with a time limit."""

import asyncio
import json
import re
import subprocess
from collections import OrderedDict
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

from a2c_smcp.common.child_python import FOLDER, environment, script_command
from a2c_smcp.common.extras import install_hint
from a2c_smcp.computer.tools import vrl_worker

MAX_SCRIPT: Final = 64 << 10
MAX_WORKERS: Final = 8
CHECK_SECONDS: Final = 10
RUN_SECONDS: Final = 5
ALARMED: Final = -14
"""The exit code of a process that was ended by SIGALRM."""


_LONE: Final = re.compile("[\ud800-\udfff]")


class VrlError(Exception):
    """A script failed; the message says why."""


def not_installed() -> str:
    """Return what to do where the library is missing."""
    return f"VRL needs an extra: {install_hint('vrl')}"


def check_vrl(script: str) -> str | None:
    """Return the error of a script as one line, or None.

    The script is compiled in another process (about 50 ms, once for each script), because it can crash the compiler.
    """
    if len(script) > MAX_SCRIPT:
        return f"the script is longer than {MAX_SCRIPT >> 10} KiB"
    if _LONE.search(script):
        return "the script is not valid Unicode"
    try:
        return _fault(script)
    except VrlError as error:
        return str(error)


@lru_cache(maxsize=256)
def _fault(script: str) -> str | None:
    # Temporary failures are raised, because exceptions are not cached.
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            _command("check"),
            input=json.dumps(script).encode() + b"\n",
            cwd=FOLDER,
            env=environment(),  # scripts can read it
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=CHECK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise VrlError(f"the script takes longer than {CHECK_SECONDS} s to compile") from None
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return "the script is nested too deep to compile"
    if "missing" in answer:
        raise VrlError(not_installed())
    fault: str | None = answer["fault"]
    return fault


class VrlRunner:
    """Runs scripts in worker processes, one for each script, so that a slow script delays no other.

    Args:
        seconds: The time limit of a script.
        workers: The most worker processes.
        grace: How long to wait beyond the worker's own time limit.
    """

    def __init__(self, *, seconds: int = RUN_SECONDS, workers: int = MAX_WORKERS, grace: float = 1.0) -> None:
        self._seconds, self._most, self._grace = seconds, workers, grace
        self._workers: OrderedDict[str, _VrlWorker] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    async def run(self, script: str, event: dict[str, Any]) -> str:
        """Return the script's result for an event, as JSON.

        Raises:
            VrlError: The script failed, took too long or returned too much; or the library is missing.
        """
        worker = self._workers.get(script) or _VrlWorker(script, self._seconds, self._grace)
        self._workers[script] = worker
        self._workers.move_to_end(script)
        if len(self._workers) > self._most:
            _, oldest = self._workers.popitem(last=False)
            closing = asyncio.create_task(oldest.aclose())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
        return await worker.run(event)

    async def aclose(self) -> None:
        """End the workers."""
        workers = list(self._workers.values())
        self._workers.clear()
        await asyncio.gather(*self._closing, *(worker.aclose() for worker in workers))


class _VrlWorker:
    """One worker process, started on demand."""

    def __init__(self, script: str, seconds: int, grace: float) -> None:
        self._script, self._seconds, self._grace = script, seconds, grace
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    async def run(self, event: dict[str, Any]) -> str:
        try:
            # The worker ends itself a little earlier; this covers waiting for the lock and systems without SIGALRM.
            async with asyncio.timeout(self._seconds + self._grace), self._lock:
                answer = await self._talk(event)
        except TimeoutError:
            raise VrlError(_too_long(self._seconds)) from None
        if "missing" in answer:
            raise VrlError(not_installed())
        if "error" in answer:
            raise VrlError(answer["error"])
        return str(answer["text"])

    async def aclose(self) -> None:
        async with self._lock:
            await self._end()

    async def _talk(self, event: dict[str, Any]) -> dict[str, Any]:
        try:
            return await self._exchange(event)
        except (OSError, asyncio.IncompleteReadError):
            code = await self._end(patience=5.0)
            raise VrlError(_too_long(self._seconds) if code == ALARMED else "the script broke down") from None
        except BaseException:
            # Cancelled during an exchange: the next reply would belong to this event.
            await self._end()
            raise

    async def _exchange(self, event: dict[str, Any]) -> dict[str, Any]:
        line = json.dumps(event).encode() + b"\n"
        process = self._process or await self._start()
        stdin, stdout = cast("tuple[asyncio.StreamWriter, asyncio.StreamReader]", (process.stdin, process.stdout))
        stdin.write(line)
        await stdin.drain()
        answer: dict[str, Any] = json.loads(await stdout.readuntil(b"\n"))
        return answer

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = process = await asyncio.create_subprocess_exec(
            *_command("run", str(self._seconds)),
            cwd=FOLDER,
            env=environment(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=vrl_worker.MAX_OUTPUT + 2,
        )
        cast("asyncio.StreamWriter", process.stdin).write(json.dumps(self._script).encode() + b"\n")
        return process

    async def _end(self, patience: float = 0) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        cast("asyncio.StreamWriter", process.stdin).close()
        with suppress(TimeoutError):
            # Do not kill a process that is exiting: that could hide its exit code.
            await asyncio.wait_for(process.wait(), patience)
        with suppress(ProcessLookupError):
            process.kill()
        return await process.wait()


def _too_long(seconds: int) -> str:
    return f"the script took longer than {seconds} s"


def _command(*arguments: str) -> list[str]:
    return script_command(str(Path(vrl_worker.__file__)), *arguments)
