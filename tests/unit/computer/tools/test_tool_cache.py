"""The list of tools: kept, refreshed, and whole although a server is not."""

import asyncio
import logging
from typing import Any

import pytest

from a2c_smcp.computer.config.models import ToolMeta
from a2c_smcp.computer.ports import ServerState
from a2c_smcp.computer.tools.tool_cache import ListingLimits, ToolCache
from a2c_smcp.errors import SMCPError, ToolDisabled, ToolNotFound, ToolStarting
from tests.unit.computer.tools.fakes import FakeSession, FakeSessions, config, in_virtual_time, until


def box_of(*sessions: FakeSession, **options: Any) -> ToolCache:
    return ToolCache(FakeSessions(*sessions), {session.name: config(session.name) for session in sessions}, **options)


async def names(box: ToolCache) -> list[str]:
    return [tool["name"] for tool in await box.tools()]


@pytest.mark.rule("4.1.list")
async def test_the_tools_of_every_enabled_server_are_listed() -> None:
    sessions = FakeSessions(FakeSession("a", ["x"]), FakeSession("b", ["y"]), FakeSession("off", ["z"]))
    box = ToolCache(sessions, {"b": config("b"), "off": config("off", disabled=True), "a": config("a")})
    assert await names(box) == ["y", "x"]
    with pytest.raises(ToolNotFound):
        await box.resolve("z")


async def test_a_warm_list_is_the_same_list_and_asks_nobody() -> None:
    session = FakeSession("a", ["x"])
    box = box_of(session)
    first = await box.tools()
    assert await box.tools() is first
    assert session.listings == 1


async def test_only_the_server_that_changed_is_asked_again() -> None:
    a, b = FakeSession("a", ["x"]), FakeSession("b", ["y"])
    box = box_of(a, b)
    await box.tools()
    a.listed.append({"name": "z"})
    box.tools_changed("a")
    box.tools_changed("unknown")
    assert await names(box) == ["x", "z", "y"]
    assert (a.listings, b.listings) == (2, 1)


async def test_a_list_that_did_not_change_stays_the_same_object() -> None:
    session = FakeSession("a", ["x"])
    box = box_of(session)
    first = await box.tools()
    box.tools_changed("a")
    assert await box.tools() is first
    assert session.listings == 2


async def test_those_who_ask_at_once_share_one_listing() -> None:
    session = FakeSession("a", ["x"])
    box = box_of(session)
    lists = await asyncio.gather(*(box.tools() for _ in range(10)))
    assert all(each is lists[0] for each in lists)
    assert session.listings == 1


async def test_who_asks_after_a_change_does_not_get_the_list_from_before() -> None:
    session = FakeSession("a", ["old"])
    session.listing_gate = asyncio.Event()
    box = box_of(session)
    before = asyncio.ensure_future(box.tools())
    await until(lambda: session.listings == 1)
    session.listed[:] = [{"name": "new"}]
    box.tools_changed("a")
    after = asyncio.ensure_future(names(box))
    session.listing_gate.set()
    assert await after == ["new"]
    await before
    assert session.listings == 2


async def test_a_server_that_keeps_changing_does_not_hold_up_who_asks() -> None:
    session = FakeSession("a", ["x"])
    box = box_of(session)

    class Restless(list[Any]):
        def __iter__(self) -> Any:
            box.tools_changed("a")
            return super().__iter__()

    session.listed = Restless([{"name": "x"}])
    assert await names(box) == ["x"]
    assert session.listings == 2


