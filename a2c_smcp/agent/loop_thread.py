"""An event loop on its own thread, and the base of the blocking client that uses it."""

import asyncio
import inspect
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar, cast

from a2c_smcp.agent.events import FinderHook, OfficeEvent, OfficeEventStream
from a2c_smcp.agent.progress import ToolProgress
from a2c_smcp.errors import BadRequest

if TYPE_CHECKING:
    from a2c_smcp.agent.client import AsyncSMCPAgentClient

T = TypeVar("T")

BlockingHandler: TypeAlias = Callable[[OfficeEvent], None]
BlockingProgressHandler: TypeAlias = Callable[[ToolProgress], None]

COROUTINE_REFUSED: Final = "A coroutine function needs AsyncSMCPAgentClient; give this client a plain function"

SIGNAL_CHECK_SECONDS: Final = 1.0
"""Interval at which a waiting thread checks for signals: on some systems a signal does not interrupt the wait."""

HANDLER_SECONDS: Final = 2.0
"""Seconds to wait for a running handler when the client closes."""


class LoopThread:
    """Runs coroutines for other threads. It can be started and stopped repeatedly.

    Attributes:
        started: Set while the thread runs.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._runner = _LoopRunner(name)
        self._loop = self._runner.loop
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self.started = threading.Event()
        # Ends a thread that was never stopped, at the latest when the interpreter exits.
        weakref.finalize(self, self._runner.dispose)

    @property
    def running(self) -> bool:
        """Whether the thread runs."""
        return self._thread is not None

    @property
    def is_current(self) -> bool:
        """Whether the caller runs on the loop's thread."""
        return self._thread is threading.current_thread()

    @property
    def is_forked(self) -> bool:
        """Whether this is a copy in a forked process, which has neither the thread nor the connections."""
        return self._runner.process != os.getpid()

    def start(self) -> None:
        """Start the thread if it does not run.

        Raises:
            RuntimeError: It was running when this process was forked.
        """
        if self.is_forked and self._thread is None:
            self._renew()
        self._refuse_other_process()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._runner.run, name=self._name, daemon=True)
                self._thread.start()
                self.started.set()

    def _renew(self) -> None:
        self._runner = _LoopRunner(self._name)
        self._loop = self._runner.loop
        weakref.finalize(self, self._runner.dispose)

    def stop(self) -> None:
        """Cancel everything on the thread, end it, and wait for that."""
        if self.is_forked:
            return
        self._refuse_own_thread()
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self.started.clear()
                self._loop.call_soon_threadsafe(self._loop.stop)
                thread.join()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result; an exception in the waiting thread cancels it.

        Raises:
            RuntimeError: Called on the loop's own thread, which would deadlock, or after a fork.
            ConnectionError: The thread does not run, or ended meanwhile.
        """
        thread = self._thread
        if self.is_current or self.is_forked or thread is None:
            work.close()
            self._refuse_other_process()
            self._refuse_own_thread()
            raise ConnectionError("The client is not connected: call connect() first")
        work_item = _CancellableWork(work)
        try:
            return _result(asyncio.run_coroutine_threadsafe(work_item.done(), self._loop), thread)
        except CancelledError:
            work_item.drop()
            raise ConnectionError("The client was closed") from None
        except BaseException:
            with suppress(RuntimeError):  # the loop has ended, and the work with it
                self._loop.call_soon_threadsafe(work_item.cancel)
            raise

    def call(self, act: Callable[[], T]) -> T:
        """Call a function on the loop's thread if it runs, else here."""
        if self.is_current or not self.running:
            return act()

        async def there() -> T:
            return act()

        return self.run(there())

    def _refuse_other_process(self) -> None:
        if self.is_forked:
            raise RuntimeError("A client cannot be used after a fork: create a new one in the child process")

    def _refuse_own_thread(self) -> None:
        if self.is_current:
            raise RuntimeError("Calling the blocking client on its own thread would deadlock: use AsyncSMCPAgentClient")


class _CancellableWork(Generic[T]):
    """A coroutine that can be cancelled before and after it started, whatever its caller knows."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._task: asyncio.Task[Any] | None = None
        self._wanted = True

    async def done(self) -> T:
        if not self._wanted:
            self._work.close()
            raise asyncio.CancelledError
        self._task = asyncio.current_task()
        return await self._work

    def cancel(self) -> None:
        self._wanted = False
        if self._task is not None:
            self._task.cancel()

    def drop(self) -> None:
        """Close a coroutine that the end of the loop kept from starting."""
        self._wanted = False
        if self._task is None:
            self._work.close()


def _result(future: "Future[T]", thread: threading.Thread) -> T:
    while True:
        try:
            return future.result(SIGNAL_CHECK_SECONDS)
        except TimeoutError:
            if future.done():  # it finished just now, or its result is a time-out
                return future.result()
            if not thread.is_alive():  # it ended before it could start the work
                raise CancelledError from None


class _LoopRunner:
    """The loop as its thread runs it. It holds no reference to its user, so that the user can be collected."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.process = os.getpid()
        self._name = name
        self._lock = threading.RLock()  # a finalizer can run at any point
        self._running = False
        self._disposed = False

    def run(self) -> None:
        with self._lock:
            self._running = True
            if self._disposed:
                self.loop.call_soon(self.loop.stop)
        try:
            self._run()
        finally:
            with self._lock:
                self._running = False
                if self._disposed:
                    self.loop.close()

    def _run(self) -> None:
        loop = self.loop
        asyncio.set_event_loop(loop)
        with ThreadPoolExecutor(thread_name_prefix=self._name) as pool:
            loop.set_default_executor(pool)
            loop.run_forever()
            loop.run_until_complete(_end_tasks())
            loop.run_until_complete(loop.shutdown_asyncgens())

    def dispose(self) -> None:
        if self.process != os.getpid():
            return  # after a fork the files of the loop belong to the parent process
        with self._lock:
            self._disposed = True
            if self._running:
                self.loop.call_soon_threadsafe(self.loop.stop)
            else:
                self.loop.close()


