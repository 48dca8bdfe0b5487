"""What the stock client does not do."""

import asyncio
import base64
import hashlib
import json
from typing import Any

import aiohttp

from a2c_smcp.connection.socketio_client import STOCK_PAYLOAD, EngineClient, SocketClient
from tests.bare_server import bare_server


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

    async with bare_server(break_off) as port, aiohttp.ClientSession() as http:
        client = SocketClient(lambda *_: None, http)
        assert isinstance(await client.eio._send_request("GET", f"http://127.0.0.1:{port}", timeout=60), str)


async def test_a_large_message_on_a_slow_line_is_no_silence() -> None:
    text = "4" + "x" * 60_000

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key"))
        accept = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
        answer = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
        writer.write("\r\n".join([*answer, f"Sec-WebSocket-Accept: {accept}", "", ""]).encode())
        hello = json.dumps({"sid": "s", "upgrades": [], "pingInterval": 300, "pingTimeout": 300})
        frames = [f"0{hello}".encode(), text.encode()]
        for frame in frames:
            # A frame of text, its length in two bytes.
            data = b"\x81\x7e" + len(frame).to_bytes(2, "big") + frame
            for start in range(0, len(data), 4_000):
                writer.write(data[start : start + 4_000])
                await writer.drain()
                await asyncio.sleep(0.1)
        await reader.read()

    heard: asyncio.Queue[str] = asyncio.Queue()
    async with bare_server(serve) as port, aiohttp.ClientSession() as http:
        client = EngineClient(http_session=http)

        def deliver(message: str) -> bool:
            heard.put_nowait(message)
            return True

        client.deliver = deliver
        await client.connect(f"http://127.0.0.1:{port}", transports=["websocket"])
        assert await asyncio.wait_for(heard.get(), 30) == text[1:]
        client.abort()
        await client.disconnect()
