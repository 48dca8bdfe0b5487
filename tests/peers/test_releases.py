"""Every release of the published SDK: its clients through our server, with our clients, and ours through its server.

The rows of a release run one after another in one process, which ends before the next release begins.
"""

import asyncio
import shlex
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from a2c_smcp.agent import AsyncSMCPAgentClient, SMCPAgentClient, ToolProgress
from a2c_smcp.computer import Computer
from a2c_smcp.errors import BadRequest, Forbidden, RequestTimeout, SMCPError
from tests.interaction.computer.conftest import office_config
from tests.peers.conftest import credentials
from tests.peers.environments import PATIENCE, RELEASES, UnavailableError
from tests.peers.peer import Peer, PeerError, command_of

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(PATIENCE)]

CAP = 60.0
BOARD = "window://demo/board?priority=50\n\nNothing is due today."
OUR_BOARD = "window://office/board?priority=50\n\n"
AGENT_ID = "an id apart from the name"


def number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.removeprefix("a2c-smcp-").split("."))


def credential(release: str) -> str:
    """How a release sends its key by default."""
    if number(release) < (0, 1, 5):
        return "x-api-key"
    return "access_token" if number(release) < (0, 2, 2) else "token"


@dataclass(frozen=True, slots=True)
class Release:
    """A running release: its Agent, its Computer, and its server."""

    name: str
    agent: Peer
    computer: Peer
    url: str

    @property
    def version(self) -> dict[str, str]:
        """What `list_room` shows of the version that its clients send."""
        minor = number(self.name)[1]
        protocol = {1: None, 2: "0.2.0", 3: "0.3.0" if self.name.endswith("0.3.0") else "0.3.1", 4: "0.4.0"}[minor]
        return {} if protocol is None else {"a2c_version": protocol}


@pytest_asyncio.fixture(loop_scope="session", scope="module", params=RELEASES)
async def release(request: pytest.FixtureRequest) -> AsyncIterator[Release]:
    try:
        command = await asyncio.to_thread(command_of, request.param, "agent")
    except UnavailableError as error:
        pytest.skip(str(error))
    peer = await Peer.start(command)
    try:
        url = (await peer.ask("server.start"))["url"]
        yield Release(request.param, peer.role("agent"), peer.role("computer"), url)
    finally:
        await peer.stop()


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def ours() -> AsyncIterator[Computer]:
    """Our Computer, started once; each test gives it a seat."""
    async with Computer(office_config("office"), name="ours") as computer:
        await asyncio.wait_for(computer.settled(), CAP)
        yield computer


@dataclass(frozen=True, slots=True)
class Seats:
    """An office at one server, and how the parties of this test take a seat in it."""

    release: Release
    url: str
    key: str
    office: str = field(default_factory=lambda: f"office-{uuid4().hex}")
    computer_name: str = field(default_factory=lambda: f"computer-{uuid4().hex[:8]}")

    async def agent(self, *, agent_id: str = "agent") -> Peer:
        """Seat the released Agent. It asks for no ack, so its seat is sure only when it has listed the room."""
        agent, proof = self.release.agent, credentials(credential(self.release.name), self.key)
        await agent.ask("connect", url=self.url, name="agent", office=self.office, agent_id=agent_id, **proof)
        await agent.ask("join", office=self.office)
        await agent.ask("list_room", office=self.office)
        return agent

    async def computer(self) -> Peer:
        """Seat the released Computer."""
        computer, proof = self.release.computer, credentials(credential(self.release.name), self.key)
        await computer.ask("connect", url=self.url, name=self.computer_name, **proof)
        await computer.ask("join", office=self.office)
        return computer

    def our_agent(self, name: str = "agent", **options: Any) -> AsyncSMCPAgentClient:
        return AsyncSMCPAgentClient(
            self.url, name=name, office_id=self.office, api_key=self.key, timeout=CAP, **options
        )


@pytest_asyncio.fixture(loop_scope="session")
async def here(release: Release, server_url: str, api_key: str) -> AsyncIterator[Seats]:
    """An office at our server."""
    yield Seats(release, server_url, api_key)
    await _clear(release)


@pytest_asyncio.fixture(loop_scope="session")
async def there(release: Release, api_key: str) -> AsyncIterator[Seats]:
    """An office at the released server."""
    yield Seats(release, release.url, api_key)
    await _clear(release)


@pytest_asyncio.fixture(loop_scope="session", params=["our server", "its server"])
async def either(
    request: pytest.FixtureRequest, release: Release, server_url: str, api_key: str
) -> AsyncIterator[Seats]:
    yield Seats(release, server_url if request.param == "our server" else release.url, api_key)
    await _clear(release)


async def _clear(release: Release) -> None:
    for peer in (release.agent, release.computer):
        await peer.ask("close")
        peer.heard()


