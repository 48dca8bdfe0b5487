"""Servers kept in step with their configuration."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer.config import ConfigDiff
from a2c_smcp.computer.config.models import MCPServerConfig, MCPServerPromptStringInput, ToolMeta
from a2c_smcp.computer.mcp import watchdog
from a2c_smcp.computer.ports import ServerState
from a2c_smcp.errors import BadRequest
from tests.interaction.computer.mcp.conftest import CAP, Host, gone, life, streamable, text_of


async def pid_of(host: Host, name: str) -> int:
    return int(text_of(await host[name].call_tool("pid", {})))


@pytest.mark.rule("5.3")
async def test_only_what_changed_in_a_way_that_matters_is_restarted(host: Host) -> None:
    await host.running(life("same"), life("settings"), life("parameters"), life("gone"), life("off"))
    before = {name: await pid_of(host, name) for name in host.manager.all()}

    changes = await host.apply(
        life("new"),
        life("same"),
        life("settings", default_tool_meta=ToolMeta(auto_apply=True), forbidden_tools=["die"]),
        life("parameters", env={"A": "1"}),
        life("off", disabled=True),
    )

    assert changes == ConfigDiff(
        added=("new",),
        removed=("gone",),
        disabled=("off",),
        changed=("parameters",),
        tool_view_changed=("settings",),
        tools_may_have_changed=True,
    )
    for name in ("new", "parameters"):
        await host.becomes(name, ServerState.RUNNING)
    assert list(host.manager.all()) == ["new", "same", "settings", "parameters"]
    after = {name: await pid_of(host, name) for name in host.manager.all()}
    kept = {name for name in before if before[name] == after.get(name)}
    assert (kept, host["off"].status.state, host.manager.get("gone")) == (
        {"same", "settings"},
        ServerState.DISABLED,
        None,
    )
    for name in ("gone", "off", "parameters"):
        await gone(before[name])


async def test_the_same_configuration_again_changes_nothing(host: Host) -> None:
    await host.running(life("a"))

    assert not await host.apply(life("a"))


@pytest.mark.rule("5.3")
async def test_a_change_of_settings_is_announced_without_a_restart(host: Host) -> None:
    await host.running(life("a"))
    await host.ears.until(lambda: host.heard["tools", "a"] > 0)
    host.heard.clear()

    await host.apply(life("a", forbidden_tools=["die"]))

    await host.ears.until(lambda: host.heard["tools", "a"] > 0)
    assert host["a"].status.restarts == 0


@pytest.mark.rule("5.3")
async def test_a_server_is_restarted_when_an_input_it_uses_is_defined_otherwise(host: Host) -> None:
    def key(default: str, description: str = "The key") -> MCPServerPromptStringInput:
        return MCPServerPromptStringInput(id="key", description=description, default=default)

    user, other = life("user", env={"KEY": "${input:key}"}), life("other")
    await host.apply(user, other, inputs=[key("1")])

    assert await host.apply(user, other, inputs=[key("1", "Another text")]) == ConfigDiff(inputs_changed=("key",))
    assert await host.apply(user, other, inputs=[key("2")]) == ConfigDiff(
        changed=("user",), inputs_changed=("key",), tools_may_have_changed=True
    )


@pytest.mark.rule("5.3")
async def test_hiding_what_is_typed_restarts_nothing_and_another_subscribe_does(host: Host) -> None:
    def key(*, password: bool) -> MCPServerPromptStringInput:
        return MCPServerPromptStringInput(id="key", description="The key", default="1", password=password)

    user = life("user", env={"KEY": "${input:key}"})
    await host.apply(user, inputs=[key(password=False)])
    await host.becomes("user", ServerState.RUNNING)
    first = await pid_of(host, "user")

    await host.apply(user, inputs=[key(password=True)])
    assert await pid_of(host, "user") == first

    await host.apply(user.model_copy(update={"subscribe": "assume"}), inputs=[key(password=True)])
    await host.becomes("user", ServerState.RUNNING)
    assert await pid_of(host, "user") != first


@pytest.mark.rule("5.3", "5.5")
async def test_a_failed_server_is_started_again_when_its_configuration_changes(host: Host) -> None:
    await host.apply(life("a", "--crash"))
    await host.becomes("a", ServerState.FAILED)

    await host.apply(life("a"))

    await host.becomes("a", ServerState.RUNNING)


async def test_a_failed_server_is_started_again_by_its_owner(host: Host, tmp_path: Path) -> None:
    await host.apply(life("a", "--lives", str(tmp_path / "lives"), "--crashes", "10"))
    await host.becomes("a", ServerState.FAILED)

    await host.manager.start("a")

    await host.becomes("a", ServerState.RUNNING)


async def test_a_server_that_its_owner_stopped_stays_so_when_its_configuration_changes(host: Host) -> None:
    await host.running(life("a"))
    await host.manager.stop("a")

    await host.apply(life("a", env={"A": "1"}))

    assert host["a"].status.state is ServerState.STOPPED


async def test_a_restart_by_the_owner_gives_a_new_process(host: Host) -> None:
    await host.running(life("a"))
    before = await pid_of(host, "a")

    await host.manager.restart("a")

    await host.becomes("a", ServerState.RUNNING)
    assert await pid_of(host, "a") != before


async def test_restarts_at_once_leave_one_process(host: Host) -> None:
    await host.running(life("a"))

    await asyncio.gather(*(host.manager.restart("a") for _ in range(3)), host.apply(life("a", env={"A": "1"})))

    await host.becomes("a", ServerState.RUNNING)
    pids = watchdog.survivors(set(), host.manager._watchdog.token)
    assert pids == [await pid_of(host, "a")]


@pytest.mark.parametrize("action", ["start", "stop", "restart"])
async def test_what_does_not_exist_or_is_disabled_cannot_be_started_or_stopped(host: Host, action: str) -> None:
    await host.apply(life("off", disabled=True))

    with pytest.raises(BadRequest, match="disabled; enable it"):
        await getattr(host.manager, action)("off")
    with pytest.raises(BadRequest, match="There is no MCP server 'none'"):
        await getattr(host.manager, action)("none")


async def test_a_disabled_server_that_is_enabled_starts(host: Host) -> None:
    await host.apply(life("a", disabled=True))

    assert await host.apply(life("a")) == ConfigDiff(enabled=("a",), tools_may_have_changed=True)

    await host.becomes("a", ServerState.RUNNING)


async def test_servers_start_side_by_side(host: Host, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    names = [f"s{number}" for number in range(6)]
    await host.apply(*(life(name, "--gate", str(gate)) for name in names))

    assert {host[name].status.state for name in names} == {ServerState.STARTING}
    gate.touch()
    for name in names:
        await host.becomes(name, ServerState.RUNNING)


async def test_two_configurations_applied_at_once_are_applied_one_after_the_other(host: Host) -> None:
    await asyncio.gather(host.apply(life("a")), host.apply(life("b")))

    assert list(host.manager.all()) == ["b"]
    await host.becomes("b", ServerState.RUNNING)


async def test_closing_ends_every_process(hosts: Any) -> None:
    host = hosts()
    await host.running(life("a"), life("b"))
    pids = [await pid_of(host, name) for name in ("a", "b")]

    await host.manager.close()

    for pid in pids:
        await gone(pid)
    assert [status.state for status in host.manager.statuses()] == [ServerState.STOPPED] * 2


@pytest.mark.rule("5.2")
async def test_placeholders_are_resolved_at_every_start_and_only_then(hosts: Any) -> None:
    asked: list[str] = []

    async def resolve(config: MCPServerConfig) -> MCPServerConfig:
        asked.append(config.name)
        return life(config.name, env={"KEY": f"value {len(asked)}"})

    host = hosts(resolve=resolve)
    session = await host.running(life("a", env={"KEY": "${input:key}"}))
    assert '"KEY": "value 1"' in text_of(await session.call_tool("environment", {}))
    await host.manager.restart("a")
    await host.becomes("a", ServerState.RUNNING)

    assert '"KEY": "value 2"' in text_of(await session.call_tool("environment", {}))
    assert asked == ["a", "a"]


async def test_closing_leaves_no_task_and_no_open_file(hosts: Any, http_server: Any) -> None:
    url = http_server().url()
    warm = hosts()
    await warm.running(life("a"), streamable("h", url))
    await warm.manager.close()
    tasks, files = len(asyncio.all_tasks()), open_files()

    for _ in range(3):
        host = hosts()
        await host.running(life("a", "--declare"), streamable("h", url), life("b"))
        await host["a"].subscribe(["window://life/1"])
        await host["h"].subscribe(["window://modern/main"])
        await host.manager.close()

    async with asyncio.timeout(CAP):  # what is closed is let go of in the next turns of the loop
        while len(asyncio.all_tasks()) > tasks or open_files() > files:
            await asyncio.sleep(0)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
