"""VRL scripts over the results of tools, each in a process of its own that is ended when it takes too long."""

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
"""How a process ends whose alarm went off."""


_LONE: Final = re.compile("[\ud800-\udfff]")


class VrlError(Exception):
    """A script failed; the message says why."""


def not_installed() -> str:
    """Return what to do where the library is missing."""
    return f"VRL needs an extra: {install_hint('vrl')}"


def check_vrl(script: str) -> str | None:
    """Return what is wrong with a script, in a line, or None.

    It is compiled in another process (some 50 ms, once for each script): the compiler can be made to crash the one it
    runs in.
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
    # What may be otherwise next time is raised, because that is not remembered.
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
    """Runs scripts off the event loop. A worker serves one script, so that a slow one holds up nobody else.

    Args:
        seconds: How long a script may take.
        workers: How many scripts have a worker at a time.
        grace: How much longer than its own clock a worker is waited for.
    """

    def __init__(self, *, seconds: int = RUN_SECONDS, workers: int = MAX_WORKERS, grace: float = 1.0) -> None:
        self._seconds, self._most, self._grace = seconds, workers, grace
        self._workers: OrderedDict[str, _VrlWorker] = OrderedDict()
        self._leaving: set[asyncio.Task[None]] = set()

    async def run(self, script: str, event: dict[str, Any]) -> str:
        """Return what the script makes of an event, as JSON.

        Raises:
            VrlError: It failed, took too long or made too much; or the library is missing.
        """
        worker = self._workers.get(script) or _VrlWorker(script, self._seconds, self._grace)
        self._workers[script] = worker
        self._workers.move_to_end(script)
        if len(self._workers) > self._most:
            _, oldest = self._workers.popitem(last=False)
            leaving = asyncio.create_task(oldest.aclose())
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
        return await worker.run(event)

    async def aclose(self) -> None:
        """End the workers."""
        workers = list(self._workers.values())
        self._workers.clear()
        await asyncio.gather(*self._leaving, *(worker.aclose() for worker in workers))


class _VrlWorker:
    """One process; started when needed, and again after it was ended."""

    def __init__(self, script: str, seconds: int, grace: float) -> None:
        self._script, self._seconds, self._grace = script, seconds, grace
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    async def run(self, event: dict[str, Any]) -> str:
        try:
            # The process ends itself a little earlier; this is for who waits for a turn, and systems without alarms.
            async with asyncio.timeout(self._seconds + self._grace), self._turn:
                answer = await self._talk(event)
        except TimeoutError:
            raise VrlError(_too_long(self._seconds)) from None
        if "missing" in answer:
            raise VrlError(not_installed())
        if "error" in answer:
            raise VrlError(answer["error"])
        return str(answer["text"])

    async def aclose(self) -> None:
        async with self._turn:
            await self._end()

    async def _talk(self, event: dict[str, Any]) -> dict[str, Any]:
        try:
            return await self._exchange(event)
        except (OSError, asyncio.IncompleteReadError):
            code = await self._end(patience=5.0)
            raise VrlError(_too_long(self._seconds) if code == ALARMED else "the script broke down") from None
        except BaseException:
            # Given up in the middle of an exchange: the next answer would be this one's.
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
            # Who is ending already is not killed: that could hide how it ended.
            await asyncio.wait_for(process.wait(), patience)
        with suppress(ProcessLookupError):
            process.kill()
        return await process.wait()


def _too_long(seconds: int) -> str:
    return f"the script took longer than {seconds} s"


def _command(*arguments: str) -> list[str]:
    return script_command(str(Path(vrl_worker.__file__)), *arguments)
