"""Servers that say what no server should."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from a2c_smcp.computer.office import ConnectionState, SMCPComputerClient
from a2c_smcp.errors import Forbidden, NotInOffice, Unauthorized
from tests.interaction.computer.office.fakes import CAP, Scripted, Watch
from tests.interaction.computer.office.relay import Relay
from tests.interaction.computer.office.scripted_server import HELLO, Puppet

Make = Callable[..., SMCPComputerClient]
TOOLS = {"agent": "a", "req_id": "r", "computer": "c"}


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, Unauthorized), (407, Unauthorized), (403, Forbidden), (502, ConnectionError), (200, ConnectionError)],
)
async def test_a_refused_handshake_says_what_a_gateway_said(
    computer: Make, status: int, error: type[Exception]
) -> None:
    async with Puppet(status=status) as puppet:
        with pytest.raises(error, match=f"HTTP status {status}"):
            await computer(Scripted(), puppet.url, "o").connect()


@pytest.mark.parametrize(
    "frames",
    [
        [],
        ["hello"],
        ["0"],
        ["0[]"],
        ["0{}"],
        ['0{"sid":"e","upgrades":[],"pingInterval":"soon","pingTimeout":1}'],
        [b"\x00\x01"],
        ["2"],
    ],
)
async def test_a_greeting_that_is_none_is_told(computer: Make, frames: list[str | bytes]) -> None:
    async def scene(puppet: Puppet) -> None:
        await puppet.say(*frames)

    async with Puppet(scene) as puppet:
        with pytest.raises(ConnectionError, match="does not speak Socket"):
            await computer(Scripted(), puppet.url, "o").connect()


async def test_a_server_that_greets_and_hangs_up_is_told(computer: Make) -> None:
    async def scene(puppet: Puppet) -> None:
        await puppet.say("0" + json.dumps(HELLO))

    async with Puppet(scene) as puppet:
        with pytest.raises(ConnectionError):
            await computer(Scripted(), puppet.url, "o", patience=0.3).connect()


async def test_a_server_that_welcomes_and_hangs_up_is_tried_again(computer: Make) -> None:
    scenes = 0
    watch = Watch()

    async def scene(puppet: Puppet) -> None:
        nonlocal scenes
        scenes += 1
        await puppet.welcome()
        if scenes == 3:
            await puppet.hear('42/smcp,1["server:join_office"')
            await puppet.say("43/smcp,1[true,null]")
            await puppet.hear("never")

    async with Puppet(scene) as puppet:
        client = computer(Scripted(), puppet.url, "o", on_status=watch)
        await client.connect(wait=False)
        await watch.until(ConnectionState.JOINED)
        assert scenes == 3
        await client.close()


async def test_a_join_that_is_never_answered_is_given_up_with_its_connection(computer: Make) -> None:
    async def scene(puppet: Puppet) -> None:
        await puppet.welcome()
        await puppet.hear("41")

    async with Puppet(scene) as puppet:
        with pytest.raises(ConnectionError, match=r"did not answer server:join_office within 0\.2 s"):
            await computer(Scripted(), puppet.url, "o", patience=0.2).connect()


async def test_a_move_that_is_never_answered_is_made_by_the_next_connection(computer: Make) -> None:
    async with Relay() as relay:
        watch = Watch()
        client = computer(Scripted(), relay.url, "o", patience=0.2, on_status=watch)
        await client.connect()
        watch.forget()
        relay.join = relay.sio.not_handled
        assert await client.join("p") is False
        relay.join = (True, None)
        await watch.until(ConnectionState.JOINED)
        assert client.office_id == "p"


@pytest.mark.parametrize(
    "ack",
    [(False, "4103: Join an office first"), (True, None), None],
    ids=["unknown seat", "left", "no answer"],
)
async def test_leaving_ends_the_seat_whatever_the_server_says(computer: Make, ack: Any) -> None:
    async with Relay() as relay:
        answerer, watch = Scripted(), Watch()
        client = computer(answerer, relay.url, "o", patience=0.2, on_status=watch)
        await client.connect()
        relay.answers["server:leave_office"] = relay.sio.not_handled if ack is None else ack
        await client.leave()
        assert (client.office_id, answerer.offices) == (None, ["o", None])
        watch.forget()
        await client.join("o")
        await watch.until(ConnectionState.JOINED)


async def test_a_refused_leave_keeps_the_seat(computer: Make) -> None:
    async with Relay() as relay:
        client = computer(Scripted(), relay.url, "o")
        await client.connect()
        relay.answers["server:leave_office"] = (False, "4104: Another office")
        with pytest.raises(Exception, match="Another office"):
            await client.leave()
        assert client.office_id == "o"


async def test_an_event_with_binary_parts_is_answered_too(computer: Make) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def scene(puppet: Puppet) -> None:
        await puppet.seat()
        payload = TOOLS | {"extra": {"_placeholder": True, "num": 0}}
        await puppet.say(f'451-/smcp,7["client:get_tools",{json.dumps(payload)}]', b"\x00\xff")
        heard.put_nowait(await puppet.hear("43/smcp,7"))
        await puppet.hear("41")

    async with Puppet(scene) as puppet:
        await computer(Scripted(), puppet.url, "o").connect()
        assert await asyncio.wait_for(heard.get(), CAP) == '43/smcp,7[{"req_id":"r"}]'


async def test_pings_are_answered_and_frames_of_unknown_kind_ignored(computer: Make) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def scene(puppet: Puppet) -> None:
        await puppet.seat()
        await puppet.say("", "6", "9?", "2probe")
        heard.put_nowait(await puppet.hear("3"))
        await puppet.hear("41")

    async with Puppet(scene) as puppet:
        await computer(Scripted(), puppet.url, "o").connect()
        assert await asyncio.wait_for(heard.get(), CAP) == "3probe"


async def test_a_server_that_announces_no_limit_gets_no_more_than_every_server_takes(computer: Make) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def scene(puppet: Puppet) -> None:
        await puppet.seat()
        await puppet.say(f'42/smcp,7["client:get_tools",{json.dumps(TOOLS)}]')
        heard.put_nowait(await puppet.hear("43/smcp,7"))
        await puppet.hear("41")

    async with Puppet(scene) as puppet:
        await computer(Scripted(get_tools={"tools": ["x" * 1_000_000]}), puppet.url, "o").connect()
        answer = await asyncio.wait_for(heard.get(), CAP)
        assert json.loads(answer.removeprefix("43/smcp,7"))[0]["error"]["details"]["value"] == 1_000_000 - 128


async def test_a_server_that_says_goodbye_is_left_and_found_again(computer: Make) -> None:
    scenes = 0
    watch = Watch()

    async def scene(puppet: Puppet) -> None:
        nonlocal scenes
        scenes += 1
        await puppet.seat()
        if scenes == 1:
            await puppet.say("1")
        await puppet.hear("41")

    async with Puppet(scene) as puppet:
        await computer(Scripted(), puppet.url, "o", on_status=watch).connect(wait=False)
        await watch.until(ConnectionState.WAITING)
        watch.forget()
        await watch.until(ConnectionState.JOINED)
        assert scenes == 2


async def test_connecting_twice_is_connecting_once(computer: Make) -> None:
    async with Relay() as relay:
        client = computer(Scripted(), relay.url, "o")
        await client.connect(wait=False)
        await asyncio.gather(client.connect(), client.connect())
        await client.connect()
        assert (client.office_id, len(relay.knocks)) == ("o", 1)


async def test_waiting_for_a_connection_that_others_try_to_make_does_not_end_it(computer: Make) -> None:
    watch = Watch()
    async with Relay() as relay:
        relay.refusal = lambda *_: ("No", {"code": 401, "message": "Not yet"})
        client = computer(Scripted(), relay.url, "o", on_status=watch)
        await client.connect(wait=False)
        with pytest.raises(Unauthorized):
            await client.connect()
        relay.refusal = lambda *_: None
        await watch.until(ConnectionState.JOINED)


async def test_giving_up_the_wait_for_the_first_connection_ends_the_attempts(computer: Make) -> None:
    async with Puppet(lambda puppet: puppet.hear("never")) as puppet:  # type: ignore[arg-type, return-value]
        client = computer(Scripted(), puppet.url, "o")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.connect()
        assert client.status.state is ConnectionState.OFFLINE
        with pytest.raises(NotInOffice):
            await client.emit_update("config")
