"""A program that hosts servers and says so, to be ended in every way: `python -m …hosting FILE COUNT`.

It writes `ready` to standard output when all of them run.
"""

import asyncio
import contextlib
import signal
import sys

from a2c_smcp.computer.mcp.manager import ServerManager
from tests.interaction.computer.mcp.conftest import QUICK, Ears, Host, life


async def main(family: str, count: int, ending: str) -> None:
    ears = Ears()
    stop = asyncio.Event()
    if ending == "orderly":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with ServerManager(ears, timing=QUICK) as manager:
        host = Host(manager, ears)
        await host.running(
            *(life(f"s{index}", "--family", f"{family}.{index}", "--stubborn") for index in range(count))
        )
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
