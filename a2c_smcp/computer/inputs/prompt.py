"""Asking the person at the terminal, without a thread: whoever stops waiting leaves the terminal as it was."""

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
from a2c_smcp.computer.inputs.sources import Found

if sys.platform != "win32":
    import termios


class Prompt:
    """Asks at a terminal: hidden for passwords, by number or name where there are options. One question at a time.

    It reads the terminal itself, so a program with a command line of its own there gives a `Callback` instead.

    Args:
        reads: The file descriptor to read from.
        writes: The file descriptor to write to; standard error, because results go to standard output.
    """

    def __init__(self, reads: int = 0, writes: int = 2) -> None:
        self._reads = reads
        self._writes = writes
        self._turn = asyncio.Lock()
        self._left = b""

    async def find(self, wanted: MCPServerInput) -> Found | None:
        """Ask for the value; None when nobody is there, or the question is turned down (Ctrl-D)."""
        if wanted.type == "command" or not _is_attended(self._reads):
            return None
        async with self._turn:
            try:
                value = await (self._pick(wanted) if wanted.type == "pickString" else self._type(wanted))
            except EOFError:
                self._write("\n")
                return None
        return Found(Secret(value), "a person")

    def way(self, wanted: MCPServerInput) -> str | None:
        """Where it can be typed."""
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
            # Asked once the echo is off, so that nothing typed in answer to it is ever shown.
            self._write(question)
            return await self._line()

    async def _line(self) -> str:
        loop = asyncio.get_running_loop()
        while b"\n" not in self._left:
            ready = loop.create_future()
            loop.add_reader(self._reads, _settle, ready)
            try:
                await ready
            finally:
                loop.remove_reader(self._reads)
            piece = os.read(self._reads, 4096)
            if not piece:
                raise EOFError
            self._left += piece
        line, _, self._left = self._left.partition(b"\n")
        return line.decode(errors="replace").removesuffix("\r")

    def _write(self, text: str) -> None:
        rest = text.encode(errors="replace")
        while rest:
            rest = rest[os.write(self._writes, rest) :]


def is_attended(reads: int = 0, writes: int = 2) -> bool:
    """Whether a person can be asked: both ends are a terminal, and this program has it to itself."""
    return _is_attended(reads) and os.isatty(writes)


def _is_attended(descriptor: int) -> bool:
    if sys.platform == "win32" or not os.isatty(descriptor):
        return False
    try:
        # A program in the background that reads its terminal is stopped by the system.
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return True  # a terminal, but not the one that this program was started from


@contextlib.contextmanager
def without_echo(descriptor: int) -> Iterator[None]:
    """Show nothing of what is typed at a terminal, for as long as the block runs."""
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
    # A configuration may be somebody else's: nothing in it drives the terminal.
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
