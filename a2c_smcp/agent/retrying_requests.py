"""Asking, and asking again when a connection breaks: the same request with the same `req_id` until its time is over."""

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from typing import Any, Final

from a2c_smcp.connection.chunks import collect, is_chunked
from a2c_smcp.connection.connection import SmcpConnection
from a2c_smcp.connection.membership import Membership
from a2c_smcp.errors import (
    BadRequest,
    ComputerLost,
    NotFound,
    NotInOffice,
    RequestTimeout,
    SMCPError,
    ToolStarting,
    from_wire,
    is_error,
)
from a2c_smcp.smcp import ACCEPT_CHUNKS, CANCEL_TOOL_CALL_EVENT, GET_CHUNK_EVENT, TOOL_CALL_EVENT

log = logging.getLogger(__name__)

REJOIN_SECONDS: Final = 15.0
"""Seconds in which a Computer is expected back after a break in which the Agent, too, lost its connection."""

BRIEF_LOSS_SECONDS: Final = 2.0
"""Seconds in which a Computer that was lost under a request is expected back; its tools run on meanwhile."""

MAX_TRACKED_COMPUTERS: Final = 1_000
"""Computers whose coming is remembered."""

CANCEL_SECONDS: Final = 10.0
"""Seconds for which a cancel is worth sending: as long as a Computer remembers one whose call has not come yet."""

SHORTEST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 10.0
"""Seconds between two attempts to call a tool whose MCP server is starting; the Computer's wish counts in between."""

LAST_ATTEMPT_SECONDS: Final = 0.5
"""Seconds that the last of these attempts has."""

CANCEL_ACK_SECONDS: Final = 2.0
"""Seconds for the ack of a cancel."""


class ResultNotFetched(Exception):
    """A tool ran, but its large result could not be fetched.

    Args:
        problem: Why not.
    """

    def __init__(self, problem: SMCPError) -> None:
        super().__init__(problem.message)
        self.problem = problem


