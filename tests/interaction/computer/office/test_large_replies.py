"""Replies over the message limit: in pieces where the Agent takes them, refused with advice where not."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from a2c_smcp.computer.office import ConnectionState, SMCPComputerClient
from a2c_smcp.computer.office.transfers import PendingTransfers
from a2c_smcp.connection.chunks import LARGE, MAX_REPLY, PIECE, collect
from a2c_smcp.errors import ElementNotFound, NotFound
from a2c_smcp.smcp import MAX_MESSAGE
from tests.interaction.computer.office.conftest import Agents
from tests.interaction.computer.office.fakes import CAP, Scripted, Watch
from tests.interaction.computer.office.proxy import Proxy
from tests.interaction.computer.office.relay import Relay
from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Running

Make = Callable[..., SMCPComputerClient]
URI = "dpe://docs/report"


def contents(size: int, text: str = "x") -> dict[str, Any]:
    return {"contents": [{"uri": URI, "text": text * (size // len(text.encode()))}]}


class Fetching:
    """An Agent that takes large replies in pieces, and counts them."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.pieces = 0

    async def announced(self, req_id: str = "r-1") -> Any:
        return await self.client.ask("client:read_resource", "c", req_id, uri=URI, accept_chunks=True)

    async def piece(self, transfer: str, index: int) -> Any:
        self.pieces += 1
        return await self.client.ask("client:get_chunk", "c", f"piece-{index}", transfer=transfer, index=index)

    async def read(self, req_id: str = "r-1") -> Any:
        return await collect(self.piece, await self.announced(req_id))


@pytest.mark.rule("2.2.read")
@pytest.mark.parametrize("text", ["x", "财务报告，", '"\\\n'])
async def test_twenty_megabytes_arrive_whole(
    server: Running, office: str, computer: Make, agent: Agents, text: str
) -> None:
    reply = contents(20_000_000, text)
    await computer(Scripted(read_resource=reply), server.url, office).connect()
    fetching = Fetching(await agent(server.url, office))
    assert await fetching.read() == reply | {"req_id": "r-1"}
    assert fetching.pieces >= 20_000_000 // PIECE