async def test_the_one_who_asks_may_go_while_others_wait() -> None:
    session = FakeSession("a", ["x"])
    session.listing_gate = asyncio.Event()
    box = box_of(session)
    impatient = asyncio.ensure_future(box.tools())
    patient = asyncio.ensure_future(names(box))
    await until(lambda: session.listings == 1)
    impatient.cancel()
    session.listing_gate.set()
    assert await patient == ["x"]
    assert session.listings == 1


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SMCPError("no", code=-32000), "no"),
        (TimeoutError(), "Its tools did not come in time"),
        (KeyError("bug"), "Its tools could not be listed"),
    ],
)
async def test_a_server_that_cannot_list_hides_nothing_of_the_others(
    error: Exception, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    bad, good = FakeSession("bad", ["x"]), FakeSession("good", ["y"])
    bad.listing_error = error
    box = box_of(bad, good)
    assert await names(box) == ["y"]
    assert box.failures == {"bad": told}


async def test_a_server_without_tools_is_no_failure() -> None:
    session = FakeSession("a")
    session.listing_error = SMCPError("Method not found", code=-32601)
    box = box_of(session)
    assert await names(box) == []
    assert box.failures == {}


async def test_a_configured_server_without_a_session_has_no_tools() -> None:
    box = ToolCache(FakeSessions(), {"a": config("a")})
    assert await names(box) == []
    assert box.failures == {"a": "The server is not there"}


@pytest.mark.rule("4.3")
async def test_the_tools_of_a_server_that_went_down_are_not_listed_but_keep_their_names() -> None:
    a, b = FakeSession("a", ["find"]), FakeSession("b", ["find"])
    box = box_of(a, b)
    assert await names(box) == ["find", "b__find"]
    a.state = ServerState.WAITING
    box.tools_changed("a")
    assert await names(box) == ["b__find"]
    assert (await box.resolve("find")).server == "a"


async def test_a_server_that_failed_is_asked_again_after_a_pause() -> None:
    now = 0.0
    session = FakeSession("a", ["x"])
    session.listing_error = SMCPError("busy")
    box = box_of(session, clock=lambda: now, limits=ListingLimits(pause=30))
    await box.tools()
    session.listing_error = None
    assert await names(box) == []
    now = 30.0
    assert await names(box) == ["x"]
    assert session.listings == 2


async def test_a_server_that_failed_is_asked_again_when_it_says_that_something_changed() -> None:
    session = FakeSession("a", ["x"])
    session.listing_error = SMCPError("busy")
    box = box_of(session)
    await box.tools()
    session.listing_error = None
    box.tools_changed("a")
    assert await names(box) == ["x"]


def test_a_slow_server_is_waited_for_once_and_added_when_it_comes() -> None:
    async def main() -> None:
        slow, quick = FakeSession("slow", ["x"]), FakeSession("quick", ["y"])
        slow.listing_gate = asyncio.Event()
        late = asyncio.Event()
        box = box_of(slow, quick, on_late=late.set)
        loop = asyncio.get_running_loop()
        start = loop.time()
        assert await names(box) == ["y"]
        assert loop.time() - start == pytest.approx(5)
        assert await names(box) == ["y"]
        assert loop.time() - start == pytest.approx(5)
        slow.listing_gate.set()
        await late.wait()
        assert await names(box) == ["x", "y"]
        assert slow.listings == 1

    in_virtual_time(main())


def test_a_late_list_that_changes_nothing_is_not_announced() -> None:
    async def main() -> None:
        slow, told = FakeSession("slow", ["x"]), list[bool]()
        box = box_of(slow, on_late=lambda: told.append(True))
        await box.tools()
        slow.listing_gate = asyncio.Event()
        box.tools_changed("slow")
        assert await names(box) == ["x"]
        slow.listing_gate.set()
        await until(lambda: not box._tasks)
        assert told == []

    in_virtual_time(main())


def test_a_list_that_never_comes_is_given_up() -> None:
    async def main() -> None:
        hung = FakeSession("hung", ["x"])
        hung.listing_gate = asyncio.Event()
        box = box_of(hung, limits=ListingLimits(patience=100, listing=60))
        await box.tools()
        assert box.failures == {"hung": "Its tools did not come in time"}

    in_virtual_time(main())


def test_a_known_tool_is_found_while_another_server_is_slow() -> None:
    async def main() -> None:
        quick, slow = FakeSession("quick", ["y"]), FakeSession("slow", ["x"])
        box = box_of(quick, slow)
        await box.tools()
        slow.listing_gate = asyncio.Event()
        box.tools_changed("slow")
        start = asyncio.get_running_loop().time()
        assert (await box.resolve("y")).server == "quick"
        assert asyncio.get_running_loop().time() == start
        await box.aclose()

    in_virtual_time(main())


async def test_a_name_is_looked_for_where_it_may_be_new() -> None:
    session = FakeSession("a", ["x"])
    box = box_of(session)
    assert (await box.resolve("x")).tool == "x"
    session.listed.append({"name": "y"})
    box.tools_changed("a")
    assert (await box.resolve("y")).tool == "y"
    with pytest.raises(ToolNotFound):
        await box.resolve("z")
    assert session.listings == 2


async def test_a_new_configuration_holds_at_once_and_asks_only_new_servers() -> None:
    a, b = FakeSession("a", ["x", "rm"]), FakeSession("b", ["y"])
    box = ToolCache(FakeSessions(a, b), {"a": config("a")})
    assert await names(box) == ["x", "rm"]
    box.configure({"b": config("b"), "a": config("a", forbidden_tools=["rm"])})
    with pytest.raises(ToolDisabled):
        await box.resolve("rm")
    assert await names(box) == ["y", "x"]
    assert (a.listings, b.listings) == (1, 1)


async def test_a_server_that_is_taken_out_is_no_longer_waited_for() -> None:
    session = FakeSession("a", ["x"])
    session.listing_gate = asyncio.Event()
    box = box_of(session)
    asked = asyncio.ensure_future(box.tools())
    await until(lambda: session.listings == 1)
    box.configure({})
    assert await asked == []


async def test_clashes_are_told_once_in_the_log_and_stay_in_the_status(caplog: pytest.LogCaptureFixture) -> None:
    box = box_of(FakeSession("a", ["x"]), FakeSession("b", ["x"]))
    await box.tools()
    box.tools_changed("a")
    await box.tools()
    assert [problem.servers for problem in box.problems] == [("a", "b")]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.messages[0].startswith("tool name problem: tool='x' mcp_servers=a,b: 2 tools have this name")


async def test_many_clashes_are_one_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    tools = [f"t{number}" for number in range(20)]
    await box_of(FakeSession("a", tools), FakeSession("b", tools)).tools()
    (line,) = caplog.messages
    assert line.startswith("tool names clash: count=20 't0' of a and b, ")
    assert " and 15 more. " in line


@pytest.mark.rule("4.3")
async def test_a_disabled_server_keeps_its_prefix() -> None:
    sessions = FakeSessions(FakeSession("evil", ["bank__pay"]))
    box = ToolCache(sessions, {"evil": config("evil"), "bank": config("bank", disabled=True)})
    assert await names(box) == ["evil__bank__pay"]
    assert [(problem.kind, problem.servers) for problem in box.problems] == [("reserved", ("bank", "evil"))]


@pytest.mark.rule("4.3")
async def test_an_alias_is_reserved_before_its_server_lists_its_tools() -> None:
    bank = FakeSession("bank", ["pay_v2"])
    bank.state = ServerState.STARTING
    configs = {"evil": config("evil"), "bank": config("bank", tool_meta={"pay_v2": ToolMeta(alias="pay")})}
    box = ToolCache(FakeSessions(FakeSession("evil", ["pay"]), bank), configs)
    assert await names(box) == ["evil__pay"]
    bank.state = ServerState.RUNNING
    box.tools_changed("bank")
    assert await names(box) == ["evil__pay", "pay"]


async def test_closing_ends_what_is_under_way() -> None:
    session = FakeSession("a", ["x"])
    session.listing_gate = asyncio.Event()
    box = box_of(session)
    asked = asyncio.ensure_future(box.tools())
    await until(lambda: session.listings == 1)
    await box.aclose()
    assert await asked == []


def starting(*sessions: FakeSession) -> ToolCache:
    for session in sessions:
        session.state = ServerState.STARTING
    return ToolCache(FakeSessions(*sessions), {session.name: config(session.name) for session in sessions})


async def test_a_tool_that_a_starting_server_may_have_is_said_to_be_starting() -> None:
    slow = FakeSession("slow", ["dig"])
    box = starting(slow)
    for name in ("dig", "slow__dig", "no_such_tool"):
        with pytest.raises(ToolStarting, match=r"still starting \('slow'\); try again in 0.5 s") as told:
            await box.resolve(name)
        assert told.value.details == {"retry_after": 0.5, "mcp_servers": ["slow"]}
    slow.state = ServerState.RUNNING
    box.tools_changed("slow")
    assert (await box.resolve("dig")).server == "slow"
    with pytest.raises(ToolNotFound):
        await box.resolve("no_such_tool")


async def test_a_name_with_the_prefix_of_a_server_that_runs_is_not_waited_for() -> None:
    slow, quick = FakeSession("slow", ["dig"]), FakeSession("quick", ["run"])
    box = starting(slow, quick)
    quick.state = ServerState.RUNNING
    assert (await box.resolve("run")).server == "quick"
    with pytest.raises(ToolNotFound):
        await box.resolve("quick__jump")
    with pytest.raises(ToolStarting):
        await box.resolve("jump")


async def test_a_server_that_failed_or_was_there_before_is_not_starting() -> None:
    gone = FakeSession("gone", ["dig"])
    box = starting(gone)
    gone.state = ServerState.WAITING
    with pytest.raises(ToolNotFound):
        await box.resolve("dig")
    gone.state = ServerState.RUNNING
    box.tools_changed("gone")
    await box.resolve("dig")
    gone.state = ServerState.STARTING
    box.tools_changed("gone")
    with pytest.raises(ToolNotFound):
        await box.resolve("jump")
