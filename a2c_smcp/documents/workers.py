"""Processes that parse, so that a hostile file ends one of them and nothing else.

Workers are started when they are needed and end when they idle. Each does one request at a time. A document stays with
the worker that has it open; when that one is busy with another document, any idle worker takes over. A request past
its deadline ends the worker. Whatever ends the service, its workers end with it: their input breaks.
"""

import asyncio
import contextlib
import json
import logging
import os
import pickle
import signal
import sys
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from a2c_smcp.documents.formats.registry import registered
from a2c_smcp.documents.worker_main import (
    ANSWER_HEAD,
    MAX_BODY,
    MAX_OPEN,
    REQUEST_HEAD,
    Request,
    Setup,
    Unsupported,
)
from a2c_smcp.errors import DocumentError

MEMORY: Final = 2 << 30
"""The most address space of a worker. What pdfium, lxml and Pillow map for an ordinary document is a tenth of it."""

TIRED: Final = 384 << 20
"""A worker that still holds so much after an answer is replaced."""

MAX_WORKERS: Final = 4
IDLE_SECONDS: Final = 60.0
START_SECONDS: Final = 60.0
MAX_HEAD: Final = 1 << 20

_SIGNALS: Final = {number.value: number.name for number in signal.Signals}
_CODE: Final = "from a2c_smcp.documents.worker_main import main; main()"

_log = logging.getLogger(__name__)


class WorkerEnded(DocumentError):
    """The worker did not survive the request; the message says what happened to it."""


class FileChanged(DocumentError):
    """The file is not the one that was asked for any more: it was written, or is gone."""


class _Crashed(Exception):
    """The process is gone, with this exit code."""

    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.signal = "" if code is None or code >= 0 else _SIGNALS.get(-code, "")

    def told(self) -> DocumentError:
        """What its caller is told. Who stops everything stops the workers, too: that is no fault of the file."""
        if self.signal in ("SIGTERM", "SIGINT", "SIGHUP"):
            return Unreadable("its parser was stopped", lasting=False)
        return WorkerEnded(f"the parser crashed ({self.signal})" if self.signal else "the parser crashed")


class Unreadable(DocumentError):
    """The parser gave up.

    Attributes:
        lasting: It would do so again with the same bytes.
    """

    def __init__(self, message: str | None = None, *, lasting: bool = True, **others: Any) -> None:
        super().__init__(message, **others)
        self.lasting = lasting


@dataclass(slots=True)
class _Waiting:
    path: str
    background: bool
    chosen: "asyncio.Future[_Worker]"


