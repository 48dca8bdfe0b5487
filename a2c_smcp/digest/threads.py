"""Work on a few threads that nobody has to wait for when the run is broken off."""

from collections.abc import Callable, Iterable
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


def spread(work: Callable[[S], T], items: Iterable[S], count: int) -> list[T]:
    """Return what `work` makes of each item, in their order, done by `count` threads.

    The first exception ends it. The threads are daemons: Ctrl-C does not wait for what they wait for.
    """
    todo = list(items)
    waiting: SimpleQueue[int | None] = SimpleQueue()
    done: SimpleQueue[tuple[int, T | None, BaseException | None]] = SimpleQueue()
    for index in range(len(todo)):
        waiting.put(index)

    def run() -> None:
        while (index := waiting.get()) is not None:
            try:
                done.put((index, work(todo[index]), None))
            except BaseException as problem:  # noqa: BLE001 - raised where it is waited for
                done.put((index, None, problem))

    threads = [Thread(target=run, daemon=True, name="a2c-digest") for _ in range(min(count, len(todo)))]
    for thread in threads:
        thread.start()
    results: dict[int, T] = {}
    try:
        while len(results) < len(todo):
            index, value, problem = done.get()
            if problem is not None:
                raise problem
            results[index] = value  # type: ignore[assignment]  # without a problem it is a result
    finally:
        while not waiting.empty():
            waiting.get()
        for _ in threads:
            waiting.put(None)
    return [results[index] for index in range(len(todo))]
