"""Replies that are too large for one message: the Computer cuts their JSON text, the Agent fetches and joins it.

A piece is text, not base64: the usual large contents (prose, Markdown, base64 blobs) need next to no escaping inside
a JSON string, and at worst, when every character is a quote, a piece doubles.
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
"""A reply of more bytes travels in pieces where the Agent accepts them, so that it holds up nothing else."""

PIECE: Final = 256 * 1024
"""The most bytes in a piece: doubled by escaping, it still passes a server that takes no message over 1 MB."""

MAX_REPLY: Final = 256 * 1024 * 1024
"""The largest reply, in bytes, that is sent or fetched in pieces."""

SMALLEST: Final = 1024
"""What a piece has on average at least; a reply in more pieces than that is not worth the requests."""

_announcement: Final = TypeAdapter(ChunkedRet)


class ChunkedReply:
    """An encoded reply with the places where it is cut: never inside a character.

    Args:
        body: JSON text in UTF-8.
    """

    __slots__ = ("_cuts", "body")

    def __init__(self, body: bytes, piece: int = PIECE) -> None:
        self.body = body
        self._cuts = _cuts(body, piece)

    @property
    def count(self) -> int:
        """How many pieces there are."""
        return len(self._cuts) - 1

    def announce(self, transfer: str) -> Chunked:
        """What the Agent needs in order to fetch the pieces; hashes the whole body."""
        return {
            "transfer": transfer,
            "size": len(self.body),
            "count": self.count,
            "sha256": hashlib.sha256(self.body).hexdigest(),
        }

    def piece(self, index: int) -> str:
        """The text of a piece.

        Raises:
            BadRequest: There is no such piece.
        """
        if not 0 <= index < self.count:
            raise BadRequest(
                f"The reply has {self.count} pieces, counted from 0: there is no piece {index}",
                details={"index": index, "count": self.count},
            )
        return self.body[self._cuts[index] : self._cuts[index + 1]].decode()


def _cuts(body: bytes, piece: int) -> list[int]:
    if piece < 4:
        raise ValueError("a piece holds at least one character of four bytes")
    cuts = [0]
    while cuts[-1] + piece < len(body):
        end = cuts[-1] + piece
        while body[end] & 0xC0 == 0x80:  # inside a character
            end -= 1
        cuts.append(end)
    return [*cuts, len(body)]


def is_chunked(reply: object) -> bool:
    """Whether a reply only announces the pieces of another."""
    return isinstance(reply, Mapping) and "chunked" in reply


class ChunkAssembler:
    """Puts the pieces of one reply together, in whatever order they come.

    Args:
        reply: The announcement, as it came.
        limit: The most bytes that the whole may have.

    Raises:
        BadRequest: It is not an announcement, or announces more than `limit`.
    """

    def __init__(self, reply: object, *, limit: int = MAX_REPLY) -> None:
        self.announced = _announced(reply)
        size, count = self.announced["size"], self.announced["count"]
        if size > limit:
            raise BadRequest(
                f"The computer announced a reply of {size} bytes, over the limit of {limit} bytes",
                details={"limit": "reply size", "size": size, "value": limit},
            )
        if count > size // SMALLEST + 1:
            raise BadRequest(f"The computer announced a reply of {size} bytes in {count} pieces, which is too many")
        self._pieces: list[bytes | None] = [None] * count
        self._size = 0

    @property
    def transfer(self) -> str:
        """What the Computer calls this reply."""
        return self.announced["transfer"]

    @property
    def count(self) -> int:
        """How many pieces there are in all."""
        return len(self._pieces)

    @property
    def missing(self) -> list[int]:
        """The pieces that have not come yet."""
        return [index for index, piece in enumerate(self._pieces) if piece is None]

    def add(self, index: int, answer: object) -> None:
        """Take the answer to the request for a piece; one that comes twice counts once.

        Raises:
            InternalError: It is not that piece, or more than was announced.
        """
        data = answer.get("data") if isinstance(answer, Mapping) and answer.get("index") == index else None
        if not isinstance(data, str) or not 0 <= index < self.count:
            raise InternalError(f"The computer answered with something that is not piece {index} of its reply")
        piece = data.encode("utf-8", "surrogatepass")
        self._size += len(piece) - len(self._pieces[index] or b"")
        if self._size > self.announced["size"]:
            raise InternalError("The computer sent more than it announced")
        self._pieces[index] = piece

    def body(self) -> bytes:
        """The JSON text of the reply, whole and unaltered.

        Raises:
            InternalError: A piece is missing, or the whole is not what was announced.
        """
        if missing := self.missing:
            raise InternalError(f"{len(missing)} of {self.count} pieces of the reply are missing")
        body = b"".join(piece or b"" for piece in self._pieces)
        announced = self.announced
        if len(body) != announced["size"] or hashlib.sha256(body).hexdigest() != announced["sha256"]:
            raise InternalError("The pieces do not make the reply that was announced; send the request again")
        return body


def _announced(reply: Any) -> Chunked:
    try:
        return _announcement.validate_python(reply, strict=True)["chunked"]
    except ValidationError:
        raise BadRequest("The computer announced a reply in pieces, but not in the form of the protocol") from None


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
    body = await asyncio.to_thread(assembler.body)  # hashing megabytes would hold up the loop
    try:
        return FastJson.loads(body)
    except ValueError:
        raise BadRequest("The reply that came in pieces is no JSON") from None
