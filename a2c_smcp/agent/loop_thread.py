"""An event loop on a thread of its own, and how blocking code talks to it."""

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
"""Seconds after which whoever waits hears signals: some systems, and some threads that get one, do not end the wait."""

HANDLER_SECONDS: Final = 2.0
"""Seconds that are waited for a handler that still runs when the client closes."""


class LoopThread:
    """Runs coroutines for other threads. It can be started and stopped as often as one likes.

    Attributes:
        started: Set while there is a thread.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._engine = _LoopRunner(name)
        self._loop = self._engine.loop
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self.started = threading.Event()
        # For those who forget to close: at the latest when the interpreter ends.
        weakref.finalize(self, self._engine.dispose)

    @property
    def running(self) -> bool:
        """Whether there is a thread."""
        return self._thread is not None

    @property
    def here(self) -> bool:
        """Whether the caller is the loop's own thread."""
        return self._thread is threading.current_thread()

    @property
    def elsewhere(self) -> bool:
        """Whether this is a copy that came with a fork: threads and connections stay with the process that had them."""
        return self._engine.process != os.getpid()

    def start(self) -> None:
        """Start the thread, unless it runs.

        Raises:
            RuntimeError: It ran already when this process was forked from another.
        """
        if self.elsewhere and self._thread is None:
            self._renew()
        self._refuse_other_process()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._engine.run, name=self._name, daemon=True)
                self._thread.start()
                self.started.set()

    def _renew(self) -> None:
        self._engine = _LoopRunner(self._name)
        self._loop = self._engine.loop
        weakref.finalize(self, self._engine.dispose)

    def stop(self) -> None:
        """End the thread and whatever still runs on it; it has ended when this returns."""
        if self.elsewhere:
            return
        self._refuse_own_thread()
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self.started.clear()
                self._loop.call_soon_threadsafe(self._loop.stop)
                thread.join()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for a coroutine; whoever gives up waiting cancels it.

        Raises:
            RuntimeError: Called from the loop's own thread, which would wait for itself, or after a fork.
            ConnectionError: There is no thread, or it ended meanwhile.
        """
        thread = self._thread
        if self.here or self.elsewhere or thread is None:
            work.close()
            self._refuse_other_process()
            self._refuse_own_thread()
            raise ConnectionError("There is no connection; connect first")
        errand = _CancellableWork(work)
        try:
            return _result(asyncio.run_coroutine_threadsafe(errand.done(), self._loop), thread)
        except CancelledError:
            errand.drop()
            raise ConnectionError("The client was closed") from None
        except BaseException:
            with suppress(RuntimeError):  # the loop has ended meanwhile, and the work with it
                self._loop.call_soon_threadsafe(errand.cancel)
            raise

    def do(self, act: Callable[[], T]) -> T:
        """Do something where the loop's own things may be touched."""
        if self.here or not self.running:
            return act()

        async def there() -> T:
            return act()

        return self.run(there())

    def _refuse_other_process(self) -> None:
        if self.elsewhere:
            raise RuntimeError("A client does not come along into a forked process; make another one there")

    def _refuse_own_thread(self) -> None:
        if self.here:
            raise RuntimeError("The client's own thread would wait for itself; use AsyncSMCPAgentClient there")


class _CancellableWork(Generic[T]):
    """Work that can be given up at any moment: an interrupt may come when it has begun, and before its caller knows."""

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
        """Let go of work that the end of the loop has kept from beginning."""
        self._wanted = False
        if self._task is None:
            self._work.close()


def _result(future: "Future[T]", thread: threading.Thread) -> T:
    while True:
        try:
            return future.result(SIGNAL_CHECK_SECONDS)
        except TimeoutError:
            if future.done():  # it came in this moment, or is a time-out itself
                return future.result()
            if not thread.is_alive():  # it ended before it could begin this
                raise CancelledError from None


