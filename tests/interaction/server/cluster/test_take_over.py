"""Seats that are taken over from one node to another."""

import asyncio
import signal
from collections.abc import Callable

import pytest

from a2c_smcp.server.auth import ApiKeyAuth
from tests.interaction.redis_server import RedisServer
from tests.interaction.server.client import CAP
from tests.interaction.server.cluster.conftest import MakeNodes, NodeProcess
from tests.interaction.server.cluster.nodes import Node
from tests.interaction.server.cluster.steps import joined_client, listed
from tests.interaction.server.conftest import Connect
from tests.interaction.server.raw import RawClient

KEY = "a-key-of-some-length"
TAKEN = "403: The computer name 'desk' is taken in this office; choose another name"


@pytest.mark.rule("1.6.takeover")
@pytest.mark.parametrize(("role", "name"), [("computer", "desk"), ("agent", "ada")])
async def test_the_same_credentials_take_their_name_over_from_another_node(
    pair: list[Node], connect: Connect, office: str, role: str, name: str
) -> None:
    here, there = pair
    for node in pair:
        node.namespace.auth = ApiKeyAuth([KEY])
    options = {"headers": {"x-api-key": KEY}}
    old = await connect(here, **options)
    assert await old.join(role, name, office) == (True, None)
    new = await connect(there, **options)
    assert await new.join(role, name, office) == (True, None)
    await asyncio.wait_for(old.gone.wait(), CAP)
    assert (await old.next())[0] == "notify:disconnect"
    assert [member.sid for member in await here.registry.members(office)] == [new.sio.get_sid("/smcp")]


async def test_without_authentication_a_line_of_another_node_that_answers_a_ping_keeps_its_name(
    pair: list[Node], connect: Connect, office: str
) -> None:
    here, there = pair
    holder = await joined_client(connect, here, "computer", "desk", office)
    rival = await connect(there)
    assert await rival.join("computer", "desk", office) == (False, TAKEN)
    assert not holder.gone.is_set()


async def test_without_authentication_a_line_of_another_node_that_answers_no_ping_gives_its_name_up(
    pair: list[Node], connect: Connect, office: str
) -> None:
    here, there = pair
    dead = await RawClient.open(here.url)
    assert await dead.call(1, "server:join_office", {"role": "computer", "name": "desk", "office_id": office}) == [
        True,
        None,
    ]
    await joined_client(connect, there, "computer", "desk", office)
    await dead.close()


@pytest.mark.rule("1.3.agent")
async def test_a_name_on_a_node_that_stands_still_is_taken_over_only_when_its_lease_is_over(
    nodes: MakeNodes, node_process: Callable[..., NodeProcess], redis: RedisServer, connect: Connect, office: str
) -> None:
    fast = {"lease_seconds": 3.0, "prefix": "p"}
    (here,) = await nodes(1, redis, **fast)
    sleeper = node_process(redis, **fast)
    old = await joined_client(connect, sleeper, "agent", "a", office)
    sleeper.process.send_signal(signal.SIGSTOP)
    new = await joined_client(connect, here, "agent", "a", office)
    sleeper.process.send_signal(signal.SIGCONT)
    await asyncio.wait_for(old.gone.wait(), CAP)
    assert await listed(new, office) == [("agent", "a")]


async def test_names_that_look_alike_are_refused_across_nodes(pair: list[Node], connect: Connect, office: str) -> None:
    here, there = pair
    await joined_client(connect, here, "computer", "desk", office)
    rival = await connect(there)
    accepted, why = await rival.join("computer", "d\u0435sk", office)
    assert (accepted, "looks like" in why) == (False, True)
    assert await rival.join("computer", "other", office) == (True, None)
