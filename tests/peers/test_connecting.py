"""How released clients come in: their credentials, their transports, and what they hear when refused."""

import contextlib
from typing import Any
from uuid import uuid4

import pytest

from tests.peers.conftest import CREDENTIALS, IMPLEMENTATIONS, Pool, credentials
from tests.peers.environments import PATIENCE
from tests.peers.peer import Peer, PeerError, Role

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(PATIENCE)]

ROLES: tuple[Role, ...] = ("agent", "computer")


def arguments(role: Role, url: str, office: str, name: str) -> dict[str, Any]:
    """Return what `connect` needs in `role`; only the SDK's Agent must know its office this early."""
    return {"url": url, "name": name} | ({"office": office} if role == "agent" else {})


async def seat(
    peer: Peer, role: Role, url: str, key: str | None, office: str, name: str, form: str = "x-api-key"
) -> None:
    await peer.ask("connect", **arguments(role, url, office, name), **credentials(form, key))
    await peer.ask("join", office=office)
    if role == "agent":
        await peer.ask("list_room", office=office)


@pytest.fixture
def office() -> str:
    return f"office-{uuid4().hex}"


@pytest.fixture
def key(api_key: str | None) -> str:
    if api_key is None:
        pytest.skip("the server under test wants no key")
    return api_key


@pytest.mark.parametrize("form", ["x-api-key", "access_token", "token"])
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
async def test_a_key_is_taken_in_every_form_a_release_has_sent_it(
    pool: Pool, server_url: str, key: str, office: str, implementation: str, role: Role, form: str
) -> None:
    peer = await pool.take(implementation, role)

    await seat(peer, role, server_url, key, office, "bearer", form)


@pytest.mark.parametrize("offered", [None, "wrong"])
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
async def test_a_client_without_the_right_key_is_turned_away(
    pool: Pool, server_url: str, key: str, office: str, implementation: str, role: Role, offered: str | None
) -> None:
    peer = await pool.take(implementation, role)
    proof = credentials(CREDENTIALS[implementation], offered)

    assert offered != key
    with pytest.raises(PeerError):
        await peer.ask("connect", **arguments(role, server_url, office, "stranger"), **proof)


@pytest.mark.rule("1.2")
@pytest.mark.parametrize("transport", ["polling", "websocket"])
@pytest.mark.parametrize("role", ROLES)
async def test_a_client_comes_in_over_one_transport_alone(
    pool: Pool, server_url: str, api_key: str | None, office: str, role: Role, transport: str
) -> None:
    peer = await pool.take("socket.io-client", role)
    where = arguments(role, server_url, office, "traveller")

    connected = await peer.ask("connect", **where, **credentials("token", api_key), transports=[transport])
    await peer.ask("join", office=office)

    assert connected == {"transport": transport}


@pytest.mark.rule("1.3.names", "2.join")
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
async def test_a_computer_whose_name_is_taken_is_told_why_it_may_not_join(
    pool: Pool, server_url: str, api_key: str | None, other_key: str, office: str, implementation: str
) -> None:
    await seat(await pool.take("socket.io-client", "computer"), "computer", server_url, other_key, office, "desk")
    newcomer = await pool.take(implementation, "computer", copy=1)

    with pytest.raises(PeerError, match="desk"):
        await seat(newcomer, "computer", server_url, api_key, office, "desk")


@pytest.mark.rule("1.3.agent")
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
async def test_a_second_agent_gets_no_seat_and_nobody_hears_of_it(
    pool: Pool, server_url: str, api_key: str | None, office: str, implementation: str
) -> None:
    computer = await pool.take("socket.io-client", "computer")
    first = await pool.take("socket.io-client", "agent")
    second = await pool.take(implementation, "agent", copy=1)
    await seat(computer, "computer", server_url, api_key, office, "desk")
    await seat(first, "agent", server_url, api_key, office, "first")

    # The SDK's Agent asks for no ack, so it learns nothing of the refusal.
    with contextlib.suppress(PeerError):
        await seat(second, "agent", server_url, api_key, office, "second")
    await first.ask("get_tools", computer="desk")

    assert [name for name, _ in computer.heard()] == ["notify:enter_office", "client:get_tools"]
