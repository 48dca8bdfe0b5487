"""A line that is only half there keeps nobody out of their own seat, and nobody out of another's gets in."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from a2c_smcp.agent import AsyncSMCPAgentClient
from a2c_smcp.connection.status import ConnectionState
from a2c_smcp.server import create_app
from a2c_smcp.server.jwt_tokens import TokenKey, sign_token, write_keys
from tests.interaction.server.client import CAP, Client
from tests.interaction.server.conftest import Connect, Running, run_server, stop_server
from tests.interaction.server.programs import pair, serving, until
from tests.interaction.server.raw import RawClient
from tests.interaction.server.serve import KINDS

KEY, OTHER = "a-key-of-some-length", "another-key-of-some-length"
SIGNER = TokenKey("2025-01", b"a" * 32)
TAKEN_OVER = {"code": 403, "message": "Another connection with the same credentials and name replaced this one"}
TAKEN = "403: The computer name 'desk' is taken in this office; choose another name"


@pytest.fixture(scope="module", params=KINDS)
def guarded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Each kind of server, with two keys."""
    process, running = run_server(request.param, tmp_path_factory.mktemp("guarded"), api_keys=[KEY, OTHER])
    yield running
    stop_server(process)


async def member(connect: Connect, server: Any, role: str, name: str, office: str, key: str = KEY) -> Client:
    client = await connect(server, headers={"x-api-key": key})
    assert await client.join(role, name, office) == (True, None)
    return client


@pytest.mark.rule("1.6.takeover")
@pytest.mark.parametrize(("role", "name"), [("computer", "desk"), ("agent", "ada")])
async def test_the_same_credentials_under_the_same_name_take_their_name_over(
    guarded: Running, connect: Connect, office: str, role: str, name: str
) -> None:
    witness = await member(connect, guarded, "computer", "witness", office)
    old = await member(connect, guarded, role, name, office)
    assert await witness.next() == ("notify:enter_office", {"office_id": office, role: name})
    await member(connect, guarded, role, name, office)
    assert await witness.next() == ("notify:leave_office", {"office_id": office, role: name})
    assert await witness.next() == ("notify:enter_office", {"office_id": office, role: name})
    await asyncio.wait_for(old.gone.wait(), CAP)
    assert ("notify:disconnect", TAKEN_OVER) in [old.heard.get_nowait() for _ in range(old.heard.qsize())]


@pytest.mark.rule("1.6.takeover")
async def test_a_line_that_is_only_half_there_does_not_lock_its_owner_out(
    guarded: Running, connect: Connect, office: str
) -> None:
    dead = await RawClient.open(guarded.url, additional_headers={"x-api-key": KEY})  # it answers no ping
    joined = await dead.call(1, "server:join_office", {"role": "agent", "name": "ada", "office_id": office})
    assert joined == [True, None]
    async with asyncio.timeout(CAP / 4):
        await member(connect, guarded, "agent", "ada", office)
    await dead.close()


@pytest.mark.rule("1.6.takeover")
async def test_another_key_gets_nobody_out_of_a_name(guarded: Running, connect: Connect, office: str) -> None:
    holder = await member(connect, guarded, "computer", "desk", office)
    rival = await connect(guarded, headers={"x-api-key": OTHER})
    assert await rival.join("computer", "desk", office) == (False, TAKEN)
    assert not holder.gone.is_set()


async def test_another_name_with_the_same_key_is_another_agent(guarded: Running, connect: Connect, office: str) -> None:
    await member(connect, guarded, "agent", "ada", office)
    rival = await connect(guarded, headers={"x-api-key": KEY})
    accepted, why = await rival.join("agent", "eve", office)
    assert (accepted, why[:5]) == (False, "4101:")


