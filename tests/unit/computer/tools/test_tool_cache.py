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


def cache_of(*sessions: FakeSession, **options: Any) -> ToolCache:
    return ToolCache(FakeSessions(*sessions), {session.name: config(session.name) for session in sessions}, **options)


async def names(cache: ToolCache) -> list[str]:
    return [tool["name"] for tool in await cache.tools()]


@pytest.mark.rule("4.1.list")
async def test_the_tools_of_every_enabled_server_are_listed() -> None:
    sessions = FakeSessions(FakeSession("a", ["x"]), FakeSession("b", ["y"]), FakeSession("off", ["z"]))
    cache = ToolCache(sessions, {"b": config("b"), "off": config("off", disabled=True), "a": config("a")})
    assert await names(cache) == ["y", "x"]
    with pytest.raises(ToolNotFound):
        await cache.resolve("z")


async def test_a_warm_list_is_the_same_list_and_asks_nobody() -> None:
    session = FakeSession("a", ["x"])
    cache = cache_of(session)
    first = await cache.tools()
    assert await cache.tools() is first
    assert session.listings == 1


async def test_only_the_server_that_changed_is_asked_again() -> None:
    a, b = FakeSession("a", ["x"]), FakeSession("b", ["y"])
    cache = cache_of(a, b)
    await cache.tools()
    a.listed.append({"name": "z"})
    cache.tools_changed("a")
    cache.tools_changed("unknown")
    assert await names(cache) == ["x", "z", "y"]
    assert (a.listings, b.listings) == (2, 1)


async def test_every_change_of_the_tools_is_announced_by_the_cache() -> None:
    announced: list[str | None] = []
    cache = cache_of(FakeSession("a", ["x"]), on_changed=announced.append)
    cache.tools_changed("a")
    cache.configure({"a": config("a", forbidden_tools=["x"])}, announce=True)
    cache.configure({"a": config("a", forbidden_tools=["x"])})
    assert announced == ["a", None]


async def test_a_list_that_did_not_change_stays_the_same_object() -> None:
    session = FakeSession("a", ["x"])
    cache = cache_of(session)
    first = await cache.tools()
    cache.tools_changed("a")
    assert await cache.tools() is first
    assert session.listings == 2


async def test_those_who_ask_at_once_share_one_listing() -> None:
    session = FakeSession("a", ["x"])
    cache = cache_of(session)
    lists = await asyncio.gather(*(cache.tools() for _ in range(10)))
    assert all(each is lists[0] for each in lists)
    assert session.listings == 1


async def test_who_asks_after_a_change_does_not_get_the_list_from_before() -> None:
    session = FakeSession("a", ["old"])
    session.listing_gate = asyncio.Event()
    cache = cache_of(session)
    before = asyncio.ensure_future(cache.tools())
    await until(lambda: session.listings == 1)
    session.listed[:] = [{"name": "new"}]
    cache.tools_changed("a")
    after = asyncio.ensure_future(names(cache))
    session.listing_gate.set()
    assert await after == ["new"]
    await before
    assert session.listings == 2


async def test_a_server_that_keeps_changing_does_not_hold_up_who_asks() -> None:
    session = FakeSession("a", ["x"])
    cache = cache_of(session)

    class Restless(list[Any]):
        def __iter__(self) -> Any:
            cache.tools_changed("a")
            return super().__iter__()

    session.listed = Restless([{"name": "x"}])
    assert await names(cache) == ["x"]
    assert session.listings == 2


async def test_the_one_who_asks_may_go_while_others_wait() -> None:
    session = FakeSession("a", ["x"])
    session.listing_gate = asyncio.Event()
    cache = cache_of(session)
    impatient = asyncio.ensure_future(cache.tools())
    patient = asyncio.ensure_future(names(cache))
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
    cache = cache_of(bad, good)
    assert await names(cache) == ["y"]
    assert cache.failures == {"bad": told}


async def test_a_server_without_tools_is_no_failure() -> None:
    session = FakeSession("a")
    session.listing_error = SMCPError("Method not found", code=-32601)
    cache = cache_of(session)
    assert await names(cache) == []
    assert cache.failures == {}


async def test_a_configured_server_without_a_session_has_no_tools() -> None:
    cache = ToolCache(FakeSessions(), {"a": config("a")})
    assert await names(cache) == []
    assert cache.failures == {"a": "The server is not there"}


