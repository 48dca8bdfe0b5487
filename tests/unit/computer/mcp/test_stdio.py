"""The link to a process: lines in, lines out, and its end."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCNotification, JSONRPCRequest

from a2c_smcp.computer.config.models import MCPServerStdioParameters
from a2c_smcp.computer.mcp.diagnosis import ServerFailure
from a2c_smcp.computer.mcp.stdio import HIGH_WATER, STDERR_LINES, StdioTransport
from a2c_smcp.computer.mcp.transport import Incoming, MessageReader, TransportOpenError

CAP = 60.0
HELLO = '{"jsonrpc": "2.0", "method": "hello"}'


def python(code: str, **parameters: Any) -> StdioTransport:
    parameters = {"command": sys.executable, "args": ["-I", "-S", "-c", code]} | parameters
    return StdioTransport(MCPServerStdioParameters(**parameters), grace=1.0)


async def received(read: MessageReader) -> list[Incoming]:
    """Everything until the end of the stream."""
    items: list[Incoming] = []
    async with asyncio.timeout(CAP):
        while True:
            try:
                items.append(await read.receive())
            except anyio.EndOfStream:
                return items


def methods(items: list[Incoming]) -> list[str]:
    messages = [item.message for item in items if isinstance(item, SessionMessage)]
    return [message.method for message in messages if isinstance(message, JSONRPCRequest | JSONRPCNotification)]


async def test_messages_go_both_ways() -> None:
    link = python(
        "import sys\nfor line in sys.stdin: sys.stdout.write(line.replace('ask', 'answer')); sys.stdout.flush()"
    )

    async with link as (read, write):
        await write.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="ask", params={"text": "é😀"})))
        item = await read.receive()
        await write.aclose()

    assert isinstance(item, SessionMessage)
    assert item.message == JSONRPCNotification(jsonrpc="2.0", method="answer", params={"text": "é😀"})


async def test_what_is_no_message_is_counted_and_does_no_harm() -> None:
    code = f"print('Welcome!'); print(); print({HELLO!r}); print('{{}}'); print('bye', end='')"

    link = python(code)
    async with link as (read, _):
        items = await received(read)

    assert methods(items) == ["hello"]
    assert (link.output.garbage, link.output.samples) == (3, ["Welcome!", "{}", "bye"])


async def test_a_batch_is_received_one_by_one() -> None:
    async with python(f"print('[{HELLO}, {HELLO}]')") as (read, _):
        assert methods(await received(read)) == ["hello", "hello"]


@pytest.mark.parametrize("encoding", ["utf-16", "UTF8", "latin-1"])
async def test_the_configured_encoding_is_used_both_ways(encoding: str) -> None:
    code = (
        f"import sys, json\nfor line in open(0, encoding={encoding!r}):\n"
        f" open(1, 'w', encoding={encoding!r}, closefd=False).write(line)"
    )
    async with python(code, encoding=encoding) as (read, write):
        await write.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="é")))
        async with asyncio.timeout(CAP):
            item = await read.receive()

    assert methods([item]) == ["é"]


async def test_standard_error_is_kept_to_its_last_lines() -> None:
    link = python(
        "import sys\nfor n in range(10_000): print('line', n, file=sys.stderr)\nprint('é' * 10_000, file=sys.stderr)"
    )

    async with link as (read, _):
        await received(read)

    errors = list(link.output.errors)
    assert (len(errors), errors[0], len(errors[-1])) == (STDERR_LINES, f"line {10_001 - STDERR_LINES}", 400)


async def test_the_end_of_a_process_ends_the_stream_with_its_code_and_last_words() -> None:
    link = python(f"import sys; print({HELLO!r}); sys.exit('Error: no key')")

    async with link as (read, write):
        items = await received(read)
        with pytest.raises(anyio.BrokenResourceError):
            await write.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="a")))

        assert methods(items) == ["hello"]
        assert link.lost == ServerFailure(
            "it exited with code 1 while running: Error: no key",
            "see its own logs; it is started again",
            "it exited with code 1 while running",
        )


async def test_a_child_that_holds_the_pipes_does_not_hide_the_end() -> None:
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"

    async with python(code) as (read, _):
        assert await received(read) == []


@pytest.mark.parametrize("stream", ["0", "1"])
async def test_a_process_that_closes_its_end_is_of_no_use(stream: str) -> None:
    link = python(f"import os, time; os.close({stream}); time.sleep(600)")

    async with link as (read, _):
        assert await received(read) == []
        assert str(link.lost).startswith("ServerFailure(problem='it closed its output while running")


async def test_a_process_that_closes_standard_error_is_still_of_use() -> None:
    code = f"import os, sys; os.close(2); sys.stdin.readline(); print({HELLO!r}, flush=True); sys.stdin.readline()"

    async with python(code) as (read, write):
        await write.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="a")))

        assert methods([await read.receive()]) == ["hello"]


async def test_a_flooding_process_waits_until_it_is_read() -> None:
    link = python(f"while True: print({HELLO!r}, flush=True)")
    most = 0

    async with link as (read, _):
        for _ in range(20_000):
            await read.receive()
            most = max(most, sum(map(len, link._process.lines)))
            await asyncio.sleep(0)

    # What we keep, and one more chunk from the pipe.
    assert 0 < most <= HIGH_WATER + 256 * 1024


async def test_closing_is_bounded_when_a_process_neither_reads_nor_leaves() -> None:
    link = python("import signal, time; signal.signal(15, signal.SIG_IGN); print('{}', flush=True); time.sleep(600)")

    async with asyncio.timeout(CAP):
        async with link as (read, write):
            await read.receive()
            with anyio.move_on_after(0.2):
                while True:
                    params = {"x": "y" * 100_000}
                    await write.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="a", params=params)))

    with pytest.raises(ProcessLookupError):
        os.killpg(link.pid, 0)


async def test_a_start_that_is_given_up_leaves_no_process_behind() -> None:
    link = python("import time; time.sleep(600)")

    with anyio.CancelScope() as scope:
        scope.cancel()
        async with link as (read, _):
            await read.receive()

    assert link.pid
    with pytest.raises(ProcessLookupError):
        os.kill(link.pid, 0)


async def test_closing_under_cancellation_still_ends_the_process() -> None:
    link = python("import time; time.sleep(600)")

    with anyio.CancelScope() as scope:
        async with link as (read, _):
            scope.cancel()
            await read.receive()

    with pytest.raises(ProcessLookupError):
        os.kill(link.pid, 0)


async def test_a_task_that_is_cancelled_while_closing_kills_at_once() -> None:
    link = python("import signal, time; signal.signal(15, signal.SIG_IGN); print('{}', flush=True); time.sleep(600)")
    closing = asyncio.Event()

    async def use() -> None:
        async with link as (read, _):
            await read.receive()
            closing.set()

    task = asyncio.create_task(use())
    await closing.wait()
    await asyncio.sleep(0)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(link.pid, 0)


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"command": "no-such-command"}, "the command 'no-such-command' was not found"),
        ({"command": "/no/such/command"}, "the command '/no/such/command' was not found"),
        ({"command": "npx -y @x/server"}, "the command 'npx -y @x/server' was not found"),
        ({"cwd": "/no/such/directory"}, "the directory to start in (cwd) does not exist"),
        ({"command": "/etc/passwd"}, "the command '/etc/passwd' cannot be run: Permission denied"),
        (
            {"command": "{script}"},
            "/script' cannot be run: the program that its first line names was not found",
        ),
        ({"command": "{data}"}, "/data' cannot be run: Exec format error"),
        ({"args": ["a\0b"]}, "cannot be run: its arguments have a character that no program can take"),
    ],
)
async def test_a_process_that_cannot_start_says_why(parameters: dict[str, Any], problem: str, tmp_path: Path) -> None:
    for name, text in (("script", "#!/no/such/interpreter\n"), ("data", "\0\0\0\0")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    if "command" in parameters:
        parameters["command"] = parameters["command"].format(script=tmp_path / "script", data=tmp_path / "data")
    valid = MCPServerStdioParameters(command=sys.executable)

    with pytest.raises(TransportOpenError) as failed:
        async with StdioTransport(valid.model_copy(update=parameters)):
            pass

    assert problem in failed.value.failure.problem
