"""A link to an MCP server that is a child process: JSON lines over its standard input and output.

The process leads a session and process group of its own, so that Ctrl-C at the terminal is not its business and closing
reaches its children too. Messages go straight from the pipe to the SDK, without a task between.
"""

import asyncio
import codecs
import os
import shutil
import signal
import subprocess
from collections import deque
from typing import Final, cast

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage

from a2c_smcp.computer.config.models import MCPServerStdioParameters
from a2c_smcp.computer.mcp import diagnosis, watchdog
from a2c_smcp.computer.mcp.diagnosis import ProcessOutput, ServerFailure
from a2c_smcp.computer.mcp.framing import LineSplitter, RawLine
from a2c_smcp.computer.mcp.jsonrpc import decode, encode
from a2c_smcp.computer.mcp.transport import (
    MAX_MESSAGE,
    Incoming,
    McpTransport,
    MessageReadStream,
    MessageWriteStream,
    ProcessActivity,
    TransportOpenError,
)
from a2c_smcp.computer.mcp.watchdog_client import WatchdogClient

INHERITED: Final = (
    *("HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "SSL_CERT_DIR", "SSL_CERT_FILE"),
    *("TERM", "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"),
)
"""The variables a server gets from the Computer's own environment: none that commonly holds a secret."""

STDERR_LINES: Final = 60
STDERR_LINE: Final = 64 * 1024
# How much may wait to be read before the pipe is left to fill up.
HIGH_WATER: Final = 64 * 1024
WRITE_AHEAD: Final = 1024 * 1024
# Output that is still in the pipe when the process ends is read for so long, if a child holds the pipe open.
DRAIN_SECONDS: Final = 1.0
GRACE_SECONDS: Final = 2.0
# Who was killed is gone as soon as the machine, however busy, gets to it.
KILLED_SECONDS: Final = 10.0


class StdioTransport(McpTransport):
    """One run of a server's process."""

    probed = False

    def __init__(
        self,
        parameters: MCPServerStdioParameters,
        guardian: WatchdogClient | None = None,
        *,
        grace: float = GRACE_SECONDS,
        max_message: int = MAX_MESSAGE,
    ) -> None:
        super().__init__()
        self._parameters = parameters
        self._guardian = guardian
        self._grace = grace
        self._mark = "-"
        encoding = codecs.lookup(parameters.encoding).name
        self._process = _Process(encoding, parameters.encoding_error_handler, max_message)
        self.output: ProcessOutput = self._process.output

    @property
    def pid(self) -> int:
        """The process, which leads the group of the same number."""
        return self._process.pid

    async def __aenter__(self) -> tuple[MessageReadStream, MessageWriteStream]:
        """Start the process."""
        parameters = self._parameters
        environment = {name: os.environ[name] for name in INHERITED if name in os.environ} | (parameters.env or {})
        if self._guardian is not None:
            environment |= (marks := self._guardian.environment())
            self._mark = marks[watchdog.MARK]
        try:
            # It takes a moment, and whoever gives up in the middle of it would leave a process to nobody.
            with anyio.CancelScope(shield=True):
                await asyncio.get_running_loop().subprocess_exec(
                    lambda: self._process,
                    parameters.command,
                    *parameters.args,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=parameters.cwd,
                    env=environment,
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            raise TransportOpenError(_cannot_start(error, parameters, environment.get("PATH"))) from error
        if self._guardian is not None:
            self._guardian.watch(self.pid)
        self._process.widen()
        return _StdoutReader(self._process), _StdinWriter(self._process)

    async def __aexit__(self, *_: object) -> None:
        """End the process and whatever it started: end of input, then SIGTERM, then SIGKILL."""
        with anyio.CancelScope(shield=True):
            try:
                await self._leave()
            except asyncio.CancelledError:
                # The program itself is ending: no more patience.
                self._signal(signal.SIGKILL)
                await self._process.ended_within(KILLED_SECONDS)
                raise
            finally:
                self._process.close()
                if self._guardian is not None:
                    self._guardian.forget(self.pid)

    @property
    def lost(self) -> ServerFailure | None:
        """The process has ended, or does not listen any more."""
        return self.explain(running=True) if self._process.over.is_set() else None

    def explain(self, *, running: bool) -> ServerFailure | None:
        """How the process ended; None while it lives."""
        if not self._process.over.is_set():
            return None
        return diagnosis.exited(self._process.exit_code, self._process.output, running=running)

    def work(self) -> ProcessActivity | None:
        """What the process and whatever it started have done so far."""
        if not self.pid or self._process.over.is_set():
            return None
        alive = watchdog.survivors({self.pid}, self._mark)
        done = [watchdog.work_of(pid) for pid in alive]
        return ProcessActivity(
            frozenset(alive), sum(cpu for cpu, _ in done), sum(size for _, size in done), self._process.said
        )

    async def _leave(self) -> None:
        process = self._process
        process.hang_up()
        if not await process.ended_within(self._grace):
            self._signal(signal.SIGTERM)
            if not await process.ended_within(self._grace):
                self._signal(signal.SIGKILL)
                await process.ended_within(KILLED_SECONDS)
        # What the process started may have outlived it, in its group or outside.
        clock = asyncio.get_running_loop().time
        for number, patience in ((signal.SIGTERM, self._grace), (signal.SIGKILL, KILLED_SECONDS)):
            if not await self._survivors():
                return
            await asyncio.to_thread(watchdog.signal_all, {self.pid}, self._mark, number)
            deadline = clock() + patience
            while clock() < deadline and await self._survivors():  # noqa: ASYNC110
                await asyncio.sleep(watchdog.POLL_SECONDS)

    async def _survivors(self) -> list[int]:
        return await asyncio.to_thread(watchdog.survivors, {self.pid}, self._mark)

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self.pid, number)
        except OSError:
            return


class _Process(asyncio.SubprocessProtocol):
    """The process as the loop reports it."""

    def __init__(self, encoding: str, errors: str, max_message: int) -> None:
        self.encoding = encoding
        self.errors = errors
        self.output = ProcessOutput(errors=deque(maxlen=STDERR_LINES))
        self.lines: deque[RawLine] = deque()
        self.over = asyncio.Event()
        """Nothing more will be read."""
        self.pid = 0
        self.exit_code: int | None = None
        self.said = 0
        """Bytes of standard error so far."""
        self._waiting = 0
        self._paused = False
        self._unwanted = False
        self._output_ended = False
        self._stdout = LineSplitter(encoding, limit=max_message)
        self._stderr = LineSplitter(limit=STDERR_LINE)
        self._exited = asyncio.Event()
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._ends_at: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process has started."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self.pid = self._transport.get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take in output; past the high-water mark the process has to wait."""
        if fd == 2:
            self.said += len(data)
            cast("deque[str]", self.output.errors).extend(_text(line) for line in self._stderr.feed(data))
        elif not self._unwanted:
            self._take(self._stdout.feed(data))
            if self._waiting > HIGH_WATER and not self._paused:
                self._paused = True
                self._pipe(1).pause_reading()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        """A pipe was closed: at the end of the process, or by it."""
        if fd == 1:
            self._output_ended = True
            self._take(self._stdout.end())
        if fd == 2:
            cast("deque[str]", self.output.errors).extend(_text(line) for line in self._stderr.end())
        else:
            self._ending(at_once=fd == 1 and self._exited.is_set())

    def process_exited(self) -> None:
        """The process has ended; a child of it may still hold its pipes."""
        self.exit_code = self._transport.get_returncode()
        self._exited.set()
        self._ending(at_once=self._output_ended)

    def widen(self) -> None:
        """Let a message or two wait for a busy process without making their senders wait."""
        pipe = self._transport.get_pipe_transport(0)
        cast("asyncio.WriteTransport", pipe).set_write_buffer_limits(high=WRITE_AHEAD)

    def pause_writing(self) -> None:
        """The process does not read as fast as we write."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """It has caught up."""
        self._writable.set()

    async def next_line(self) -> RawLine:
        """Wait for a line of standard output.

        Raises:
            anyio.EndOfStream: There will be no more.
        """
        while not self.lines:
            if self.over.is_set():
                raise anyio.EndOfStream
            self._arrived.clear()
            await self._arrived.wait()
        line = self.lines.popleft()
        self._waiting -= len(line)
        if self._paused and self._waiting < HIGH_WATER // 2:
            self._paused = False
            self._pipe(1).resume_reading()
        return line

    async def write(self, data: bytes) -> None:
        """Write to standard input.

        Raises:
            anyio.BrokenResourceError: It is closed.
        """
        pipe = self._transport.get_pipe_transport(0)
        if pipe is None or pipe.is_closing() or self.over.is_set():
            raise anyio.BrokenResourceError
        cast("asyncio.WriteTransport", pipe).write(data)
        await self._writable.wait()

    def hush(self) -> None:
        """Read on only to throw away: a process that cannot write cannot leave."""
        self._unwanted = True
        self.lines.clear()
        if self._paused:
            self._paused = False
            self._pipe(1).resume_reading()

    def hang_up(self) -> None:
        """Close standard input."""
        self.hush()
        self._finish()
        if (pipe := self._transport.get_pipe_transport(0)) is not None:
            pipe.close()

    async def ended_within(self, seconds: float) -> bool:
        """Whether the process ends within that time."""
        with anyio.move_on_after(seconds):
            await self._exited.wait()
        return self._exited.is_set()

    def close(self) -> None:
        """Let go of the pipes, whoever else holds them."""
        self._finish()
        self._transport.close()

    def _take(self, lines: list[RawLine]) -> None:
        self.lines.extend(lines)
        self._waiting += sum(map(len, lines))
        self._arrived.set()

    def _ending(self, *, at_once: bool) -> None:
        # The exit code and the last output belong together, so the one that comes first waits a little for the other.
        if at_once:
            self._finish()
        elif self._ends_at is None:
            self._ends_at = asyncio.get_running_loop().call_later(DRAIN_SECONDS, self._finish)

    def _finish(self) -> None:
        if self._ends_at is not None:
            self._ends_at.cancel()
        self.over.set()
        self._arrived.set()
        self._writable.set()

    def _pipe(self, descriptor: int) -> asyncio.ReadTransport:
        return cast("asyncio.ReadTransport", self._transport.get_pipe_transport(descriptor))


class _StdoutReader(MessageReadStream):
    """The messages on the process's standard output. What is none comes as an exception."""

    def __init__(self, process: _Process) -> None:
        self._process = process
        self._batch: deque[JSONRPCMessage] = deque()

    async def receive(self) -> Incoming:
        process = self._process
        if not self._batch:
            line = await process.next_line()
            try:
                self._batch.extend(decode(line, process.encoding, process.errors))
            except ValueError as error:
                process.output.heard_garbage(_text(line))
                return error
        return SessionMessage(self._batch.popleft())

    async def aclose(self) -> None:
        self._process.hush()


class _StdinWriter(MessageWriteStream):
    """Messages to the process's standard input."""

    def __init__(self, process: _Process) -> None:
        self._process = process
        # Incremental, because a byte-order mark belongs before the first message only.
        self._encoder = codecs.getincrementalencoder(process.encoding)()

    async def send(self, item: SessionMessage, /) -> None:
        await self._process.write(self._encoder.encode(f"{encode(item.message, self._process.encoding)}\n"))

    async def aclose(self) -> None:
        """The link itself hangs up, when it is left."""


def _text(line: RawLine) -> str:
    return (line if isinstance(line, str) else line.decode(errors="replace"))[: diagnosis.MAX_SUMMARY]


def _cannot_start(error: Exception, parameters: MCPServerStdioParameters, path: str | None) -> ServerFailure:
    match error:
        case FileNotFoundError() | NotADirectoryError() if error.filename == parameters.cwd and parameters.cwd:
            return diagnosis.no_directory()
        case FileNotFoundError() if shutil.which(parameters.command, path=path) is None:
            return diagnosis.not_found(parameters.command)
        case FileNotFoundError():
            return diagnosis.cannot_run(parameters.command, "the program that its first line names was not found")
        case OSError():
            return diagnosis.cannot_run(parameters.command, error.strerror or "it is not a program")
        case _:
            return diagnosis.cannot_run(parameters.command, "its arguments have a character that no program can take")