@pytest.mark.rule("4.3")
async def test_the_tools_of_a_server_that_went_down_are_not_listed_but_keep_their_names() -> None:
    a, b = FakeSession("a", ["find"]), FakeSession("b", ["find"])
    cache = cache_of(a, b)
    assert await names(cache) == ["find", "b__find"]
    a.state = ServerState.WAITING
    cache.tools_changed("a")
    assert await names(cache) == ["b__find"]
    assert (await cache.resolve("find")).server == "a"


async def test_a_server_that_failed_is_asked_again_after_a_pause() -> None:
    now = 0.0
    session = FakeSession("a", ["x"])
    session.listing_error = SMCPError("busy")
    cache = cache_of(session, clock=lambda: now, limits=ListingLimits(pause=30))
    await cache.tools()
    session.listing_error = None
    assert await names(cache) == []
    now = 30.0
    assert await names(cache) == ["x"]
    assert session.listings == 2


async def test_a_server_that_failed_is_asked_again_when_it_says_that_something_changed() -> None:
    session = FakeSession("a", ["x"])
    session.listing_error = SMCPError("busy")
    cache = cache_of(session)
    await cache.tools()
    session.listing_error = None
    cache.tools_changed("a")
    assert await names(cache) == ["x"]


def test_a_slow_server_is_waited_for_once_and_added_when_it_comes() -> None:
    async def main() -> None:
        slow, quick = FakeSession("slow", ["x"]), FakeSession("quick", ["y"])
        slow.listing_gate = asyncio.Event()
        late = asyncio.Event()
        cache = cache_of(slow, quick, on_changed=lambda _: late.set())
        loop = asyncio.get_running_loop()
        start = loop.time()
        assert await names(cache) == ["y"]
        assert loop.time() - start == pytest.approx(5)
        assert await names(cache) == ["y"]
        assert loop.time() - start == pytest.approx(5)
        slow.listing_gate.set()
        await late.wait()
        assert await names(cache) == ["x", "y"]
        assert slow.listings == 1

    in_virtual_time(main())


def test_a_late_list_that_changes_nothing_is_not_announced() -> None:
    async def main() -> None:
        slow, announced = FakeSession("slow", ["x"]), list[str | None]()
        cache = cache_of(slow, on_changed=announced.append)
        await cache.tools()
        slow.listing_gate = asyncio.Event()
        cache.tools_changed("slow")
        assert await names(cache) == ["x"]
        slow.listing_gate.set()
        await until(lambda: not cache._tasks)
        assert announced == ["slow"]

    in_virtual_time(main())


def test_a_list_that_never_comes_is_given_up() -> None:
    async def main() -> None:
        hung = FakeSession("hung", ["x"])
        hung.listing_gate = asyncio.Event()
        cache = cache_of(hung, limits=ListingLimits(patience=100, listing=60))
        await cache.tools()
        assert cache.failures == {"hung": "Its tools did not come in time"}

    in_virtual_time(main())


def test_a_known_tool_is_found_while_another_server_is_slow() -> None:
    async def main() -> None:
        quick, slow = FakeSession("quick", ["y"]), FakeSession("slow", ["x"])
        cache = cache_of(quick, slow)
        await cache.tools()
        slow.listing_gate = asyncio.Event()
        cache.tools_changed("slow")
        start = asyncio.get_running_loop().time()
        assert (await cache.resolve("y")).server == "quick"
        assert asyncio.get_running_loop().time() == start
        await cache.aclose()

    in_virtual_time(main())


async def test_a_name_is_looked_for_where_it_may_be_new() -> None:
    session = FakeSession("a", ["x"])
    cache = cache_of(session)
    assert (await cache.resolve("x")).tool == "x"
    session.listed.append({"name": "y"})
    cache.tools_changed("a")
    assert (await cache.resolve("y")).tool == "y"
    with pytest.raises(ToolNotFound):
        await cache.resolve("z")
    assert session.listings == 2


async def test_a_new_configuration_holds_at_once_and_asks_only_new_servers() -> None:
    a, b = FakeSession("a", ["x", "rm"]), FakeSession("b", ["y"])
    cache = ToolCache(FakeSessions(a, b), {"a": config("a")})
    assert await names(cache) == ["x", "rm"]
    cache.configure({"b": config("b"), "a": config("a", forbidden_tools=["rm"])})
    with pytest.raises(ToolDisabled):
        await cache.resolve("rm")
    assert await names(cache) == ["y", "x"]
    assert (a.listings, b.listings) == (1, 1)


