"""The transport to an MCP server that is a child process: JSON lines finished its standard input and output.

The process leads its own session and process group, so that Ctrl-C at the terminal does not reach it, and closing ends
its children too. Messages go from the pipe directly to the SDK, without a task in between.
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
"""The variables that a server inherits from the Computer: none that commonly contains a secret."""

STDERR_LINES: Final = 60
STDERR_LINE: Final = 64 * 1024
# Bytes that may be buffered before reading from the pipe pauses.
HIGH_WATER: Final = 64 * 1024
WRITE_AHEAD: Final = 1024 * 1024
# How long to read remaining output after the process ended, if a child keeps the pipe open.
DRAIN_SECONDS: Final = 1.0
GRACE_SECONDS: Final = 2.0
# A killed process disappears as soon as the machine, however busy, schedules it.
KILLED_SECONDS: Final = 10.0


class StdioTransport(McpTransport):
    """One run of a server's process."""

    needs_probe = False

    def __init__(
        self,
        parameters: MCPServerStdioParameters,
        watchdog_client: WatchdogClient | None = None,
        *,
        grace: float = GRACE_SECONDS,
        max_message: int = MAX_MESSAGE,
    ) -> None:
        super().__init__()
        self._parameters = parameters
        self._watchdog = watchdog_client
        self._grace = grace
        self._mark = "-"
        encoding = codecs.lookup(parameters.encoding).name
        self._process = _Process(encoding, parameters.encoding_error_handler, max_message)
        self.output: ProcessOutput = self._process.output

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its process group."""
        return self._process.pid

    async def __aenter__(self) -> tuple[MessageReadStream, MessageWriteStream]:
        """Start the process."""
        parameters = self._parameters
        environment = {name: os.environ[name] for name in INHERITED if name in os.environ} | (parameters.env or {})
        if self._watchdog is not None:
            environment |= (marks := self._watchdog.environment())
            self._mark = marks[watchdog.MARK]
        try:
            # Shielded: a cancellation during the start would leave an unowned process behind.
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
        if self._watchdog is not None:
            self._watchdog.watch(self.pid)
        self._process.enlarge_write_buffer()
        return _StdoutReader(self._process), _StdinWriter(self._process)

    async def __aexit__(self, *_: object) -> None:
        """End the process and its children: close its input, then SIGTERM, then SIGKILL."""
        with anyio.CancelScope(shield=True):
            try:
                await self._shut_down()
            except asyncio.CancelledError:
                # The program itself is ending: kill at once.
                self._signal(signal.SIGKILL)
                await self._process.ended_within(KILLED_SECONDS)
                raise
            finally:
                self._process.close()
                if self._watchdog is not None:
                    self._watchdog.forget(self.pid)

    @property
    def lost(self) -> ServerFailure | None:
        """The process exited or closed a pipe."""
        return self.explain(running=True) if self._process.finished.is_set() else None

    def explain(self, *, running: bool) -> ServerFailure | None:
        """Return how the process ended; None while it runs."""
        if not self._process.finished.is_set():
            return None
        return diagnosis.exited(self._process.exit_code, self._process.output, running=running)

    def work(self) -> ProcessActivity | None:
        """Return the activity of the process and its children."""
        if not self.pid or self._process.finished.is_set():
            return None
        alive = watchdog.survivors({self.pid}, self._mark)
        done = [watchdog.work_of(pid) for pid in alive]
        return ProcessActivity(
            frozenset(alive), sum(cpu for cpu, _ in done), sum(size for _, size in done), self._process.stderr_bytes
        )

    async def _shut_down(self) -> None:
        process = self._process
        process.hang_up()
        if not await process.ended_within(self._grace):
            self._signal(signal.SIGTERM)
            if not await process.ended_within(self._grace):
                self._signal(signal.SIGKILL)
                await process.ended_within(KILLED_SECONDS)
        # Children may outlive the process, inside or outside its group.
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
    """The protocol through which the event loop reports on the process."""

    def __init__(self, encoding: str, errors: str, max_message: int) -> None:
        self.encoding = encoding
        self.errors = errors
        self.output = ProcessOutput(errors=deque(maxlen=STDERR_LINES))
        self.lines: deque[RawLine] = deque()
        self.finished = asyncio.Event()
        """Set when no more output will be read."""
        self.pid = 0
        self.exit_code: int | None = None
        self.stderr_bytes = 0
        """Bytes of standard error received so far."""
        self._buffered = 0
        self._paused = False
        self._discarding = False
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
        """Buffer output; pause reading above the high-water mark."""
        if fd == 2:
            self.stderr_bytes += len(data)
            cast("deque[str]", self.output.errors).extend(_text(line) for line in self._stderr.feed(data))
        elif not self._discarding:
            self._take(self._stdout.feed(data))
            if self._buffered > HIGH_WATER and not self._paused:
                self._paused = True
                self._pipe(1).pause_reading()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        """A pipe was closed, by the process or by its end."""
        if fd == 1:
            self._output_ended = True
            self._take(self._stdout.end())
        if fd == 2:
            cast("deque[str]", self.output.errors).extend(_text(line) for line in self._stderr.end())
        else:
            self._schedule_finish(at_once=fd == 1 and self._exited.is_set())

    def process_exited(self) -> None:
        """The process has ended; a child may still hold its pipes."""
        self.exit_code = self._transport.get_returncode()
        self._exited.set()
        self._schedule_finish(at_once=self._output_ended)

    def enlarge_write_buffer(self) -> None:
        """Enlarge the write buffer, so that a busy process does not block senders at once."""
        pipe = self._transport.get_pipe_transport(0)
        cast("asyncio.WriteTransport", pipe).set_write_buffer_limits(high=WRITE_AHEAD)

    def pause_writing(self) -> None:
        """The write buffer is full."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The write buffer has space again."""
        self._writable.set()

    async def next_line(self) -> RawLine:
        """Wait for a line of standard output.

        Raises:
            anyio.EndOfStream: There are no more lines.
        """
        while not self.lines:
            if self.finished.is_set():
                raise anyio.EndOfStream
            self._arrived.clear()
            await self._arrived.wait()
        line = self.lines.popleft()
        self._buffered -= len(line)
        if self._paused and self._buffered < HIGH_WATER // 2:
            self._paused = False
            self._pipe(1).resume_reading()
        return line

    async def write(self, data: bytes) -> None:
        """Write to standard input.

        Raises:
            anyio.BrokenResourceError: It is closed.
        """
        pipe = self._transport.get_pipe_transport(0)
        if pipe is None or pipe.is_closing() or self.finished.is_set():
            raise anyio.BrokenResourceError
        cast("asyncio.WriteTransport", pipe).write(data)
        await self._writable.wait()

    def discard_output(self) -> None:
        """Discard further output, but keep reading: a process that cannot write cannot exit."""
        self._discarding = True
        self.lines.clear()
        if self._paused:
            self._paused = False
            self._pipe(1).resume_reading()

    def hang_up(self) -> None:
        """Close standard input."""
        self.discard_output()
        self._finish()
        if (pipe := self._transport.get_pipe_transport(0)) is not None:
            pipe.close()

    async def ended_within(self, seconds: float) -> bool:
        """Whether the process ends within that time."""
        with anyio.move_on_after(seconds):
            await self._exited.wait()
        return self._exited.is_set()

    def close(self) -> None:
        """Close the pipes, even if a child still holds them."""
        self._finish()
        self._transport.close()

    def _take(self, lines: list[RawLine]) -> None:
        self.lines.extend(lines)
        self._buffered += sum(map(len, lines))
        self._arrived.set()

    def _schedule_finish(self, *, at_once: bool) -> None:
        # The exit code and the last output are reported together: whichever comes first waits briefly for the other.
        if at_once:
            self._finish()
        elif self._ends_at is None:
            self._ends_at = asyncio.get_running_loop().call_later(DRAIN_SECONDS, self._finish)

    def _finish(self) -> None:
        if self._ends_at is not None:
            self._ends_at.cancel()
        self.finished.set()
        self._arrived.set()
        self._writable.set()

    def _pipe(self, descriptor: int) -> asyncio.ReadTransport:
        return cast("asyncio.ReadTransport", self._transport.get_pipe_transport(descriptor))


class _StdoutReader(MessageReadStream):
    """The messages on the process's standard output; `receive` returns an exception for a line that is none."""

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
                process.output.add_garbage(_text(line))
                return error
        return SessionMessage(self._batch.popleft())

    async def aclose(self) -> None:
        self._process.discard_output()


class _StdinWriter(MessageWriteStream):
    """Writes messages to the process's standard input."""

    def __init__(self, process: _Process) -> None:
        self._process = process
        # Incremental, so that only the first message gets a byte-order mark.
        self._encoder = codecs.getincrementalencoder(process.encoding)()

    async def send(self, item: SessionMessage, /) -> None:
        await self._process.write(self._encoder.encode(f"{encode(item.message, self._process.encoding)}\n"))

    async def aclose(self) -> None:
        """Do nothing: the transport closes the pipe."""


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
