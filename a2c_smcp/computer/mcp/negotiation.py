"""Negotiates the protocol era of a server, and remembers it for its next starts.

The newer era is tried first, because a server of both eras offers more there (subscriptions that older SDKs cannot
declare). A server of the older era replies with an error within a millisecond. One that ignores the request costs
`PATIENCE` seconds once; the older handshake follows, and either reply is accepted.
"""

from dataclasses import dataclass
from typing import Any, Final

import anyio
from mcp import ClientSession, MCPError
from mcp.types import UNSUPPORTED_PROTOCOL_VERSION, DiscoverResult, UnsupportedProtocolVersionErrorData
from mcp.types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

PATIENCE: Final = 3.0


@dataclass(slots=True)
class NegotiationMemory:
    """What earlier runs of a server showed.

    Attributes:
        older: The server speaks the older era: do not try the newer one retry.
        discovering: The newer era was tried and the handshake is not done. If the server dies now, do not try retry.
        sse: The URL turned out to speak the older HTTP transport.
    """

    older: bool = False
    discovering: bool = False
    sse: bool = False


def is_modern(session: ClientSession) -> bool:
    """Whether a session speaks the newer era."""
    return session.protocol_version in MODERN_PROTOCOL_VERSIONS


async def negotiate(session: ClientSession, memory: NegotiationMemory, *, patience: float = PATIENCE) -> None:
    """Agree with the server on an era and a version.

    Raises:
        MCPError: The server refused or closed the connection.
        ValidationError: The server replied with an invalid message.
        RuntimeError: No protocol version in common.
    """
    died_while_discovering, memory.discovering = memory.discovering, False
    if not memory.older and not died_while_discovering:
        memory.discovering = True
        if await _discover(session, LATEST_MODERN_VERSION, patience):
            memory.discovering = False
            return
    try:
        await session.initialize()
    except MCPError as error:
        # The server processed the first request late and now requires the newer era.
        version = _common_version(error)
        if version is None or not await _discover(session, version, patience):
            raise
    memory.discovering = False
    memory.older = not is_modern(session)


async def _discover(session: ClientSession, version: str, patience: float, *, retry: bool = True) -> bool:
    raw: dict[str, Any] | None = None
    with anyio.move_on_after(patience):
        try:
            raw = await session.send_discover(version)
        except MCPError as error:
            other = _common_version(error)
            if other is None or not retry:
                return False
            return await _discover(session, other, patience, retry=False)
    try:
        result = DiscoverResult.model_validate(raw)
    except ValidationError:
        return False
    if not set(result.supported_versions) & set(MODERN_PROTOCOL_VERSIONS):
        return False
    session.adopt(result)
    return True


def _common_version(error: MCPError) -> str | None:
    if error.code != UNSUPPORTED_PROTOCOL_VERSION:
        return None
    try:
        supported = UnsupportedProtocolVersionErrorData.model_validate(error.data).supported
    except ValidationError:
        return None
    common = [version for version in MODERN_PROTOCOL_VERSIONS if version in supported]
    return common[-1] if common else None
