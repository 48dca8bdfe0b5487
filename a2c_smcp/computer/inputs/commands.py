"""The source of `command` inputs: runs a program without a shell and takes its output as the value."""

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from a2c_smcp.common.durations import seconds_text
from a2c_smcp.computer.config.models import MCPServerCommandInput, MCPServerInput
from a2c_smcp.computer.config.problems import quoted
from a2c_smcp.computer.inputs.resolution import Unresolved
from a2c_smcp.computer.inputs.secret import Secret
from a2c_smcp.computer.inputs.sources import InputValue

MAX_OUTPUT: Final = 64 * 1024


class CommandSource:
    """Runs the program of a `command` input.

    Its standard error is discarded, because it may contain a secret.
    """

    def __init__(self, *, timeout: float = 60.0, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
        self._timeout = timeout
        self._cwd = cwd
        self._env = env

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        """Run the program of a `command` input and return its output without one trailing line break."""
        if wanted.type != "command":
            return None
        argv = argv_of(wanted)
        try:
            async with asyncio.timeout(self._timeout):
                return InputValue(Secret(_text(await self._output(argv))), "its command")
        except TimeoutError:
            within = seconds_text(self._timeout)
            raise Unresolved(
                f"its command {quoted(argv[0])} did not end within {within}; run it by hand to see why"
            ) from None

    def way(self, wanted: MCPServerInput) -> str | None:
        """Return None: the command is in the configuration."""

    async def _output(self, argv: list[str]) -> bytes:
        starting = asyncio.ensure_future(self._start(argv))
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # Cancelled during the start: wait for the process and end it, or it would be left behind.
            await _end(await starting)
            raise
        code: int | None = None
        try:
            output = await _read(process)
            code = await process.wait()
        finally:
            if code is None:
                await _end(process)
        if code != 0:
            ended = f"exit code {code}" if code > 0 else f"signal {-code}"
            raise Unresolved(f"its command {quoted(argv[0])} failed ({ended}); run it by hand to see why")
        return output

    async def _start(self, argv: list[str]) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=self._cwd,
                env=self._env,
                start_new_session=True,
            )
        except OSError as problem:
            raise Unresolved(f"its command {quoted(argv[0])} cannot be run: {_reason(problem)}") from None


def argv_of(wanted: MCPServerCommandInput) -> list[str]:
    """Return the command line: `command` split like in a shell, then `args` as options.

    `{"vault": "Private", "n": "1", "raw": "", "-v": "2"}` becomes `--vault Private -n 1 --raw -v 2`. Positional
    arguments belong into `command` itself.

    Raises:
        Unresolved: `command` has an unclosed quote.
    """
    argv = _words(wanted.command)
    for key, value in (wanted.args or {}).items():
        dashes = "" if key.startswith("-") else "-" if len(key) == 1 else "--"
        argv += [dashes + key, *([value] if value else [])]
    return argv


def _words(command: str) -> list[str]:
    if shutil.which(command) is not None:
        return [command]  # a path that contains blanks
    try:
        return shlex.split(command, posix=os.name == "posix")
    except ValueError:
        raise Unresolved("its command has a quote that is never closed; close it") from None


async def _read(process: asyncio.subprocess.Process) -> bytes:
    output = b""
    while process.stdout is not None and (piece := await process.stdout.read(MAX_OUTPUT)):
        output += piece
        if len(output) > MAX_OUTPUT:
            raise Unresolved(f"its command printed more than {MAX_OUTPUT // 1024} kB; have it print the value only")
    return output


async def _end(process: asyncio.subprocess.Process) -> None:
    # The whole group, because children may keep the output open.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    # Do not wait for processes that left the group.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(1):
            await process.wait()


def _text(output: bytes) -> str:
    try:
        text = output.decode()
    except UnicodeDecodeError:
        raise Unresolved("its command printed something that is not UTF-8 text; have it print text") from None
    if text.endswith("\n"):
        text = text[:-1].removesuffix("\r")
    return text


def _reason(problem: OSError) -> str:
    match problem:
        case FileNotFoundError():
            return "there is no such program here (commands of an editor are not known); install it, or name another"
        case PermissionError():
            return "it may not be executed; check its permissions"
        case _:
            return f"{problem.strerror or 'unknown reason'}; check it"
