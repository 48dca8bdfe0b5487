"""Processes that parse, so that a hostile file ends one of them and nothing else.

Workers are started when they are needed and end when they idle. Each does one request at a time. A document stays with
the worker that has it open; when that one is busy with another document, any idle worker takes over. A request past
its deadline ends the worker. Whatever ends the service, its workers end with it: their input breaks.
"""

import asyncio
import errno
import json
import logging
import os
import signal
import threading
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

from a2c_smcp.documents.channel import Answer, Channel
from a2c_smcp.documents.codec import Passing
from a2c_smcp.documents.descriptors import Descriptor, regular_file
from a2c_smcp.documents.files import root_of, signature_in
from a2c_smcp.documents.formats.registry import registered
from a2c_smcp.documents.in_flight import InFlightRequest, Outcome
from a2c_smcp.documents.ocr.base import OcrService, TransientOcrError, engine_of
from a2c_smcp.documents.opening import Unsupported
from a2c_smcp.documents.sandbox import OFF, Confinement
from a2c_smcp.documents.worker_main import MAX_OPEN, NOT_HELD, OcrReply, Setup, WorkerRequest
from a2c_smcp.errors import DocumentError, SMCPError

MEMORY: Final = 2 << 30
"""The most address space of a worker. What pdfium, lxml and Pillow map for an ordinary document is a tenth of it."""

TIRED: Final = 384 << 20
"""A worker that still holds so much after an answer is replaced."""

MAX_WORKERS: Final = 4
IDLE_SECONDS: Final = 60.0
START_SECONDS: Final = 60.0
BURY_SECONDS: Final = 5.0

_SIGNALS: Final = {number.value: number.name for number in signal.Signals}

_GONE: Final = (errno.ENOENT, errno.ELOOP, errno.EXDEV, errno.ENOTDIR, errno.EISDIR, errno.ENXIO, errno.EMLINK)
"""What the system says where a file is gone, or something else has taken its place or that of a folder above."""

_PNG: Final = b"\x89PNG\r\n\x1a\n"

_log = logging.getLogger(__name__)


class WorkerEnded(DocumentError):
    """The worker did not survive the request; the message says what happened to it."""


class FileChanged(DocumentError):
    """The file is not the one that was asked for any more: it was written, or is gone."""


class Unreadable(DocumentError):
    """The parser gave up.

    Attributes:
        lasting: It would do so again with the same bytes.
    """

    def __init__(self, message: str | None = None, *, lasting: bool = True, **others: Any) -> None:
        super().__init__(message, **others)
        self.lasting = lasting


