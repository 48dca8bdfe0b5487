"""The server of `a2c up`: in the event loop of its Computer, on this machine alone, open to one token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from a2c_smcp.server.app import create_app
from a2c_smcp.server.runner import connection_limits, websocket_options
from a2c_smcp.server.settings import ServerSettings
from a2c_smcp.web.listening import bind, serving, url_of

HOST: Final = "127.0.0.1"


@asynccontextmanager
async def serve_office(office: str, token: str, port: int = 0) -> AsyncIterator[str]:
    """Run a server for one office, and yield its URL.

    Raises:
        InvalidConfig: The port is taken.
    """
    key = {"key": token, "office_id": office}
    app = create_app(ServerSettings.of(host=HOST, port=port, api_keys=[key], drain=0))
    sockets = bind(HOST, port)
    limits = connection_limits(app)
    async with serving(app, sockets, limits=limits, lifespan="on", **websocket_options(app)):
        yield url_of(HOST, sockets)
