"""Clients without websockets: whatever they collect for one request arrives, and so does what is collected for them."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from tests.interaction.server.client import CAP
from tests.interaction.server.conftest import Connect, Running

POLL = "/socket.io/?EIO=4&transport=polling"
SEPARATOR = "\x1e"


class Poller:
    """A polling session by hand."""

    def __init__(self, server: Running, http: httpx.AsyncClient) -> None:
        self._url = f"{server.url}{POLL}"
        self._http = http
        self.heard: list[str] = []

    async def open(self) -> "Poller":
        hello = (await self._http.get(self._url)).text
        self._url += f"&sid={json.loads(hello[1:])['sid']}"
        assert (await self.post("40/smcp,")).status_code == 200
        await self.until("40/smcp,")
        return self

    async def post(self, *packets: str) -> httpx.Response:
        return await self._http.post(self._url, content=SEPARATOR.join(packets))

    async def poll(self) -> list[str]:
        response = await self._http.get(self._url, timeout=CAP)
        assert response.status_code == 200, response.text
        packets = response.text.split(SEPARATOR)
        for packet in packets:
            if packet == "2":
                await self.post("3")
        self.heard += packets
        return packets

    async def until(self, prefix: str) -> str:
        async with asyncio.timeout(CAP):
            while not (found := [packet for packet in self.heard if packet.startswith(prefix)]):
                await self.poll()
        return found[0]

    async def join(self, role: str, name: str, office: str) -> None:
        request = {"role": role, "name": name, "office_id": office}
        await self.post(f"42/smcp,900{json.dumps(['server:join_office', request])}")
        assert await self.until("43/smcp,900") == "43/smcp,900[true,null]"


@pytest.fixture
async def http() -> Any:
    async with httpx.AsyncClient(timeout=CAP) as client:
        yield client


async def test_all_packets_of_one_request_are_read(
    server: Running, connect: Connect, office: str, http: httpx.AsyncClient
) -> None:
    computer = await connect(server)
    await computer.join("computer", "c", office)

    async def answer(_: str, data: Any) -> Any:
        return data["req_id"]

    computer.answers["*"] = answer
    agent = await Poller(server, http).open()
    await agent.join("agent", "a", office)
    calls = [
        f"42/smcp,{number}" + json.dumps(["client:get_tools", {"agent": "a", "computer": "c", "req_id": f"r{number}"}])
        for number in range(50)
    ]
    assert (await agent.post(*calls)).status_code == 200
    for number in range(50):
        assert json.loads((await agent.until(f"43/smcp,{number}["))[len(f"43/smcp,{number}") :]) == [f"r{number}"]


async def test_fifty_calls_at_once_of_a_stock_polling_client_are_answered(
    ready: Running, connect: Connect, office: str
) -> None:
    computer, agent = await connect(ready), await connect(ready, transports=["polling"])
    await computer.join("computer", "c", office)
    await agent.join("agent", "a", office)

    async def answer(_: str, data: Any) -> Any:
        return data["req_id"]

    computer.answers["*"] = answer
    replies = await asyncio.gather(*(agent.tool("c", req_id=f"r{number}") for number in range(50)))
    assert replies == [f"r{number}" for number in range(50)]


async def test_a_poll_returns_no_more_packets_than_stock_clients_accept(
    ready: Running, connect: Connect, office: str, http: httpx.AsyncClient
) -> None:
    poller = await Poller(ready, http).open()
    await poller.join("agent", "a", office)
    computer = await connect(ready)
    await computer.join("computer", "c", office)
    for _ in range(40):
        await computer.emit("server:update_desktop", {"computer": "c"})
    await computer.call("server:update_config", {"computer": "c"})
    async with asyncio.timeout(CAP):
        while sum("update_desktop" in packet for packet in poller.heard) < 40:
            assert len(await poller.poll()) <= 16


@pytest.mark.parametrize(
    "packets",
    [["x"], ["9"], [""], ["4" * 3, "zzz"], ["b!!!"], ["2"], ["42/smcp,[1]"] * 10_001],
    ids=lambda packets: packets[0][:5] + str(len(packets)),
)
async def test_a_request_that_is_refused_says_so_and_harms_nothing(
    ready: Running, office: str, http: httpx.AsyncClient, packets: list[str]
) -> None:
    poller = await Poller(ready, http).open()
    await poller.join("agent", "a", office)
    response = await poller.post(*packets, "")
    assert (response.status_code, response.json()["error"]["code"]) == (400, 400)
    response = await poller.post(f"42/smcp,7{json.dumps(['server:leave_office', {'office_id': office}])}")
    assert response.status_code == 200
    assert await poller.until("43/smcp,7") == "43/smcp,7[true,null]"


async def test_a_newer_poll_ends_the_older_one(ready: Running, office: str, http: httpx.AsyncClient) -> None:
    poller = await Poller(ready, http).open()
    await poller.join("agent", "a", office)
    polls = [asyncio.create_task(poller.poll()) for _ in range(4)]
    for done, poll in enumerate(asyncio.as_completed(polls, timeout=CAP)):
        if done == 3:
            assert await poll == ["43/smcp,7[true,null]"]
        else:
            assert await poll == ["6"]
        if done == 2:
            await poller.post(f"42/smcp,7{json.dumps(['server:leave_office', {'office_id': office}])}")
