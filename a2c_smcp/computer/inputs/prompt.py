"""The source that asks a person at the terminal. It needs no thread, so that cancellation restores the terminal."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator

from a2c_smcp.computer.config.models import (
    MCPServerInput,
    MCPServerPickStringInput,
    MCPServerPromptStringInput,
)
from a2c_smcp.computer.inputs.secret import Secret
from a2c_smcp.computer.inputs.sources import InputValue

if sys.platform != "win32":
    import termios


class PromptSource:
    """Asks at a terminal, one question at a time: hidden for passwords, by number or name for options.

    It reads the terminal itself, so a program with a command line of its own there gives a `Callback` instead.

    Args:
        reads: The file descriptor to read from.
        writes: The file descriptor to write to; standard error, because results go to standard output.
    """

    def __init__(self, reads: int = 0, writes: int = 2) -> None:
        self._reads = reads
        self._writes = writes
        self._lock = asyncio.Lock()
        self._unread = b""

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        """Ask for the value; None if there is no terminal, or the person declines (Ctrl-D)."""
        if wanted.type == "command" or not _is_attended(self._reads):
            return None
        async with self._lock:
            try:
                value = await (self._pick(wanted) if wanted.type == "pickString" else self._type(wanted))
            except EOFError:
                self._write("\n")
                return None
        return InputValue(Secret(value), "a person")

    def way(self, wanted: MCPServerInput) -> str | None:
        """Return how to get a prompt."""
        return None if wanted.type == "command" else "start from a terminal and type it"

    async def _type(self, wanted: MCPServerPromptStringInput) -> str:
        hint = ""
        if wanted.default is not None:
            hint = " [Enter for the default]" if wanted.password else f" [{_shown(wanted.default)}]"
        typed = await self._ask(f"{_title(wanted)}{hint}: ", hidden=bool(wanted.password))
        return typed or wanted.default or ""

    async def _pick(self, wanted: MCPServerPickStringInput) -> str:
        lines = [f"  {number}) {_shown(option)}" for number, option in enumerate(wanted.options, 1)]
        self._write("\n".join([f"{_title(wanted)}:", *lines, ""]))
        hint = "" if wanted.default is None else f" [{_shown(wanted.default)}]"
        while True:
            typed = (await self._ask(f"Number or name{hint}: ")).strip()
            if not typed and wanted.default is not None:
                return wanted.default
            if typed in wanted.options:
                return typed
            if typed.isdecimal() and 1 <= int(typed) <= len(wanted.options):
                return wanted.options[int(typed) - 1]
            self._write(f"Please give a number from 1 to {len(wanted.options)}.\n")

    async def _ask(self, question: str, *, hidden: bool = False) -> str:
        with without_echo(self._reads) if hidden else contextlib.nullcontext():
            # Ask after the echo is off, so that no typed character is shown.
            self._write(question)
            return await self._line()

    async def _line(self) -> str:
        loop = asyncio.get_running_loop()
        while b"\n" not in self._unread:
            ready = loop.create_future()
            loop.add_reader(self._reads, _settle, ready)
            try:
                await ready
            finally:
                loop.remove_reader(self._reads)
            piece = os.read(self._reads, 4096)
            if not piece:
                raise EOFError
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode(errors="replace").removesuffix("\r")

    def _write(self, text: str) -> None:
        rest = text.encode(errors="replace")
        while rest:
            rest = rest[os.write(self._writes, rest) :]


def is_attended(reads: int = 0, writes: int = 2) -> bool:
    """Whether a person can be asked: input and output are a terminal, and this program is in the foreground."""
    return _is_attended(reads) and os.isatty(writes)


def _is_attended(descriptor: int) -> bool:
    if sys.platform == "win32" or not os.isatty(descriptor):
        return False
    try:
        # The system stops a background program that reads from its terminal.
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return True  # not the controlling terminal of this program


@contextlib.contextmanager
def without_echo(descriptor: int) -> Iterator[None]:
    """Turn off the echo of a terminal while the block runs."""
    if sys.platform == "win32":
        yield
        return
    before = termios.tcgetattr(descriptor)
    silent = [*before]
    silent[3] = before[3] & ~termios.ECHO | termios.ECHONL
    termios.tcsetattr(descriptor, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _title(wanted: MCPServerInput) -> str:
    return f"{_shown(wanted.description)} (input {_shown(wanted.id)})" if wanted.description else _shown(wanted.id)


def _shown(text: str) -> str:
    # A configuration is untrusted: it must not send control sequences to the terminal.
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
