"""What a client sends while its line is full: everything in turn, and nobody pays for another's cancel."""

import asyncio
import json
from typing import Any

import pytest

from a2c_smcp.connection.connection import ServerAddress, SmcpConnection
from a2c_smcp.errors import BadRequest, InternalError, from_wire, is_error
from tests.interaction.computer.office.fakes import CAP
from tests.interaction.computer.office.proxy import Proxy
from tests.interaction.computer.office.scripted_server import Puppet
from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Running

BIG = "x" * 1_000_000


def transport_of(link: SmcpConnection) -> Any:
    return link._sio.eio.ws._response.connection.transport


async def fill(link: SmcpConnection, calls: list["asyncio.Task[Any]"]) -> None:
    """Wait until the line takes nothing more, and calls wait for it."""
    async with asyncio.timeout(CAP):
        last = -1
        while last != (last := transport_of(link).get_write_buffer_size()) or not last:
            await asyncio.sleep(0.05)
    assert not any(call.done() for call in calls)


@pytest.mark.parametrize("first", [0, 3, 7])
async def test_cancelling_one_call_on_a_full_line_leaves_the_others_alone(
    ready: Running, office: str, first: int
) -> None:
    computer = Client(ready.url)
    await computer.connect()
    await computer.join("computer", "c", office)
    ran: list[str] = []

    async def answer(_: str, data: Any) -> Any:
        ran.append(data["req_id"])
        return data["req_id"]

    computer.answers["*"] = answer
    async with Proxy(ready.url) as proxy:
        link = SmcpConnection(ServerAddress(url=proxy.url), lambda *_: None)
        await link.open()
        await link.join("agent", "a", office)
        proxy.clog()

        async def call(number: int) -> Any:
            payload = {"agent": "a", "computer": "c", "req_id": f"r{number}", "tool_name": "t", "params": {"big": BIG}}
            return await link.call("client:tool_call", payload | {"timeout": 60}, within=CAP)

        calls = [asyncio.create_task(call(number)) for number in range(8)]
        await fill(link, calls)
        calls[first].cancel()
        calls[first ^ 1].cancel()
        await asyncio.wait([calls[first], calls[first ^ 1]])
        for line in proxy._lines:
            line.forth.set()
        others = [number for number in range(8) if number not in (first, first ^ 1)]
        assert await asyncio.gather(*(calls[number] for number in others)) == [(f"r{number}",) for number in others]
        assert [name for name in ran if name not in (f"r{first}", f"r{first ^ 1}")] == [f"r{n}" for n in others]
        # The line works as before.
        again = asyncio.create_task(call(9))
        assert await again == ("r9",)
        await link.close()
    await computer.close()


async def test_a_time_out_on_a_full_line_leaves_the_others_alone(ready: Running, office: str) -> None:
    async with Proxy(ready.url) as proxy:
        link = SmcpConnection(ServerAddress(url=proxy.url), lambda *_: None)
        await link.open()
        await link.join("agent", "a", office)
        proxy.clog()
        payload = {"agent": "a", "computer": "nobody", "req_id": "r", "params": {"big": BIG}}
        patient = [asyncio.create_task(link.call("client:get_tools", payload, within=CAP)) for _ in range(4)]
        hasty = [asyncio.create_task(link.call("client:get_tools", payload, within=0.2)) for _ in range(4)]
        await asyncio.gather(*hasty, return_exceptions=True)
        for line in proxy._lines:
            line.forth.set()
        for reply in await asyncio.gather(*patient):
            assert reply[0]["error"]["code"] == 404
        await link.close()


@pytest.mark.parametrize("reply", ["", "{}", '"x"', "[1e999]", "[NaN]", "[", '61-|[{"_placeholder":true,"num":3}]'])
async def test_a_malformed_reply_of_a_server_fails_the_request_at_once(reply: str) -> None:
    async def scene(puppet: Puppet) -> None:
        await puppet.welcome()
        await puppet.hear('42/smcp,1["client:get_tools"')
        await puppet.say("43/smcp,0[1]", "43/smcp,77[1]", "43/smcp,0")
        if "|" in reply:
            head, text = reply.split("|")
            await puppet.say(f"4{head}/smcp,1{text}", b"x")
        else:
            await puppet.say(f"43/smcp,1{reply}")
        await puppet.hear('42/smcp,2["client:get_tools"')
        await puppet.say("43/smcp,2[1]")
        await puppet.hear("never")

    async with Puppet(scene) as puppet:
        link = SmcpConnection(ServerAddress(url=puppet.url), lambda *_: None)
        await link.open()
        (answer,) = await link.call("client:get_tools", {}, within=CAP)
        assert is_error(answer)
        assert isinstance(from_wire(answer), InternalError)
        assert await link.call("client:get_tools", {}, within=CAP) == (1,)
        await link.close()


@pytest.mark.parametrize("payload", ['{"a":1e999}', "{", "NaN"])
async def test_a_malformed_request_is_answered_at_once(payload: str) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def scene(puppet: Puppet) -> None:
        await puppet.welcome()
        await puppet.say(f'42/smcp,5["client:tool_call",{payload}]')
        heard.put_nowait(await puppet.hear("43/smcp,5"))
        await puppet.hear("never")

    async with Puppet(scene) as puppet:
        link = SmcpConnection(ServerAddress(url=puppet.url), lambda *_: None)
        await link.open()
        answer = await asyncio.wait_for(heard.get(), CAP)
        (ack,) = json.loads(answer[len("43/smcp,5") :])
        assert ack["error"]["code"] == BadRequest.code
        await link.close()
