"""How MCP servers start, fail, recover and end, one by one."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from a2c_smcp.computer.mcp.restarts import RestartPolicy
from a2c_smcp.computer.mcp.server_run import Timing
from a2c_smcp.computer.ports import ServerState
from a2c_smcp.errors import RequestTimeout, ToolFailed
from tests.interaction.computer.mcp.conftest import CAP, QUICK, Host, gone, life, stdio, text_of

ONE_FAILURE = replace(QUICK, restarts=RestartPolicy(first=0.01, most=0.02, failures=1))


@pytest.mark.rule("5.5")
async def test_a_bad_server_neither_delays_nor_fails_the_others(hosts: Callable[..., Host], tmp_path: Path) -> None:
    host = hosts()
    gate = tmp_path / "gate"
    bad = [
        life("mute", "--silent"),
        life("crash", "--crash"),
        stdio("absent", "no-such-command"),
        life("odd", "--garbage"),
    ]
    await host.apply(life("slow", "--gate", str(gate)), *bad, life("good"))

    await host.becomes("good", ServerState.RUNNING)
    assert text_of(await host["good"].call_tool("echo", {"a": 1})) == '{"a": 1}'
    assert (host["slow"].status.state, host["mute"].status.state) == (ServerState.STARTING, ServerState.STARTING)
    gate.touch()
    await host.becomes("slow", ServerState.RUNNING)


@pytest.mark.rule("5.5")
async def test_a_server_that_keeps_failing_is_left_alone_for_minutes_and_says_why(host: Host, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    await host.apply(life("crash", "--lives", str(starts), "--crashes", "100"))

    await host.becomes("crash", ServerState.FAILED)

    status = host["crash"].status
    assert status.problem == "it exited with code 7 before it answered: Error: the life server was told to crash"
    assert status.advice == "run the command by hand with the same arguments and environment to see why"
    assert status.retry_in is not None
    assert 100 < status.retry_in <= 300
    # Each of the five tries first asks in the newer era, and then without.
    assert (status.restarts, len(starts.read_text().split())) == (4, 10)


@pytest.mark.rule("5.5")
async def test_a_server_that_failed_too_often_is_tried_again_after_a_long_pause(
    hosts: Callable[..., Host], tmp_path: Path
) -> None:
    policy = RestartPolicy(first=0.01, most=0.02, failures=2, long=(0.03, 0.05))
    host = hosts(replace(QUICK, restarts=policy))
    await host.apply(life("a", "--lives", str(tmp_path / "lives"), "--crashes", "9"))
    seen: set[ServerState] = set()

    def running() -> bool:
        seen.add(host["a"].status.state)
        return ServerState.RUNNING in seen

    await host.ears.until(running)

    assert ServerState.FAILED in seen
    assert (host["a"].status.problem, host["a"].status.retry_in) == (None, None)


@pytest.mark.rule("5.5")
async def test_a_process_that_visibly_works_is_waited_for_and_not_started_again(
    hosts: Callable[..., Host], tmp_path: Path
) -> None:
    host = hosts(replace(QUICK, startup=1.0))
    starts = tmp_path / "starts"
    await host.apply(life("npx", "--lives", str(starts), "--downloads", "3"))
    assert host["npx"].status.starting_for is not None

    await host.becomes("npx", ServerState.RUNNING)

    status = host["npx"].status
    assert (status.restarts, status.starting_for, len(starts.read_text().split())) == (0, None, 1)


@pytest.mark.rule("5.5")
@pytest.mark.parametrize(("flags", "settings"), [(["--silent"], {}), (["--downloads", "60"], {"start_timeout": 1.0})])
async def test_a_start_that_takes_too_long_is_not_repeated_for_minutes(
    hosts: Callable[..., Host], tmp_path: Path, flags: list[str], settings: dict[str, float]
) -> None:
    host = hosts(replace(QUICK, startup=1.0))
    starts = tmp_path / "starts"
    await host.apply(life("slow", "--lives", str(starts), *flags, **settings))

    await host.becomes("slow", ServerState.FAILED)

    status = host["slow"].status
    assert (status.restarts, len(starts.read_text().split())) == (0, 1)
    assert "raise its start_timeout" in str(status.advice)
    assert status.retry_in is not None
    assert status.retry_in > 100


@pytest.mark.rule("5.5")
async def test_a_server_that_recovers_is_used_again(host: Host, tmp_path: Path) -> None:
    session = await host.host(life("phoenix", "--lives", str(tmp_path / "lives"), "--crashes", "3"))

    await host.becomes("phoenix", ServerState.RUNNING)

    assert (session.status.problem, session.status.restarts) == (None, 1)
    assert text_of(await session.call_tool("echo", {})) == "{}"


@pytest.mark.rule("5.5")
async def test_a_call_of_a_server_that_dies_fails_at_once_and_is_not_repeated(host: Host, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    session = await host.running(life("mortal", "--lives", str(starts)))
    waiting = asyncio.create_task(session.call_tool("wait", {}))

    with pytest.raises(ToolFailed, match=r"lost while it worked on this: it exited with code 9 while running\. It may"):
        await session.call_tool("die", {})
    with pytest.raises(ToolFailed, match="not tried again by itself"):
        await waiting

    await host.ears.until(lambda: session.status.state is ServerState.RUNNING and session.status.restarts == 1)
    assert json.loads(text_of(await session.call_tool("heard", {})))["methods"].count("tools/call") == 1


@pytest.mark.rule("5.5")
async def test_a_request_to_a_server_that_does_not_run_says_its_state_and_what_to_do(
    hosts: Callable[..., Host],
) -> None:
    host = hosts(ONE_FAILURE)
    await host.apply(life("off", disabled=True), life("crash", "--crash"), life("mute", "--silent"), life("good"))
    await host.becomes("crash", ServerState.FAILED)
    await host.becomes("good", ServerState.RUNNING)
    await host.manager.stop("good")

    said = {}
    for name in ("off", "crash", "mute", "good"):
        with pytest.raises(ToolFailed) as failed:
            await host[name].list_tools()
        said[name] = failed.value.message

    assert said == {
        "off": "MCP server 'off' is disabled; its owner can enable it",
        "crash": "MCP server 'crash' has failed; its owner can repair it and start it again "
        "(it exited with code 7 before it answered)",
        "mute": "MCP server 'mute' is starting; try again in a moment",
        "good": "MCP server 'good' is stopped; its owner can start it",
    }


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--silent"], "it did not answer the MCP handshake within 1 s"),
        (["--garbage"], "on standard output: this is not JSON / this is not JSON"),
        (["--nonsense"], "the MCP handshake failed: its answer is not one of the protocol"),
    ],
)
async def test_a_server_that_never_gets_through_the_handshake_is_told_apart(
    hosts: Callable[..., Host], flags: list[str], problem: str
) -> None:
    host = hosts(replace(ONE_FAILURE, startup=1.0, era=0.2))
    await host.apply(life("odd", *flags))

    await host.becomes("odd", ServerState.FAILED)

    assert problem in str(host["odd"].status.problem)


async def test_a_server_that_prints_to_standard_output_runs_and_is_told_so(host: Host) -> None:
    session = await host.running(life("chatty", "--chatty"))
    await session.call_tool("echo", {})

    assert session.status.state is ServerState.RUNNING
    assert str(session.status.problem).startswith("it prints lines to standard output that are not MCP messages: ")
    assert "'handling server/discover'" in str(session.status.problem)
    assert session.status.advice == "make it log to standard error; standard output belongs to the protocol"


async def test_a_server_that_ignores_what_it_does_not_know_is_waited_for_once(hosts: Callable[..., Host]) -> None:
    host = hosts(replace(QUICK, era=0.1))
    session = await host.running(life("deaf", "--ignore-unknown"))
    with pytest.raises(ToolFailed):
        await session.call_tool("die", {})

    await host.ears.until(lambda: session.status.state is ServerState.RUNNING and session.status.restarts == 1)

    assert json.loads(text_of(await session.call_tool("heard", {})))["methods"][0] == "initialize"


async def test_a_server_that_dies_of_what_it_does_not_know_starts_all_the_same(host: Host) -> None:
    session = await host.host(life("tender", "--die-of-unknown", "--no-resources"))

    assert (session.status.state, session.status.restarts) == (ServerState.RUNNING, 0)


@pytest.mark.rule("5.5")
async def test_a_process_that_hangs_is_started_anew(hosts: Callable[..., Host]) -> None:
    host = hosts(replace(QUICK, hang=0.4))
    session = await host.running(life("stuck"))
    first = int(text_of(await session.call_tool("pid", {})))

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await session.call_tool("hang", {})

    await host.ears.until(lambda: session.status.state is ServerState.WAITING)
    assert session.status.problem == "it stopped answering for 0.4 s"
    await host.becomes("stuck", ServerState.RUNNING)
    assert int(text_of(await session.call_tool("pid", {}))) != first


async def test_a_server_that_is_only_slow_to_one_caller_is_not_taken_for_hung(host: Host) -> None:
    session = await host.running(life("busy"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await session.call_tool("wait", {})

    async with asyncio.timeout(CAP):
        while "ping" not in text_of(await session.call_tool("heard", {})):
            pass
    assert session.status.restarts == 0


async def test_a_request_has_a_time_limit_of_its_own(hosts: Callable[..., Host]) -> None:
    host = hosts(replace(QUICK, request=1.0))
    session = await host.running(life("stuck"))
    call = asyncio.create_task(session.call_tool("hang", {}))

    with pytest.raises(RequestTimeout, match=r"'stuck' did not answer tools/list within 1 s"):
        await session.list_tools()

    call.cancel()


async def test_a_server_that_ignores_polite_endings_is_killed(hosts: Callable[..., Host]) -> None:
    host = hosts(replace(QUICK, grace=0.2))
    session = await host.running(life("stubborn", "--stubborn"))
    pid = int(text_of(await session.call_tool("pid", {})))

    async with asyncio.timeout(CAP):
        await host.manager.stop("stubborn")

    await gone(pid)
    assert session.status.state is ServerState.STOPPED


async def test_stopping_a_server_ends_its_children_within_its_group_and_outside(host: Host, tmp_path: Path) -> None:
    family = tmp_path / "family"
    await host.running(life("parent", "--family", str(family)))

    await host.manager.stop("parent")

    for pid in json.loads(family.read_text()):
        await gone(pid)


async def test_a_server_that_dies_takes_its_children_with_it(host: Host, tmp_path: Path) -> None:
    family = tmp_path / "family"
    session = await host.running(life("parent", "--family", str(family)))
    children = json.loads(family.read_text())

    with pytest.raises(ToolFailed):
        await session.call_tool("die", {})

    for pid in children:
        await gone(pid)


async def test_stopping_a_server_that_is_starting_does_not_wait_for_it(host: Host) -> None:
    await host.apply(life("mute", "--silent"))

    async with asyncio.timeout(CAP / 2):
        await host.manager.stop("mute")

    assert host["mute"].status.state is ServerState.STOPPED


async def test_the_default_patience_is_that_of_the_documentation() -> None:
    assert Timing() == Timing(
        startup=60.0,
        slowest=900.0,
        request=60.0,
        probe=30.0,
        answer=10.0,
        hang=30.0,
        grace=2.0,
        era=3.0,
        restarts=RestartPolicy(),
    )