class _LoopRunner:
    """The loop, as its thread sees it; it does not know who uses it, so that nobody is kept alive by it."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.process = os.getpid()
        self._name = name
        self._lock = threading.RLock()  # a finalizer can come in the middle of anything
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
            return  # after a fork the loop's files are still those of the parent, which goes on using them
        with self._lock:
            self._disposed = True
            if self._running:
                self.loop.call_soon_threadsafe(self.loop.stop)
            else:
                self.loop.close()


async def _end_tasks() -> None:
    """Cancel whatever runs, and what another thread has begun in the last moment."""
    own = asyncio.current_task()
    while tasks := [task for task in asyncio.all_tasks() if task is not own]:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class BlockingEventStream(Iterator[OfficeEvent]):
    """Events from the moment it was made, in order, until the client closes."""

    def __init__(self, thread: LoopThread, stream: OfficeEventStream) -> None:
        self._thread = thread
        self._stream = stream

    def __next__(self) -> OfficeEvent:
        while (event := self._stream.take()) is None:
            if self._stream.ended:
                raise StopIteration
            while not self._thread.started.wait(SIGNAL_CHECK_SECONDS):
                pass
            with suppress(ConnectionError):  # closed meanwhile: see what came with the end
                event = self._thread.run(self._wait())
                if event is not None:
                    break
        return event

    async def _wait(self) -> OfficeEvent | None:
        return await anext(self._stream, None)

    def close(self) -> None:
        """Want no more."""
        self._thread.do(self._stream.close)


class HandlerThread(Generic[T]):
    """Calls one handler on a thread of its own, so that it may use the client, and may take its time.

    Attributes:
        uses: How many kinds of events it is called for.
    """

    def __init__(self, handler: Callable[[T], None]) -> None:
        if inspect.iscoroutinefunction(handler):
            raise BadRequest(COROUTINE_REFUSED)
        self.handler = handler
        self.uses = 0
        self._calls: SimpleQueue[tuple[T, asyncio.Future[None]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def __call__(self, event: T) -> None:
        """Have the handler called and wait for it; raises what it raises."""
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
                told: object = self.handler(event)
                if inspect.iscoroutine(told):
                    told.close()
                    mistake = BadRequest(COROUTINE_REFUSED)
            except BaseException as problem:  # noqa: BLE001 - raised where it is waited for; the thread goes on
                mistake = problem if isinstance(problem, Exception) else RuntimeError(f"The handler raised {problem!r}")
                if isinstance(problem, StopIteration):  # no future takes it
                    mistake = RuntimeError("The handler raised StopIteration")
                mistake.__cause__ = problem if mistake is not problem else problem.__cause__
            with suppress(RuntimeError):  # the loop may be gone
                done.get_loop().call_soon_threadsafe(_settle, done, mistake)

    def stop(self) -> None:
        """End the thread, once the handler has returned."""
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
        if self._thread.elsewhere:
            return
        try:
            if self._thread.running:
                with suppress(ConnectionError):  # somebody else closes it at the same time
                    self._thread.run(closing())
        finally:
            self._thread.stop()
            for handler in list(self._handlers):
                handler.stop()

    def _install_hooks(self, on: Callable[[str, HandlerThread[OfficeEvent]], Callable[[], None]]) -> None:
        """Call the hooks that a derived class overrides."""
        if (handler := self._finder_handler()) is not None:
            self._subscribe(on, "update_finder", cast("BlockingHandler", handler))

    def _subscribe(
        self, on: Callable[[str, HandlerThread[OfficeEvent]], Callable[[], None]], kind: str, handler: BlockingHandler
    ) -> Callable[[], None]:
        worker = next((one for one in self._handlers if one.handler == handler), None) or HandlerThread(handler)
        ends = self._thread.do(lambda: on(kind, worker))
        if worker not in self._handlers:
            self._handlers.append(worker)
        worker.uses += 1
        ended = False

        def unsubscribe() -> None:
            nonlocal ended
            self._thread.do(ends)
            if not ended:
                ended = True
                worker.uses -= 1
            if not worker.uses and worker in self._handlers:
                self._handlers.remove(worker)
                worker.stop()

        return unsubscribe

    @contextmanager
    def _handler_thread(self, handler: BlockingProgressHandler | None) -> Iterator[HandlerThread[ToolProgress] | None]:
        """Call a handler on a thread of its own, from here to the end of the block."""
        worker = None if handler is None else HandlerThread(handler)
        try:
            yield worker
        finally:
            if worker is not None:
                worker.stop()

    def _stream(self, events: Callable[[], OfficeEventStream]) -> BlockingEventStream:
        return BlockingEventStream(self._thread, self._thread.do(events))
