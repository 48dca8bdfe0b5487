"""Chunked replies: the Computer splits the JSON text of a large reply, the Agent fetches and joins the chunks.

A chunk is text, not base64: usual large contents (prose, Markdown, base64 blobs) need little escaping in a JSON string.
In the worst case, when every character is a quote, a chunk doubles in size.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter, ValidationError

from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.errors import BadRequest, InternalError, from_wire, is_error
from a2c_smcp.messages import Chunked, ChunkedRet

LARGE: Final = 512 * 1024
"""Replies with more bytes are sent in chunks to Agents that accept them, so that they delay nothing else."""

PIECE: Final = 256 * 1024
"""Maximum bytes of a chunk: doubled by escaping, it still passes a server with a limit of 1 MB."""

MAX_REPLY: Final = 256 * 1024 * 1024
"""Maximum size of a chunked reply in bytes."""

SMALLEST: Final = 1024
"""Minimum average size of a chunk; a reply in more chunks is refused."""

_announcement: Final = TypeAdapter(ChunkedRet)


class ChunkedReply:
    """An encoded reply with its chunk boundaries, which are never inside a character.

    Args:
        body: JSON text in UTF-8.
    """

    __slots__ = ("_cuts", "body")

    def __init__(self, body: bytes, piece: int = PIECE) -> None:
        self.body = body
        self._cuts = _cuts(body, piece)

    @property
    def count(self) -> int:
        """Number of chunks."""
        return len(self._cuts) - 1

    def announce(self, transfer: str) -> Chunked:
        """Return the announcement that the Agent needs to fetch the chunks; hashes the whole body."""
        return {
            "transfer": transfer,
            "size": len(self.body),
            "count": self.count,
            "sha256": hashlib.sha256(self.body).hexdigest(),
        }

    def piece(self, index: int) -> str:
        """Return the text of a chunk.

        Raises:
            BadRequest: The index is out of range.
        """
        if not 0 <= index < self.count:
            raise BadRequest(
                f"Chunk {index} does not exist: the reply has {self.count} chunks, counted from 0",
                details={"index": index, "count": self.count},
            )
        return self.body[self._cuts[index] : self._cuts[index + 1]].decode()


def _cuts(body: bytes, piece: int) -> list[int]:
    if piece < 4:
        raise ValueError("a chunk must have at least 4 bytes, the longest character")
    cuts = [0]
    while cuts[-1] + piece < len(body):
        end = cuts[-1] + piece
        while body[end] & 0xC0 == 0x80:  # inside a character
            end -= 1
        cuts.append(end)
    return [*cuts, len(body)]


def is_chunked(reply: object) -> bool:
    """Whether a reply only announces the chunks of the real one."""
    return isinstance(reply, Mapping) and "chunked" in reply


class ChunkAssembler:
    """Assembles the chunks of a reply, in any order.

    Args:
        reply: The announcement.
        limit: Maximum size of the reply in bytes.

    Raises:
        BadRequest: The announcement is malformed, or exceeds `limit`.
    """

    def __init__(self, reply: object, *, limit: int = MAX_REPLY) -> None:
        self.announced = _announced(reply)
        size, count = self.announced["size"], self.announced["count"]
        if size > limit:
            raise BadRequest(
                f"The Computer announced a reply of {size} bytes; the limit is {limit} bytes",
                details={"limit": "reply size", "size": size, "value": limit},
            )
        if count > size // SMALLEST + 1:
            raise BadRequest(f"The Computer announced {count} chunks for {size} bytes, which is too many")
        self._pieces: list[bytes | None] = [None] * count
        self._size = 0

    @property
    def transfer(self) -> str:
        """Id of this transfer at the Computer."""
        return self.announced["transfer"]

    @property
    def count(self) -> int:
        """Number of all chunks."""
        return len(self._pieces)

    @property
    def missing(self) -> list[int]:
        """Indexes of the chunks that have not arrived."""
        return [index for index, piece in enumerate(self._pieces) if piece is None]

    def add(self, index: int, answer: object) -> None:
        """Add the reply to the request of a chunk; a repeated chunk counts once.

        Raises:
            InternalError: It is not that chunk, or exceeds the announced size.
        """
        data = answer.get("data") if isinstance(answer, Mapping) and answer.get("index") == index else None
        if not isinstance(data, str) or not 0 <= index < self.count:
            raise InternalError(f"The Computer did not return chunk {index} of its reply")
        piece = data.encode("utf-8", "surrogatepass")
        self._size += len(piece) - len(self._pieces[index] or b"")
        if self._size > self.announced["size"]:
            raise InternalError("The Computer sent more than it announced")
        self._pieces[index] = piece

    def body(self) -> bytes:
        """Return the JSON text of the reply, verified by its hash.

        Raises:
            InternalError: A chunk is missing, or size or hash differ from the announcement.
        """
        if missing := self.missing:
            raise InternalError(f"{len(missing)} of {self.count} chunks of the reply are missing")
        body = b"".join(piece or b"" for piece in self._pieces)
        announced = self.announced
        if len(body) != announced["size"] or hashlib.sha256(body).hexdigest() != announced["sha256"]:
            raise InternalError("The chunks do not match the announced reply: send the request again")
        return body


def _announced(reply: Any) -> Chunked:
    try:
        return _announcement.validate_python(reply, strict=True)["chunked"]
    except ValidationError:
        raise BadRequest("The Computer announced a chunked reply that does not conform to the protocol") from None


Ask: TypeAlias = Callable[[str, int], Awaitable[Any]]
"""Sends `client:get_chunk` for a transfer and an index, and returns the ack."""

WINDOW: Final = 2
"""Concurrent chunk requests: one chunk is transferred while the next is requested."""


async def collect(ask: Ask, reply: Any, *, window: int = WINDOW, limit: int = MAX_REPLY) -> Any:
    """Return the reply itself, or the one whose chunks it announces.

    After a cancellation or a lost connection nothing remains to clean up: the Computer drops the chunks soon.

    Raises:
        BadRequest: The announcement is malformed, or of more than `limit` bytes.
        InternalError: The chunks do not match the announcement.
        SMCPError: A chunk was refused; 404 if the Computer has dropped the reply, so that the request must be repeated.
    """
    if not is_chunked(reply):
        return reply
    assembler = ChunkAssembler(reply, limit=limit)
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
    body = await asyncio.to_thread(assembler.body)  # hashing megabytes would block the loop
    try:
        return FastJson.loads(body)
    except ValueError:
        raise BadRequest("The chunked reply is not valid JSON") from None
