"""What is the blocking client's own: its thread, its handlers, its end."""

import asyncio
import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from typing import Any

import pytest

from a2c_smcp.agent import OfficeEvent, SMCPAgentClient
from a2c_smcp.agent.loop_thread import LoopThread
from a2c_smcp.computer.office import SMCPComputerClient
from a2c_smcp.errors import BadRequest
from tests.interaction.agent.conftest import Computers
from tests.interaction.computer.office.fakes import CAP, Gate, Scripted
from tests.interaction.server.conftest import Running


def threads() -> list[threading.Thread]:
    """The threads that belong to an Agent."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("a2c-agent")]


def left_behind() -> list[threading.Thread]:
    """The threads that do not end: one that is about to may take its time on a busy machine."""
    for thread in threads():
        thread.join(CAP)
    return threads()


@pytest.fixture
def elsewhere() -> Iterator[LoopThread]:
    """Where a test that blocks keeps the other side."""
    thread = LoopThread("elsewhere")
    thread.start()
    yield thread
    thread.stop()


def seat(elsewhere: LoopThread, answerer: Scripted, url: str, office: str) -> SMCPComputerClient:
    """A Computer that has joined."""

    async def join() -> SMCPComputerClient:
        client = SMCPComputerClient(answerer, url=url, office_id=office, name="c")
        await client.connect()
        return client

    return elsewhere.run(join())


def test_closing_leaves_no_thread_behind(ready: Running, office: str) -> None:
    with SMCPAgentClient(ready.url, name="a", office_id=office) as agent:
        agent.on("*", lambda _: None)
        assert agent.list_room()
        assert threads()
    assert left_behind() == []


def test_a_connection_that_fails_leaves_no_thread_behind_and_can_be_tried_again(ready: Running, office: str) -> None:
    agent = SMCPAgentClient("http://127.0.0.1:1", name="a", office_id=office)
    for _ in range(2):
        with pytest.raises(ConnectionError):
            agent.connect()
        assert left_behind() == []


def test_a_client_opens_and_closes_as_often_as_one_likes(ready: Running, office: str) -> None:
    agent = SMCPAgentClient(ready.url, name="a", office_id=office)
    for _ in range(3):
        with agent:
            assert [member["name"] for member in agent.list_room()] == ["a"]
    agent.close()
    assert left_behind() == []


def test_a_client_that_is_forgotten_takes_its_thread_with_it(ready: Running, office: str) -> None:
    agent = SMCPAgentClient(ready.url, name="a", office_id=office)
    agent.connect()
    [thread] = [one for one in threading.enumerate() if one.name == "a2c-agent a"]
    del agent
    gc.collect()
    thread.join(CAP)
    assert not thread.is_alive()


def test_its_own_thread_is_refused(ready: Running, office: str) -> None:
    with SMCPAgentClient(ready.url, name="a", office_id=office) as agent:

        async def ask() -> None:
            agent.list_room()

        with pytest.raises(RuntimeError, match="use AsyncSMCPAgentClient"):
            agent._thread.run(ask())


def test_a_handler_may_use_the_client(ready: Running, office: str, elsewhere: LoopThread) -> None:
    heard: Queue[Any] = Queue()
    with SMCPAgentClient(ready.url, name="a", office_id=office) as agent:
        agent.on("enter_office", lambda event: heard.put(agent.get_tools(event.computer or "")))
        computer = seat(elsewhere, Scripted(get_tools={"tools": []}), ready.url, office)
        assert heard.get(timeout=CAP) == []
        elsewhere.run(computer.close())


def test_a_handler_may_close_the_client(ready: Running, office: str, elsewhere: LoopThread) -> None:
    done = threading.Event()
    agent = SMCPAgentClient(ready.url, name="a", office_id=office)

    def close(_: OfficeEvent) -> None:
        agent.close()
        done.set()

    agent.on("enter_office", close)
    agent.connect()
    computer = seat(elsewhere, Scripted(get_tools={"tools": []}), ready.url, office)
    assert done.wait(CAP)
    elsewhere.run(computer.close())


def in_a_fork(work: Callable[[], str]) -> str:
    """What `work` returns, or raises, in a copy of this process."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # this process has threads; that is what the test is about
        child = os.fork()
    if not child:
        signal.alarm(int(CAP))
        try:
            told = work()
        except BaseException as problem:  # noqa: BLE001 - whatever it is, the test wants to see it
            told = f"{type(problem).__name__}: {problem}"
        os.write(writing, told.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


def test_a_fork_cannot_use_the_client_of_its_parent_and_does_it_no_harm(ready: Running, office: str) -> None:
    with SMCPAgentClient(ready.url, name="a", office_id=office) as agent:

        def work() -> str:
            agent.close()
            return str(agent.list_room())

        assert (
            in_a_fork(work)
            == "RuntimeError: A client cannot be used after a fork: create a new one in the child process"
        )
        assert [member["name"] for member in agent.list_room()] == ["a"]


def test_a_client_that_was_not_connected_yet_can_be_used_in_a_fork(ready: Running, office: str) -> None:
    agent = SMCPAgentClient(ready.url, name="a", office_id=office)

    def work() -> str:
        with agent:
            return str([member["name"] for member in agent.list_room()])

    assert in_a_fork(work) == "['a']"
    with agent:
        assert [member["name"] for member in agent.list_room()] == ["a"]


def test_two_threads_may_close_at_once(ready: Running, office: str) -> None:
    agent = SMCPAgentClient(ready.url, name="a", office_id=office)
    agent.connect()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: agent.close(), range(8))) == [None] * 8
    assert left_behind() == []


