"""The runner in this process: what `a2c server` does between its first line and its last."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from a2c_smcp.errors import InvalidConfig
from a2c_smcp.server import MemoryRegistry, create_app
from a2c_smcp.server.call_router import CallRouter
from a2c_smcp.server.server_process import ListenAddress, ServerProcess


def run(runner: ServerProcess, act: Callable[[ListenAddress], None]) -> ListenAddress:
    """Serve while somebody acts in another thread."""
    listening = runner.start()
    actor = threading.Thread(target=act, args=(listening,))
    actor.start()
    try:
        runner.wait()
    finally:
        actor.join()
    return listening


def tell(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told(number: signal.Signals) -> None:
    codes = []
    before = signal.getsignal(number)

    def act(listening: ListenAddress) -> None:
        codes.append(httpx.get(f"{listening['url']}/readyz").status_code)
        tell(number)

    with ServerProcess(create_app(port=0)) as runner:
        listening = run(runner, act)
    assert codes == [200]
    assert (listening["path"], listening["pid"]) == ("/socket.io", os.getpid())
    assert signal.getsignal(number) is before
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{listening['url']}/readyz")


def test_a_hang_up_reloads() -> None:
    app = create_app(port=0)
    reloaded = threading.Event()
    app.reload = reloaded.set  # type: ignore[method-assign]

    def act(_: ListenAddress) -> None:
        tell(signal.SIGHUP)
        assert reloaded.wait(60)
        tell(signal.SIGTERM)

    with ServerProcess(app) as runner:
        run(runner, act)
    assert reloaded.is_set()


def test_a_second_signal_interrupts() -> None:
    app = create_app(port=0)
    draining = threading.Event()

    async def endless(seconds: float, hurry: Callable[[], bool]) -> None:
        draining.set()
        while not hurry():
            await asyncio.sleep(0.01)

    app.drain = endless  # type: ignore[method-assign, assignment]

    def act(_: ListenAddress) -> None:
        tell(signal.SIGTERM)
        assert draining.wait(60)
        tell(signal.SIGTERM)

    with ServerProcess(app) as runner, pytest.raises(KeyboardInterrupt):
        run(runner, act)


def test_a_registry_that_does_not_end_does_not_hold_it_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Clinging(MemoryRegistry):
        async def stop(self) -> None:
            await asyncio.Event().wait()

    monkeypatch.setattr("a2c_smcp.server.app.CLOSE_SECONDS", 0.1)
    with ServerProcess(create_app(port=0, registry=Clinging())) as runner:
        run(runner, lambda _: tell(signal.SIGTERM))
    assert "registry stop timed out" in caplog.text


def test_what_cannot_start_says_why() -> None:
    class Stillborn(MemoryRegistry):
        async def start(self, router: CallRouter) -> None:
            raise InvalidConfig("no Redis")

    with (
        ServerProcess(create_app(port=0, registry=Stillborn())) as runner,
        pytest.raises(InvalidConfig, match="no Redis"),
    ):
        runner.start()


def test_a_failure_of_the_loop_is_logged_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(port=0)

    def fail() -> None:
        raise RuntimeError("tiger")

    def act(_: ListenAddress) -> None:
        loop: Any = loops[0]
        loop.call_soon_threadsafe(fail)
        loop.call_soon_threadsafe(tell, signal.SIGTERM)

    loops: list[Any] = []
    start = app.start

    async def remember() -> None:
        loops.append(asyncio.get_running_loop())
        await start()

    app.start = remember  # type: ignore[method-assign]
    with ServerProcess(app) as runner:
        run(runner, act)
    (record,) = [
        one for one in caplog.records if one.name == "a2c_smcp.server.server_process" and one.levelname == "ERROR"
    ]
    assert record.exc_info is not None
    assert record.exc_info[0] is RuntimeError