class WorkerPool:
    """Workers for the documents of one service.

    Args:
        size: The most workers at a time; by default one a core, at most `MAX_WORKERS`.
        memory: The most address space of each.
        tired: What a worker may still hold after an answer; one that holds more is replaced.
    """

    def __init__(self, size: int | None = None, *, memory: int = MEMORY, tired: int = TIRED) -> None:
        self.size = size or min(os.cpu_count() or 1, MAX_WORKERS)
        self._setup = _setup(memory, tired)
        self._workers: list[_Worker] = []
        self._waiting: list[InFlightRequest] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._reaper: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers that run."""
        channels = [worker.channel for worker in self._workers]
        return [channel.pid for channel in channels if channel is not None and not channel.is_silent]

    async def call(self, request: WorkerRequest, *, background: bool = False) -> bytes:
        """Return the answer to a request; one in the background waits for all others, and leaves them a worker.

        Raises:
            FileChanged: The file is another one now.
            Unreadable: The parser gave up.
            Unsupported: The format cannot do that.
            WorkerEnded: The worker crashed, or had to be ended at the deadline.
        """
        return await self.begin(request, background=background).wait()

    def begin(
        self, request: WorkerRequest, *, background: bool = False, landed: Callable[[Outcome], None] | None = None
    ) -> InFlightRequest:
        """Give a request to a worker as soon as one is free; `landed` is called with what `call` returns or raises."""
        flight = InFlightRequest(request, background=background, landed=landed)
        if self._closed:
            flight.land(Unreadable("the service is closed", lasting=False))
        elif (worker := self._choose(flight)) is not None:
            self._begin(worker, flight)
        else:
            self._waiting.append(flight)
        return flight

    async def close(self) -> None:
        """End every worker; who still waits for one is sent away."""
        self._closed = True
        if self._reaper is not None:
            self._reaper.cancel()
        busy = [worker.flight for worker in self._workers if worker.flight is not None]
        for flight in (*self._waiting, *busy):
            flight.cancel()
        self._waiting.clear()
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in self._workers))
        self._workers.clear()

    def _dispatch(self) -> None:
        """Give waiting requests to workers: those somebody waits for first, then in their order."""
        for flight in sorted(self._waiting, key=lambda one: one.background):
            worker = self._choose(flight)
            if worker is not None:
                self._waiting.remove(flight)
                self._begin(worker, flight)

    def _choose(self, flight: InFlightRequest) -> "_Worker | None":
        if flight.background and self.size > 1:
            behind = sum(worker.flight is not None and worker.flight.background for worker in self._workers)
            if behind >= self.size - 1:
                return None
        path = flight.request.path
        holder = next((worker for worker in self._workers if path in worker.open), None)
        if holder is not None and (holder.flight is None or holder.flight.request.path == path):
            return holder if holder.flight is None else None
        idle = [worker for worker in self._workers if worker.flight is None]
        if idle:
            return min(idle, key=lambda worker: len(worker.open))
        if len(self._workers) < self.size:
            worker = _Worker(self._setup)
            self._workers.append(worker)
            return worker
        return None

    def _begin(self, worker: "_Worker", flight: InFlightRequest) -> None:
        request = flight.request
        worker.flight, worker.asks_service = flight, False
        if worker.channel is None or worker.channel.is_silent:
            self._begin_anew(worker, flight, EOFError())
        elif request.path in worker.open or not worker.channel.takes_files:
            worker.channel.post(request, request.seconds, lambda answer: self._answer(worker, flight, answer))
        else:
            self._spawn(self._hand_over(worker, flight))
        worker.note(request.path)
        self._watch_idle()

    def _begin_anew(self, worker: "_Worker", flight: InFlightRequest, error: Exception) -> None:
        if not self._closed:
            self._spawn(self._restart(worker, flight, error))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _ask_service(self, worker: "_Worker", flight: InFlightRequest, answer: Answer) -> None:
        """Ask an OCR service for a worker, which has neither network nor keys; the request's clock runs on."""
        channel = worker.channel
        if channel is None:
            return
        deadline = asyncio.get_running_loop().time() + channel.seconds_left
        worker.asks_service = True
        said = await _in_thread(lambda: _said(flight.request, *answer))
        seconds = max(deadline - asyncio.get_running_loop().time(), 0.0)
        channel.post(said, seconds, lambda following: self._answer(worker, flight, following))

    async def _hand_over(self, worker: "_Worker", flight: InFlightRequest) -> None:
        """Ask a worker that does not have the document open: it gets the open file along with the request."""
        request, channel = flight.request, worker.channel
        try:
            held = await asyncio.to_thread(open_requested, request)
        except DocumentError as problem:
            worker.open.pop(request.path, None)
            self._free(worker)
            flight.land(problem)
            return
        if channel is None or channel.is_silent:
            self._begin_anew(worker, flight, EOFError())
        else:
            channel.post(request, request.seconds, lambda answer: self._answer(worker, flight, answer), held)

    async def _restart(self, worker: "_Worker", flight: InFlightRequest, error: Exception) -> None:
        """Ask a fresh process, unless it was the request that has ended this one."""
        try:
            if worker.channel is not None:
                await worker.bury(error, flight.request)
                worker.note(flight.request.path)
            answer = await worker.start(flight.request)
        except Exception as problem:  # noqa: BLE001 - whatever it is, somebody waits to hear it
            self._free(worker)
            flight.land(problem)
        else:
            self._answer(worker, flight, answer)

    def _answer(self, worker: "_Worker", flight: InFlightRequest, answer: Answer | Exception) -> None:
        if isinstance(answer, Exception):
            self._begin_anew(worker, flight, answer)
            return
        if answer[0].get("kind") == NOT_HELD and not self._closed:
            self._spawn(self._hand_over(worker, flight))
            return
        if "ask" in answer[0] and not self._closed:
            self._spawn(self._ask_service(worker, flight, answer))
            return
        self._free(worker)
        flight.land(_outcome(*answer))

    def _free(self, worker: "_Worker") -> None:
        worker.flight = None
        worker.idle_since = asyncio.get_running_loop().time()
        if worker.channel is None:
            self._workers.remove(worker)
        if self._waiting:
            self._dispatch()

    def _watch_idle(self) -> None:
        if self._reaper is None and self._workers:
            self._reaper = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._reap)

    def _reap(self) -> None:
        now = asyncio.get_running_loop().time()
        idle = [w for w in self._workers if w.flight is None and now - w.idle_since >= IDLE_SECONDS / 2]
        for worker in idle:
            self._workers.remove(worker)
            if worker.channel is not None:
                worker.channel.hang_up()
        self._reaper = None
        self._watch_idle()


