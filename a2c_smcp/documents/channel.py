"""A worker process as its service sees it: a message goes in, an answer comes out, or the process is at its end.

An answer is put together in the turn of the event loop in which its last byte arrives, and one timer watches over it:
readers of streams, tasks and threads in between would take longer than many a page.
"""

import asyncio
import contextlib
import json
import os
import sys
from typing import Any, Final, Self, TypeAlias, cast

from a2c_smcp.documents.worker_main import ANSWER_HEAD, MAX_BODY, Request, Setup, pack

Answer: TypeAlias = tuple[dict[str, Any], bytes]
"""Head and body."""

MAX_HEAD: Final = 1 << 20

_CODE: Final = "from a2c_smcp.documents.worker_main import main; main()"


class Channel(asyncio.SubprocessProtocol):
    """A process that runs, to be asked one thing at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[None] = self._loop.create_future()
        self._answer: asyncio.Future[Answer] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._received = bytearray()
        self._silent = False

    @classmethod
    async def start(cls) -> Self:
        """Start a process."""
        _, channel = await asyncio.get_running_loop().subprocess_exec(
            cls,
            sys.executable,
            "-c",
            _CODE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        return channel

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.get_pid()

    def post(self, message: Request | Setup, seconds: float) -> None:
        """Send a message, whose `answer` may take so many seconds."""
        self._answer = self._loop.create_future()
        if self._silent:
            self._fail(EOFError())
            return
        self._timer = self._loop.call_later(seconds, self._fail, TimeoutError())
        cast("asyncio.WriteTransport", self._process.get_pipe_transport(0)).write(pack(message))

    async def answer(self) -> Answer:
        """Return the answer to the message. After an error the process is of no more use.

        Raises:
            TimeoutError: It took too long.
            EOFError: There will be no answer.
            ValueError: What came is none.
        """
        if self._answer is None:
            raise EOFError
        try:
            return await self._answer
        finally:
            self._forget()

    def hang_up(self) -> None:
        """Let the process go: it ends when its input does."""
        pipe = self._process.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()

    async def end(self, patience: float = 0) -> int | None:
        """Wait until the process is gone; return what it ended with, None where it had to be killed."""
        self._forget()
        if patience:
            await asyncio.wait([self._exited], timeout=patience)
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

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002 - there is one pipe that is read
        """Take what the process says."""
        self._received += data
        try:
            answer = _cut(self._received, wanted=self._answer is not None)
        except ValueError as error:
            self._received.clear()
            self._silent = True
            self._process.close()
            self._fail(error)
            return
        if answer is not None and self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        """Give up where the process will say nothing more."""
        if fd == 1:
            self._silent = True
            self._fail(EOFError())

    def process_exited(self) -> None:
        """Tell those who wait for the end."""
        if not self._exited.done():
            self._exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Let go of a process that went on its own."""
        self._process.close()

    def _forget(self) -> None:
        if self._answer is not None:
            self._answer.cancel()  # where nobody has waited for it
        if self._timer is not None:
            self._timer.cancel()
        self._answer = self._timer = None

    def _fail(self, error: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)


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
    head = json.loads(received[ANSWER_HEAD.size : begin]) if head_length else {}
    if not isinstance(head, dict):
        raise ValueError("an answer that is none")  # noqa: TRY004 - the worker's fault, told like its other ones
    body = bytes(memoryview(received)[begin:])
    received.clear()
    return head, body
