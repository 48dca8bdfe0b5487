"""What servers say by themselves: changes, subscriptions, and far too much of it."""

import asyncio
import json
from typing import Any

import pytest

from a2c_smcp.computer.ports import ServerState
from a2c_smcp.errors import ToolFailed
from tests.interaction.computer.mcp.conftest import CAP, SERVERS, Host, life, modern, older, stdio, text_of
from tests.peers.environments import PATIENCE

pytestmark = pytest.mark.timeout(PATIENCE)

WINDOW = "window://modern/main"


async def quiet(host: Host, name: str) -> None:
    """Wait until a start has been told, and forget what was."""
    await host.ears.until(lambda: host.heard["tools", name] > 0 and host.heard["resources", name] > 0)
    for what in [what for what in host.heard if what[1] == name]:
        del host.heard[what]


@pytest.mark.rule("5.3", "6.6")
async def test_changes_at_a_server_of_either_era_are_told(host: Host) -> None:
    notifications = [
        ("notifications/tools/list_changed", None),
        ("notifications/resources/list_changed", None),
        ("notifications/resources/updated", WINDOW),
    ]
    await host.running(life("older"), modern("newer"))
    await host["newer"].subscribe([WINDOW])
    for name, arguments in (("older", {"notifications": notifications}), ("newer", {})):
        await quiet(host, name)

        await host[name].call_tool("change", arguments)

        for what in (("tools", name), ("resources", name), ("updated", name, WINDOW)):
            await host.ears.until(lambda what=what: host.heard[what] > 0)  # type: ignore[misc]


@pytest.mark.rule("5.3")
async def test_a_server_that_comes_or_goes_may_have_changed_in_everything(host: Host) -> None:
    session = await host.running(life("a"))
    await quiet(host, "a")

    with pytest.raises(ToolFailed):
        await session.call_tool("die", {})

    await host.ears.until(lambda: host.heard["tools", "a"] > 0 and host.heard["resources", "a"] > 0)


async def test_a_burst_of_notifications_is_told_in_few(host: Host) -> None:
    session = await host.running(life("a"))
    await quiet(host, "a")

    await session.call_tool("change", {"notifications": [["notifications/resources/updated", "window://life/x"]] * 500})

    await host.ears.until(lambda: host.heard["updated", "a", "window://life/x"] > 0)
    assert host.heard["updated", "a", "window://life/x"] < 100


@pytest.mark.rule("5.5")
@pytest.mark.parametrize("distinct", [False, True], ids=["one resource", "new resources all the time"])
async def test_a_server_that_floods_notifications_hurts_nobody_else(host: Host, distinct: bool) -> None:
    await host.running(life("flood"), life("calm"))
    await host["flood"].call_tool("flood", {"distinct": distinct})
    await host.ears.until(lambda: any(what[:2] == ("updated", "flood") for what in host.heard))
    host.heard.clear()
    loop = asyncio.get_running_loop()
    began = loop.time()

    for number in range(200):
        assert text_of(await host["calm"].call_tool("echo", {"n": number})) == json.dumps({"n": number})

    seconds = loop.time() - began
    told = sum(count for what, count in host.heard.items() if what[0] == "updated")
    # Two thousand at once, then as many a second, whatever the server sends.
    assert told <= 2_000 * (seconds + 2)
    # The flooding server itself still answers.
    async with asyncio.timeout(CAP):
        assert text_of(await host["flood"].call_tool("echo", {})) == "{}"


@pytest.mark.rule("6.2")
async def test_subscriptions_are_exactly_those_wanted_and_are_renewed_after_a_restart(host: Host) -> None:
    session = await host.running(life("a", "--declare"))

    async def subscribed() -> Any:
        return json.loads(text_of(await session.call_tool("heard", {})))["subscribed"]

    await session.subscribe(["window://life/1", "window://life/2"])
    assert await subscribed() == ["window://life/1", "window://life/2"]
    await session.subscribe(["window://life/2", "window://life/3"])
    assert await subscribed() == ["window://life/2", "window://life/3"]

    with pytest.raises(ToolFailed):
        await session.call_tool("die", {})
    await host.ears.until(lambda: session.status.state is ServerState.RUNNING and session.status.restarts == 1)
    async with asyncio.timeout(CAP):
        while await subscribed() != ["window://life/2", "window://life/3"]:
            pass


