"""What a relay costs the server, all checks on, against a relay written on stock python-socketio."""

import uvloop

from benchmarks.relay_bench.load import Cost, Load, Traffic, traffic
from benchmarks.relay_bench.servers import Server, running
from benchmarks.table import Row

OFFICES = 8
DEPTH = 4
ROUNDS = 4
SECONDS = 0.6
LOAD = f"{OFFICES} offices, {DEPTH} calls each at a time; best of {ROUNDS} rounds of {SECONDS} s"


def run() -> list[Row]:
    with running("stock") as stock, running("ours") as ours:
        return uvloop.run(_measure(stock, ours))


async def _measure(stock: Server, ours: Server) -> list[Row]:
    loads = await Load.on(stock, OFFICES), await Load.on(ours, OFFICES)
    small, large = traffic(200), traffic(20_000)
    chinese = traffic(20_000, "年度财务报告和营业收入")
    rows = [
        _cpu("200 B", await _best(loads, small, DEPTH), target=1.6),
        _cpu("20 KB", await _best(loads, large, DEPTH), target=5),
        _cpu("20 KB of Chinese", await _best(loads, chinese, DEPTH), target=5),
    ]
    for load in loads:
        load.close()
    theirs, mine = await _best((await Load.on(stock, 1), await Load.on(ours, 1)), small, 1)
    return [
        *rows,
        Row(
            "relay of 200 B, one after another, p50 / stock python-socketio",
            mine.latency,
            theirs.latency,
            1,
            unit="ms",
            basis=f"one office; best of {ROUNDS} rounds of {SECONDS} s",
        ),
    ]


def _cpu(name: str, costs: tuple[Cost, Cost], target: float) -> Row:
    theirs, mine = costs
    title = f"relays of {name} a millisecond of server CPU / stock python-socketio"
    return Row(title, 1e3 / mine.cpu, 1e3 / theirs.cpu, target, unit="/ms", at_least=True, basis=LOAD)


async def _best(loads: tuple[Load, Load], calls: Traffic, depth: int) -> tuple[Cost, Cost]:
    """The best round of each: whatever else the machine does can only make a round worse."""
    theirs, mine = zip(
        *[[await load.measure(calls, depth=depth, seconds=SECONDS) for load in loads] for _ in range(ROUNDS)],
        strict=True,
    )
    return _best_of(theirs), _best_of(mine)


def _best_of(rounds: tuple[Cost, ...]) -> Cost:
    return Cost(
        cpu=min(cost.cpu for cost in rounds),
        latency=min(cost.latency for cost in rounds),
        rate=max(cost.rate for cost in rounds),
    )