async def test_a_server_that_is_taken_out_is_no_longer_waited_for() -> None:
    session = FakeSession("a", ["x"])
    session.listing_gate = asyncio.Event()
    cache = cache_of(session)
    asked = asyncio.ensure_future(cache.tools())
    await until(lambda: session.listings == 1)
    cache.configure({})
    assert await asked == []


async def test_clashes_are_told_once_in_the_log_and_stay_in_the_status(caplog: pytest.LogCaptureFixture) -> None:
    cache = cache_of(FakeSession("a", ["x"]), FakeSession("b", ["x"]))
    await cache.tools()
    cache.tools_changed("a")
    await cache.tools()
    assert [problem.servers for problem in cache.problems] == [("a", "b")]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.messages[0].startswith("tool name problem: tool='x' mcp_servers=a,b: 2 tools have this name")


async def test_many_clashes_are_one_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    tools = [f"t{number}" for number in range(20)]
    await cache_of(FakeSession("a", tools), FakeSession("b", tools)).tools()
    (line,) = caplog.messages
    assert line.startswith("tool names clash: count=20 't0' of a and b, ")
    assert " and 15 more. " in line


@pytest.mark.rule("4.3")
async def test_a_disabled_server_keeps_its_prefix() -> None:
    sessions = FakeSessions(FakeSession("evil", ["bank__pay"]))
    cache = ToolCache(sessions, {"evil": config("evil"), "bank": config("bank", disabled=True)})
    assert await names(cache) == ["evil__bank__pay"]
    assert [(problem.kind, problem.servers) for problem in cache.problems] == [("reserved", ("bank", "evil"))]


@pytest.mark.rule("4.3")
async def test_an_alias_is_reserved_before_its_server_lists_its_tools() -> None:
    bank = FakeSession("bank", ["pay_v2"])
    bank.state = ServerState.STARTING
    configs = {"evil": config("evil"), "bank": config("bank", tool_meta={"pay_v2": ToolMeta(alias="pay")})}
    cache = ToolCache(FakeSessions(FakeSession("evil", ["pay"]), bank), configs)
    assert await names(cache) == ["evil__pay"]
    bank.state = ServerState.RUNNING
    cache.tools_changed("bank")
    assert await names(cache) == ["evil__pay", "pay"]


async def test_closing_ends_what_is_under_way() -> None:
    session = FakeSession("a", ["x"])
    session.listing_gate = asyncio.Event()
    cache = cache_of(session)
    asked = asyncio.ensure_future(cache.tools())
    await until(lambda: session.listings == 1)
    await cache.aclose()
    assert await asked == []


def starting(*sessions: FakeSession) -> ToolCache:
    for session in sessions:
        session.state = ServerState.STARTING
    return ToolCache(FakeSessions(*sessions), {session.name: config(session.name) for session in sessions})


async def test_a_tool_that_a_starting_server_may_have_is_said_to_be_starting() -> None:
    slow = FakeSession("slow", ["dig"])
    cache = starting(slow)
    for name in ("dig", "slow__dig", "no_such_tool"):
        with pytest.raises(ToolStarting, match=r"still starting \('slow'\); try again in 0.5 s") as told:
            await cache.resolve(name)
        assert told.value.details == {"retry_after": 0.5, "mcp_servers": ["slow"]}
    slow.state = ServerState.RUNNING
    cache.tools_changed("slow")
    assert (await cache.resolve("dig")).server == "slow"
    with pytest.raises(ToolNotFound):
        await cache.resolve("no_such_tool")


async def test_a_name_with_the_prefix_of_a_server_that_runs_is_not_waited_for() -> None:
    slow, quick = FakeSession("slow", ["dig"]), FakeSession("quick", ["run"])
    cache = starting(slow, quick)
    quick.state = ServerState.RUNNING
    assert (await cache.resolve("run")).server == "quick"
    with pytest.raises(ToolNotFound):
        await cache.resolve("quick__jump")
    with pytest.raises(ToolStarting):
        await cache.resolve("jump")


async def test_a_server_that_failed_or_was_there_before_is_not_starting() -> None:
    gone = FakeSession("gone", ["dig"])
    cache = starting(gone)
    gone.state = ServerState.WAITING
    with pytest.raises(ToolNotFound):
        await cache.resolve("dig")
    gone.state = ServerState.RUNNING
    cache.tools_changed("gone")
    await cache.resolve("dig")
    gone.state = ServerState.STARTING
    cache.tools_changed("gone")
    with pytest.raises(ToolNotFound):
        await cache.resolve("jump")
