"""When something below the roots has changed: told once a burst, within a fraction of a second.

The operating system tells where it can (by `watchfiles`); without that library, or where the system has no more watches
to give, the folders have to be looked at every second.
"""

import asyncio
import contextlib
import importlib
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from a2c_smcp.documents.excludes import FOLDERS, IGNORE_FILES

BURST_MS: Final = 200
"""How long a burst may go on until it is told."""

STEP_MS: Final = 50
POLL_SECONDS: Final = 0.7

_log = logging.getLogger(__name__)


async def bursts(roots: Sequence[Path]) -> AsyncIterator[None]:
    """Yield after each burst of changes below the roots; also when it cannot be told whether there was one."""
    try:
        watchfiles = _library()
    except ModuleNotFoundError:
        _log.info("watchfiles is not installed: folders are looked at every second")
    else:
        async for _ in _watched(watchfiles, roots):
            yield
    while True:
        await asyncio.sleep(POLL_SECONDS)
        yield


async def _watched(watchfiles: Any, roots: Sequence[Path]) -> AsyncIterator[None]:
    """Yield after each burst for as long as folders can be watched."""
    while True:
        try:
            async for _ in _told(watchfiles, roots):
                yield
        except ExceptionGroup as error:  # the library gives up on a name that is no text; the next watch goes on
            _log.info("The watch begins anew: %s", error.exceptions[0])
        except (OSError, RuntimeError) as error:  # no more watches, a folder that cannot be watched, a root that went
            _log.warning("Folders cannot be watched and are looked at every second: %s", type(error).__name__)
            return
        await asyncio.sleep(POLL_SECONDS)


def _library() -> Any:
    return importlib.import_module("watchfiles")


async def _told(watchfiles: Any, roots: Sequence[Path]) -> AsyncIterator[None]:
    folders = [root for root in roots if root.is_dir()]
    # A file that an editor replaces is another file under the same name: only its folder sees that.
    parents = {root.parent for root in roots if not root.is_dir()}
    changed = asyncio.Event()

    async def watch(paths: Iterable[Path], *, deep: bool) -> None:
        async for _ in watchfiles.awatch(
            *paths,
            watch_filter=_Visible(roots),
            debounce=BURST_MS,
            step=STEP_MS,
            recursive=deep,
            ignore_permission_denied=True,
        ):
            changed.set()

    watching = [(folders, True), (parents, False)]
    tasks = [asyncio.create_task(watch(paths, deep=deep)) for paths, deep in watching if paths]
    for task in tasks:
        task.add_done_callback(lambda _: changed.set())
    try:
        await asyncio.sleep(0)  # the watch begins with the first step of its task
        changed.set()  # something may have happened before
        while True:
            await changed.wait()
            changed.clear()
            for task in tasks:
                if task.done():
                    task.result()
                    raise RuntimeError("the watch has ended")
            yield
    finally:
        for task in tasks:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


class _Visible:
    """Whether a change may concern the catalogue: not what happens inside `.git` or `node_modules`."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = sorted((str(root) for root in roots), key=len, reverse=True)

    def __call__(self, _: Any, path: str) -> bool:
        root = next((root for root in self._roots if path.startswith(root)), None)
        if root is None:
            return False
        *folders, name = path[len(root) :].replace("\\", "/").strip("/").split("/")
        if any(folder.startswith(".") or folder in FOLDERS for folder in folders):
            return False
        return not name.startswith(".") or name in IGNORE_FILES
