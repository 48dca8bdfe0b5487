import asyncio

import pytest

from a2c_smcp.bridge.run import join_office, run
from a2c_smcp.bridge.server import Bridge
from a2c_smcp.errors import OfficeFull, Unauthorized
from tests.unit.bridge.fakes import FakeOffice


async def test_a_server_that_is_away_is_tried_again() -> None:
    office = FakeOffice()
    office.connecting = [ConnectionError("away"), OfficeFull("the former agent is leaving"), None]
    bridge = Bridge(office, "lab")
    await join_office(bridge, office, asyncio.Event(), pause=0.001)
    assert (office.connecting, bridge._joined.is_set()) == ([], True)


async def test_an_office_that_stays_full_is_given_up() -> None:
    office = FakeOffice()
    office.connecting = [OfficeFull("no")] * 50
    with pytest.raises(OfficeFull):
        await join_office(Bridge(office, "lab"), office, asyncio.Event(), takeover=0, pause=0.001)


async def test_a_refusal_ends_the_bridge_and_leaves_the_office() -> None:
    office = FakeOffice()
    office.connecting = [Unauthorized("wrong key")]
    ended = asyncio.Event()

    async def transport(_: Bridge) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(Unauthorized):
        await run(Bridge(office, "lab"), office, transport)
    assert (ended.is_set(), office.closed, office.handlers) == (True, True, [])


async def test_when_the_client_goes_the_bridge_leaves_though_it_never_arrived() -> None:
    office = FakeOffice()
    office.connecting = [ConnectionError("away")] * 50

    async def transport(_: Bridge) -> None:
        await asyncio.sleep(0.01)

    await asyncio.wait_for(run(Bridge(office, "lab"), office, transport), 60)
    assert office.closed
