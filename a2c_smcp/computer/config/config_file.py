"""A configuration file that is watched: told of what it says, once a burst of changes is over.

Directories are watched rather than the file, because editors replace files and deployments swap links. Where the
system tells nothing (network drives, too many watches), looking now and then does.
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
    """A configuration file of any format, read, watched and, if it is native, written.

    Args:
        optional: A missing file counts as a native one without servers; the first change that is saved creates it.
        interval: Seconds between two looks at the file, for what the system does not tell.
        grace: Seconds for which a file may be missing or half-written before that is a problem.
        native_events: Whether the system is asked to tell of changes.
        check: Called with the text each time before it is used; raises InvalidConfig to refuse it.
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
        self._good: LoadedConfig | None = None
        self._problem: str | None = None

    def load(self) -> LoadedConfig:
        """Read the file.

        Raises:
            InvalidConfig: It cannot be read or used.
        """
        self._stamp = _stamp(self.path)
        self._good = self._read()
        self._problem = None
        return self._good

    def save(self, edit: ConfigEdit) -> LoadedConfig:
        """Write an edit into the file as it is now, and return what it then says.

        Raises:
            NotSaved: It cannot be written without losing something.
            InvalidConfig: What is there now is no configuration.
            OSError: It cannot be written.
        """
        text = EMPTY_CONFIG if self._is_absent() else read_text(self.path)[0]
        self._check(text)
        new, loaded = edit_text(text, edit, str(self.path))
        replace_file(self.path, new)
        self._stamp, self._good = _stamp(self.path), loaded
        return loaded

    async def watch(self) -> AsyncGenerator[LoadedConfig | InvalidConfig, None]:
        """Yield each new state of the file: what it says, or why it cannot be used.

        A state that says the same as the last one is none, unless a problem has been mended by it.
        """
        async with aclosing(self._stirs()) as stirs:
            async for told in stirs:
                if not told and _stamp(self.path) == self._stamp:
                    continue
                self._stamp, state = await self._settled()
                if isinstance(state, InvalidConfig):
                    if state.message != self._problem:
                        self._problem = state.message
                        yield state
                elif self._problem is not None or not _say_the_same(state, self._good):
                    self._problem, self._good = None, state
                    yield state

    async def _settled(self) -> tuple[FileStamp, LoadedConfig | InvalidConfig]:
        """Return what the file says once it can be used, or once it has had its time to become usable."""
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

    async def _stirs(self) -> AsyncGenerator[bool, None]:
        """Yield whenever the file may have changed: True when the system said so, False when it is time to look."""
        while True:
            yield False  # for what happened while nobody listened
            if self._native_events:
                try:
                    async with aclosing(self._told()) as events:
                        async for told in events:
                            yield told
                    continue
                # A directory that is gone or closed to us, or a system that has no watch left.
                except (ImportError, OSError, RuntimeError, ExceptionGroup) as problem:
                    log.debug("looking every %g s: %s", self._interval, type(problem).__name__)
            await asyncio.sleep(self._interval)

    async def _told(self) -> AsyncGenerator[bool, None]:
        """Yield what the system tells of the file, until the way to the file leads through other directories."""
        from watchfiles import awatch  # noqa: PLC0415 - without it, looking now and then does

        trail = _trail(self.path)
        places = _places(trail)
        names = {step.name for step in trail} | {place.name for place in places}
        watching = awatch(
            *sorted(places),
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
                if _trail(self.path) != trail or _places(trail) != places:
                    return

    def _read(self) -> LoadedConfig:
        if self._is_absent():
            return parse_config_text(EMPTY_CONFIG, str(self.path))
        return load_config(self.path, self._check)

    def _is_absent(self) -> bool:
        return self._optional and not os.path.lexists(self.path)


def _say_the_same(one: LoadedConfig, other: LoadedConfig | None) -> bool:
    if other is None or (one.config, one.format) != (other.config, other.format):
        return False
    return list(one.config.servers) == list(other.config.servers)


def _stamp(path: Path) -> FileStamp:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    # With the time of the last change of its status: that of its text can be kept, and permissions count as well.
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev


def _trail(path: Path) -> list[Path]:
    """Return every link on the way to a file, and at the end the file itself."""
    start = Path.cwd() / path  # not resolved: the links on the way are what is looked for
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


def _places(trail: list[Path]) -> dict[Path, int]:
    """Return the directories that hold the steps of a trail, with what tells one from its successor of that name."""
    return {step.parent: step.parent.stat().st_ino for step in trail}