def called(tools: list[Any], name: str) -> str:
    """The name by which a Computer lists its tool: 0.4 puts the MCP server's before it."""
    return next(str(tool["name"]) for tool in tools if tool["name"].rpartition("__")[2] == name)


def text_of(result: dict[str, Any]) -> str:
    return "".join(part["text"] for part in result["content"] if part["type"] == "text")


# Its Agent and its Computer through our server


@pytest.mark.rule("1.2", "2.1.forward")
async def test_its_agent_works_with_its_computer(here: Seats) -> None:
    agent = await here.agent()
    await here.computer()
    (listed,) = await agent.ask("list_room", office=here.office)
    assert listed.pop("sid")
    seat = {"name": here.computer_name, "role": "computer", "office_id": here.office}
    assert listed == seat | here.release.version
    tools = await agent.ask("get_tools", computer=here.computer_name)
    result = await agent.ask(
        "tool_call", computer=here.computer_name, tool=called(tools, "echo"), params={"text": "你好 🌍"}
    )
    assert (text_of(result), result["isError"]) == ("你好 🌍", False)
    assert await agent.ask("get_desktop", computer=here.computer_name) == [BOARD]


@pytest.mark.rule("2.notify", "1.6.told")
async def test_they_hear_each_other_come_change_and_go(here: Seats) -> None:
    agent = await here.agent()
    computer = await here.computer()
    seat = {"office_id": here.office, "computer": here.computer_name}
    assert await agent.next_event("notify:enter_office") == seat
    fetched = await agent.next_event("peer:tools_received")
    assert called([{"name": name} for name in fetched["tools"]], "echo")
    for what in ("tool_list", "desktop", "config"):
        await computer.ask("emit_update", what=what)
        assert await agent.next_event(f"notify:update_{what}") == {"computer": here.computer_name}
    await computer.ask("close")
    assert await agent.next_event("notify:leave_office") == seat


@pytest.mark.rule("3.1.ack", "1.4.requests")
async def test_its_agent_raises_what_our_server_refuses_and_reads_no_empty_list(here: Seats) -> None:
    agent = await here.agent()
    for action in ("get_tools", "get_desktop"):
        with pytest.raises(PeerError):
            await agent.ask(action, computer="nobody")
    with pytest.raises(PeerError):
        await agent.ask("list_room", office="of others")
    result = await agent.ask("tool_call", computer="nobody", tool="echo", params={})
    assert (result["isError"], "nobody" in text_of(result)) == (True, True)


@pytest.mark.rule("1.5")
async def test_its_agent_may_have_an_id_apart_from_the_name_it_joins_with(here: Seats) -> None:
    agent = await here.agent(agent_id=AGENT_ID)
    computer = await here.computer()
    tools = await agent.ask("get_tools", computer=here.computer_name)
    call = asyncio.create_task(
        agent.ask("tool_call", computer=here.computer_name, tool=called(tools, "sleep_ms"), params={"ms": 500})
    )
    assert (await computer.next_event("client:tool_call"))["agent"] == "agent"
    req_id = (await agent.next_event("peer:tool_call"))["req_id"]
    await agent.ask("cancel", req_id=req_id)
    assert await computer.next_event("notify:tool_call_cancel") == {"agent": "agent", "req_id": req_id}
    # 0.1 does not act on a cancel and runs the tool to its end.
    assert (await call)["isError"] is (number(here.release.name) >= (0, 2))


# Its Agent with our Computer


@pytest.mark.rule("2.1.forward")
async def test_its_agent_works_with_our_computer(here: Seats, ours: Computer) -> None:
    agent = await here.agent()
    await ours.connect(here.url, here.office, api_key=here.key)
    assert {"echo", "write"} <= set((await agent.next_event("peer:tools_received"))["tools"])
    result = await agent.ask("tool_call", computer="ours", tool="echo", params={"text": "from afar"})
    assert (text_of(result), bool(result["isError"])) == ("from afar", False)
    news = uuid4().hex
    await agent.ask("tool_call", computer="ours", tool="write", params={"text": news})
    async with asyncio.timeout(CAP):
        while await agent.ask("get_desktop", computer="ours") != [f"{OUR_BOARD}{news}"]:
            await agent.next_event("notify:update_desktop")
    missing = await agent.ask("tool_call", computer="ours", tool="no such tool", params={})
    assert (missing["isError"], "no such tool" in text_of(missing)) == (True, True)
    await ours.disconnect()


