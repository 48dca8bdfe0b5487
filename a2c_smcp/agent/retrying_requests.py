"""Requests that survive lost connections: the same request with the same `req_id`, repeated until its deadline."""

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
"""Seconds to wait for a Computer to rejoin after the Agent itself lost its connection."""

BRIEF_LOSS_SECONDS: Final = 2.0
"""Seconds to wait for a Computer that disconnected during a request; its tools keep running."""

MAX_TRACKED_COMPUTERS: Final = 1_000
"""Computers whose joins are counted."""

CANCEL_SECONDS: Final = 10.0
"""Seconds within which a cancel must be sent: a Computer remembers an early cancel that long."""

SHORTEST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 10.0
"""Bounds in seconds for the Computer's `retry_after` while the MCP server of a tool is starting."""

LAST_ATTEMPT_SECONDS: Final = 0.5
"""Seconds reserved for the last of these attempts."""

CANCEL_ACK_SECONDS: Final = 2.0
"""Seconds to wait for the ack of a cancel."""


class ResultNotFetched(Exception):
    """A tool ran, but its large result could not be fetched.

    Args:
        problem: The error of the fetch.
    """

    def __init__(self, problem: SMCPError) -> None:
        super().__init__(problem.message)
        self.problem = problem


class RetryingRequester:
    """Sends requests over the current connection of a membership, and repeats them after it was lost.

    Args:
        chunk_timeout: Seconds for each chunk of a large reply.
        is_present: Whether a Computer is known to be in the office.
    """

    def __init__(self, membership: Membership, chunk_timeout: float, is_present: Callable[[str], bool]) -> None:
        self._membership = membership
        self._chunk_timeout = chunk_timeout
        self._is_present = is_present
        self._prefix = secrets.token_hex(8)
        self._numbers = count(1)
        self._joins: OrderedDict[str, int] = OrderedDict()
        self._changed = asyncio.Event()
        self._cancels: set[asyncio.Task[None]] = set()

    def new_id(self) -> str:
        """Return a new unique `req_id`."""
        return f"{self._prefix}-{next(self._numbers)}"

    def computer_joined(self, computer: str) -> None:
        """Record that a Computer joined the office."""
        self._joins[computer] = self._joins.pop(computer, 0) + 1
        if len(self._joins) > MAX_TRACKED_COMPUTERS:
            self._joins.popitem(last=False)
        self.tools_changed()

    async def request(self, event: str, request: dict[str, Any], *, within: float) -> Any:
        """Return the reply to a request; after a lost connection, wait for the next one and send the request again.

        A call of a tool whose MCP server is starting is repeated until the deadline.

        Raises:
            SMCPError: The reply is an error.
            RequestTimeout: No reply arrived in time.
            ConnectionError: The client is closed, or was never connected.
        """
        try:
            return await self._send(event, request, within)
        except SMCPError as error:
            identity = {"req_id": request.get("req_id"), "code": error.code}
            log.debug("request failed: %s event=%s", error, event, extra=identity)
            raise

    async def _send(self, event: str, request: dict[str, Any], within: float) -> Any:
        clock = asyncio.get_running_loop().time
        deadline = clock() + within
        lost_connection = rejoined = False
        while True:
            connection = self._membership.joined_connection or await self._connection(event, deadline)
            computer = request.get("computer", "")
            joins, was_there = self._joins.get(computer, 0), self._is_present(computer)
            try:
                ack = await connection.call(event, request, within=deadline - clock())
            except ConnectionError:
                lost_connection = True
                await asyncio.sleep(0)
                continue
            reply = ack[0] if ack else None
            if type(reply) is dict and "error" not in reply and "code" not in reply:
                return reply
            error = _error_of(event, reply)
            if error is None:
                return reply
            error.req_id = error.req_id or request.get("req_id")
            if isinstance(error, NotInOffice) and not rejoined:
                rejoined = True
                self._membership.rejoin(connection)
            elif isinstance(error, ComputerLost) and (lost_connection or was_there):
                until = min(deadline, clock() + (REJOIN_SECONDS if lost_connection else BRIEF_LOSS_SECONDS))
                if not await self._wait_rejoined(computer, joins, until):
                    raise error
            elif isinstance(error, ToolStarting):
                pause = _retry_after(error)
                again = clock() + pause + LAST_ATTEMPT_SECONDS < deadline
                until = clock() + pause if again else deadline - LAST_ATTEMPT_SECONDS
                if not await self._wait_changed(until) and not again:
                    raise error
            else:
                raise error

    def tools_changed(self) -> None:
        """Wake requests that wait for a starting MCP server: the tools of a Computer changed."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def fetch(self, event: str, request: dict[str, Any], *, within: float) -> Any:
        """Return the reply of a Computer, and fetch it in chunks if it is large.

        Raises:
            ResultNotFetched: A tool ran, but its large result could not be fetched.
            SMCPError: As `request`.
        """
        request[ACCEPT_CHUNKS] = True
        reply = await self.request(event, request, within=within)
        if not is_chunked(reply):
            return reply
        try:
            try:
                return await self._collect(request, reply)
            except NotFound:
                # The Computer dropped the chunks meanwhile. Repeating the request is cheap, and runs no tool twice.
                return await self._collect(request, await self.request(event, request, within=within))
        except SMCPError as problem:
            if event != TOOL_CALL_EVENT:
                raise
            raise ResultNotFetched(problem) from problem

    async def _collect(self, request: dict[str, Any], reply: Any) -> Any:
        async def fetch_chunk(transfer: str, index: int) -> Any:
            chunk = {"agent": request["agent"], "req_id": self.new_id(), "computer": request["computer"]}
            return await self.request(
                GET_CHUNK_EVENT, chunk | {"transfer": transfer, "index": index}, within=self._chunk_timeout
            )

        return await collect(fetch_chunk, reply)

    def cancel_in_background(self, req_id: str) -> "asyncio.Task[None]":
        """Cancel a call now, or as soon as there is a connection."""
        task = asyncio.get_running_loop().create_task(self._cancel_logged(req_id))
        self._cancels.add(task)
        task.add_done_callback(self._cancels.discard)
        return task

    async def cancel(self, req_id: str, *, within: float) -> None:
        """Send the cancel of a call; raises as `request`."""
        deadline = asyncio.get_running_loop().time() + within
        connection = self._membership.joined_connection or await self._connection(CANCEL_TOOL_CALL_EVENT, deadline)
        try:
            # The contract has no ack for a cancel, but servers send one. Without it, a connection that is closed right
            # afterwards could end before the server has handled the cancel.
            ack = await connection.call(
                CANCEL_TOOL_CALL_EVENT, {"agent": self._membership.name, "req_id": req_id}, within=CANCEL_ACK_SECONDS
            )
        except RequestTimeout:
            return
        if ack and is_error(ack[0]):
            raise from_wire(ack[0])

    async def close(self) -> None:
        """Finish cancels that are being sent; drop those that wait for a connection."""
        if self._cancels and self._membership.joined_connection is not None:
            await asyncio.wait(self._cancels, timeout=CANCEL_ACK_SECONDS)
        for task in list(self._cancels):
            task.cancel()
        await asyncio.gather(*self._cancels, return_exceptions=True)

    async def _cancel_logged(self, req_id: str) -> None:
        try:
            await self.cancel(req_id, within=CANCEL_SECONDS)
        except (SMCPError, ConnectionError) as problem:
            log.info("cancel not sent: %s", problem, extra={"req_id": req_id})

    async def _connection(self, event: str, deadline: float) -> SmcpConnection:
        try:
            async with asyncio.timeout_at(deadline):
                return await self._membership.wait_joined()
        except TimeoutError:
            status = self._membership.status
            why = status.problem or f"the connection is {status.state.value}"
            raise RequestTimeout(f"{event} was not sent in time: {why}") from None

    async def _wait_changed(self, until: float) -> bool:
        """Wait until a Computer joins or its tools change; return whether that happened in time."""
        try:
            async with asyncio.timeout_at(until):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def _wait_rejoined(self, computer: str, joins: int, until: float) -> bool:
        """Wait until a Computer has rejoined; return whether it did in time."""
        try:
            async with asyncio.timeout_at(until):
                while self._joins.get(computer, 0) == joins:
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True


def _retry_after(error: ToolStarting) -> float:
    named = (error.details or {}).get("retry_after")
    return min(max(float(named), SHORTEST_PAUSE), LONGEST_PAUSE) if isinstance(named, int | float) else SHORTEST_PAUSE


def _error_of(event: str, reply: Any) -> SMCPError | None:
    if reply is None:
        return BadRequest(f"{event} is not supported: the server or the Computer is older than this Agent")
    return from_wire(reply) if is_error(reply) else None
