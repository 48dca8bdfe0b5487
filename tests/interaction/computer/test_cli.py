"""`a2c computer` as a process: headless, scripted, and its shell at a terminal."""

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.cli import computer_run
from tests.interaction.computer.conftest import AUTO, office_config
from tests.interaction.ports import free_port
from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Running, run_server, stop_server
from tests.interaction.server.programs import ROOT, a2c, command, environment
from tests.unit.cli.running import a2c as in_process

pytestmark = pytest.mark.timeout(300)  # servers start and stop one after the other

CAP = 60
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Any:
    process, running = run_server("ready", tmp_path_factory.mktemp("relay"))
    yield running
    stop_server(process)


@pytest.fixture
def office(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


@pytest.fixture
async def agent(relay: Running, office: str) -> AsyncIterator[Client]:
    client = await Client(relay.url).connect()
    await client.join("agent", "ada", office)
    yield client
    await client.close()


def write_config(folder: Path, *names: str, inputs: Any = (), **settings: Any) -> str:
    """A configuration file with an `office_server.py` for each name."""
    config = office_config(*names, **settings).model_dump(mode="json", exclude_none=True)
    path = folder / "mcp.json"
    path.write_text(json.dumps({"servers": config["servers"], "inputs": list(inputs)}))
    return str(path)


def processes(marker: str) -> list[int]:
    """The MCP servers that were started with this name."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if marker.encode() in words and any(word.endswith(b"office_server.py") for word in words):
            found.append(int(folder.name))
    return found


@contextmanager
def running(folder: Path, *words: str, env: dict[str, str] | None = None) -> Iterator["subprocess.Popen[str]"]:
    """Run `a2c computer` without a terminal while the block runs; what it says is in `err.txt`."""
    with (folder / "err.txt").open("w") as errors:
        process = subprocess.Popen(
            command("computer", *words),
            cwd=ROOT,
            env=environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdout is not None
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def event(process: "subprocess.Popen[str]", **wanted: Any) -> dict[str, Any]:
    """The next event with these facts."""
    assert process.stdout is not None
    while True:
        line = await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), CAP)
        assert line, "the Computer ended"
        found: dict[str, Any] = json.loads(line)
        if wanted.items() <= found.items():
            return found


async def ended(process: "subprocess.Popen[str]") -> int:
    return await asyncio.wait_for(asyncio.to_thread(process.wait), CAP)


@pytest.mark.rule("4.1.list", "4.2", "5.5")
async def test_headless_it_works_until_sigterm_and_leaves_nothing_behind(
    relay: Running, agent: Client, office: str, tmp_path: Path
) -> None:
    marker = f"cli-{os.getpid()}"
    config = write_config(tmp_path, marker)
    seat = ("--url", relay.url, "--office", office, "--name", "desk")
    with running(tmp_path, "--config", config, *seat, "--json") as process:
        first = await event(process)
        assert first == {
            "event": "ready",
            "name": "desk",
            "pid": process.pid,
            "url": relay.url,
            "office": office,
            "servers": [marker],
            "notes": [],
        }
        await event(process, event="server", state="running")
        assert (await agent.next())[0] == "notify:enter_office"
        listed = await agent.ask("client:get_tools", "desk")
        assert {tool["name"] for tool in listed["tools"]} >= {"echo", "wait"}
        assert (await agent.tool("desk", "echo", text="世界"))["content"][0]["text"] == "世界"
        assert len(processes(marker)) == 1
        process.send_signal(signal.SIGTERM)
        await event(process, event="stopped")
        assert (await ended(process), processes(marker)) == (0, [])
    assert f"server {marker}: running\n" in (tmp_path / "err.txt").read_text()


@pytest.mark.rule("4.4")
async def test_headless_nobody_consents(relay: Running, agent: Client, office: str, tmp_path: Path) -> None:
    config = write_config(tmp_path, "office", default_tool_meta=None)
    seat = ("--url", relay.url, "--office", office, "--name", "desk")
    with running(tmp_path, "--config", config, *seat, "--json") as process:
        await event(process, event="server", state="running")
        assert (await agent.next())[0] == "notify:enter_office"
        told = await agent.tool("desk", "echo", text="x")
        assert (told["error"]["code"], told["error"]["details"]["reason"]) == (4005, "nobody")


async def test_a_server_that_is_away_is_tried_again_and_ctrl_c_ends(tmp_path: Path) -> None:
    seat = {
        "A2C_COMPUTER_URL": f"http://127.0.0.1:{free_port()}",
        "A2C_COMPUTER_OFFICE": "lab",
        "A2C_COMPUTER_NAME": "desk",
    }
    with running(tmp_path, "--json", env=seat) as process:
        assert (await event(process))["name"] == "desk"
        for failures in (1, 2):
            waiting = await event(process, event="connection", state="waiting")
            assert (waiting["failures"], waiting["problem"] is None) == (failures, False)
        process.send_signal(signal.SIGINT)
        assert await ended(process) == 0
    said = (tmp_path / "err.txt").read_text()
    assert re.search(r"^\S+Z connection: waiting lab: .* next attempt in [\d.]+ s$", said, re.MULTILINE)
    assert "Traceback" not in said


def test_commands_run_and_end(tmp_path: Path) -> None:
    config = write_config(tmp_path, "office", default_tool_meta=None)
    more = {
        "name": "more",
        "type": "stdio",
        "server_parameters": office_config("more").servers["more"].server_parameters.model_dump(exclude_none=True),
    }
    lines = (
        'call echo {"text": "a  b"}',
        "history",
        "desktop",
        "read dpe://office/glossary.txt",
        f"server add {json.dumps(more)}",
        "server disable office",
        "server enable office",
        "server restart office",
        "server stop office",
        "server start office",
        "server rm more",
    )
    run = a2c("computer", "--config", config, "--json", *(word for line in lines for word in ("--do", line)))
    # Servers that come and go may be warned of; no traceback reaches a user.
    assert (run.returncode, "Traceback" in run.stderr) == (0, False)
    said, records, windows, contents, *changes = map(json.loads, run.stdout.splitlines())
    assert said["content"][0]["text"] == "a  b"
    assert [(record["server"], record["tool"], record["success"]) for record in records] == [("office", "echo", True)]
    assert (len(windows), bool(contents[0]["text"])) == (1, True)
    assert [change and (change["name"], change["state"]) for change in changes] == [
        ("more", "running"),
        ("office", "disabled"),
        ("office", "running"),
        ("office", "running"),
        ("office", "stopped"),
        ("office", "running"),
        None,
    ]


def test_a_script_may_join_and_leave(relay: Running, office: str, tmp_path: Path) -> None:
    lines = (f"connect {relay.url}", f"join {office}", "leave", "disconnect", "status")
    run = a2c("computer", "--name", "desk", "--json", *(word for line in lines for word in ("--do", line)))
    assert (run.returncode, run.stderr) == (0, "")
    *states, nothing, status = map(json.loads, run.stdout.splitlines())
    assert [(one["state"], one["office_id"]) for one in states] == [
        ("connected", None),
        ("joined", office),
        ("connected", None),
    ]
    assert (nothing, status["connection"]) == (None, None)


@pytest.mark.rule("5.2")
def test_a_value_that_is_set_starts_the_servers_that_use_it_anew(tmp_path: Path) -> None:
    parameters = office_config("office").servers["office"].server_parameters.model_dump(exclude_none=True)
    config = write_config(
        tmp_path,
        "office",
        server_parameters=parameters | {"env": {"KEY": "${input:key}"}},
        inputs=[{"id": "key", "type": "promptString", "description": "A key", "password": True}],
    )
    run = a2c(
        "computer", "--config", config, "--json", "--do", "status", "--do", "inputs set key s3cret", "--do", "status"
    )
    before, changed, after = map(json.loads, run.stdout.splitlines())
    assert before["servers"][0]["state"] != "running"
    assert changed == {"id": "key", "restarted": ["office"]}
    assert after["servers"][0]["state"] == "running"
    assert "s3cret" not in run.stdout + run.stderr


class Typist:
    """Somebody at a terminal with the shell."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._terminal, other = pty.openpty()
        env = {"PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm", "XDG_STATE_HOME": str(folder), "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            command("computer", *words),
            cwd=ROOT,
            env=environment(env),
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
        )
        os.close(other)
        self._seen = ""
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    async def enter(self, line: str) -> None:
        """Type a line once the shell asks for one: before that, the terminal itself would take control keys."""
        await self.sees("a2c>")
        self.type(line)

    async def sees(self, words: str) -> None:
        """Wait until these words are shown; what came before them is done with."""
        while words not in self._seen:
            piece = await asyncio.wait_for(asyncio.to_thread(os.read, self._terminal, 65536), CAP)
            self.shown += piece.decode()
            self._seen = _ESCAPES.sub("", self._seen + piece.decode())
        self._seen = self._seen.partition(words)[2]

    async def ended(self) -> int:
        with pytest.raises(OSError, match="Input/output"):
            while True:
                await asyncio.wait_for(asyncio.to_thread(os.read, self._terminal, 65536), CAP)
        return await asyncio.wait_for(asyncio.to_thread(self.process.wait), CAP)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._terminal)