async def test_its_agent_sees_tools_of_our_computer_that_appear_after_it_has_joined(
    here: Seats, tmp_path: Path
) -> None:
    agent, begin = await here.agent(), tmp_path / "begin"
    parameters = office_config("office").servers["office"].server_parameters.model_dump()
    waiting = f"while [ ! -e {begin} ]; do sleep 0.05; done; exec {shlex.join([sys.executable, *parameters['args']])}"
    late = parameters | {"command": "sh", "args": ["-c", waiting]}
    async with Computer(office_config("office", server_parameters=late), name="ours") as computer:
        await computer.connect(here.url, here.office, api_key=here.key)
        await agent.next_event("notify:enter_office")
        begin.touch()
        await agent.next_event("notify:update_config")  # 0.1 and 0.2 know no other news of tools
        async with asyncio.timeout(CAP):
            while "echo" not in (await agent.next_event("peer:tools_received"))["tools"]:
                pass


@pytest.mark.rule("3.1.ack")
async def test_an_error_of_our_computer_has_the_form_that_its_agent_raises(here: Seats, ours: Computer) -> None:
    agent = await here.agent()
    await ours.connect(here.url, here.office, api_key=here.key)
    refused = await agent.ask(
        "call",
        event="client:get_desktop",
        data={"agent": "agent", "req_id": "r", "computer": "ours", "desktop_size": "many"},
    )
    assert (refused["error"]["code"], refused["code"], "req_id" in refused) == (400, 400, False)
    await ours.disconnect()


# Our Agent with its Computer, through our server and through its own


async def test_our_agent_works_with_its_computer(either: Seats) -> None:
    async with either.our_agent() as agent:
        events = agent.events()
        computer = await either.computer()
        async with asyncio.timeout(CAP):
            while (await anext(events)).kind != "update_tool_list":
                pass
        view = agent.office.computers[either.computer_name]
        tools: list[Any] = list(view.tools or ())
        told: list[ToolProgress] = []
        result = await agent.call_tool(
            either.computer_name, called(tools, "echo"), {"text": "来自远方"}, on_progress=told.append
        )
        assert (result["content"][0]["text"], result["isError"], told) == ("来自远方", False, [])
        slow = await agent.call_tool(either.computer_name, called(tools, "sleep_ms"), {"ms": 1500}, timeout=0.5)
        assert slow["isError"] is True  # the peer's word for it, or ours where the peer says nothing in time
        members = await agent.list_room()
        seats = {("agent", "agent"), ("computer", either.computer_name)}
        assert {(member["role"], member["name"]) for member in members} == seats
        assert await agent.get_desktop(either.computer_name) == [BOARD]
        await computer.ask("close")
        async with asyncio.timeout(CAP):
            while (await anext(events)).kind != "leave_office":
                pass
        assert dict(agent.office.computers) == {}


async def test_our_agent_gets_an_error_for_what_its_side_does_not_know(either: Seats) -> None:
    async with either.our_agent(live=False) as agent:
        await either.computer()
        with pytest.raises((BadRequest, RequestTimeout)):
            await agent.read_resource(either.computer_name, "dpe://h/d")
        if number(either.release.name) < (0, 2) and either.url == either.release.url:
            with pytest.raises(BadRequest, match="client:get_config"):  # that server has no such event
                await agent.get_config(either.computer_name)
        else:
            assert len((await agent.get_config(either.computer_name))["servers"]) == 1
        with pytest.raises(SMCPError) as refusal:
            await either.our_agent("second").connect()
        assert isinstance(refusal.value, Forbidden) or refusal.value.code == 4101


async def test_our_blocking_agent_works_with_its_computer(either: Seats) -> None:
    await either.computer()

    def ask() -> object:
        with SMCPAgentClient(either.url, name="blocking", office_id=either.office, api_key=either.key) as agent:
            tool = called(list(agent.get_tools(either.computer_name)), "echo")
            return agent.call_tool(either.computer_name, tool, {"text": "x"})["content"][0]["text"]

    assert await asyncio.to_thread(ask) == "x"
    assert "a2c-agent" not in " ".join(thread.name for thread in threading.enumerate())


# Ours through its server


async def test_its_agent_works_with_our_computer_through_its_server(there: Seats, ours: Computer) -> None:
    agent = await there.agent()
    await ours.connect(there.url, there.office, api_key=there.key)
    assert "echo" in (await agent.next_event("peer:tools_received"))["tools"]
    result = await agent.ask("tool_call", computer="ours", tool="echo", params={"text": "from afar"})
    assert (text_of(result), bool(result["isError"])) == ("from afar", False)
    await ours.disconnect()
    assert await agent.next_event("notify:leave_office") == {"office_id": there.office, "computer": "ours"}


async def test_our_agent_works_with_our_computer_through_its_server(there: Seats, ours: Computer) -> None:
    await ours.connect(there.url, there.office, api_key=there.key)
    async with there.our_agent(live=False) as agent:
        told: list[ToolProgress] = []
        result = await agent.call_tool("ours", "progress", {"steps": 1}, on_progress=told.append)
        assert (result["content"][0]["text"], told) == ("done", [])  # that server passes no progress on
        assert (await agent.get_desktop("ours"))[0].startswith(OUR_BOARD)
    await ours.disconnect()
