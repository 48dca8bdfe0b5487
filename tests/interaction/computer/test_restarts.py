"""A tool runs at most once for a `req_id`, also when the Computer, and the server, are killed under the call."""

import asyncio
import json
import stat
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient, Backoff
from a2c_smcp.errors import BadRequest
from tests.interaction.computer.conftest import AUTO, SERVERS
from tests.interaction.computer.test_cli import event, running
from tests.interaction.ports import free_port
from tests.interaction.server.programs import Program, a2c_server, until

pytestmark = pytest.mark.timeout(300)

CAP = 60.0
OFFICE = "till"


class Shop:
    """A server and a Computer as processes that can be killed and started again, and what the tool left behind."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.trace = folder / "trace.txt"
        self.trace.touch()
        self.state = folder / "state"
        self.port = free_port()
        self._folder, self._stack = folder, stack
        self._config = folder / "mcp.json"
        self.serve_mcp([sys.executable, str(SERVERS / "paying_server.py"), str(self.trace)])

    def serve_mcp(self, command: list[str]) -> None:
        self._config.write_text(
            json.dumps(
                {
                    "servers": {
                        "bank": {
                            "type": "stdio",
                            "server_parameters": {"command": command[0], "args": command[1:]},
                            "default_tool_meta": AUTO,
                        }
                    }
                }
            )
        )

    @property
    def paid(self) -> int:
        return len(self.trace.read_text().splitlines())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def server(self) -> Program:
        return self._stack.enter_context(a2c_server(self._folder, port=self.port))

    async def computer(self, *words: str, name: str = "desk") -> Any:
        seat = ("--url", self.url, "--office", OFFICE, "--name", name, "--config", str(self._config))
        process = self._stack.enter_context(
            running(self._folder, *seat, "--json", *words, env={"XDG_STATE_HOME": str(self.state)})
        )
        await event(process, event="server", state="running")
        return process


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with ExitStack() as stack:
        yield Shop(tmp_path, stack)


@pytest.fixture
async def agent(shop: Shop) -> AsyncIterator[AsyncSMCPAgentClient]:
    shop.server()
    backoff = Backoff(base=0.02, longest=0.1)
    async with AsyncSMCPAgentClient(shop.url, name="ada", office_id=OFFICE, backoff=backoff) as client:
        yield client


async def present(agent: AsyncSMCPAgentClient, computer: str = "desk") -> None:
    await until(lambda: computer in agent.office.computers)


def kill(process: Any) -> None:
    process.kill()
    process.wait()


@pytest.mark.rule("4.8")
async def test_a_finished_call_answers_its_result_after_the_computer_was_killed(
    shop: Shop, agent: AsyncSMCPAgentClient
) -> None:
    computer = await shop.computer()
    await present(agent)
    first = await agent.call_tool("desk", "pay", req_id="r1", timeout=CAP)
    assert first["content"][0]["text"] == "receipt 1"
    await until(lambda: any(path.stat().st_size for path in shop.state.rglob("outcomes-*")))
    kill(computer)
    written = [path for path in (shop.state / "a2c-smcp" / "journals").rglob("*") if path.is_file()]
    assert {path.name for path in written} == {"lock", "calls-00000001.log", "outcomes-00000001.log"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}
    await until(lambda: "desk" not in agent.office.computers)
    await shop.computer()
    await present(agent)
    assert await agent.call_tool("desk", "pay", req_id="r1", timeout=CAP) == first
    assert shop.paid == 1
    with pytest.raises(BadRequest, match="belongs to another call"):
        await agent.call_tool("desk", "pay", {"amount": 2}, req_id="r1", timeout=CAP)


@pytest.mark.rule("4.8")
async def test_a_call_that_was_running_when_the_computer_was_killed_does_not_run_again(
    shop: Shop, agent: AsyncSMCPAgentClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("a2c_smcp.agent.retrying_requests.BRIEF_LOSS_SECONDS", CAP)
    computer = await shop.computer()
    await present(agent)
    call = asyncio.create_task(agent.call_tool("desk", "pay", {"wait": True}, req_id="r1", timeout=CAP))
    await until(lambda: shop.paid == 1)
    kill(computer)
    await shop.computer()
    result = await call
    assert (result["isError"], (result["meta"] or {})["interrupted"]) == (True, True)
    assert result["content"][0]["text"].startswith("Interrupted: ")
    assert "may have run" in result["content"][0]["text"]
    again = await agent.call_tool("desk", "pay", {"wait": True}, req_id="r1", timeout=CAP)
    assert again["meta"] == result["meta"]
    assert shop.paid == 1


@pytest.mark.rule("4.8")
@pytest.mark.parametrize("strict", [(), ("--journal-strict",)])
async def test_a_call_that_is_sent_again_after_both_were_killed_runs_once(shop: Shop, strict: tuple[str, ...]) -> None:
    server, computer = shop.server(), await shop.computer(*strict)
    backoff = Backoff(base=0.02, longest=0.1)
    async with AsyncSMCPAgentClient(shop.url, name="ada", office_id=OFFICE, backoff=backoff) as agent:
        await present(agent)
        call = asyncio.create_task(agent.call_tool("desk", "pay", {"wait": True}, timeout=CAP))
        await until(lambda: shop.paid == 1)
        kill(server.process)
        kill(computer)
        shop.server()
        await shop.computer(*strict)
        result = await call
    assert (result["meta"] or {})["interrupted"] is True
    assert shop.paid == 1


async def test_a_large_result_is_there_after_a_restart_too(shop: Shop, agent: AsyncSMCPAgentClient) -> None:
    computer = await shop.computer()
    await present(agent)
    first = await agent.call_tool("desk", "pay", {"size": 3_000_000}, req_id="r1", timeout=CAP)
    computer.terminate()
    computer.wait()
    await until(lambda: "desk" not in agent.office.computers)
    await shop.computer()
    await present(agent)
    assert await agent.call_tool("desk", "pay", {"size": 3_000_000}, req_id="r1", timeout=CAP) == first
    assert shop.paid == 1


async def test_a_journal_that_cannot_be_used_is_reported_and_calls_run(
    shop: Shop, agent: AsyncSMCPAgentClient, tmp_path: Path
) -> None:
    await shop.computer("--journal", "/dev/null/journal")
    await present(agent)
    assert (await agent.call_tool("desk", "pay", timeout=CAP))["isError"] is False
    said = (tmp_path / "err.txt").read_text()
    assert "journal not available: folder=/dev/null/journal reason=Not a directory" in said
