"""A worker process as its service sees it: a message goes in, an answer comes out, or the process is at its end.

An answer is put together and passed on in the turn of the event loop in which its last byte arrives, and one timer
watches over all of them: streams, tasks and threads in between would take longer than many a page.
"""

import asyncio
import contextlib
import json
import socket
from collections.abc import Callable
from typing import Any, Final, Self, TypeAlias, cast

from a2c_smcp.common.child_python import FOLDER, environment, python_command
from a2c_smcp.documents.descriptors import CAN_PASS, Descriptor
from a2c_smcp.documents.worker_main import ANSWER_HEAD, MAX_BODY, OcrReply, Setup, WorkerRequest, pack

Answer: TypeAlias = tuple[dict[str, Any], bytes]
"""Head and body."""

Then: TypeAlias = Callable[[Answer | Exception], None]
"""What to do with an answer, or with what became of it: `TimeoutError`, `EOFError` where the process is at its end,
`ValueError` where it makes no sense. After an error the process is of no more use."""

MAX_HEAD: Final = 1 << 20

HEAP: Final = {"MALLOC_TRIM_THRESHOLD_": str(8 << 20), "MALLOC_MMAP_THRESHOLD_": str(4 << 20)}
"""What the C library is to keep of the memory that a page no longer needs. By default it gives all of it back to the
system and asks for it with the next page, which takes a fault for each 4 KiB: up to a tenth of the time of a page."""

_CODE: Final = "from a2c_smcp.documents.worker_main import main; main()"


