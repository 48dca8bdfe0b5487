"""Which era of the protocol a server speaks: found out once, remembered for its next starts.

The newer era is asked for first, because a server of both eras offers more there (subscriptions that older SDKs cannot
declare). A server of the older era answers that question with an error within a millisecond. One that ignores it costs
`PATIENCE`, once: then the older handshake follows on its heels, and whichever answer comes is right.
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
    """What was learned of a server in its earlier lives.

    Attributes:
        older: It speaks the older era: the question is not worth asking again.
        asking: The question was put and the handshake not yet done. A server that dies of it is not asked again.
        sse: Its URL turned out to speak the older HTTP transport.
    """

    older: bool = False
    asking: bool = False
    sse: bool = False


def is_modern(session: ClientSession) -> bool:
    """Whether a session speaks the newer era."""
    return session.protocol_version in MODERN_PROTOCOL_VERSIONS


async def negotiate(session: ClientSession, memory: NegotiationMemory, *, patience: float = PATIENCE) -> None:
    """Agree with the server on an era and a version.

    Raises:
        MCPError: The server refused, or went away.
        ValidationError: It answered with something else than the protocol's own messages.
        RuntimeError: It speaks only versions that we do not.
    """
    died_of_the_question, memory.asking = memory.asking, False
    if not memory.older and not died_of_the_question:
        memory.asking = True
        if await _discover(session, LATEST_MODERN_VERSION, patience):
            memory.asking = False
            return
    try:
        await session.initialize()
    except MCPError as error:
        # It heard the question after all, late, and now insists on the newer era.
        version = _common_version(error)
        if version is None or not await _discover(session, version, patience):
            raise
    memory.asking = False
    memory.older = not is_modern(session)


async def _discover(session: ClientSession, version: str, patience: float, *, again: bool = True) -> bool:
    raw: dict[str, Any] | None = None
    with anyio.move_on_after(patience):
        try:
            raw = await session.send_discover(version)
        except MCPError as error:
            other = _common_version(error)
            if other is None or not again:
                return False
            return await _discover(session, other, patience, again=False)
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
