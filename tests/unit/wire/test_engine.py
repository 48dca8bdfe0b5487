"""What the stock client does not do."""

import asyncio
from typing import Any

import aiohttp

from a2c_smcp.wire.engine import STOCK_PAYLOAD, SocketClient


class Gone:
    """The response of a websocket that is gone."""

    connection = None


class Broken:
    """A websocket from which nothing can be read or written."""

    _response = Gone()

    async def receive(self) -> Any:
        raise KeyError("unforeseen")

    async def send_str(self, _: str) -> None:
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")


async def test_a_read_that_fails_in_an_unforeseen_way_ends_the_connection() -> None:
    async with aiohttp.ClientSession() as http:
        client = SocketClient(lambda *_: None, http)
        client.eio.ws, client.eio.state = Broken(), "connected"
        client.eio.ping_interval = client.eio.ping_timeout = 1
        assert await asyncio.wait_for(client.eio._read(), 60) == "KeyError"


async def test_what_cannot_be_written_is_told() -> None:
    async with aiohttp.ClientSession() as http:
        client = SocketClient(lambda *_: None, http)
        client.eio.ws = Broken()
        assert await client.eio.write("4") is False


async def test_without_a_connection_nothing_is_acknowledged() -> None:
    async with aiohttp.ClientSession() as http:
        client = SocketClient(lambda *_: None, http)
        assert (client.alive, await client.ack(1, "{}"), client.max_payload) == (False, False, STOCK_PAYLOAD)


async def test_making_a_client_changes_no_other_client_of_the_process() -> None:
    from engineio.packet import Packet as EnginePacket
    from socketio.packet import Packet as StockPacket

    before = (EnginePacket.json, StockPacket.json, StockPacket.uses_binary_events)
    async with aiohttp.ClientSession() as http:
        SocketClient(lambda *_: None, http)
    assert (EnginePacket.json, StockPacket.json, StockPacket.uses_binary_events) == before


async def test_an_answer_that_breaks_off_is_a_failed_request() -> None:
    async def break_off(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
        writer.close()

    server = await asyncio.start_server(break_off, "127.0.0.1", 0)
    async with aiohttp.ClientSession() as http:
        client = SocketClient(lambda *_: None, http)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        assert isinstance(await client.eio._send_request("GET", address, timeout=60), str)
    server.close()
