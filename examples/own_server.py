"""An MCP server with a document and a window, in ten lines: `python examples/own_server.py [--http HOST:PORT]`."""

import sys
import time

from a2c_smcp.docserver import Offer

offer = Offer("com.example.kitchen")
offer.put("pancakes", "# Pancakes\n\n- 2 eggs\n- milk\n- flour\n\nMix, wait, fry.", keywords=["recipe", "eggs"])


@offer.window("clock", priority=50)
def clock() -> str:
    """The time in the kitchen."""
    return time.strftime("It is %H:%M.")


if __name__ == "__main__":
    offer.run(http=sys.argv[2] if sys.argv[1:2] == ["--http"] else None)