async def _end_tasks() -> None:
    """Cancel all tasks, including those that other threads start meanwhile."""
    own = asyncio.current_task()
    while tasks := [task for task in asyncio.all_tasks() if task is not own]:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class BlockingEventStream(Iterator[OfficeEvent]):
    """An iterator of events, in order, from its creation until the client closes."""

    def __init__(self, thread: LoopThread, stream: OfficeEventStream) -> None:
        self._thread = thread
        self._stream = stream

    def __next__(self) -> OfficeEvent:
        while (event := self._stream.take()) is None:
            if self._stream.ended:
                raise StopIteration
            while not self._thread.started.wait(SIGNAL_CHECK_SECONDS):
                pass
            with suppress(ConnectionError):  # closed meanwhile: look for events that came with the end
                event = self._thread.run(self._wait())
                if event is not None:
                    break
        return event

    async def _wait(self) -> OfficeEvent | None:
        return await anext(self._stream, None)

    def close(self) -> None:
        """End the iteration."""
        self._thread.call(self._stream.close)


class HandlerThread(Generic[T]):
    """Calls a handler on its own thread, so that it may block and use the client.

    Attributes:
        subscriptions: Number of subscriptions that use it.
    """

    def __init__(self, handler: Callable[[T], None]) -> None:
        if inspect.iscoroutinefunction(handler):
            raise BadRequest(COROUTINE_REFUSED)
        self.handler = handler
        self.subscriptions = 0
        self._calls: SimpleQueue[tuple[T, asyncio.Future[None]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def __call__(self, event: T) -> None:
        """Call the handler and wait for it; raises its exceptions."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="a2c-agent-handler", daemon=True)
            self._thread.start()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._calls.put((event, done))
        await done

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            event, done = call
            mistake: Exception | None = None
            try:
                returned: object = self.handler(event)
                if inspect.iscoroutine(returned):
                    returned.close()
                    mistake = BadRequest(COROUTINE_REFUSED)
            except BaseException as problem:  # noqa: BLE001 - raised in the caller; the thread continues
                mistake = problem if isinstance(problem, Exception) else RuntimeError(f"The handler raised {problem!r}")
                if isinstance(problem, StopIteration):  # a future cannot hold it
                    mistake = RuntimeError("The handler raised StopIteration")
                mistake.__cause__ = problem if mistake is not problem else problem.__cause__
            with suppress(RuntimeError):  # the loop may be closed
                done.get_loop().call_soon_threadsafe(_settle, done, mistake)

    def stop(self) -> None:
        """End the thread after the handler has returned."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._calls.put(None)
            if thread is not threading.current_thread():
                thread.join(HANDLER_SECONDS)


def _settle(done: "asyncio.Future[None]", mistake: Exception | None) -> None:
    if done.done():
        return
    if mistake is None:
        done.set_result(None)
    else:
        done.set_exception(mistake)


class BlockingClientBase(FinderHook):
    """The part of the blocking client that is written by hand; `tools/gen_sync.py` generates the methods."""

    _agent: "AsyncSMCPAgentClient"

    def __init__(self, name: str) -> None:
        self._thread = LoopThread(f"a2c-agent {name}")
        self._handlers: list[HandlerThread[OfficeEvent]] = []

    def _start(self, connecting: Callable[[], Coroutine[Any, Any, None]]) -> None:
        starting = not self._thread.running
        self._thread.start()
        try:
            self._thread.run(connecting())
        except BaseException:
            if starting:
                self._thread.stop()
            raise

    def _stop(self, closing: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if self._thread.is_forked:
            return
        try:
            if self._thread.running:
                with suppress(ConnectionError):  # another thread closes it at the same time
                    self._thread.run(closing())
        finally:
            self._thread.stop()
            for handler in list(self._handlers):
                handler.stop()

    def _install_hooks(self, on: Callable[[str, HandlerThread[OfficeEvent]], Callable[[], None]]) -> None:
        """Subscribe the hooks that a derived class overrides."""
        if (handler := self._finder_handler()) is not None:
            self._subscribe(on, "update_finder", cast("BlockingHandler", handler))

    def _subscribe(
        self, on: Callable[[str, HandlerThread[OfficeEvent]], Callable[[], None]], kind: str, handler: BlockingHandler
    ) -> Callable[[], None]:
        worker = next((one for one in self._handlers if one.handler == handler), None) or HandlerThread(handler)
        ends = self._thread.call(lambda: on(kind, worker))
        if worker not in self._handlers:
            self._handlers.append(worker)
        worker.subscriptions += 1
        ended = False

        def unsubscribe() -> None:
            nonlocal ended
            self._thread.call(ends)
            if not ended:
                ended = True
                worker.subscriptions -= 1
            if not worker.subscriptions and worker in self._handlers:
                self._handlers.remove(worker)
                worker.stop()

        return unsubscribe

    @contextmanager
    def _handler_thread(self, handler: BlockingProgressHandler | None) -> Iterator[HandlerThread[ToolProgress] | None]:
        """Call a handler on its own thread until the end of the block."""
        worker = None if handler is None else HandlerThread(handler)
        try:
            yield worker
        finally:
            if worker is not None:
                worker.stop()

    def _stream(self, events: Callable[[], OfficeEventStream]) -> BlockingEventStream:
        return BlockingEventStream(self._thread, self._thread.call(events))