class WorkerPool:
    """Workers for the documents of one service.

    Args:
        size: The most workers at a time; by default one a core, at most `MAX_WORKERS`.
        memory: The most address space of each.
        tired: What a worker may still hold after an answer; one that holds more is replaced.
    """

    def __init__(self, size: int | None = None, *, memory: int = MEMORY, tired: int = TIRED) -> None:
        self.size = size or min(os.cpu_count() or 1, MAX_WORKERS)
        self._setup = Setup(registered(), memory, tired)
        self._workers: list[_Worker] = []
        self._waiting: list[_Waiting] = []
        self._running: set[asyncio.Task[bytes]] = set()
        self._reaper: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers that run."""
        return [worker.process.pid for worker in self._workers if worker.process is not None]

    async def call(self, request: Request, *, background: bool = False) -> bytes:
        """Return the answer to a request; one in the background waits for all others, and leaves them a worker.

        Raises:
            Unreadable: The parser gave up.
            Unsupported: The format cannot do that.
            WorkerEnded: The worker crashed, or had to be ended at the deadline.
        """
        # A caller that leaves must not leave a worker behind that is still writing its answer.
        task = asyncio.create_task(self._call(request, background=background))
        self._running.add(task)
        task.add_done_callback(self._land)
        return await asyncio.shield(task)

    def _land(self, task: "asyncio.Task[bytes]") -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # seen, even if the caller has left

    async def close(self) -> None:
        """End every worker; what is still asked of them fails."""
        self._closed = True
        if self._reaper is not None:
            self._reaper.cancel()
        for waiting in self._waiting:
            waiting.chosen.cancel()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in self._workers))
        self._workers.clear()

    async def _call(self, request: Request, *, background: bool) -> bytes:
        if self._closed:
            raise Unreadable("the service is closed", lasting=False)
        waiting = _Waiting(request.path, background, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._dispatch()
        worker = await waiting.chosen
        try:
            head, body = await worker.exchange(request)
        finally:
            worker.release()
            if worker.process is None:
                self._workers.remove(worker)
            self._dispatch()
        return _result(head, body)

    def _dispatch(self) -> None:
        """Give waiting requests to workers: those somebody waits for first, then in their order."""
        for waiting in sorted(self._waiting, key=lambda one: one.background):
            worker = self._choose(waiting)
            if worker is not None:
                self._waiting.remove(waiting)
                worker.take(waiting.path, background=waiting.background)
                waiting.chosen.set_result(worker)
        if self._reaper is None and not self._closed:
            self._reaper = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._reap)

    def _choose(self, waiting: _Waiting) -> "_Worker | None":
        if waiting.background and self.size > 1:
            behind = sum(worker.background for worker in self._workers)
            if behind >= self.size - 1:
                return None
        holder = next((worker for worker in self._workers if waiting.path in worker.open), None)
        if holder is not None and holder.busy_with in (None, waiting.path):
            return holder if holder.busy_with is None else None
        idle = [worker for worker in self._workers if worker.busy_with is None]
        if idle:
            return min(idle, key=lambda worker: len(worker.open))
        if len(self._workers) < self.size:
            worker = _Worker(self._setup)
            self._workers.append(worker)
            return worker
        return None

    def _reap(self) -> None:
        now = asyncio.get_running_loop().time()
        idle = [w for w in self._workers if w.busy_with is None and now - w.idle_since >= IDLE_SECONDS / 2]
        for worker in idle:
            self._workers.remove(worker)
            worker.hang_up()
        self._reaper = None
        if self._workers:
            self._dispatch()


class _Worker:
    """One process, started by its first request."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self.process: asyncio.subprocess.Process | None = None
        self.busy_with: str | None = None
        self.background = False
        self.idle_since = 0.0
        self.open: OrderedDict[str, None] = OrderedDict()

    def take(self, path: str, *, background: bool) -> None:
        self.busy_with, self.background = path, background
        self.open.pop(path, None)
        self.open[path] = None
        while len(self.open) > MAX_OPEN:
            self.open.popitem(last=False)

    def release(self) -> None:
        self.busy_with, self.background = None, False
        self.idle_since = asyncio.get_running_loop().time()

    async def exchange(self, request: Request) -> tuple[dict[str, Any], bytes]:
        """Ask the process, which is ended if it does not answer in time.

        One that has served before may have died idle, or of what an earlier document did to its memory: only a fresh
        one that dies speaks against the request.
        """
        used = self.process is not None
        try:
            return await self._exchange(request)
        except _Crashed as crash:
            if not used:
                raise crash.told() from crash
        try:
            return await self._exchange(request)
        except _Crashed as crash:
            raise crash.told() from crash

    async def _exchange(self, request: Request) -> tuple[dict[str, Any], bytes]:
        try:
            if self.process is None:
                self.process = await self._start()
                async with asyncio.timeout(START_SECONDS):
                    await _ask(self.process, self._setup)
            async with asyncio.timeout(request.seconds):
                head, body = await _ask(self.process, request)
        except TimeoutError:
            await self.end()
            raise WorkerEnded(f"it took longer than {request.seconds:g} seconds") from None
        except (asyncio.IncompleteReadError, OSError, ValueError) as error:
            raise _Crashed(await self._bury()) from error
        except BaseException:
            await self.end()
            raise
        if head.get("tired"):
            await self.end()
        return head, body

    async def end(self) -> None:
        """Kill the process and wait until it is gone."""
        process, self.process = self.process, None
        self.open.clear()
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()

    def hang_up(self) -> None:
        """Let an idle process go: it ends when its input does."""
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()

    @staticmethod
    async def _start() -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _CODE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            limit=1 << 20,
        )

    async def _bury(self) -> int | None:
        process = self.process
        if process is not None:
            # Its output has ended; what is left of it ends on its own or by the kill.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 5)
        code = process.returncode if process is not None else None
        await self.end()
        _log.info("A worker ended", extra={"status": code})
        return code


async def _ask(process: asyncio.subprocess.Process, message: Request | Setup) -> tuple[dict[str, Any], bytes]:
    requests, answers = process.stdin, process.stdout
    if requests is None or answers is None:
        raise ValueError("a worker without pipes")
    data = pickle.dumps(message)
    requests.write(REQUEST_HEAD.pack(len(data)) + data)
    head_length, body_length = ANSWER_HEAD.unpack(await answers.readexactly(ANSWER_HEAD.size))
    if head_length > MAX_HEAD or body_length > MAX_BODY:
        raise ValueError("an answer that is too large")
    head = json.loads(await answers.readexactly(head_length))
    if not isinstance(head, dict):
        raise ValueError("an answer that is none")  # noqa: TRY004 - the worker's fault, told like its other ones
    return head, await answers.readexactly(body_length)


def _result(head: dict[str, Any], body: bytes) -> bytes:
    match head:
        case {"ok": True}:
            return body
        case {"error": str(why), "kind": "unsupported"}:
            raise Unsupported(why)
        case {"kind": "changed"}:
            raise FileChanged
        case {"error": str(why), "kind": kind}:
            raise Unreadable(why, lasting=kind == "unreadable")
        case _:
            raise WorkerEnded("the parser gave no sense")
