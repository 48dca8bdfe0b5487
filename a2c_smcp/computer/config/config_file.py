"""A configuration file that is read, watched and saved.

The watch observes directories rather than the file, because editors replace files and deployments swap symbolic links.
Where the system reports no events (network drives, too many watches), the file is polled.
"""

import asyncio
import logging
import os
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from os import PathLike
from pathlib import Path
from typing import Final, TypeAlias

from a2c_smcp.computer.config.edits import EMPTY_CONFIG, ConfigEdit, edit_text
from a2c_smcp.computer.config.files import read_text, replace_file
from a2c_smcp.computer.config.loaders import LoadedConfig, load_config, parse_config_text
from a2c_smcp.errors import InvalidConfig

log = logging.getLogger(__name__)

FileStamp: TypeAlias = tuple[int, ...] | None

_MAX_LINKS: Final = 40
_STEP_MS: Final = 50
_BURST_MS: Final = 1_000


class ConfigFile:
    """A configuration file of any format; edits can be saved to a native one.

    Args:
        optional: Treat a missing file as an empty native one; the first saved edit creates it.
        interval: Seconds between two polls of the file.
        grace: Seconds for which a file may be missing or half-written before that is reported as a problem.
        native_events: Whether to use file system events as well as polling.
        check: Called with the text each time before it is used; raises InvalidConfig to reject it.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        optional: bool = False,
        interval: float = 2.0,
        grace: float = 1.0,
        native_events: bool = True,
        check: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.path = Path(path)
        self._optional = optional
        self._interval = interval
        self._grace = grace
        self._native_events = native_events
        self._check = check
        self._stamp: FileStamp = None
        self._last_valid: LoadedConfig | None = None
        self._problem: str | None = None

    def load(self) -> LoadedConfig:
        """Read the file.

        Raises:
            InvalidConfig: It cannot be read or used.
        """
        self._stamp = _stamp(self.path)
        self._last_valid = self._read()
        self._problem = None
        return self._last_valid

    def save(self, edit: ConfigEdit) -> LoadedConfig:
        """Apply an edit to the current text of the file, and return the resulting configuration.

        Raises:
            NotSaved: Rewriting the file would lose something.
            InvalidConfig: The current text is not a configuration.
            OSError: The file cannot be written.
        """
        text = EMPTY_CONFIG if self._is_absent() else read_text(self.path)[0]
        self._check(text)
        new, loaded = edit_text(text, edit, str(self.path))
        replace_file(self.path, new)
        self._stamp, self._last_valid = _stamp(self.path), loaded
        return loaded

    async def watch(self) -> AsyncGenerator[LoadedConfig | InvalidConfig, None]:
        """Yield each new state of the file: the configuration, or the error why it cannot be used.

        A state equal to the previous one is not yielded, unless it resolves a problem.
        """
        async with aclosing(self._triggers()) as triggers:
            async for reported in triggers:
                if not reported and _stamp(self.path) == self._stamp:
                    continue
                self._stamp, state = await self._settled()
                if isinstance(state, InvalidConfig):
                    if state.message != self._problem:
                        self._problem = state.message
                        yield state
                elif self._problem is not None or not _is_same(state, self._last_valid):
                    self._problem, self._last_valid = None, state
                    yield state

    def latest(self, state: LoadedConfig) -> LoadedConfig:
        """Return `state` as long as it is the latest content of the file, else read the file again.

        Raises:
            InvalidConfig: The file changed and cannot be used.
        """
        return state if state is self._last_valid and _stamp(self.path) == self._stamp else self.load()

    async def _settled(self) -> tuple[FileStamp, LoadedConfig | InvalidConfig]:
        """Read the file until it is valid and stable, for `grace` seconds at most."""
        clock = asyncio.get_running_loop().time
        end = clock() + self._grace
        while True:
            stamp = _stamp(self.path)
            try:
                loaded = await asyncio.to_thread(self._read)
            except InvalidConfig as problem:
                if clock() >= end:
                    return stamp, problem
            else:
                if stamp == _stamp(self.path) or clock() >= end:
                    return stamp, loaded
            await asyncio.sleep(_STEP_MS / 1000)

    async def _triggers(self) -> AsyncGenerator[bool, None]:
        """Yield whenever the file may have changed: True on a file system event, False for a poll."""
        while True:
            yield False  # catches changes made while no watch was active
            if self._native_events:
                try:
                    async with aclosing(self._events()) as events:
                        async for reported in events:
                            yield reported
                    continue
                # The directory is gone or unreadable, or the system has no watch left.
                except (ImportError, OSError, RuntimeError, ExceptionGroup) as problem:
                    log.debug(
                        "file watch failed: polling every_seconds=%g error=%s", self._interval, type(problem).__name__
                    )
            await asyncio.sleep(self._interval)

    async def _events(self) -> AsyncGenerator[bool, None]:
        """Yield file system events, until the path resolves through other directories."""
        from watchfiles import awatch  # noqa: PLC0415 - optional: without it the file is polled

        links = resolve_links(self.path)
        directories = _directories(links)
        names = {step.name for step in links} | {directory.name for directory in directories}
        watching = awatch(
            *sorted(directories),
            watch_filter=lambda _, path: Path(path).name in names,
            recursive=False,
            step=_STEP_MS,
            debounce=_BURST_MS,
            rust_timeout=max(int(self._interval * 1000), 1),
            yield_on_timeout=True,
        )
        async with aclosing(watching) as events:
            async for changes in events:
                yield bool(changes)
                if resolve_links(self.path) != links or _directories(links) != directories:
                    return

    def _read(self) -> LoadedConfig:
        if self._is_absent():
            return parse_config_text(EMPTY_CONFIG, str(self.path))
        return load_config(self.path, self._check)

    def _is_absent(self) -> bool:
        return self._optional and not os.path.lexists(self.path)


def _is_same(one: LoadedConfig, other: LoadedConfig | None) -> bool:
    if other is None or (one.config, one.format) != (other.config, other.format):
        return False
    return list(one.config.servers) == list(other.config.servers)


def _stamp(path: Path) -> FileStamp:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    # With ctime, because mtime can be preserved by a copy, and because permissions matter too.
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev


def resolve_links(path: Path) -> list[Path]:
    """Return every symbolic link on the path of a file, and finally the file itself."""
    start = Path.cwd() / path  # not resolved: its links are the result
    here, rest = Path(start.anchor), deque(start.parts[1:])
    links: list[Path] = []
    while rest:
        step = rest.popleft()
        if step == "..":
            here = here.parent
        elif len(links) < _MAX_LINKS and (here / step).is_symlink():
            links.append(here / step)
            target = (here / step).readlink()
            if target.is_absolute():
                here = Path(target.anchor)
            rest.extendleft(reversed(target.parts[1:] if target.is_absolute() else target.parts))
        else:
            here /= step
    return [*links, here]


def _directories(links: list[Path]) -> dict[Path, int]:
    """Return the directories of these paths with their inodes, which reveal a replaced directory."""
    return {step.parent: step.parent.stat().st_ino for step in links}
