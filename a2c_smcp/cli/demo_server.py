"""The MCP server that `a2c up --demo` adds: two windows that change, for the Desktop."""

import threading
from collections import deque
from datetime import datetime
from typing import Final

from a2c_smcp.docserver import Offer

HOST: Final = "a2c.demo"
SECONDS: Final = 5.0
KEPT: Final = 8


def main() -> None:
    """Serve until the client leaves."""
    offer = Offer(HOST)
    looks: deque[str] = deque(maxlen=KEPT)

    @offer.window("clock", priority=80, name="Clock")
    def clock() -> str:
        now = datetime.now().astimezone()
        looks.append(f"- looked at {now:%H:%M:%S}")
        return f"# Clock\n\n{now:%H:%M:%S}, {now:%A %d %B %Y}\n\nThis window changes every {SECONDS:g} seconds."

    @offer.window("visits", priority=20, name="Visits")
    def visits() -> str:
        return "\n".join(["# Who looked at the clock", "", *(looks or ["nobody yet"])])

    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(SECONDS):
            offer.changed("clock")
            offer.changed("visits")

    threading.Thread(target=tick, daemon=True).start()
    try:
        offer.run("a2c-demo")
    finally:
        ended.set()


if __name__ == "__main__":
    main()
