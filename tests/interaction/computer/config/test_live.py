"""Settings, inputs and MCP servers together: what a Computer does, on real processes."""

import asyncio
import hashlib
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.computer import ComputerConfig, public_config
from a2c_smcp.computer.config import ConfigDiff, ConfigFile, LiveConfig, servers_using
from a2c_smcp.computer.inputs import EnvironmentSource, Inputs
from a2c_smcp.computer.mcp.manager import ServerManager
from a2c_smcp.computer.ports import ServerState
from tests.unit.computer.config.builders import put

SERVER = Path(__file__).parents[2] / "mcp_servers" / "inputs_server.py"
PLANTED = "Pl4nt3d"


def entry(key: str, *args: str, **more: Any) -> dict[str, Any]:
    parameters = {"command": sys.executable, "args": [str(SERVER), *args], "env": {"KEY": key}}
    return {"type": "stdio", "server_parameters": parameters, **more}


def text(servers: dict[str, Any], *inputs: dict[str, Any]) -> str:
    return json.dumps({"servers": servers, "inputs": list(inputs)})


def asked(input_id: str, **more: Any) -> dict[str, Any]:
    return {"type": "promptString", "id": input_id, "description": f"The {input_id}", "password": True, **more}


class Quiet:
    """A listener with nothing to tell."""

    def tools_changed(self, server: str) -> None: ...
    def resources_changed(self, server: str) -> None: ...
    def resource_updated(self, server: str, uri: str) -> None: ...
    def status_changed(self, server: str) -> None: ...


class Machine:
    """The parts of a Computer that a configuration moves."""

    def __init__(self, file: Path, env: dict[str, str]) -> None:
        self.inputs = Inputs((), [EnvironmentSource(env)])
        self.manager = ServerManager(Quiet(), resolve=self.inputs.resolve)
        self.settings = LiveConfig(file=ConfigFile(file, interval=0.05), apply=self.apply)
        self.changes: asyncio.Queue[ConfigDiff] = asyncio.Queue()

    async def apply(self, changes: ConfigDiff, config: ComputerConfig) -> None:
        self.inputs.configure(config.inputs, self.settings.format)
        await self.manager.apply(config)
        await self.manager.settled()
        self.changes.put_nowait(changes)

    def states(self) -> dict[str, ServerState]:
        return {status.name: status.state for status in self.manager.statuses()}

    async def digest(self, name: str) -> tuple[str, str]:
        """The process of a server, and the digest of the key it was started with."""
        session = self.manager.get(name)
        assert session is not None
        result = await session.call_tool("digest", {})
        pid, digest = result["content"][0]["text"].split()
        return pid, digest


@asynccontextmanager
async def machine(file: Path, **env: str) -> AsyncIterator[Machine]:
    made = Machine(file, env)
    async with asyncio.timeout(110), made.manager:
        await made.settings.load()
        task = asyncio.create_task(made.settings.watch())
        try:
            yield made
        finally:
            task.cancel()
            await asyncio.wait([task])


def sha(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


@pytest.mark.rule("5.2", "5.5")
async def test_servers_start_with_their_values_and_one_without_hurts_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    file = tmp_path / "computer.json"
    servers = {
        "good": entry("<${input:key}>"),
        "undefined": entry("${input:nothing}"),
        "missing": entry("${input:unset}"),
        "refused": entry("${input:key}", "--refuse"),
    }
    put(file, text(servers, asked("key"), asked("unset")))
    async with machine(file, A2C_INPUT_KEY=f"{PLANTED}-1") as computer:
        assert (await computer.digest("good"))[1] == sha(f"<{PLANTED}-1>")
        statuses = {status.name: status for status in computer.manager.statuses()}
        assert 'no input has the id "nothing"; add it to inputs' in (statuses["undefined"].problem or "")
        assert 'input "unset" (The unset) has no value; set A2C_INPUT_UNSET' in (statuses["missing"].problem or "")
        assert "is not valid" in (statuses["refused"].problem or "")
        shown = f"{statuses} {computer.inputs.list()} {json.dumps(public_config(computer.settings.config))}"
        assert PLANTED not in shown
        assert '"KEY": "${input:key}"' in shown
    assert PLANTED not in caplog.text


@pytest.mark.rule("5.2", "5.3")
async def test_a_value_set_by_hand_lets_the_servers_that_need_it_start(tmp_path: Path) -> None:
    file = tmp_path / "computer.json"
    put(file, text({"a": entry("${input:key}"), "b": entry("none")}, asked("key")))
    async with machine(file) as computer:
        assert computer.states() == {"a": ServerState.FAILED, "b": ServerState.RUNNING}
        computer.inputs.set("key", "by hand")
        for name in servers_using(computer.settings.config, "key"):
            await computer.manager.restart(name)
        await computer.manager.settled()
        assert (await computer.digest("a"))[1] == sha("by hand")


@pytest.mark.rule("5.3")
async def test_an_edited_file_restarts_only_what_changed(tmp_path: Path) -> None:
    file = tmp_path / "computer.json"
    put(file, text({"a": entry("1"), "b": entry("1"), "c": entry("${input:key}")}, asked("key", default="1")))
    async with machine(file) as computer:
        await computer.changes.get()
        before = {name: await computer.digest(name) for name in "abc"}
        servers = {"a": entry("1", forbidden_tools=["x"]), "b": entry("2"), "c": entry("${input:key}")}
        put(file, text(servers, asked("key", default="2")))
        changes = await computer.changes.get()
        assert (changes.changed, changes.tool_view_changed) == (("b", "c"), ("a",))
        after = {name: await computer.digest(name) for name in "abc"}
        assert after["a"] == before["a"]
        assert [after[name][1] for name in "bc"] == [sha("2"), sha("2")]
        assert {after[name][0] for name in "bc"}.isdisjoint({before[name][0] for name in "bc"})


@pytest.mark.rule("5.2", "5.3")
async def test_an_input_that_is_defined_at_last_lets_its_server_start(tmp_path: Path) -> None:
    file = tmp_path / "computer.json"
    put(file, text({"a": entry("${input:key}")}))
    async with machine(file, A2C_INPUT_KEY="1") as computer:
        await computer.changes.get()
        assert computer.states() == {"a": ServerState.FAILED}
        put(file, text({"a": entry("${input:key}")}, asked("key")))
        await computer.changes.get()
        assert computer.states() == {"a": ServerState.RUNNING}