class RetryingRequester:
    """Sends requests over whatever connection there is.

    Args:
        patience: Seconds for the pieces of a large reply, each.
        there: Whether a Computer is known to be in the office.
    """

    def __init__(self, seat: Membership, patience: float, there: Callable[[str], bool]) -> None:
        self._seat = seat
        self._patience = patience
        self._there = there
        self._prefix = secrets.token_hex(8)
        self._numbers = count(1)
        self._entries: OrderedDict[str, int] = OrderedDict()
        self._entered = asyncio.Event()
        self._recalls: set[asyncio.Task[None]] = set()

    def new_id(self) -> str:
        """A `req_id` that nobody has used."""
        return f"{self._prefix}-{next(self._numbers)}"

    def came(self, computer: str) -> None:
        """A Computer joined the office."""
        self._entries[computer] = self._entries.pop(computer, 0) + 1
        if len(self._entries) > MAX_TRACKED_COMPUTERS:
            self._entries.popitem(last=False)
        self.news()

    async def ask(self, event: str, request: dict[str, Any], *, within: float) -> Any:
        """Return the answer to a request; a connection that breaks is waited for, and the request sent again.

        A tool whose MCP server is starting is asked for again until the time is over.

        Raises:
            SMCPError: The answer is an error.
            RequestTimeout: None came in time.
            ConnectionError: The client is closed, or was never connected.
        """
        try:
            return await self._answer(event, request, within)
        except SMCPError as error:
            log.debug("%s failed: %s", event, error, extra={"req_id": request.get("req_id"), "code": error.code})
            raise

    async def _answer(self, event: str, request: dict[str, Any], within: float) -> Any:
        clock = asyncio.get_running_loop().time
        deadline = clock() + within
        broken = doubted = False
        while True:
            link = self._seat.here or await self._connection(event, deadline)
            computer = request.get("computer", "")
            entries, was_there = self._entries.get(computer, 0), self._there(computer)
            try:
                answer = await link.call(event, request, within=deadline - clock())
            except ConnectionError:
                broken = True
                await asyncio.sleep(0)
                continue
            reply = answer[0] if answer else None
            if type(reply) is dict and "error" not in reply and "code" not in reply:
                return reply
            error = _error_of(event, reply)
            if error is None:
                return reply
            error.req_id = error.req_id or request.get("req_id")
            if isinstance(error, NotInOffice) and not doubted:
                doubted = True
                self._seat.doubt(link)
            elif isinstance(error, ComputerLost) and (broken or was_there):
                until = min(deadline, clock() + (REJOIN_SECONDS if broken else BRIEF_LOSS_SECONDS))
                if not await self._comeback(computer, entries, until):
                    raise error
            elif isinstance(error, ToolStarting):
                pause = _retry_after(error)
                again = clock() + pause + LAST_ATTEMPT_SECONDS < deadline
                if not await self._news(clock() + pause if again else deadline - LAST_ATTEMPT_SECONDS) and not again:
                    raise error
            else:
                raise error

    def news(self) -> None:
        """The tools of a Computer changed."""
        self._entered.set()
        self._entered = asyncio.Event()

    async def fetch(self, event: str, request: dict[str, Any], *, within: float) -> Any:
        """Return the answer to a request to a Computer, however large.

        Raises:
            Unfetched: A tool ran, and its result was announced, but could not be fetched.
            SMCPError: As `ask`.
        """
        request[ACCEPT_CHUNKS] = True
        reply = await self.ask(event, request, within=within)
        if not is_chunked(reply):
            return reply
        try:
            try:
                return await self._collect(request, reply)
            except NotFound:
                # The Computer forgot it while we were away; asking again is cheap, and runs no tool twice.
                return await self._collect(request, await self.ask(event, request, within=within))
        except SMCPError as problem:
            if event != TOOL_CALL_EVENT:
                raise
            raise ResultNotFetched(problem) from problem

    async def _collect(self, request: dict[str, Any], reply: Any) -> Any:
        async def piece(transfer: str, index: int) -> Any:
            of = {"agent": request["agent"], "req_id": self.new_id(), "computer": request["computer"]}
            return await self.ask(GET_CHUNK_EVENT, of | {"transfer": transfer, "index": index}, within=self._patience)

        return await collect(piece, reply)

    def recall(self, req_id: str) -> "asyncio.Task[None]":
        """Cancel a call, now or as soon as there is a connection again."""
        task = asyncio.get_running_loop().create_task(self._recall(req_id))
        self._recalls.add(task)
        task.add_done_callback(self._recalls.discard)
        return task

    async def cancel(self, req_id: str, *, within: float) -> None:
        """Tell the office that a call is wanted no more; raises what `ask` raises."""
        deadline = asyncio.get_running_loop().time() + within
        link = self._seat.here or await self._connection(CANCEL_TOOL_CALL_EVENT, deadline)
        try:
            # An ack is no part of the contract, yet it is given; without waiting for it, a connection that is closed
            # right afterwards might be gone before the server has got round to the cancel.
            answer = await link.call(
                CANCEL_TOOL_CALL_EVENT, {"agent": self._seat.name, "req_id": req_id}, within=CANCEL_ACK_SECONDS
            )
        except RequestTimeout:
            return
        if answer and is_error(answer[0]):
            raise from_wire(answer[0])

    async def close(self) -> None:
        """Let cancels that are on their way go out; those that wait for a connection are given up."""
        if self._recalls and self._seat.here is not None:
            await asyncio.wait(self._recalls, timeout=CANCEL_ACK_SECONDS)
        for task in list(self._recalls):
            task.cancel()
        await asyncio.gather(*self._recalls, return_exceptions=True)

    async def _recall(self, req_id: str) -> None:
        try:
            await self.cancel(req_id, within=CANCEL_SECONDS)
        except (SMCPError, ConnectionError) as problem:
            log.info("a cancel could not be sent: %s", problem, extra={"req_id": req_id})

    async def _connection(self, event: str, deadline: float) -> SmcpConnection:
        try:
            async with asyncio.timeout_at(deadline):
                return await self._seat.seated()
        except TimeoutError:
            status = self._seat.status
            why = status.problem or f"the connection is {status.state.value}"
            raise RequestTimeout(f"{event} could not be sent in time: {why}") from None

    async def _news(self, until: float) -> bool:
        """Wait until a Computer or its tools come; whether they have."""
        try:
            async with asyncio.timeout_at(until):
                await self._entered.wait()
        except TimeoutError:
            return False
        return True

    async def _comeback(self, computer: str, entries: int, until: float) -> bool:
        """Wait until a Computer has joined again; whether it has."""
        try:
            async with asyncio.timeout_at(until):
                while self._entries.get(computer, 0) == entries:
                    await self._entered.wait()
        except TimeoutError:
            return False
        return True


def _retry_after(error: ToolStarting) -> float:
    named = (error.details or {}).get("retry_after")
    return min(max(float(named), SHORTEST_PAUSE), LONGEST_PAUSE) if isinstance(named, int | float) else SHORTEST_PAUSE


def _error_of(event: str, reply: Any) -> SMCPError | None:
    if reply is None:
        return BadRequest(f"Nobody there knows {event}: the server or the computer may be older than this agent")
    return from_wire(reply) if is_error(reply) else None