@pytest.mark.rule("6.2")
async def test_in_the_newer_era_only_updates_of_wanted_resources_are_told(host: Host) -> None:
    session = await host.running(modern("a"))
    await session.subscribe([])
    await quiet(host, "a")
    await session.call_tool("change", {})
    await host.ears.until(lambda: host.heard["resources", "a"] > 0)
    assert host.heard["updated", "a", WINDOW] == 0

    await session.subscribe([WINDOW])
    await session.call_tool("change", {})
    await host.ears.until(lambda: host.heard["updated", "a", WINDOW] > 0)

    await session.subscribe([])
    await session.call_tool("echo", {})  # by its answer the server knows
    host.heard.clear()
    await session.call_tool("change", {})
    await host.ears.until(lambda: host.heard["tools", "a"] > 0)
    assert host.heard["updated", "a", WINDOW] == 0


@pytest.mark.rule("6.2")
async def test_who_takes_part_in_desktop_and_finder(host: Host) -> None:
    await host.running(
        life("declares", "--declare"),
        life("does-not"),
        life("assumed", subscribe="assume"),
        life("nothing", "--no-resources", subscribe="assume"),
        modern("listens"),
    )
    await host.ears.until(lambda: host["does-not"].status.undeclared)

    statuses = {status.name: (status.subscribes, status.undeclared) for status in host.manager.statuses()}
    assert statuses == {
        "declares": (True, False),
        "does-not": (False, True),
        "assumed": (True, False),
        "nothing": (False, False),
        "listens": (True, False),
    }


@pytest.mark.rule("6.2")
async def test_a_server_on_mcp_1_that_cannot_declare_is_assumed_to_deliver_and_does(host: Host) -> None:
    session = await host.running(stdio("old", *older(str(SERVERS / "life_old.py"), "low"), subscribe="assume"))
    await quiet(host, "old")
    await session.subscribe(["window://old/main"])

    await session.call_tool("change", {})

    await host.ears.until(lambda: host.heard["updated", "old", "window://old/main"] > 0)
    assert session.status.protocol_version == "2025-11-25"


async def test_assuming_by_a_new_setting_takes_effect_by_a_restart(host: Host) -> None:
    session = await host.running(life("a"))
    assert session.status.subscribes is False

    await host.apply(life("a", subscribe="assume"))
    await host.becomes("a", ServerState.RUNNING)

    assert host["a"].status.subscribes is True


async def test_subscribing_at_a_server_that_does_not_run_takes_effect_at_its_start(host: Host) -> None:
    await host.apply(life("a", "--declare"))
    await host["a"].subscribe(["window://life/1"])

    await host.becomes("a", ServerState.RUNNING)

    async with asyncio.timeout(CAP):
        while "window://life/1" not in text_of(await host["a"].call_tool("heard", {})):
            pass


async def test_a_server_that_turns_out_not_to_take_subscriptions_is_asked_little_more(host: Host) -> None:
    session = await host.running(life("a", "--no-subscribe", subscribe="assume"))

    await session.subscribe([f"window://life/{number}" for number in range(100)])

    assert json.loads(text_of(await session.call_tool("heard", {})))["methods"].count("resources/subscribe") <= 16


async def test_a_stream_of_the_newer_era_that_ends_is_opened_again_and_everything_looked_at(host: Host) -> None:
    session = await host.running(modern("a"))
    await session.subscribe([WINDOW])
    await quiet(host, "a")

    await session.call_tool("hush", {})

    await host.ears.until(lambda: host.heard["tools", "a"] > 0 and host.heard["updated", "a", WINDOW] > 0)
    await quiet(host, "a")
    await session.call_tool("change", {})
    await host.ears.until(lambda: host.heard["updated", "a", WINDOW] > 0)


async def test_a_listener_that_fails_does_no_harm(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(server: str) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(host.ears, "tools_changed", fail)

    session = await host.running(life("a"))

    assert text_of(await session.call_tool("echo", {})) == "{}"
