"""What the blocking server takes from threads, or from greenlets in their place: the counterpart of `async_runtime`."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from socketio import Namespace as BaseNamespace

from a2c_smcp.common.callbacks import call_guarded
from a2c_smcp.errors import InternalError
from a2c_smcp.server.calls import AckArguments

__all__ = [
    "BaseNamespace",
    "Lock",
    "SyncPeriodicTimer",
    "SyncReplyFuture",
    "clock",
    "router_lock",
    "send",
    "sleep",
    "start",
    "sync_resolve",
]

log = logging.getLogger(__name__)

clock = time.monotonic
Lock = threading.Lock
sleep = time.sleep


def router_lock() -> AbstractContextManager[Any]:
    """Return the lock that keeps two threads from entering the call router."""
    return threading.RLock()


def sync_resolve(value: Any) -> Any:
    """Return the result of a callback.

    Raises:
        InternalError: The callback is a coroutine function, which a blocking server cannot run.
    """
    if hasattr(value, "__await__"):
        value.close()
        raise InternalError("This is a blocking server: its authentication provider must not be asynchronous")
    return value


def send(function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Call a function of the server that sends something."""
    function(*arguments, **options)


def start(server: Any, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Run a function in the background, in a thread or greenlet of the server."""
    server.start_background_task(function, *arguments, **options)


class SyncReplyFuture:
    """The reply to a request, set once by one thread and awaited by another."""

    def __init__(self) -> None:
        self._is_set = threading.Event()
        self._answer: AckArguments = ()

    def put(self, answer: AckArguments) -> None:
        """Set the reply; later ones are ignored."""
        if not self._is_set.is_set():
            self._answer = answer
            self._is_set.set()

    def get(self) -> AckArguments:
        """Wait for the reply; the call router's deadline bounds the wait."""
        self._is_set.wait()
        return self._answer


class SyncPeriodicTimer:
    """Calls a function every quarter second, from a thread of its own."""

    def __init__(self, tick: Callable[[], None], seconds: float = 0.25) -> None:
        self._tick = tick
        self._seconds = seconds
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the timer unless it runs."""
        if self._thread is None or not self._thread.is_alive():
            self._stopped.clear()
            self._thread = threading.Thread(target=self._run, name="a2c-timer", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the timer."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._seconds):
            call_guarded(log, "the server's timer", self._tick)