class Channel(asyncio.SubprocessProtocol):
    """A process that runs, to be asked one thing at a time.

    Attributes:
        is_silent: It will say nothing more.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[None] = self._loop.create_future()
        self._then: Then | None = None
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._received = bytearray()
        self._passing: socket.socket | None = None
        self.is_silent = False

    @classmethod
    async def start(cls) -> Self:
        """Start a process."""
        ours, theirs = socket.socketpair() if CAN_PASS else (None, None)
        numbers = () if theirs is None else (theirs.fileno(),)
        try:
            process, channel = await cls._exec(numbers)
        except BaseException:
            if ours is not None:
                ours.close()
            raise
        finally:
            if theirs is not None:
                theirs.close()
        channel._passing = ours  # noqa: SLF001 - its own
        output = cast("asyncio.ReadTransport", process.get_pipe_transport(1))
        output.set_protocol(_Output(channel, output.get_protocol()))
        return channel

    @classmethod
    async def _exec(cls, numbers: tuple[int, ...]) -> tuple[asyncio.SubprocessTransport, Self]:
        return await asyncio.get_running_loop().subprocess_exec(
            cls,
            *python_command(_CODE, *map(str, numbers)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=FOLDER,
            env=HEAP | environment(),
            **cast("dict[str, Any]", {"pass_fds": numbers} if numbers else {}),
        )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.get_pid()

    @property
    def takes_files(self) -> bool:
        """Whether the process gets open files instead of paths."""
        return self._passing is not None

    @property
    def seconds_left(self) -> float:
        """How long the answer to the last message may still take."""
        return max(self._deadline - self._loop.time(), 0.0)

    def post(
        self, message: WorkerRequest | Setup | OcrReply, seconds: float, then: Then, held: Descriptor | None = None
    ) -> None:
        """Send a message, with an open file where one is given, and do something with its answer.

        The answer may take so many seconds.
        """
        pipe = cast("asyncio.WriteTransport", self._process.get_pipe_transport(0))
        if self.is_silent or pipe.is_closing():
            self._loop.call_soon(then, EOFError())
            return
        if held is not None and self._passing is not None and isinstance(message, WorkerRequest):
            try:
                socket.send_fds(self._passing, [b"f"], [held.number])
            except OSError:
                self._loop.call_soon(then, EOFError())
                return
            message = message._replace(held=True)
        pipe.write(pack(message))
        # The process is at work: the rest costs nobody's time.
        self._then = then
        self._deadline = self._loop.time() + seconds
        if self._timer is None or self._timer.when() > self._deadline:
            self._watch()

    async def ask(self, message: WorkerRequest | Setup, seconds: float, held: Descriptor | None = None) -> Answer:
        """Return the answer to a message, or raise what became of it."""
        answered: asyncio.Future[Answer | Exception] = self._loop.create_future()
        self.post(message, seconds, lambda answer: None if answered.done() else answered.set_result(answer), held)
        answer = await answered
        if isinstance(answer, Exception):
            raise answer
        return answer

    def hang_up(self) -> None:
        """Let the process go: it ends when its input does."""
        pipe = self._process.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()

    async def end(self, patience: float = 0) -> int | None:
        """Wait until the process is gone; return what it ended with, None where it had to be killed."""
        self._then = None
        if self._timer is not None:
            self._timer.cancel()
        try:
            if patience:
                await asyncio.wait([self._exited], timeout=patience)
        finally:
            code = self._process.get_returncode()
            if code is None:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()
        await self._exited
        self._process.close()
        return code

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over the process."""
        self._process = cast("asyncio.SubprocessTransport", transport)

    def receive(self, data: bytes) -> None:
        """Take what the process says."""
        self._received += data
        try:
            answer = _cut(self._received, wanted=self._then is not None)
        except ValueError as error:
            self._received.clear()
            self._give_up(error)
            self._process.close()
            return
        if answer is not None:
            self._pass_on(answer)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        """Give up where the process will say nothing more."""
        if fd == 1:
            self._give_up(EOFError())

    def process_exited(self) -> None:
        """Tell those who wait for the end."""
        if self._passing is not None:
            self._passing.close()
        if not self._exited.done():
            self._exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Let go of a process that went on its own."""
        self._process.close()

    def _watch(self) -> None:
        """Give up at the deadline: a timer that is early waits on, so that not every answer needs one of its own."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if self._then is None:
            return
        if self._loop.time() >= self._deadline:
            self._give_up(TimeoutError())
        else:
            self._timer = self._loop.call_at(self._deadline, self._watch)

    def _give_up(self, error: Exception) -> None:
        self.is_silent = True
        self._pass_on(error)

    def _pass_on(self, answer: Answer | Exception) -> None:
        then, self._then = self._then, None
        if then is not None:
            then(answer)


class _Output(asyncio.Protocol):
    """Brings what a process says without the turn of the loop that its transport takes to do so."""

    def __init__(self, channel: Channel, replaced: asyncio.BaseProtocol) -> None:
        self._channel = channel
        self._replaced = replaced

    def data_received(self, data: bytes) -> None:
        self._channel.receive(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._replaced.connection_lost(exc)


def _cut(received: bytearray, *, wanted: bool) -> Answer | None:
    """Take an answer from what was received, None while a part of it is missing.

    Raises:
        ValueError: It is too large, no answer at all, or nobody has asked.
    """
    if not wanted:
        raise ValueError("an answer that nobody wants")
    if len(received) < ANSWER_HEAD.size:
        return None
    head_length, body_length = ANSWER_HEAD.unpack_from(received)
    if head_length > MAX_HEAD or body_length > MAX_BODY:
        raise ValueError("an answer that is too large")
    begin = ANSWER_HEAD.size + head_length
    end = begin + body_length
    if len(received) < end:
        return None
    if len(received) > end:
        raise ValueError("more than an answer")
    try:
        head = json.loads(received[ANSWER_HEAD.size : begin]) if head_length else {}
    except RecursionError:
        raise ValueError("an answer that is nested too deep") from None
    if not isinstance(head, dict):
        raise ValueError("an answer that is none")  # noqa: TRY004 - the worker's fault, told like its other ones
    body = bytes(memoryview(received)[begin:])
    received.clear()
    return head, body
