"""The desk where requests of Agents arrive: each is checked, answered in a task of its own, and acknowledged."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from a2c_smcp.common.callbacks import await_guarded, without_message
from a2c_smcp.common.fastjson import FastJson
from a2c_smcp.common.segmented_json import json_segments
from a2c_smcp.computer.office.transfers import PendingTransfers, new_name
from a2c_smcp.connection.chunks import LARGE, PIECE, SMALLEST, ChunkedReply
from a2c_smcp.errors import BadRequest, InternalError, NotFound, RateLimited, SMCPError
from a2c_smcp.smcp import (
    ACCEPT_CHUNKS,
    ACCEPT_PROGRESS,
    CANCEL_TOOL_CALL_NOTIFICATION,
    EVENTS,
    GET_CHUNK_EVENT,
    MAX_NAME,
    TOOL_CALL_EVENT,
    ChunkedRet,
    GetChunkRet,
    error_ack,
    parse_request,
)

log = logging.getLogger(__name__)

MAX_CONCURRENT: Final = 1024

Send: TypeAlias = Callable[[str], Awaitable[bool]]
"""Sends the ack of one request, encoded; False if the connection that wanted it is gone."""


class RequestHandler(Protocol):
    """Answers requests. It is called for many at once, each in a task of its own."""

    async def answer(self, event: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a `client:*` event whose payload has been validated.

        A connection that breaks does not cancel it: the Agent asks again with the same `req_id`.

        Raises:
            SMCPError: The Agent gets it as an error ack.
        """

    async def cancel(self, agent: str, req_id: str) -> None:
        """The Agent wants this call no more; an unknown or finished one is ignored."""

    def office_changed(self, office_id: str | None) -> None:
        """The Computer now serves this office, or none. What was kept for the Agent of the former is nobody's.

        A connection that comes back to the same office is no change.
        """


@dataclass(frozen=True, slots=True)
class IncomingRequest:
    """A request as it came."""

    event: str
    payload: Any
    send: Send
    limit: int
    """The largest reply that can be sent whole, in bytes."""

    @property
    def req_id(self) -> str | None:
        """Its id, if it is one."""
        found = self.payload.get("req_id") if isinstance(self.payload, Mapping) else None
        return found if isinstance(found, str) and 0 < len(found) <= MAX_NAME else None

    @property
    def takes_pieces(self) -> bool:
        """Whether its sender can fetch a large reply in pieces."""
        return isinstance(self.payload, Mapping) and self.payload.get(ACCEPT_CHUNKS) is True