async def test_small_calls_go_on_while_twenty_megabytes_travel(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    reply = contents(20_000_000)
    await computer(Scripted(read_resource=reply, tool_call={"content": []}), ready.url, office).connect()
    asking = await agent(ready.url, office)
    fetching = Fetching(asking)
    reading = asyncio.create_task(fetching.read())
    pieces_between: list[int] = []
    number = 0
    while not reading.done():
        before, number = fetching.pieces, number + 1
        assert await asking.tool("c", req_id=f"small-{number}") == {"req_id": f"small-{number}", "content": []}
        pieces_between.append(fetching.pieces - before)
    assert await reading == reply | {"req_id": "r-1"}
    # Each small call waited for a few pieces at most, of which two are asked for at once.
    assert max(pieces_between) <= 6
    assert sum(pieces_between) >= fetching.pieces / 2


async def test_a_reply_that_is_not_large_is_not_cut(ready: Running, office: str, computer: Make, agent: Agents) -> None:
    reply = contents(LARGE - 100)
    await computer(Scripted(read_resource=reply), ready.url, office).connect()
    fetching = Fetching(await agent(ready.url, office))
    assert await fetching.announced() == reply | {"req_id": "r-1"}


async def test_an_agent_that_knows_no_pieces_gets_whole_what_one_message_holds(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    reply = contents(MAX_MESSAGE - 1000)
    await computer(Scripted(read_resource=reply), ready.url, office).connect()
    answer = await (await agent(ready.url, office)).ask("client:read_resource", "c", uri=URI)
    assert answer == reply | {"req_id": "r-1"}


@pytest.mark.parametrize("size", [MAX_MESSAGE + 1000, 40_000_000])
async def test_an_agent_that_knows_no_pieces_is_told_what_to_do(
    server: Running, office: str, computer: Make, agent: Agents, size: int
) -> None:
    watch = Watch()
    client = computer(
        Scripted(read_resource=contents(size), tool_call=contents(size)), server.url, office, on_status=watch
    )
    await client.connect()
    asking = await agent(server.url, office)
    # A stock server announces that it takes 1 MB and would end the connection over more.
    limit = MAX_MESSAGE if server.kind == "ready" else 1_000_000 - 128
    read, result = await asking.ask("client:read_resource", "c", uri=URI), await asking.tool("c")
    text = result["content"][0]["text"]
    assert (result["isError"], result["meta"]["ran"]) == (True, True)  # a tool that ran is not to be run again
    assert text.startswith("The tool ran, but its result cannot be delivered: The reply of ")
    for error in (read["error"], result["meta"] | {"message": text}):
        assert (error["code"], error["details"]["value"]) == (400, limit)
        assert error["details"]["size"] > size
        assert "a page or an element of a document" in error["message"]
    assert watch.states == ["connecting", "connected", "joined"]


async def test_a_piece_is_given_to_the_agent_that_asked_and_to_no_other(computer: Make) -> None:
    async with Relay() as relay:
        await computer(Scripted(read_resource=contents(1_000_000)), relay.url, "o").connect()
        announced = await relay.ask("client:read_resource", uri=URI, accept_chunks=True)
        transfer = announced["chunked"]["transfer"]
        request = {"req_id": "r-2", "computer": "c", "transfer": transfer, "index": 0}
        stranger = await relay.call("client:get_chunk", request | {"agent": "another"})
        assert stranger["error"]["code"] == 404
        assert (await relay.call("client:get_chunk", request | {"agent": "a"}))["index"] == 0


async def test_a_reply_is_forgotten_after_its_last_piece(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    transfers = PendingTransfers(lambda: 0.0)
    client = computer(Scripted(read_resource=contents(1_000_000)), ready.url, office, transfers=transfers)
    await client.connect()
    fetching = Fetching(await agent(ready.url, office))
    announced = await fetching.announced()
    assert (len(transfers), transfers.bytes) == (1, announced["chunked"]["size"])
    await collect(fetching.piece, announced)
    assert (len(transfers), transfers.bytes) == (0, 0)
    with pytest.raises(NotFound, match="send the request again"):
        await collect(fetching.piece, announced)


async def test_a_reply_that_nobody_fetches_is_forgotten(
    ready: Running, office: str, computer: Make, agent: Agents
) -> None:
    now = [0.0]
    transfers = PendingTransfers(lambda: now[0], seconds=0.05)
    await computer(Scripted(read_resource=contents(1_000_000)), ready.url, office, transfers=transfers).connect()
    fetching = Fetching(await agent(ready.url, office))
    announced = await fetching.announced()
    now[0] = 1.0
    async with asyncio.timeout(CAP):
        while len(transfers):
            await asyncio.sleep(0)
    with pytest.raises(NotFound):
        await collect(fetching.piece, announced)


async def test_fetching_goes_on_after_a_reconnect(ready: Running, office: str, computer: Make, agent: Agents) -> None:
    reply, watch = contents(1_000_000), Watch()
    async with Proxy(ready.url) as proxy:
        await computer(Scripted(read_resource=reply), proxy.url, office, on_status=watch).connect()
        fetching = Fetching(await agent(ready.url, office))
        announced = await fetching.announced()
        watch.forget()
        proxy.forsake()
        await watch.until(ConnectionState.WAITING)
        proxy.cut()
        proxy.mend()
        await watch.until(ConnectionState.JOINED)
        assert await collect(fetching.piece, announced) == reply | {"req_id": "r-1"}


async def test_another_office_cannot_fetch_what_waits_for_the_former(computer: Make) -> None:
    async with Relay() as relay:
        client = computer(Scripted(read_resource=contents(1_000_000)), relay.url, "o")
        await client.connect()
        announced = await relay.ask("client:read_resource", uri=URI, accept_chunks=True)
        await client.join("another")
        answer = await relay.ask("client:get_chunk", transfer=announced["chunked"]["transfer"], index=0)
        assert answer["error"]["code"] == 404


async def test_more_than_may_wait_is_refused(ready: Running, office: str, computer: Make, agent: Agents) -> None:
    transfers = PendingTransfers(lambda: 0.0, most=1)
    await computer(Scripted(read_resource=contents(1_000_000)), ready.url, office, transfers=transfers).connect()
    fetching = Fetching(await agent(ready.url, office))
    await fetching.announced("r-1")
    assert (await fetching.announced("r-2"))["error"]["code"] == 429
    assert "chunked" in await fetching.announced("r-1")  # asked for again, it takes the place of the first


async def test_pieces_fit_a_server_that_takes_little(computer: Make) -> None:
    reply = contents(300_000, '"')
    async with Relay(max_http_buffer_size=50_000) as relay:
        await computer(Scripted(read_resource=reply), relay.url, "o").connect()

        async def piece(transfer: str, index: int) -> Any:
            return await relay.ask("client:get_chunk", req_id=f"p{index}", transfer=transfer, index=index)

        announced = await relay.ask("client:read_resource", uri=URI, accept_chunks=True)
        assert await collect(piece, announced) == reply | {"req_id": "r-1"}


async def test_details_that_are_too_large_are_left_out_of_an_error(computer: Make) -> None:
    error = ElementNotFound("No element 'e'", details={"known": ["x" * 1000] * 20})
    async with Relay() as relay:
        await computer(Scripted(read_resource=error), relay.url, "o", max_message=10_000).connect()
        answer = await relay.ask("client:read_resource", uri=URI)
        assert answer["error"] == {"code": 4203, "message": "No element 'e' (details left out: too large)"}


def test_what_waits_may_be_as_large_as_what_is_fetched() -> None:
    PendingTransfers(lambda: 0.0).admit(("a", "client:read_resource", "r"), MAX_REPLY)
