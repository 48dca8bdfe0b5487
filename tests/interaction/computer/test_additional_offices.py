"""One Computer in several offices at the same time: an Agent in each, and nothing crosses between them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient, OfficeEvent, ToolProgress
from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.office.additional_office import AdditionalOffice
from a2c_smcp.computer.tools.confirmation import Confirmation, Decision
from a2c_smcp.errors import ConfirmationRequired, NotFound
from tests.interaction.computer.conftest import CAP, office_config
from tests.interaction.server.conftest import Running

BOARD = "window://office/board?priority=50"
OFFICES = ("first", "second", "third")


class Answers:
    """The owner, who has answers ready."""

    def __init__(self) -> None:
        self.ready: list[Decision] = []
        self.asked: list[str] = []

    async def __call__(self, question: Confirmation) -> Decision | None:
        self.asked.append(question.agent)
        return self.ready.pop(0) if self.ready else None


class Everybody:
    """The Computer, its owner, and an Agent in each office."""

    def __init__(self, computer: Computer, owner: Answers, agents: list[AsyncSMCPAgentClient]) -> None:
        self.computer, self.owner, self.agents = computer, owner, agents
        self.further: list[AdditionalOffice] = []
        self.heard: dict[str, asyncio.Queue[OfficeEvent]] = {}

    async def next(self, agent: AsyncSMCPAgentClient, kind: str) -> OfficeEvent:
        async with asyncio.timeout(CAP):
            while (event := await self.heard[str(agent.office_id)].get()).kind != kind:
                pass
        return event


@pytest.fixture(params=[{"auto_apply": True}])
async def everybody(relay: Running, request: pytest.FixtureRequest) -> AsyncIterator[Everybody]:
    owner, prefix = Answers(), request.node.name
    async with AsyncExitStack() as stack:
        config = office_config("office", default_tool_meta=request.param)
        computer = await stack.enter_async_context(Computer(config, name="c", confirm=owner))
        await asyncio.wait_for(computer.settled(), CAP)
        await computer.connect(relay.url, f"{prefix}-first")
        agents: list[AsyncSMCPAgentClient] = []
        found = Everybody(computer, owner, agents)
        for office in OFFICES[1:]:
            found.further.append(
                await computer.serve_office(relay.url, f"{prefix}-{office}", consent_of=f"{prefix}-first")
            )
        for office in OFFICES:
            agent = AsyncSMCPAgentClient(relay.url, name="ada", office_id=f"{prefix}-{office}", live=False)
            agents.append(await stack.enter_async_context(agent))
            queue = found.heard[f"{prefix}-{office}"] = asyncio.Queue[OfficeEvent]()
            agent.on("*", queue.put_nowait)
        yield found


async def test_every_agent_sees_and_uses_the_same_computer(everybody: Everybody) -> None:
    lists = await asyncio.gather(*(agent.get_tools("c") for agent in everybody.agents))
    assert lists[0] == lists[1] == lists[2]
    results = await asyncio.gather(
        *(agent.call_tool("c", "echo", {"text": f"of {number}"}) for number, agent in enumerate(everybody.agents))
    )
    assert [result["content"][0]["text"] for result in results] == ["of 0", "of 1", "of 2"]
    for agent in everybody.agents:
        assert [(one["role"], one["name"]) for one in await agent.list_room()] == [("agent", "ada"), ("computer", "c")]


async def test_every_office_is_told_of_changes(everybody: Everybody) -> None:
    await everybody.agents[0].call_tool("c", "open_window")
    for agent in everybody.agents:
        assert (await everybody.next(agent, "update_desktop")).computer == "c"


async def test_progress_reaches_the_agent_that_asked_and_no_other(everybody: Everybody) -> None:
    told: dict[int, list[ToolProgress]] = {0: [], 1: [], 2: []}

    async def call(number: int) -> Any:
        return await everybody.agents[number].call_tool("c", "progress", {"steps": 2}, on_progress=told[number].append)

    await call(1)
    assert told[1]
    assert not told[0]
    await asyncio.gather(call(0), call(2))
    assert told[0] == told[1] == told[2]


async def test_a_cancel_ends_the_call_of_its_own_office(everybody: Everybody) -> None:
    first, second, _ = everybody.agents
    calls = [asyncio.create_task(agent.call_tool("c", "wait", timeout=CAP)) for agent in (first, second)]
    async with asyncio.timeout(CAP):
        while len(everybody.computer.calls._running) < 2:
            await asyncio.sleep(0.01)
    calls[1].cancel()
    await asyncio.gather(calls[1], return_exceptions=True)
    async with asyncio.timeout(CAP):
        while len(everybody.computer.calls._running) > 1:
            await asyncio.sleep(0.01)
    assert not calls[0].done()
    calls[0].cancel()
    await asyncio.gather(calls[0], return_exceptions=True)


async def test_subscriptions_of_one_agent_outlive_those_of_another(everybody: Everybody) -> None:
    first, second, third = everybody.agents
    for agent in (first, second, third):
        await agent.subscribe_resource("c", BOARD)
    await second.unsubscribe_resource("c", BOARD)
    await everybody.further[1].close()  # that of the third
    await first.call_tool("c", "write", {"text": "news"})
    async with asyncio.timeout(CAP):
        while "uris" not in (event := await everybody.next(first, "update_resources")).data:
            pass
    assert event.data["uris"] == [BOARD]
    with pytest.raises(NotFound):
        await third.get_tools("c")


@pytest.mark.parametrize("everybody", [{}], indirect=True)
async def test_always_holds_in_every_office_of_the_family_for_the_agent_of_that_name(everybody: Everybody) -> None:
    first, second, third = everybody.agents
    with pytest.raises(ConfirmationRequired):
        await second.call_tool("c", "echo", {"text": "no"})
    everybody.owner.ready.append(Decision.ALWAYS)
    await second.call_tool("c", "echo", {"text": "a"})
    await third.call_tool("c", "echo", {"text": "b"})
    await first.call_tool("c", "echo", {"text": "c"})
    assert len(everybody.owner.asked) == 2
    assert len(everybody.computer.calls.consent.standing()) == 1


async def test_an_office_that_is_left_is_left_alone(everybody: Everybody) -> None:
    further = everybody.further[0]
    await further.close()
    await further.close()
    assert everybody.computer._additional == everybody.further[1:]
    assert [tool["name"] for tool in await everybody.agents[0].get_tools("c")]