class RequestDispatcher:
    """Answers requests; it outlives connections.

    Args:
        name: The Computer's own name.
        at_once: How many requests are answered at a time; more are refused.
    """

    def __init__(
        self, answerer: RequestHandler, name: str, transfers: PendingTransfers, *, at_once: int = MAX_CONCURRENT
    ) -> None:
        self._answerer = answerer
        self._name = name
        self._transfers = transfers
        self._at_once = at_once
        self._tasks: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.TimerHandle | None = None

    @property
    def running(self) -> int:
        """How many requests are being answered."""
        return len(self._tasks)

    def take(self, asked: IncomingRequest) -> None:
        """Answer a request, now or later."""
        if len(self._tasks) >= 2 * self._at_once:
            # Not even refusals get through; the server's time-out answers for us.
            log.warning("a request was dropped: too many wait", extra={"req_id": asked.req_id})
            return
        self._start(self._answer(asked, full=len(self._tasks) >= self._at_once))

    def cancel(self, payload: Any) -> None:
        """Pass on that an Agent wants a call no more; what is malformed is ignored."""
        try:
            data = parse_request(CANCEL_TOOL_CALL_NOTIFICATION, payload)
        except BadRequest:
            log.info("a malformed cancellation was ignored")
            return
        self._start(self._cancel(data["agent"], data["req_id"]))

    def forget(self) -> None:
        """Drop every reply that waits to be fetched."""
        self._transfers.clear()

    async def close(self) -> None:
        """Cancel whatever is still being answered."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.forget()
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _cancel(self, agent: str, req_id: str) -> None:
        await await_guarded(log, "cancelling a call", self._answerer.cancel, agent, req_id, req_id=req_id)

    async def _answer(self, asked: IncomingRequest, *, full: bool) -> None:
        try:
            reply = await self._reply(asked, full=full)
            try:
                body = await self._encoded(asked, reply)
            except SMCPError as error:
                if asked.event != TOOL_CALL_EVENT:
                    raise
                body = FastJson.encode(_undeliverable(asked, error))
        except SMCPError as error:
            body = self._refusal(asked, error)
        except Exception as error:
            ids = {"req_id": asked.req_id}
            log.error("%s failed", _named(asked.event), exc_info=without_message(error), extra=ids)
            body = self._refusal(asked, InternalError(f"{asked.event} failed on the computer; it is logged there"))
        if not await asked.send(body.decode()):
            log.info("the answer to %s came too late", _named(asked.event), extra={"req_id": asked.req_id})

    async def _reply(self, asked: IncomingRequest, *, full: bool) -> Any:
        event = asked.event
        if event not in EVENTS or not event.startswith("client:"):
            raise BadRequest(f"This computer does not know {event[:100]}; it may be older than the agent")
        request = parse_request(event, asked.payload)
        if request["computer"] != self._name:
            raise NotFound(f"This is not the computer {request['computer']!r}", details={"computer": self._name})
        if event == GET_CHUNK_EVENT:
            return self._piece(request)
        if full:
            raise RateLimited(
                f"Limit exceeded: requests at once per computer ({self._at_once})",
                details={"limit": "requests at once per computer", "value": self._at_once},
            )
        if event == TOOL_CALL_EVENT and asked.payload.get(ACCEPT_PROGRESS) is True:
            request[ACCEPT_PROGRESS] = True
        return await self._answerer.answer(event, request)

    def _piece(self, request: dict[str, Any]) -> GetChunkRet:
        index = request["index"]
        data = self._transfers.piece(request["agent"], request["transfer"], index)
        return {"data": data, "index": index, "req_id": request["req_id"]}

    async def _encoded(self, asked: IncomingRequest, reply: Any) -> bytes:
        parts = json_segments(reply)
        body = next(parts)
        if more := [part async for part in _without_haste(parts)]:
            body = b"".join((body, *more))
        size = len(body)
        if size > min(LARGE, asked.limit) and asked.takes_pieces and asked.event != GET_CHUNK_EVENT:
            return await self._announced(asked, body)
        if size > asked.limit:
            raise _too_large(size, asked.limit)
        return body

    async def _announced(self, asked: IncomingRequest, body: bytes) -> bytes:
        if len(body) > self._transfers.most_bytes:
            raise _too_large(len(body), self._transfers.most_bytes)
        request = (asked.payload["agent"], asked.event, asked.payload["req_id"])
        self._transfers.admit(request, len(body))
        # Escaping may double a piece.
        parcel = ChunkedReply(body, min(PIECE, max(SMALLEST, asked.limit // 2 - SMALLEST)))
        announced = await asyncio.to_thread(parcel.announce, new_name())  # hashing megabytes would hold up the loop
        self._transfers.admit(request, len(body))
        self._transfers.keep(request, parcel, announced)
        self._watch()
        reply: ChunkedRet = {"chunked": announced, "req_id": asked.payload["req_id"]}
        return FastJson.encode(reply)

    def _watch(self) -> None:
        if self._sweeper is None and len(self._transfers):
            self._sweeper = asyncio.get_running_loop().call_later(self._transfers.seconds, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        self._transfers.expire()
        self._watch()

    def _refusal(self, asked: IncomingRequest, error: SMCPError) -> bytes:
        log.info("%s was refused: %d", _named(asked.event), error.code, extra={"req_id": asked.req_id})
        body = FastJson.encode(error_ack(asked.event, error, asked.req_id))
        if len(body) > asked.limit:
            short = SMCPError(f"{error.message[:1000]} (details left out: too large)", code=error.code)
            body = FastJson.encode(error_ack(asked.event, short, asked.req_id))
        return body


async def _without_haste(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
        await asyncio.sleep(0)  # let the others have their turn


def _named(event: str) -> str:
    # An Agent can send any name; what it makes up does not reach the log.
    return event if event in EVENTS else "an event"


def _undeliverable(asked: IncomingRequest, error: SMCPError) -> dict[str, Any]:
    """The result of a tool that ran, while its own result cannot be delivered: no error, or it would be run again."""
    log.info("the result of a tool cannot be delivered: %d", error.code, extra={"req_id": asked.req_id})
    meta = {"ran": True, "code": error.code, "details": error.details or {}}
    text = f"The tool ran, but its result cannot be delivered: {error.message}"
    return {"content": [{"type": "text", "text": text}], "isError": True, "meta": meta, "req_id": asked.req_id}


def _too_large(size: int, limit: int) -> BadRequest:
    return BadRequest(
        f"The reply of {size} bytes is over the limit of {limit} bytes; ask for less at a time (a page or an element "
        "of a document, a filter, a smaller number), or with an agent that takes large replies in pieces",
        details={"limit": "reply size", "size": size, "value": limit},
    )
