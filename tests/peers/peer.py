"""Another implementation of the protocol, in a process of its own, driven from a test."""

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import signal
import tempfile
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from tests.peers.environments import directory_of, interpreter_of

Role = Literal["agent", "computer"]

DRIVERS = Path(__file__).with_name("drivers")
CAP = 60.0
GRACE = 5.0
LONGEST_LINE = 64 * 1024 * 1024
REMEMBERED_LINES = 60


class PeerError(Exception):
    """The peer answered a request with an error, or did not answer."""


def command_of(implementation: str, role: Role) -> list[str]:
    """Return the command that drives `implementation` as `role`; its environment is made on first use."""
    interpreter = str(interpreter_of(implementation))
    if implementation == "socket.io-client":
        return [interpreter, str(DRIVERS / f"node_{role}.mjs"), str(directory_of(implementation))]
    return [interpreter, "-s", str(DRIVERS / "sdk.py")]


class Peer:
    """A running peer, or one of the roles that it plays: ask it to act, wait for what it hears, and stop it."""

    def __init__(self, pipe: "_Pipe", role: str = "") -> None:
        self._pipe = pipe
        self._prefix = f"{role}." if role else ""

    @classmethod
    async def start(cls, command: Sequence[str]) -> Self:
        """Start a peer with a home of its own, so that it neither reads nor writes the user's files."""
        return cls(await _Pipe.start(command))

    def role(self, name: str) -> Self:
        """Return one role of a process that plays several."""
        return type(self)(self._pipe, name)

    async def ask(self, do: str, *, within: float = CAP, **arguments: Any) -> Any:
        """Return the peer's answer to one request.

        Raises:
            PeerError: It answered with an error, did not answer in time, or has ended.
        """
        return await self._pipe.ask(f"{self._prefix}{do}", within=within, **arguments)

    async def next_event(self, name: str, *, within: float = CAP) -> Any:
        """Return the data of the oldest event `name` not yet taken, waiting for one if need be.

        Raises:
            PeerError: None came in time.
        """
        return await self._pipe.next_event(f"{self._prefix}{name}", within=within)

    def heard(self) -> list[tuple[str, Any]]:
        """Return the events not yet taken, oldest first, and forget them."""
        return [(name.removeprefix(self._prefix), data) for name, data in self._pipe.take(self._prefix)]

    async def stop(self, *, grace: float = GRACE) -> None:
        """End the process, by force if it does not end by itself, and wait until it has."""
        await self._pipe.stop(grace=grace)


class _Pipe:
    """The process of a peer and what goes to and fro."""

    def __init__(self, process: asyncio.subprocess.Process, home: Path) -> None:
        self._process = process
        self._home = home
        self._ids = itertools.count()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._events: deque[tuple[str, Any]] = deque()
        self._arrived = asyncio.Condition()
        self._complaints: deque[str] = deque(maxlen=REMEMBERED_LINES)
        self._readers = [asyncio.create_task(self._read_answers()), asyncio.create_task(self._read_complaints())]

    @classmethod
    async def start(cls, command: Sequence[str]) -> Self:
        home = Path(tempfile.mkdtemp(prefix="a2c-peer-"))
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            cwd=home,
            env={**kept, "HOME": str(home), "A2C_SMCP_LOG_LEVEL": "error"},
            start_new_session=True,
        )
        return cls(process, home)

    async def ask(self, do: str, *, within: float, **arguments: Any) -> Any:
        if self._process.returncode is not None or self._process.stdin is None:
            raise PeerError(self._told(f"{do}: the peer has ended"))
        answer = asyncio.get_running_loop().create_future()
        identity = next(self._ids)
        self._answers[identity] = answer
        self._process.stdin.write(json.dumps({"id": identity, "do": do, **arguments}).encode() + b"\n")
        try:
            async with asyncio.timeout(within):
                return await answer
        except TimeoutError:
            raise PeerError(self._told(f"{do}: no answer within {within} s")) from None
        finally:
            del self._answers[identity]

    async def next_event(self, name: str, *, within: float) -> Any:
        try:
            async with asyncio.timeout(within), self._arrived:
                await self._arrived.wait_for(lambda: any(heard == name for heard, _ in self._events))
                found = next(event for event in self._events if event[0] == name)
                self._events.remove(found)
                return found[1]
        except TimeoutError:
            heard = [event for event, _ in self._events]
            raise PeerError(self._told(f"{name}: not heard within {within} s, only {heard}")) from None

    def take(self, prefix: str) -> list[tuple[str, Any]]:
        events = [event for event in self._events if event[0].startswith(prefix)]
        for event in events:
            self._events.remove(event)
        return events

    async def stop(self, *, grace: float) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(grace):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        # A process it started may hold the pipes a moment longer.
        _, unread = await asyncio.wait(self._readers, timeout=GRACE)
        for reader in unread:
            reader.cancel()
        shutil.rmtree(self._home, ignore_errors=True)

    async def _read_answers(self) -> None:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message = json.loads(line)
            if "event" in message:
                async with self._arrived:
                    self._events.append((message["event"], message["data"]))
                    self._arrived.notify_all()
            elif (answer := self._answers.get(message["id"])) is not None and not answer.done():
                if message["ok"]:
                    answer.set_result(message["result"])
                else:
                    answer.set_exception(PeerError(message["error"]))
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(PeerError(self._told("the peer has ended")))

    async def _read_complaints(self) -> None:
        assert self._process.stderr is not None
        while line := await self._process.stderr.readline():
            self._complaints.append(line.decode(errors="replace").rstrip())

    def _told(self, message: str) -> str:
        return "\n".join([message, *self._complaints])
