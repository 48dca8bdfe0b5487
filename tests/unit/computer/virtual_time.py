"""An event loop whose clock jumps to the next timer: hours of waiting pass in milliseconds, the same way every time."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class _JumpingSelector(selectors.DefaultSelector):
    """Never waits: tells how long it would have."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise RuntimeError("Everything waits for ever")
        self.skipped += max(timeout, 0)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """A real event loop, except for its clock, and for threads: their work is done on the spot."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.skipped

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        future = self.create_future()
        future.set_result(func(*args))
        return future


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def in_virtual_time(test: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Make a test of a coroutine, run in virtual time."""

    @wraps(test)
    def in_time(*args: P.args, **kwargs: P.kwargs) -> T:
        return run(test(*args, **kwargs))

    return in_time


def now() -> float:
    return asyncio.get_running_loop().time()
