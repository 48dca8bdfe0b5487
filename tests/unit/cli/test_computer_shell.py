"""What the shell remembers, and what Ctrl-C does; at a real terminal it is tested with real processes."""

import asyncio
import io
import os
import signal
import socket
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from a2c_smcp.cli.command import Context
from a2c_smcp.cli.computer_events import PendingChanges
from a2c_smcp.cli.computer_owner import ConnectOptions, Owner
from a2c_smcp.cli.computer_shell import SharedPrompt, Shell, history, is_kept
from a2c_smcp.computer.config.models import MCPServerInput, MCPServerPromptStringInput
from a2c_smcp.computer.inputs import InputValue


@pytest.mark.parametrize("line", ["status", 'call echo {"text": "x"}', "inputs list", "quit"])
def test_what_was_typed_is_remembered(line: str) -> None:
    assert is_kept(line)


@pytest.mark.parametrize(
    "line",
    ["inputs set key s3cret", "inputs  set key s3cret", "input set key s3cret", 'server add {"env": {}}', "s3cret"],
)
def test_what_may_be_a_secret_is_not(line: str) -> None:
    assert not is_kept(line)


def test_the_history_is_its_users_alone(tmp_path: Path) -> None:
    kept = history({"XDG_STATE_HOME": str(tmp_path)})
    for line in ("status", "inputs set key s3cret"):
        kept.append_string(line)
    path = tmp_path / "a2c-smcp" / "computer-history"
    assert (path.stat().st_mode & 0o777, "status" in path.read_text(), "s3cret" in path.read_text()) == (
        0o600,
        True,
        False,
    )
    assert kept.get_strings() == ["status"]


def test_without_a_place_for_it_the_shell_has_a_history_for_this_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert isinstance(history({"XDG_STATE_HOME": str(tmp_path / "file")}), InMemoryHistory)


async def test_ctrl_c_stops_the_command_and_the_shell_goes_on(tmp_path: Path) -> None:
    out = io.StringIO()
    context = Context((), io.StringIO(), out, io.StringIO(), {"XDG_STATE_HOME": str(tmp_path)})
    owner, news = Owner(None, ConnectOptions(name="desk")), PendingChanges()
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,  # it takes connections and says nothing
        create_pipe_input() as keys,
        create_app_session(input=keys, output=DummyOutput()),
    ):
        shell = Shell(context, owner, news)
        working = asyncio.create_task(shell.run())
        keys.send_text(f"connect http://127.0.0.1:{silent.getsockname()[1]}\r")
        async with asyncio.timeout(60):
            while owner.computer.client is None:
                await asyncio.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
            while "cancelled" not in out.getvalue():
                await asyncio.sleep(0.01)
            keys.send_text("history\rbogus\rquit\r")
            await working
    assert [line for line in out.getvalue().splitlines() if not line.startswith("connection: ")] == [
        "cancelled",
        "no calls yet",
        "error 400: unknown command 'bogus'",
        "hint: help",
    ]


class Patient:
    """Asks, and waits for an answer that does not come."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def find(self, wanted: MCPServerInput) -> InputValue | None:
        self.asked.set()
        await asyncio.Event().wait()
        return None

    def way(self, wanted: MCPServerInput) -> str | None:
        return None


async def test_ctrl_c_skips_the_question_of_a_server_that_starts(tmp_path: Path) -> None:
    context = Context((), io.StringIO(), io.StringIO(), io.StringIO(), {"XDG_STATE_HOME": str(tmp_path)})
    asking = Patient()
    prompt = SharedPrompt(asking)
    wanted = MCPServerPromptStringInput(id="key", description="The key")
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        shell = Shell(context, Owner(None, ConnectOptions(name="desk")), PendingChanges(), skip=prompt.skip)
        working = asyncio.create_task(shell.run())
        async with asyncio.timeout(60):
            finding = asyncio.create_task(prompt.find(wanted))
            await asking.asked.wait()
            os.kill(os.getpid(), signal.SIGINT)
            assert await finding is None
            keys.send_text("quit\r")
            await working


async def test_a_question_that_nobody_skipped_is_cancelled_with_whoever_asked() -> None:
    asking = Patient()
    finding = asyncio.create_task(SharedPrompt(asking).find(MCPServerPromptStringInput(id="key", description="")))
    await asking.asked.wait()
    finding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await finding