def test_many_threads_use_one_client(ready: Running, office: str, elsewhere: LoopThread) -> None:
    async def echo(request: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": request["params"]["text"]}]}

    computer = seat(elsewhere, Scripted(tool_call=echo), ready.url, office)
    with (
        SMCPAgentClient(ready.url, name="a", office_id=office, live=False) as agent,
        ThreadPoolExecutor(8) as pool,
    ):
        texts = [str(number) for number in range(200)]
        results = pool.map(lambda text: agent.call_tool("c", "echo", {"text": text}), texts)
        assert [result["content"][0]["text"] for result in results] == texts
    elsewhere.run(computer.close())


def test_an_unsubscribed_handler_hears_nothing_more(ready: Running, office: str) -> None:
    heard: Queue[str] = Queue()
    agent = SMCPAgentClient(ready.url, name="a", office_id=office)
    ends = agent.on("joined", lambda event: heard.put(event.kind))
    agent.on("disconnected", lambda event: heard.put(event.kind))
    with agent:
        assert heard.get(timeout=CAP) == "joined"
        ends()
        ends()
        agent.leave()
        agent.join(office)
    assert heard.get(timeout=CAP) == "disconnected"
    assert heard.empty()


def test_a_handler_is_a_plain_function() -> None:
    async def handler(_: OfficeEvent) -> None: ...

    with pytest.raises(BadRequest, match="plain function"):
        SMCPAgentClient("http://127.0.0.1:1", name="a").on("*", handler)  # type: ignore[arg-type]


def test_a_handler_that_turns_out_to_be_a_coroutine_is_told_in_the_log(
    ready: Running, office: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Hidden:
        async def __call__(self, _: OfficeEvent) -> None: ...

    with SMCPAgentClient(ready.url, name="a", office_id=office) as agent:
        agent.on("disconnected", Hidden())  # type: ignore[arg-type]
    assert "plain function" in caplog.text


def test_events_are_iterated_until_the_client_closes(ready: Running, office: str) -> None:
    agent = SMCPAgentClient(ready.url, name="a", office_id=office)
    events = agent.events()

    def open_and_close() -> None:
        with agent:
            pass

    closing = threading.Thread(target=open_and_close)
    closing.start()
    assert [event.kind for event in events] == ["connected", "joined", "disconnected"]
    closing.join(CAP)
    assert list(events) == []


def test_events_that_nobody_wants_any_more_end(ready: Running, office: str) -> None:
    with SMCPAgentClient(ready.url, name="a", office_id=office) as agent:
        events = agent.events()
        events.close()
        assert list(events) == []


INTERRUPTED = """
import sys, threading
from a2c_smcp.agent import SMCPAgentClient

try:
    with SMCPAgentClient(sys.argv[1], name="a", office_id=sys.argv[2], live=False) as agent:
        agent.call_tool("c", "slow", req_id="r")
except KeyboardInterrupt:
    print(sorted(thread.name for thread in threading.enumerate()))
"""


ELSEWHERE = f"""
import signal, sys, threading

def interrupt():
    sys.stdin.readline()
    for thread in threading.enumerate():
        if thread.name == "a2c-agent a":
            signal.pthread_kill(thread.ident, signal.SIGINT)

other = threading.Thread(target=interrupt)
other.start()
{INTERRUPTED.replace("print(", "other.join(); print(")}
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to threads")
async def test_an_interrupt_that_another_thread_got_is_heard(ready: Running, office: str, computer: Computers) -> None:
    gate = Gate({})
    answerer = Scripted(tool_call=gate)
    await computer(answerer, ready.url, office)
    words = (sys.executable, "-c", ELSEWHERE, ready.url, office)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
    await asyncio.wait_for(gate.entered.get(), CAP)
    printed, _ = await asyncio.wait_for(process.communicate(b"\n"), CAP / 2)
    assert printed.decode().strip() == "['MainThread']"
    assert await asyncio.wait_for(answerer.cancelled.get(), CAP) == ("a", "r")


async def test_an_interrupt_cancels_the_call_and_leaves_no_thread_behind(
    ready: Running, office: str, computer: Computers
) -> None:
    gate = Gate({})
    answerer = Scripted(tool_call=gate)
    await computer(answerer, ready.url, office)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", INTERRUPTED, ready.url, office, stdout=asyncio.subprocess.PIPE
    )
    await asyncio.wait_for(gate.entered.get(), CAP)
    process.send_signal(signal.SIGINT)
    printed, _ = await asyncio.wait_for(process.communicate(), CAP)
    assert printed.decode().strip() == "['MainThread']"
    assert await asyncio.wait_for(answerer.cancelled.get(), CAP) == ("a", "r")