@contextmanager
def shell(folder: Path, *words: str) -> Iterator[Typist]:
    typist = Typist(folder, *words)
    try:
        yield typist
    finally:
        typist.close()


async def test_the_shell_answers_completes_and_quits(tmp_path: Path) -> None:
    marker = f"pty-{os.getpid()}"
    with shell(tmp_path, "--config", write_config(tmp_path, marker), "--name", "desk") as typist:
        await typist.sees(f"server {marker}: running")
        await typist.enter("status\r")
        await typist.sees("connection: none\r\n")
        await typist.sees(f"server {marker}: running\r\n")
        await typist.enter("too\t")
        await typist.sees("ls")
        typist.type("\r")
        await typist.sees("echo  echo it\r\n")
        await typist.enter("nothing\r")
        await typist.sees("error 400: unknown command 'nothing'")
        await typist.enter("quit\r")
        assert (await typist.ended(), processes(marker)) == (0, [])
    history = (tmp_path / "a2c-smcp" / "computer-history").read_text()
    assert re.findall(r"^\+(.*)$", history, re.MULTILINE) == ["status", "tools", "quit"]


@pytest.mark.rule("4.4")
async def test_at_the_shell_a_call_is_shown_and_approved(
    relay: Running, agent: Client, office: str, tmp_path: Path
) -> None:
    config = write_config(tmp_path, "office", default_tool_meta=None, tool_meta={"count": AUTO})
    seat = ("--url", relay.url, "--office", office, "--name", "desk")
    with shell(tmp_path, "--config", config, *seat) as typist:
        await typist.sees("server office: running")
        assert (await agent.next())[0] == "notify:enter_office"
        call = asyncio.create_task(agent.tool("desk", "echo", text="exactly this"))
        await typist.sees('approval 1: agent "ada" wants to run "echo" of server "office" with')
        await typist.sees('"text": "exactly this"')
        await typist.enter("approvals approve 1 once\r")
        assert (await asyncio.wait_for(call, CAP))["content"][0]["text"] == "exactly this"
        call = asyncio.create_task(agent.tool("desk", "echo", req_id="r-2", text="not this"))
        await typist.sees("approval 2: ")
        await typist.enter("approvals refuse 2\r")
        assert (await asyncio.wait_for(call, CAP))["error"]["details"]["reason"] == "refused"
        typist.process.send_signal(signal.SIGTERM)
        assert await typist.ended() == 0


async def test_the_shell_asks_for_a_password_and_does_not_show_it(tmp_path: Path) -> None:
    parameters = office_config("office").servers["office"].server_parameters.model_dump(exclude_none=True)
    config = write_config(
        tmp_path,
        "office",
        server_parameters=parameters | {"env": {"KEY": "${input:key}"}},
        inputs=[{"id": "key", "type": "promptString", "description": "A key", "password": True}],
    )
    with shell(tmp_path, "--config", config) as typist:
        await typist.sees("A key (input key): ")
        typist.type("s3cret-word\n")
        await typist.sees("server office: running")
        await typist.enter("inputs\r")
        await typist.sees("a value from a person")
        await typist.enter("\x04")
        assert (await typist.ended(), "s3cret-word" in typist.shown) == (0, False)


def test_a_script_that_waits_for_a_server_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computer_run, "PATIENCE_SECONDS", 0)
    run = in_process("computer", "--config", write_config(tmp_path, "slow"), "--do", "status")
    assert (run.code, run.err) == (0, "waiting for slow to start\n")
    assert "server slow: running" in run.out
