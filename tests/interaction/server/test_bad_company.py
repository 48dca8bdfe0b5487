"""A slow, flooding or silent client cannot stall the others."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed

from tests.bare_server import bare_server
from tests.interaction.server.client import CAP, Client
from tests.interaction.server.conftest import Connect, Running, run_server, stop_server
from tests.interaction.server.programs import Here, a2c_server
from tests.interaction.server.raw import RawClient


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[Running]:
    """A server that lets little wait for a slow reader and refuses floods."""
    options = {"backlog_bytes": 2_000_000, "requests_per_second": 100, "ping_interval": 0.5, "ping_timeout": 2.5}
    process, running = run_server("ready", tmp_path, **options)
    yield running
    stop_server(process)


@pytest.fixture
async def nervous(tmp_path: Path) -> AsyncIterator[Running]:
    """A server that asks often for a sign of life."""
    process, running = run_server("ready", tmp_path, ping_interval=0.5, ping_timeout=2.5)
    yield running
    stop_server(process)


async def witnesses(connect: Connect, server: Running) -> Client:
    """Return an Agent whose Computer answers."""
    agent, computer = await connect(server), await connect(server)
    await agent.join("agent", "w", "witnesses")
    await computer.join("computer", "c", "witnesses")

    async def answer(_: str, data: Any) -> Any:
        return data["req_id"]

    computer.answers["*"] = answer
    return agent


async def talk(agent: Client, times: int) -> None:
    for number in range(times):
        assert await agent.tool("c", req_id=f"r{number}") == f"r{number}"


async def test_a_computer_that_does_not_read_is_dropped_and_its_calls_fail(small: Running, connect: Connect) -> None:
    witness = await witnesses(connect, small)
    agent = await connect(small)
    await agent.join("agent", "a", "o")
    slow = await RawClient.open(small.url, max_queue=1)
    await slow.call(1, "server:join_office", {"role": "computer", "name": "slow", "office_id": "o"})
    calls = [asyncio.create_task(agent.tool("slow", req_id=f"r{i}", timeout=60, big="x" * 200_000)) for i in range(200)]
    await talk(witness, 50)
    replies = await asyncio.gather(*calls)
    codes = [reply["error"]["code"] for reply in replies]
    assert set(codes) == {404, 429}
    # The sender was held back; what had been passed on failed with the connection, which gave no sign of life.
    full = [reply["error"] for reply in replies if reply["error"]["message"].startswith("Limit exceeded: unsent bytes")]
    assert full[0]["details"] == {"limit": "unsent bytes of one computer", "value": 1_000_000}
    await talk(witness, 50)
    await slow.close()


async def test_a_burst_of_large_calls_does_not_end_the_connection_of_its_computer(
    ready: Running, connect: Connect, office: str
) -> None:
    agent, computer = await RawClient.open(ready.url), await RawClient.open(ready.url, max_queue=1)
    await agent.call(1, "server:join_office", {"role": "agent", "name": "a", "office_id": office})
    await computer.call(1, "server:join_office", {"role": "computer", "name": "c", "office_id": office})
    big = "x" * 3_000_000
    payload = {"agent": "a", "computer": "c", "tool_name": "t", "timeout": 120, "params": {"big": big}}
    for number in range(100, 160):  # the computer reads nothing meanwhile
        await agent.send(f"42/smcp,{number}{json.dumps(['client:tool_call', payload | {'req_id': str(number)}])}")
    first = await agent.receive("43/smcp,1")  # which one depends on how much the sockets between them hold
    agent.others.append(first)
    refused = json.loads(first[len("43/smcp,100") :])[0]["error"]
    assert (refused["code"], refused["details"].get("value")) == (429, 32_000_000), refused
    # It reads again, and answers everything that was passed on.
    passed = 0
    last = asyncio.create_task(agent.receive("43/smcp,161["))
    small = payload | {"params": {}, "req_id": "161"}
    while not last.done():
        frame = await computer.receive("42/smcp,")
        passed += 1
        await computer.send(f'43/smcp,{frame[len("42/smcp,") : frame.index("[")]}["done"]')
        if passed == 5:
            await agent.send(f"42/smcp,161{json.dumps(['client:tool_call', small])}")
        if '"req_id": "161"' in frame:
            break
    assert await last == '43/smcp,161["done"]'
    answered = [frame for frame in agent.others if isinstance(frame, str) and frame.startswith("43/smcp,1")]
    answers = {int(frame[8:11]): json.loads(frame[11:])[0] for frame in answered}
    good = [number for number, answer in answers.items() if answer == "done"]
    assert len(good) == passed - 1 >= 10
    assert {answer["error"]["code"] for answer in answers.values() if answer != "done"} == {429}
    await agent.close()
    await computer.close()


async def test_a_flood_is_refused_and_others_are_served(small: Running, connect: Connect) -> None:
    witness = await witnesses(connect, small)
    flood = await RawClient.open(small.url, max_queue=None)
    await flood.call(1, "server:join_office", {"role": "agent", "name": "f", "office_id": "flood"})
    payload = {"agent": "f", "req_id": "r", "computer": "none"}

    async def pour() -> None:
        for number in range(5_000):
            await flood.send(f"42/smcp,{number}{json.dumps(['client:get_tools', payload])}")

    pouring = asyncio.create_task(pour())
    await talk(witness, 50)
    await pouring
    last = await flood.receive("43/smcp,4999[")
    assert json.loads(last[len("43/smcp,4999") :])[0]["error"]["code"] == 429
    await talk(witness, 50)
    await flood.close()


async def test_a_client_that_gives_no_sign_of_life_is_dropped(nervous: Running, connect: Connect) -> None:
    witness = await witnesses(connect, nervous)
    silent = await RawClient.open(nervous.url)
    await silent.call(1, "server:join_office", {"role": "computer", "name": "s", "office_id": "witnesses"})
    assert await witness.next() == ("notify:enter_office", {"office_id": "witnesses", "computer": "c"})
    assert await witness.next() == ("notify:enter_office", {"office_id": "witnesses", "computer": "s"})
    # It hears the pings and never answers them.
    assert await witness.next() == ("notify:leave_office", {"office_id": "witnesses", "computer": "s"})
    with pytest.raises(ConnectionClosed):
        await silent.receive("never")
    await talk(witness, 10)


async def test_a_client_that_never_says_hello_holds_nothing(nervous: Running, connect: Connect) -> None:
    address = nervous.url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"
    from websockets.asyncio.client import connect as open_socket

    sockets = [await open_socket(address) for _ in range(20)]
    await talk(await witnesses(connect, nervous), 20)
    with pytest.raises(ConnectionClosed):
        async with asyncio.timeout(CAP):
            while True:
                await sockets[0].recv()
    for one in sockets:
        await one.close()


async def test_only_those_who_join_no_namespace_are_dropped_in_time(tmp_path: Path, connect: Connect) -> None:
    from websockets.asyncio.client import connect as open_socket

    process, server = run_server("ready", tmp_path, hello_seconds=3)
    try:
        admitted = await RawClient.open(server.url)
        mute = await open_socket(server.url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket")
        with pytest.raises(ConnectionClosed):
            async with asyncio.timeout(CAP):
                while True:
                    await mute.recv()
        reply = await admitted.call(1, "server:join_office", {"role": "computer", "name": "c", "office_id": "o"})
        assert reply == [True, None]
        await admitted.close()
    finally:
        stop_server(process)


async def test_a_frame_over_the_frame_limit_ends_only_its_own_connection(tmp_path: Path, connect: Connect) -> None:
    process, server = run_server("ready", tmp_path, frame_bytes=1_000_000, message_bytes=500_000)
    try:
        witness = await witnesses(connect, server)
        rude = await RawClient.open(server.url)
        await rude.send("4" + "x" * 1_100_000)
        with pytest.raises(ConnectionClosed):
            await rude.receive("never")
        await talk(witness, 10)
        assert "Traceback" not in server.logged()
    finally:
        stop_server(process)


async def test_a_slow_line_that_moves_is_not_given_up(tmp_path: Path, connect: Connect) -> None:
    with a2c_server(tmp_path, "--ping-interval", "4", "--ping-timeout", "2") as server:
        where = urlsplit(server.url)

        async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pause: float) -> None:
            with suppress(OSError):
                while data := await reader.read(16_384):
                    writer.write(data)
                    await writer.drain()
                    await asyncio.sleep(pause)
            writer.close()

        async def between(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            options: dict[str, Any] = {"limit": 4_096, "sock": small_buffers(where.hostname or "", where.port or 0)}
            there, back = await asyncio.open_connection(**options)
            try:
                await asyncio.gather(pass_on(reader, back, 0), pass_on(there, writer, 0.02))
            finally:
                back.close()

        async with bare_server(between) as port:
            agent = await connect(server)
            await agent.join("agent", "a", "o")
            computer = await connect(Here(f"http://127.0.0.1:{port}"))
            await computer.join("computer", "c", "o")

            async def answer(_: str, data: Any) -> Any:
                return len(data["params"]["big"])

            computer.answers["*"] = answer
            calls = [agent.tool("c", req_id=f"r{number}", big="x" * 1_000_000) for number in range(5)]
            assert await asyncio.gather(*calls) == [1_000_000] * 5
            assert not computer.gone.is_set()
            await computer.close()


def small_buffers(host: str, port: int) -> socket.socket:
    """Return a connection whose kernel holds little."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
    one.connect((host, port))
    one.setblocking(False)
    return one
