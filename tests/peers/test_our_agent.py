"""Our Agent through released servers, and with released Computers."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import uuid4

import pytest
import pytest_asyncio

from a2c_smcp.agent import AsyncSMCPAgentClient, SMCPAgentClient, ToolProgress
from a2c_smcp.errors import BadRequest, Forbidden, RequestTimeout, SMCPError
from tests.interaction.agent.progressing import over_stdio, seated
from tests.peers.conftest import CREDENTIALS, Pool, credentials
from tests.peers.environments import PATIENCE, UnavailableError, interpreter_of
from tests.peers.peer import DRIVERS, Peer

# The peers' processes outlive a test, so every test runs on the session's loop.
pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(PATIENCE)]

RELEASES = ("a2c-smcp-0.1.6", "a2c-smcp-0.4.2")
CAP = 60.0


@dataclass(frozen=True, slots=True)
class Meeting:
    """Our Agent and a released Computer in one office."""

    agent: AsyncSMCPAgentClient
    computer: Peer
    name: str
    url: str
    server: str
    release: str

    async def tool(self, name: str) -> str:
        """The name by which the Computer lists its tool: 0.4 puts the MCP server's before it."""
        listed = await self.agent.get_tools(self.name)
        return next(tool["name"] for tool in listed if tool["name"].rpartition("__")[2] == name)


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def released() -> AsyncIterator[dict[str, str]]:
    """The addresses of released servers, by release."""
    servers: dict[str, Peer] = {}
    urls: dict[str, str] = {}
    for release in RELEASES:
        try:
            program = await asyncio.to_thread(interpreter_of, release)
        except UnavailableError:
            continue
        servers[release] = await Peer.start([str(program), "-s", str(DRIVERS / "sdk_server.py")])
        urls[release] = (await servers[release].ask("start"))["url"]
    yield urls
    await asyncio.gather(*(server.stop() for server in servers.values()))


@pytest_asyncio.fixture(
    loop_scope="session",
    params=[(server, computer) for server in ("released", "ours") for computer in RELEASES],
    ids=lambda pair: f"{pair[0]} server and {pair[1]}",
)
async def meeting(
    request: pytest.FixtureRequest, pool: Pool, server_url: str, api_key: str, released: dict[str, str]
) -> AsyncIterator[Meeting]:
    server, release = request.param
    if server == "released" and release not in released:
        pytest.skip(f"{release} cannot be installed here")
    url = released[release] if server == "released" else server_url
    office, name = f"office-{uuid4().hex}", f"computer-{uuid4().hex[:8]}"
    computer = await pool.take(release, "computer")
    async with AsyncSMCPAgentClient(url, name="ours", office_id=office, api_key=api_key, timeout=CAP) as agent:
        events = agent.events()
        await computer.ask("connect", url=url, name=name, **credentials(CREDENTIALS[release], api_key))
        await computer.ask("join", office=office)
        async with asyncio.timeout(CAP):
            while (await anext(events)).kind != "update_tool_list":
                pass
        yield Meeting(agent, computer, name, url, server, release)
        await computer.ask("close")


async def test_a_computer_that_comes_brings_its_tools_and_takes_them_away(meeting: Meeting) -> None:
    view = meeting.agent.office.computers[meeting.name]
    assert {str(tool["name"]).rpartition("__")[2] for tool in view.tools or ()} >= {"echo", "sleep_ms"}
    events = meeting.agent.events()
    await meeting.computer.ask("close")
    async with asyncio.timeout(CAP):
        while (await anext(events)).kind != "leave_office":
            pass
    assert dict(meeting.agent.office.computers) == {}


async def test_its_tools_are_called(meeting: Meeting) -> None:
    result = await meeting.agent.call_tool(meeting.name, await meeting.tool("echo"), {"text": "来自远方"})
    assert (result["content"][0]["text"], result["isError"]) == ("来自远方", False)


async def test_a_computer_that_knows_of_no_progress_answers_all_the_same(meeting: Meeting) -> None:
    told: list[ToolProgress] = []
    tool = await meeting.tool("echo")
    result = await meeting.agent.call_tool(meeting.name, tool, {"text": "x"}, on_progress=told.append)
    assert (result["content"][0]["text"], told) == ("x", [])


@pytest.mark.parametrize("release", RELEASES)
async def test_a_server_that_knows_of_no_progress_passes_the_call_on_without(
    release: str, released: dict[str, str], api_key: str
) -> None:
    if release not in released:
        pytest.skip(f"{release} cannot be installed here")
    url, office, told = released[release], f"office-{uuid4().hex}", list[ToolProgress]()
    async with (
        seated(over_stdio(), url, office, api_key=api_key),
        AsyncSMCPAgentClient(url, name="ours", office_id=office, api_key=api_key, timeout=CAP, live=False) as agent,
    ):
        result = await agent.call_tool("c", "steps", {"steps": 3}, on_progress=told.append)
    assert (result["content"], told) == ([{"type": "text", "text": "done"}], [])


async def test_a_tool_that_takes_too_long_is_given_up(meeting: Meeting) -> None:
    tool = await meeting.tool("sleep_ms")
    result = await meeting.agent.call_tool(meeting.name, tool, {"ms": 1500}, timeout=0.5)
    assert result["isError"] is True  # the peer's word for it, or ours where the peer says nothing in time


async def test_the_office_is_listed(meeting: Meeting) -> None:
    members = await meeting.agent.list_room()
    assert {(member["role"], member["name"]) for member in members} == {("agent", "ours"), ("computer", meeting.name)}


async def test_the_desktop_is_read(meeting: Meeting) -> None:
    assert all(isinstance(window, str) for window in await meeting.agent.get_desktop(meeting.name))


async def test_the_configuration_is_read(meeting: Meeting) -> None:
    if (meeting.server, meeting.release) == ("released", "a2c-smcp-0.1.6"):
        with pytest.raises(BadRequest, match="client:get_config"):  # that server has no such event
            await meeting.agent.get_config(meeting.name)
    else:
        assert len((await meeting.agent.get_config(meeting.name))["servers"]) == 1


async def test_what_the_peer_does_not_know_is_an_error_and_no_result(meeting: Meeting) -> None:
    with pytest.raises((BadRequest, RequestTimeout)):
        async with asyncio.timeout(CAP):
            await meeting.agent.read_resource(meeting.name, "dpe://h/d")


async def test_a_second_agent_is_refused(meeting: Meeting, api_key: str) -> None:
    with pytest.raises(SMCPError) as refusal:
        await AsyncSMCPAgentClient(
            meeting.url, name="second", office_id=meeting.agent.office_id, api_key=api_key
        ).connect()
    assert isinstance(refusal.value, Forbidden) or refusal.value.code == 4101


async def test_the_blocking_client_does_the_same(meeting: Meeting, api_key: str) -> None:
    tool, office = await meeting.tool("echo"), meeting.agent.office_id
    assert office is not None
    await meeting.agent.leave()

    def ask() -> object:
        with SMCPAgentClient(meeting.url, name="blocking", office_id=office, api_key=api_key) as agent:
            return agent.call_tool(meeting.name, tool, {"text": "x"})["content"][0]["text"]

    assert await asyncio.to_thread(ask) == "x"
    assert "a2c-agent" not in " ".join(thread.name for thread in threading.enumerate())