async def test_who_does_not_want_to_take_over_is_refused(guarded: Running, connect: Connect, office: str) -> None:
    await member(connect, guarded, "computer", "desk", office)
    polite = await connect(guarded, headers={"x-api-key": KEY})
    request = {"role": "computer", "name": "desk", "office_id": office, "take_over": False}
    assert await polite.call("server:join_office", request) == (False, TAKEN)


async def test_calls_of_a_connection_that_lost_its_name_are_not_passed_on(connect: Connect) -> None:
    async with serving(create_app(api_keys=[KEY])) as server:
        old, computer = await pair(connect, server, headers={"x-api-key": KEY})
        reached: list[Any] = []

        async def remember(_: str, data: Any) -> Any:
            reached.append(data["req_id"])
            return {}

        computer.answers["*"] = remember
        new = await connect(server, headers={"x-api-key": KEY})
        joining = asyncio.create_task(new.join("agent", "ada", "lab"))
        flood = [asyncio.create_task(old.ask("client:get_tools", "desk", "old")) for _ in range(50)]
        assert await joining == (True, None)
        before = len(reached)
        await asyncio.wait_for(old.gone.wait(), CAP)
        assert await new.ask("client:get_tools", "desk", "new") == {}
        assert reached[before:].count("old") == 0
        for task in flood:
            task.cancel()
        await asyncio.gather(*flood, return_exceptions=True)


async def test_a_renewed_token_is_the_same_party(tmp_path: Any, connect: Connect) -> None:
    write_keys(tmp_path / "keys.json", [SIGNER])

    def token() -> str:
        return sign_token(SIGNER, role="computer", name="desk", office_id="lab", ttl=60)

    async with serving(create_app(token_keys=tmp_path / "keys.json")) as server:
        old = await connect(server, auth={"token": token()})
        assert await old.join("computer", "desk", "lab") == (True, None)
        new = await connect(server, auth={"token": token()})
        assert await new.join("computer", "desk", "lab") == (True, None)
        await asyncio.wait_for(old.gone.wait(), CAP)


# A server without authentication


async def test_without_authentication_a_line_that_answers_a_ping_keeps_its_name(
    server: Running, connect: Connect, office: str
) -> None:
    holder = await connect(server)
    assert await holder.join("computer", "desk", office) == (True, None)
    for _ in range(2):
        rival = await connect(server)
        assert await rival.join("computer", "desk", office) == (False, TAKEN)
    assert not holder.gone.is_set()


async def test_without_authentication_a_line_that_answers_no_ping_gives_its_name_up(
    server: Running, connect: Connect, office: str
) -> None:
    dead = await RawClient.open(server.url)
    assert await dead.call(1, "server:join_office", {"role": "computer", "name": "desk", "office_id": office}) == [
        True,
        None,
    ]
    successor = await connect(server)
    async with asyncio.timeout(CAP / 2):
        assert await successor.join("computer", "desk", office) == (True, None)
    await dead.close()


async def test_without_authentication_another_agent_is_not_even_pinged(
    ready: Running, connect: Connect, office: str
) -> None:
    dead = await RawClient.open(ready.url)
    assert (await dead.call(1, "server:join_office", {"role": "agent", "name": "ada", "office_id": office}))[0]
    rival = await connect(ready)
    accepted, why = await rival.join("agent", "eve", office)
    assert (accepted, why[:5]) == (False, "4101:")
    await dead.close()


# Our client


async def test_our_client_that_was_taken_over_waits_until_the_name_is_free(connect: Connect) -> None:
    async with serving(create_app(api_keys=[KEY])) as server:
        agent = AsyncSMCPAgentClient(server.url, name="ada", api_key=KEY, office_id="lab")
        await agent.connect()
        other = await member(connect, server, "agent", "ada", "lab")
        await until(lambda: agent.status.state is not ConnectionState.JOINED)
        await until(lambda: "agent already" in (agent.status.problem or ""))
        assert not other.gone.is_set()
        await other.close()
        await until(lambda: agent.status.state is ConnectionState.JOINED)
        await agent.close()
