"""Processes that parse, so that a hostile file ends one of them and nothing else.

Workers are started when they are needed and end when they idle. Each does one request at a time. A document stays with
the worker that has it open; when that one is busy with another document, any idle worker takes over. A request past
its deadline ends the worker. Whatever ends the service, its workers end with it: their input breaks.
"""

import asyncio
import logging
import os
import signal
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from a2c_smcp.documents.channel import Answer, Channel
from a2c_smcp.documents.formats.registry import registered
from a2c_smcp.documents.worker_main import MAX_OPEN, Request, Setup, Unsupported
from a2c_smcp.errors import DocumentError

MEMORY: Final = 2 << 30
"""The most address space of a worker. What pdfium, lxml and Pillow map for an ordinary document is a tenth of it."""

TIRED: Final = 384 << 20
"""A worker that still holds so much after an answer is replaced."""

MAX_WORKERS: Final = 4
IDLE_SECONDS: Final = 60.0
START_SECONDS: Final = 60.0
BURY_SECONDS: Final = 5.0

_SIGNALS: Final = {number.value: number.name for number in signal.Signals}

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
    request: Request
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
        return [worker.channel.pid for worker in self._workers if worker.channel is not None]

    async def call(self, request: Request, *, background: bool = False) -> bytes:
        """Return the answer to a request; see `begin`."""
        return await asyncio.shield(self.begin(request, background=background))

    def begin(self, request: Request, *, background: bool = False) -> "asyncio.Task[bytes]":
        """Ask a worker; one in the background waits for all others, and leaves them a worker.

        The task belongs to the pool. Who waits for it shields it: cancelled, it costs the worker that is still writing
        the answer.

        Raises:
            Unreadable: The parser gave up.
            Unsupported: The format cannot do that.
            WorkerEnded: The worker crashed, or had to be ended at the deadline.
        """
        waiting = _Waiting(request, background, asyncio.get_running_loop().create_future())
        if not self._closed:
            # A worker that is free begins now, not when the task does.
            self._waiting.append(waiting)
            self._dispatch()
        task = asyncio.create_task(self._call(waiting))
        self._running.add(task)
        task.add_done_callback(self._land)
        return task

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

    async def _call(self, waiting: _Waiting) -> bytes:
        if self._closed:
            raise Unreadable("the service is closed", lasting=False)
        worker = await waiting.chosen
        try:
            head, body = await worker.exchange(waiting.request)
        finally:
            worker.release()
            if worker.channel is None:
                self._workers.remove(worker)
            self._dispatch()
        return _result(head, body)

    def _dispatch(self) -> None:
        """Give waiting requests to workers: those somebody waits for first, then in their order."""
        for waiting in sorted(self._waiting, key=lambda one: one.background):
            worker = self._choose(waiting)
            if worker is not None:
                self._waiting.remove(waiting)
                worker.take(waiting.request, background=waiting.background)
                waiting.chosen.set_result(worker)
        if self._reaper is None and not self._closed:
            self._reaper = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._reap)

    def _choose(self, waiting: _Waiting) -> "_Worker | None":
        if waiting.background and self.size > 1:
            behind = sum(worker.background for worker in self._workers)
            if behind >= self.size - 1:
                return None
        path = waiting.request.path
        holder = next((worker for worker in self._workers if path in worker.open), None)
        if holder is not None and holder.busy_with in (None, path):
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
            if worker.channel is not None:
                worker.channel.hang_up()
        self._reaper = None
        if self._workers:
            self._dispatch()


class _Worker:
    """One process, started by its first request."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self.channel: Channel | None = None
        self.busy_with: str | None = None
        self.background = False
        self.idle_since = 0.0
        self.open: OrderedDict[str, None] = OrderedDict()

    def take(self, request: Request, *, background: bool) -> None:
        """Begin with a request, whose answer `exchange` gives; a process that does not run yet begins later."""
        path = request.path
        self.busy_with, self.background = path, background
        if self.channel is not None:
            self.channel.post(request, request.seconds)
        self.open.pop(path, None)
        self.open[path] = None
        while len(self.open) > MAX_OPEN:
            self.open.popitem(last=False)

    def release(self) -> None:
        self.busy_with, self.background = None, False
        self.idle_since = asyncio.get_running_loop().time()

    async def exchange(self, request: Request) -> Answer:
        """Return what the process answers, which is ended if it does not do so in time.

        One that has served before may have died idle, or of what an earlier document did to its memory: only a fresh
        one that dies speaks against the request.
        """
        used = self.channel is not None
        try:
            return await self._exchange(request)
        except _Crashed as crash:
            if not used:
                raise crash.told() from crash
        try:
            return await self._exchange(request)
        except _Crashed as crash:
            raise crash.told() from crash

    async def _exchange(self, request: Request) -> Answer:
        try:
            if self.channel is None:
                self.channel = await Channel.start()
                self.channel.post(self._setup, START_SECONDS)
                await self.channel.answer()
                self.channel.post(request, request.seconds)
            head, body = await self.channel.answer()
        except TimeoutError:
            await self.end()
            raise WorkerEnded(f"it took longer than {request.seconds:g} seconds") from None
        except (EOFError, OSError) as error:
            # What is left of it ends on its own or by the kill.
            code = await self.end(BURY_SECONDS)
            _log.info("A worker ended", extra={"status": code})
            raise _Crashed(code) from error
        except ValueError as error:
            await self.end()
            raise _Crashed(None) from error
        except BaseException:
            await self.end()
            raise
        if head.get("tired"):
            await self.end()
        return head, body

    async def end(self, patience: float = 0) -> int | None:
        """Wait until the process is gone; return what it ended with, None where it had to be killed."""
        channel, self.channel = self.channel, None
        self.open.clear()
        return None if channel is None else await channel.end(patience)


def _result(head: dict[str, Any], body: bytes) -> bytes:
    match head:
        case {"error": str(why), "kind": "unsupported"}:
            raise Unsupported(why)
        case {"kind": "changed"}:
            raise FileChanged
        case {"error": str(why), "kind": kind}:
            raise Unreadable(why, lasting=kind == "unreadable")
        case {"error": _}:
            raise WorkerEnded("the parser gave no sense")
    return body
