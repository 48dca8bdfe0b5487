"""Fetching a reply that comes in pieces."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from a2c_smcp.chunks.pieces import MAX_REPLY, Assembler, is_chunked
from a2c_smcp.errors import BadRequest, from_wire, is_error
from a2c_smcp.fastjson import FastJson

Ask: TypeAlias = Callable[[str, int], Awaitable[Any]]
"""Sends `client:get_chunk` for a transfer and an index, and returns the ack."""

WINDOW: Final = 2
"""Pieces asked for at once: one is on its way while the other is asked for, and no more waits in anybody's buffer."""


async def collect(ask: Ask, reply: Any, *, window: int = WINDOW, limit: int = MAX_REPLY) -> Any:
    """Return the reply itself, or the one whose pieces it announces.

    A caller that is cancelled, or whose connection breaks, leaves nothing behind: the Computer forgets the rest soon.

    Raises:
        BadRequest: The announcement is malformed, or of more than `limit` bytes.
        InternalError: The pieces do not fit together.
        SMCPError: A piece was refused; 404 if the Computer no longer keeps the reply, which is then asked for anew.
    """
    if not is_chunked(reply):
        return reply
    assembler = Assembler(reply, limit=limit)
    indexes = iter(range(assembler.count))

    async def fetch() -> None:
        for index in indexes:
            answer = await ask(assembler.transfer, index)
            if isinstance(answer, Mapping) and is_error(answer):
                raise from_wire(answer)
            assembler.add(index, answer)

    fetching = [asyncio.ensure_future(fetch()) for _ in range(min(window, assembler.count))]
    try:
        await asyncio.gather(*fetching)
    finally:
        for one in fetching:
            one.cancel()
    body = await asyncio.to_thread(assembler.body)  # hashing megabytes would hold up the loop
    try:
        return FastJson.loads(body)
    except ValueError:
        raise BadRequest("The reply that came in pieces is no JSON") from None
