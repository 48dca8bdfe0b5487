"""Dispatches the requests of Agents: validates each, handles it in its own task, and sends the ack."""

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
"""Sends the encoded ack of one request; returns False if its connection is gone."""


class RequestHandler(Protocol):
    """Handles validated requests. It is called concurrently, each request in its own task."""

    async def answer(self, event: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a `client:*` event whose payload has been validated.

        A lost connection does not cancel it: the Agent asks again with the same `req_id`.

        Raises:
            SMCPError: The Agent gets it as an error ack.
        """

    async def cancel(self, agent: str, req_id: str) -> None:
        """Cancel a call; an unknown or finished one is ignored."""

    def office_changed(self, office_id: str | None) -> None:
        """The Computer now serves this office, or none. State of the previous office's Agent is dropped.

        A reconnect to the same office is not a change.
        """


@dataclass(frozen=True, slots=True)
class IncomingRequest:
    """A request as received."""

    event: str
    payload: Any
    send: Send
    limit: int
    """The largest reply that fits into one message, in bytes."""

    @property
    def req_id(self) -> str | None:
        """The request id, if it is valid."""
        found = self.payload.get("req_id") if isinstance(self.payload, Mapping) else None
        return found if isinstance(found, str) and 0 < len(found) <= MAX_NAME else None

    @property
    def accepts_chunks(self) -> bool:
        """Whether the sender can fetch a large reply in chunks."""
        return isinstance(self.payload, Mapping) and self.payload.get(ACCEPT_CHUNKS) is True


class RequestDispatcher:
    """Handles requests; it survives reconnects.

    Args:
        name: The Computer's own name.
        at_once: The most concurrent requests; more are refused.
    """

    def __init__(
        self, handler: RequestHandler, name: str, transfers: PendingTransfers, *, at_once: int = MAX_CONCURRENT
    ) -> None:
        self._handler = handler
        self._name = name
        self._transfers = transfers
        self._at_once = at_once
        self._tasks: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.TimerHandle | None = None

    @property
    def running(self) -> int:
        """The number of requests being handled."""
        return len(self._tasks)

    def take(self, request: IncomingRequest) -> None:
        """Start handling a request."""
        if len(self._tasks) >= 2 * self._at_once:
            # Too many even to refuse: the server's timeout answers the Agent.
            log.warning("request dropped: too many pending req_id=%s", request.req_id, extra={"req_id": request.req_id})
            return
        self._start(self._answer(request, overloaded=len(self._tasks) >= self._at_once))

    def cancel(self, payload: Any) -> None:
        """Cancel a call of an Agent; a malformed notification is ignored."""
        try:
            data = parse_request(CANCEL_TOOL_CALL_NOTIFICATION, payload)
        except BadRequest:
            log.info("malformed cancellation ignored")
            return
        self._start(self._cancel(data["agent"], data["req_id"]))

    def forget(self) -> None:
        """Drop all pending large replies."""
        self._transfers.clear()

    async def close(self) -> None:
        """Cancel all requests being handled."""
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
        await await_guarded(log, "cancelling a call", self._handler.cancel, agent, req_id, req_id=req_id)

    async def _answer(self, request: IncomingRequest, *, overloaded: bool) -> None:
        try:
            reply = await self._reply(request, overloaded=overloaded)
            try:
                body = await self._encoded(request, reply)
            except SMCPError as error:
                if request.event != TOOL_CALL_EVENT:
                    raise
                body = FastJson.encode(_undeliverable(request, error))
        except SMCPError as error:
            body = self._refusal(request, error)
        except Exception as error:
            ids = {"req_id": request.req_id}
            log.error("request failed: event=%s", _named(request.event), exc_info=without_message(error), extra=ids)
            body = self._refusal(request, InternalError(f"{request.event} failed on the computer; it is logged there"))
        if not await request.send(body.decode()):
            log.info("reply too late: event=%s", _named(request.event), extra={"req_id": request.req_id})

    async def _reply(self, request: IncomingRequest, *, overloaded: bool) -> Any:
        event = request.event
        if event not in EVENTS or not event.startswith("client:"):
            raise BadRequest(f"This computer does not know {event[:100]}; it may be older than the agent")
        data = parse_request(event, request.payload)
        if data["computer"] != self._name:
            raise NotFound(f"This is not the computer {data['computer']!r}", details={"computer": self._name})
        if event == GET_CHUNK_EVENT:
            return self._chunk(data)
        if overloaded:
            raise RateLimited(
                f"Limit exceeded: requests at once per computer ({self._at_once})",
                details={"limit": "requests at once per computer", "value": self._at_once},
            )
        if event == TOOL_CALL_EVENT and request.payload.get(ACCEPT_PROGRESS) is True:
            data[ACCEPT_PROGRESS] = True
        return await self._handler.answer(event, data)

    def _chunk(self, request: dict[str, Any]) -> GetChunkRet:
        index = request["index"]
        data = self._transfers.piece(request["agent"], request["transfer"], index)
        return {"data": data, "index": index, "req_id": request["req_id"]}

    async def _encoded(self, request: IncomingRequest, reply: Any) -> bytes:
        parts = json_segments(reply)
        body = next(parts)
        if more := [part async for part in _yielding(parts)]:
            body = b"".join((body, *more))
        size = len(body)
        if size > min(LARGE, request.limit) and request.accepts_chunks and request.event != GET_CHUNK_EVENT:
            return await self._announced(request, body)
        if size > request.limit:
            raise _too_large(size, request.limit)
        return body

    async def _announced(self, request: IncomingRequest, body: bytes) -> bytes:
        if len(body) > self._transfers.most_bytes:
            raise _too_large(len(body), self._transfers.most_bytes)
        key = (request.payload["agent"], request.event, request.payload["req_id"])
        self._transfers.admit(key, len(body))
        # Escaping may double the size of a chunk.
        chunks = ChunkedReply(body, min(PIECE, max(SMALLEST, request.limit // 2 - SMALLEST)))
        announced = await asyncio.to_thread(chunks.announce, new_name())  # hashing megabytes would block the loop
        self._transfers.admit(key, len(body))
        self._transfers.keep(key, chunks, announced)
        self._schedule_sweep()
        reply: ChunkedRet = {"chunked": announced, "req_id": request.payload["req_id"]}
        return FastJson.encode(reply)

    def _schedule_sweep(self) -> None:
        if self._sweeper is None and len(self._transfers):
            self._sweeper = asyncio.get_running_loop().call_later(self._transfers.seconds, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        self._transfers.expire()
        self._schedule_sweep()

    def _refusal(self, request: IncomingRequest, error: SMCPError) -> bytes:
        log.info(
            "request refused: event=%s code=%d", _named(request.event), error.code, extra={"req_id": request.req_id}
        )
        body = FastJson.encode(error_ack(request.event, error, request.req_id))
        if len(body) > request.limit:
            short = SMCPError(f"{error.message[:1000]} (details left out: too large)", code=error.code)
            body = FastJson.encode(error_ack(request.event, short, request.req_id))
        return body


async def _yielding(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
        await asyncio.sleep(0)  # let other tasks run


def _named(event: str) -> str:
    # The event name is untrusted: unknown ones do not reach the log.
    return event if event in EVENTS else "unknown"


def _undeliverable(request: IncomingRequest, error: SMCPError) -> dict[str, Any]:
    """Return the replacement for an undeliverable tool result. Not an error ack: the Agent would run the tool again."""
    log.info("tool result undeliverable: code=%d", error.code, extra={"req_id": request.req_id})
    meta = {"ran": True, "code": error.code, "details": error.details or {}}
    text = f"The tool ran, but its result cannot be delivered: {error.message}"
    return {"content": [{"type": "text", "text": text}], "isError": True, "meta": meta, "req_id": request.req_id}


def _too_large(size: int, limit: int) -> BadRequest:
    return BadRequest(
        f"The reply of {size} bytes is over the limit of {limit} bytes; ask for less at a time (a page or an element "
        "of a document, a filter, a smaller number), or with an agent that takes large replies in pieces",
        details={"limit": "reply size", "size": size, "value": limit},
    )