class _Worker:
    """A place for a process, which its first request starts.

    Attributes:
        flight: What it is busy with.
        open: The documents it has open, the least recently read first.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self.channel: Channel | None = None
        self.flight: InFlightRequest | None = None
        self.idle_since = 0.0
        self.asks_service = False
        self.open: OrderedDict[str, None] = OrderedDict()

    def note(self, path: str) -> None:
        """Remember that the process has a document open."""
        self.open.pop(path, None)
        self.open[path] = None
        while len(self.open) > MAX_OPEN:
            self.open.popitem(last=False)

    async def start(self, request: WorkerRequest) -> Answer:
        """Return the answer of a fresh process.

        Raises:
            DocumentError: It did not survive the request.
        """
        try:
            self.channel = await Channel.start()
            await self.channel.ask(self._setup, START_SECONDS)
            held = await asyncio.to_thread(open_requested, request) if self.channel.takes_files else None
            return await self.channel.ask(request, request.seconds, held)
        except (FileChanged, Unreadable):  # the file is at fault, and the process as good as new
            self.open.pop(request.path, None)
            raise
        except (TimeoutError, EOFError, OSError, ValueError) as error:
            raise await self._told(error, request) from error
        except BaseException:
            await self.end()
            raise

    async def bury(self, error: Exception, request: WorkerRequest) -> None:
        """End a process that has failed.

        It has served before, and may have died idle, or of what an earlier document did to its memory: that does not
        speak against the request.

        Raises:
            WorkerEnded: It was the request that took too long.
        """
        problem = await self._told(error, request)
        if isinstance(error, TimeoutError):
            raise problem from error

    async def _told(self, error: Exception, request: WorkerRequest) -> DocumentError:
        """End the process; return what its caller is told."""
        if isinstance(error, TimeoutError):
            await self.end()
            if self.asks_service:  # which was slow, and not the file
                return Unreadable(f"OCR took longer than {request.seconds:g} seconds", lasting=False)
            return WorkerEnded(f"it took longer than {request.seconds:g} seconds")
        # Its output has ended, and what is left of it ends on its own or by the kill, or it speaks and makes no sense.
        code = await self.end(0 if isinstance(error, ValueError) else BURY_SECONDS)
        name = "" if code is None or code >= 0 else _SIGNALS.get(-code, "")
        _log.info("A worker ended", extra={"status": code})
        if name in ("SIGTERM", "SIGINT", "SIGHUP"):
            # Who stops everything stops the workers, too: that is no fault of the file.
            return Unreadable("its parser was stopped", lasting=False)
        return WorkerEnded(f"the parser crashed ({name})" if name else "the parser crashed")

    async def end(self, patience: float = 0) -> int | None:
        """Wait until the process is gone; return what it ended with, None where it had to be killed."""
        channel, self.channel = self.channel, None
        self.open.clear()
        return None if channel is None else await channel.end(patience)


def _said(request: WorkerRequest, head: dict[str, Any], png: bytes) -> OcrReply:
    policy = request.options.ocr if request.options is not None else None
    number = head["ask"]
    # What a worker says is not trusted: it may send pictures to the services that its request names, and nothing else.
    if policy is None or not isinstance(number, int) or not 0 <= number < len(policy.engines):
        return OcrReply("", "there is no such OCR service")
    if policy.engines[number].kind == "local" or not png.startswith(_PNG):
        return OcrReply("", "only pictures are sent to OCR services")
    try:
        return OcrReply(cast("OcrService", engine_of(policy.engines[number])).ask(png))
    except ModuleNotFoundError as error:
        return OcrReply("", str(error), missing=True)
    except SMCPError as error:
        return OcrReply("", error.message, passing=isinstance(error, TransientOcrError))
    except Exception as error:  # noqa: BLE001 - a worker waits to hear it
        _log.exception("An OCR service could not be asked")
        return OcrReply("", f"the service cannot be used ({type(error).__name__})", passing=True)


def _setup(memory: int, tired: int) -> Setup:
    return Setup(registered(), memory, tired, sandbox=os.environ.get(OFF) != "off")


async def confinement() -> Confinement:
    """Start a worker and return what it has given up.

    Raises:
        DocumentError: No worker can be started.
    """
    channel = await Channel.start()
    try:
        _, body = await channel.ask(_setup(MEMORY, TIRED), START_SECONDS)
        return Confinement(**json.loads(body))
    except (TimeoutError, EOFError, OSError, ValueError, TypeError) as error:
        raise DocumentError("a worker process cannot be started") from error
    finally:
        await channel.end()


async def _in_thread(work: Callable[[], OcrReply]) -> OcrReply:
    """Wait for something slow in a thread that keeps nothing from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[OcrReply] = loop.create_future()

    def run() -> None:
        outcome = work()
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(lambda: None if done.done() else done.set_result(outcome))

    threading.Thread(target=run, name="a2c-ocr", daemon=True).start()
    return await done


def open_requested(request: WorkerRequest) -> Descriptor:
    """Open the file of a request below its root.

    Raises:
        FileChanged: It is gone, is another one, or a link is in the way.
        Unreadable: The system refuses it.
    """
    root = request.root or root_of(request.path, Path(request.path).name)
    try:
        opened, status = regular_file(root, request.path[len(root) :].lstrip(os.sep))
    except OSError as error:
        if error.errno in _GONE:
            raise FileChanged from error
        raise Unreadable(error.strerror or type(error).__name__, lasting=False) from error
    if signature_in(status) != request.signature:
        raise FileChanged
    return opened


def _outcome(head: dict[str, Any], body: bytes) -> Outcome:
    match head:
        case {"error": str(why), "kind": "unsupported"}:
            return Unsupported(why)
        case {"kind": "changed"}:
            return FileChanged()
        case {"error": str(why), "kind": kind}:
            return Unreadable(why, lasting=kind == "unreadable")
        case {"error": _}:
            return WorkerEnded("the parser gave no sense")
        case {"passing": True}:
            return Passing(body)
    return body
