"""What a joined connection holds in memory, and whether many that go at once are forgotten in linear time."""

import asyncio
import time

import uvloop

from benchmarks.relay_bench.client import Client
from benchmarks.relay_bench.load import seated
from benchmarks.relay_bench.servers import Server, raise_file_limit, running
from benchmarks.table import Row

FEW, MANY = 2_000, 8_000
AT_ONCE = 64
ROUNDS = 2
TARGET_KB = 45
# Four times as many take four times as long if each costs the same, and sixteen times if each walks over all.
# The rest is for a busy machine, whose caches hold less of the larger heap.
LINEAR = 1.5 * MANY / FEW
PATIENCE = 60.0


def run() -> list[Row]:
    raise_file_limit()
    with running("ours") as server:
        return uvloop.run(_measure(server))


async def _measure(server: Server) -> list[Row]:
    await _gone(server, await _joined(server, FEW // 4))  # everything is imported and warm
    before = server.state(collected=True).memory
    clients = await _joined(server, FEW)
    held = (server.state(collected=True).memory - before) / FEW / 1_000
    few, many = [await _gone(server, clients)], []
    for _ in range(ROUNDS):
        many.append(await _gone(server, await _joined(server, MANY)))
        few.append(await _gone(server, await _joined(server, FEW)))
    return [
        Row(f"{FEW} joined connections, memory of each / target", held, TARGET_KB, 1, unit="kB"),
        Row(f"{MANY} disconnects at once, server CPU / {FEW}", min(many), min(few), LINEAR, unit="s"),
    ]


async def _joined(server: Server, number: int) -> list[Client]:
    """So many connections, in offices of an agent and a computer."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(index: int) -> Client:
        async with turns:
            return await seated(server.port, ("agent", "computer")[index % 2], index // 2)

    clients = await asyncio.gather(*map(one, range(number)))
    if (known := server.state().connections) != number:
        raise RuntimeError(f"{number} connections were made, the server knows {known}")
    return clients


async def _gone(server: Server, clients: list[Client]) -> float:
    """Seconds of the server's CPU until it has forgotten all of them, who leave at once."""
    before = server.state(collected=True).cpu
    for client in clients:
        client.transport.abort()
    end = time.monotonic() + PATIENCE
    while (state := server.state()).connections:
        if time.monotonic() > end:
            raise TimeoutError(f"the server still knows {state.connections} connections")
        await asyncio.sleep(0.01)
    return state.cpu - before
