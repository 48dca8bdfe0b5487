"""Ports for programs that must be told theirs."""

import socket
from contextlib import suppress
from random import SystemRandom

# Below those that systems give to whoever asks for any: between the look and the use nobody is given it.
_NOBODYS = range(20_000, 30_000)


def free_port() -> int:
    """A port of the loopback address that nobody uses."""
    for port in SystemRandom().sample(_NOBODYS, 100):
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("every port is in use")
