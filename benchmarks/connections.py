"""What a joined connection holds in memory, and whether many that go at once are forgotten in linear time."""

import asyncio
import time

import uvloop

from benchmarks.relay_bench.client import Caller, Client
from benchmarks.relay_bench.load import Traffic, seated, traffic
from benchmarks.relay_bench.servers import Server, raise_file_limit, running
from benchmarks.table import Row

FEW, MANY = 2_000, 8_000
AT_ONCE = 64
ROUNDS = 2
WARM_UP = 20
CALL_BYTES = 200
WORST = 1.25
LOADS = {
    "idle": "no call yet",
    "after calls": f"at least one call of {CALL_BYTES} B in each office, then garbage collected",
}
# Four times as many take four times as long if each costs the same, and sixteen times if each walks over all.
# The rest is for a busy machine, whose caches hold less of the larger heap.
LINEAR = 1.5 * MANY / FEW
PATIENCE = 60.0


def run() -> list[Row]:
    raise_file_limit()
    held = {}
    for kind in ("ours", "stock"):
        with running(kind) as server:  # a fresh one: memory that others have left would hide a part
            held[kind] = uvloop.run(_held(server))
    with running("ours") as server:
        gone = uvloop.run(_leaving(server))
    basis = f"RSS of a fresh server before and with {FEW} websockets in {FEW // 2} offices, per connection"
    return [
        *(
            Row(
                f"memory of a joined connection, {state} / stock python-socketio",
                held["ours"][number],
                held["stock"][number],
                WORST,
                unit="kB",
                basis=f"{basis}; {load}",
            )
            for number, (state, load) in enumerate(LOADS.items())
        ),
        gone,
    ]


async def _held(server: Server) -> tuple[float, float]:
    """Return the kilobytes that each of many connections holds: once it has joined, and after calls."""
    await _gone(server, await _joined(server, WARM_UP))  # everything is imported
    before = server.state(collected=True).memory
    clients = await _joined(server, FEW)
    idle = server.state(collected=True).memory
    await _called(clients, traffic(CALL_BYTES))
    busy = server.state(collected=True).memory
    return (idle - before) / FEW / 1_000, (busy - before) / FEW / 1_000


async def _called(clients: list[Client], calls: Traffic) -> None:
    """Let every Agent call its Computer, one call at a time, until each has had an answer."""
    for computer in clients[1::2]:
        computer.reply = calls.reply
    callers = [Caller(agent, calls.request, calls.reply, 1) for agent in clients[0::2]]
    for caller in callers:
        caller.start()
    async with asyncio.timeout(PATIENCE):
        while not all(caller.seconds for caller in callers):
            await asyncio.sleep(0.01)
        await asyncio.gather(*(caller.stop() for caller in callers))


async def _leaving(server: Server) -> Row:
    await _gone(server, await _joined(server, FEW // 4))
    few, many = [], []
    for _ in range(ROUNDS):
        many.append(await _gone(server, await _joined(server, MANY)))
        few.append(await _gone(server, await _joined(server, FEW)))
    basis = f"connections in offices of two, all closed at once; best of {ROUNDS}"
    title = f"{MANY} disconnects at once, server CPU / {FEW}"
    return Row(title, min(many), min(few), LINEAR, unit="s", basis=basis)


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
