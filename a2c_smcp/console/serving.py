"""Serving the console on this machine, within the event loop of its Computer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from a2c_smcp.common.addresses import is_loopback
from a2c_smcp.console.api import Console
from a2c_smcp.errors import InvalidConfig
from a2c_smcp.web.listening import bind, serving, url_of


@asynccontextmanager
async def serve_console(console: Console, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve a console, and yield where: `console.app.url(base)` is the address that opens it.

    The signals of the process are left alone. At the end the console is closed, and its open pages with it.

    Args:
        port: 0 takes any that is free.

    Raises:
        InvalidConfig: The address is not of this machine alone, or cannot be listened on.
    """
    if not is_loopback(host):
        raise InvalidConfig(f"{host} is not of this machine alone: a console listens on loopback addresses")
    sockets = bind(host, port)
    async with serving(console.app, sockets, proxy_headers=False):
        try:
            yield url_of(host, sockets)
        finally:
            console.close()
