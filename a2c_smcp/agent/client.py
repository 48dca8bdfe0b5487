"""The Agent's client: it sits in an office, asks its Computers, calls their tools, and keeps what it knows current."""

import asyncio
import logging
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

from a2c_smcp.agent.conveniences import Conveniences
from a2c_smcp.agent.events import EventDispatcher, EventHandler, FinderHook, OfficeEventStream
from a2c_smcp.agent.office_tracker import DESKTOP, FINDER, TOOLS, OfficeTracker
from a2c_smcp.agent.office_view import OfficeView
from a2c_smcp.agent.progress import ProgressHandler, ProgressRouter
from a2c_smcp.agent.requests import (
    keyword_list,
    plain_params,
    reply_to,
    timed_out,
    tool_result,
    unfetched,
    whole_seconds,
)
from a2c_smcp.agent.resources import ResourceMethods
from a2c_smcp.agent.retrying_requests import ResultNotFetched, RetryingRequester
from a2c_smcp.agent.subscriptions import AgentSubscriptions
from a2c_smcp.common.backoff import Backoff
from a2c_smcp.common.durations import seconds_text
from a2c_smcp.connection.connection import Secret, ServerAddress, SmcpConnection
from a2c_smcp.connection.membership import Membership, MembershipCallbacks
from a2c_smcp.connection.status import ConnectionStatus
from a2c_smcp.errors import RequestTimeout
from a2c_smcp.messages import CallToolResult, GetFinderRet, SessionInfo, SMCPTool
from a2c_smcp.smcp import (
    ACCEPT_PROGRESS,
    CANCEL_TOOL_CALL_EVENT,
    ENTER_OFFICE_NOTIFICATION,
    GET_DESKTOP_EVENT,
    GET_FINDER_EVENT,
    GET_TOOLS_EVENT,
    LIST_ROOM_EVENT,
    SOCKETIO_PATH,
    TOOL_CALL_EVENT,
    UPDATE_PROGRESS_NOTIFICATION,
    UPDATE_TOOL_LIST_NOTIFICATION,
    parse_request,
)
from a2c_smcp.types import Desktop

log = logging.getLogger(__name__)

GRACE: Final = 1.0
"""Seconds beyond a call's time-out in which the Computer's own word of it may arrive."""

DEFAULT_LIMIT: Final = 20


class AsyncSMCPAgentClient(ResourceMethods, Conveniences, FinderHook):
    """An Agent's seat in an office.

    Once connected it stays so until `close`: whatever breaks, it connects and joins again. Requests that are under way
    when the connection breaks are sent again with the same `req_id`, so that no tool runs twice.

    Args:
        url: Where the server is; a path in it goes before `path`.
        name: The Agent's name.
        office_id: The office to join as soon as there is a connection.
        token: Sent as `auth["token"]`. May be a callable, asked for a fresh one at every attempt.
        api_key: Sent as header `x-api-key`; may be a callable as well.
        headers: More HTTP headers.
        path: Where Socket.IO is on the server.
        timeout: Seconds that a request may take, tool calls apart, and that connecting may take.
        live: Whether `office` is kept current; otherwise notifications are only told.
        backoff: The pauses between attempts to connect.
        transports: `("polling", "websocket")` for networks that let no websocket pass at first.
        ssl_context: How to trust the server, where the system's certificates do not.

    Raises:
        BadRequest: The name or the office cannot be one.
        InvalidConfig: The URL cannot be one.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str,
        office_id: str | None = None,
        token: Secret | None = None,
        api_key: Secret | None = None,
        headers: Mapping[str, str] | None = None,
        path: str = SOCKETIO_PATH,
        timeout: float = 20.0,
        live: bool = True,
        backoff: Backoff | None = None,
        transports: tuple[str, ...] = ("websocket",),
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._name = name
        self._office = OfficeView()
        self._timeout = timeout
        self._events = EventDispatcher()
        self._hearings = ProgressRouter()
        self._live = OfficeTracker(self._office, self._events, keeping=live, members=self.list_room, read=self._look)
        self._seat = Membership(
            "agent",
            name,
            ServerAddress(
                url=url,
                path=path,
                token=token,
                api_key=api_key,
                headers=headers,
                transports=transports,
                ssl_context=ssl_context,
                patience=timeout,
            ),
            self._heard,
            office_id=office_id,
            backoff=backoff,
            callbacks=MembershipCallbacks(
                connected=lambda: self._events.tell("connected"),
                moved=lambda _: self._moved(),
                joined=self._live.joined,
                disconnected=lambda why: self._events.tell("disconnected", data={"problem": why}),
            ),
            log=log,
        )
        self._subscriptions = AgentSubscriptions(self._ask, self._events)
        self._events.on("*", self._subscriptions.heard)
        self._asker = RetryingRequester(self._seat, timeout, there=lambda computer: computer in self._office.computers)
        if (handler := self._finder_handler()) is not None:
            self._events.on("update_finder", handler)

    @property
    def name(self) -> str:
        """The Agent's name."""
        return self._name

    @property
    def office(self) -> OfficeView:
        """What is known of the Computers in the office."""
        return self._office

    @property
    def status(self) -> ConnectionStatus:
        """Where the connection stands."""
        return self._seat.status

    @property
    def office_id(self) -> str | None:
        """The office it is in at this moment."""
        return self._seat.office_id

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # Coming and going

    async def connect(self) -> None:
        """Connect, and join the office if one was named; from then on stay connected.

        Raises:
            SMCPError: The server refused: the credentials, the office, the name.
            ConnectionError: There is no such server.
        """
        await self._seat.connect()
        await self._live.arrived()

    async def close(self) -> None:
        """Leave, and end the connection; requests that are under way fail."""
        await self._subscriptions.close()
        await self._asker.close()
        await self._live.close()
        await self._seat.close()
        await self._events.close()

    async def join(self, office_id: str) -> None:
        """Join an office.

        Raises:
            SMCPError: The server refused: another Agent is there, the name is taken, it is not for these credentials.
            ConnectionError: There is no connection.
        """
        if not self._seat.open:
            raise ConnectionError("There is no connection; connect first")
        before = self._seat.wanted
        if not await self._seat.join(office_id):
            try:
                await self._join_later()
            except BaseException:
                self._seat.want(before)
                raise
        await self._live.arrived()

    async def leave(self) -> None:
        """Leave the office and stay connected.

        Raises:
            SMCPError: The server refused; it stays where it was.
        """
        await self._seat.leave()

    async def settled(self) -> None:
        """Wait until everything that is known to have changed in the office has been read anew."""
        await self._live.settled()

    async def list_room(self) -> list[SessionInfo]:
        """List who is in the office, this Agent included.

        Raises:
            SMCPError: As every request: what the server or the Computer answered, `NotInOffice` where there is no seat.
            RequestTimeout: No answer came in time.
            ConnectionError: The client is closed, or was never connected.
        """
        request = {"agent": self._name, "req_id": self._asker.new_id(), "office_id": self._seat.wanted or ""}
        reply = await self._asker.ask(LIST_ROOM_EVENT, request, within=self._timeout)
        sessions: list[SessionInfo] = reply_to(LIST_ROOM_EVENT, reply)["sessions"]
        return sessions

    # Tools

    async def get_tools(self, computer: str) -> list[SMCPTool]:
        """List the tools of a Computer.

        Raises:
            NotFound: No such Computer is in the office.
            SMCPError: As `list_room`.
        """
        mark = self._live.mark(computer, TOOLS)
        tools: list[SMCPTool] = (await self._ask(GET_TOOLS_EVENT, computer))["tools"]
        self._live.seen(computer, TOOLS, mark, tools)
        return tools

    async def call_tool(
        self,
        computer: str,
        tool_name: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float = 60,  # noqa: ASYNC109 - it travels to the Computer
        req_id: str | None = None,
        on_progress: ProgressHandler | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallToolResult:
        """Run a tool and return its result, which has `isError` where the tool failed.

        A call that takes longer than `timeout` seconds is cancelled at the Computer, and its result has `isError` and
        `meta["timeout"]`. Whoever gives up waiting for this call cancels it at the Computer too. Where the tool ran,
        but its result cannot be delivered, the result has `isError` and `meta["ran"]`; if it could not be fetched in
        time, the same `req_id` fetches it.

        Args:
            req_id: Names the call: the same one again, within some minutes, gets the same result and does not run the
                tool twice. A Computer with a journal remembers it for a day, also across restarts: a call that had
                started and has no result answers with `isError` and `meta["interrupted"]`. It may have run, and never
                runs again for this id.
            on_progress: Is called with what the tool says of how far it is, in order, for the last time before the
                result is returned. Many reports make few; one that it fails at is logged. It extends no time-out.
            meta: MCP's `_meta` of the request, such as `{"traceparent": …}`; it reaches the MCP server.

        Raises:
            ToolNotFound, ToolDisabled, ConfirmationRequired: The tool did not run.
            ToolStarting: Its MCP server was still starting when `timeout` was over; the tool did not run.
            NotFound: No such Computer is in the office, or it left before it answered and is not back soon.
            SMCPError: As `list_room`.
        """
        req_id = req_id if req_id is not None else self._asker.new_id()
        request = self._request(
            TOOL_CALL_EVENT,
            computer,
            req_id,
            tool_name=tool_name,
            params=plain_params(params),
            timeout=whole_seconds(timeout),
            meta=plain_params(meta) if meta else None,
        )
        if on_progress is None:
            return await self._call(request, timeout)
        request[ACCEPT_PROGRESS] = True
        async with self._hearings.of(computer, req_id, on_progress) as hearing:
            return hearing.end(await self._call(request, timeout))

    async def cancel(self, req_id: str) -> None:
        """Cancel a tool call of this Agent; one that has ended is left alone.

        Raises:
            SMCPError: As `list_room`.
        """
        parse_request(CANCEL_TOOL_CALL_EVENT, {"agent": self._name, "req_id": req_id})
        await self._asker.cancel(req_id, within=self._timeout)

    # What a Computer has

    async def get_desktop(self, computer: str, *, size: int | None = None, window: str | None = None) -> list[Desktop]:
        """Read the windows of a Computer, rendered, the most important first; raises as `get_tools`.

        Args:
            size: The most windows; all by default.
            window: Only the window of this URI.
        """
        mark = self._live.mark(computer, DESKTOP)
        reply = await self._ask(GET_DESKTOP_EVENT, computer, desktop_size=size, window=window)
        windows: list[Desktop] = reply.get("desktops", [])
        if size is None and window is None:
            self._live.seen(computer, DESKTOP, mark, windows)
        return windows

    async def get_finder(
        self,
        computer: str,
        keywords: Sequence[str] | None = None,
        file_type: str | None = None,
        offset: int = 0,
        limit: int = DEFAULT_LIMIT,
    ) -> GetFinderRet:
        """Read a page of a Computer's document catalogue; raises as `get_tools`.

        Args:
            keywords: Documents that have any of these in title, keywords or summary.
            file_type: Documents of exactly this type, such as `pdf`.
        """
        mark = self._live.mark(computer, FINDER)
        asked = {
            "keywords": keyword_list(keywords),
            "file_type": file_type,
            "offset": offset or None,
            "limit": limit if limit != DEFAULT_LIMIT else None,
        }
        reply: GetFinderRet = await self._ask(GET_FINDER_EVENT, computer, **asked)
        if all(value is None for value in asked.values()):
            self._live.seen(computer, FINDER, mark, reply)
        return reply

    # Events

    def on(self, kind: str, handler: EventHandler) -> Callable[[], None]:
        """Call `handler` for every event of a kind, or of any kind for `*`; returns what ends that.

        Each handler gets its events in order, one at a time. One that fails is logged, one that is slow is behind; it
        hurts nobody else.

        Raises:
            BadRequest: There is no such kind.
        """
        return self._events.on(kind, handler)

    def events(self) -> OfficeEventStream:
        """Iterate over all events from now on, until the client closes; whoever is too slow loses the oldest."""
        return self._events.stream()

    # Behind the scenes

    def _request(self, event: str, computer: str, req_id: str, **fields: Any) -> dict[str, Any]:
        given = {key: value for key, value in fields.items() if value is not None}
        return parse_request(event, {"agent": self._name, "req_id": req_id, "computer": computer, **given})

    async def _ask(self, event: str, computer: str, **fields: Any) -> Any:
        request = self._request(event, computer, self._asker.new_id(), **fields)
        return reply_to(event, await self._asker.fetch(event, request, within=self._timeout))

    async def _call(self, request: dict[str, Any], seconds: float) -> CallToolResult:
        req_id, tool_name = request["req_id"], request["tool_name"]
        try:
            return tool_result(await self._asker.fetch(TOOL_CALL_EVENT, request, within=seconds + GRACE))
        except ResultNotFetched as missed:
            return unfetched(tool_name, req_id, missed.problem)
        except asyncio.CancelledError:
            self._asker.recall(req_id)
            raise
        except RequestTimeout:
            recall = self._asker.recall(req_id)
            if self._seat.here is None:
                return timed_out(tool_name, seconds, req_id, self.status.problem or self.status.state)
            await asyncio.wait([recall], timeout=GRACE)
            return timed_out(tool_name, seconds, req_id)

    async def _look(self, computer: str, aspect: str) -> Any:
        if aspect == TOOLS:
            return await self.get_tools(computer)
        return await (self.get_desktop(computer) if aspect == DESKTOP else self.get_finder(computer))

    async def _join_later(self) -> None:
        """Wait for the connection that is broken at the moment, and for the seat."""
        try:
            async with asyncio.timeout(self._timeout):
                while self._seat.open:
                    with suppress(ConnectionError):
                        return await self._seat.settle()
        except RequestTimeout:
            raise
        except TimeoutError:
            raise RequestTimeout(
                f"Could not join within {seconds_text(self._timeout)}: {self.status.problem}"
            ) from None
        raise ConnectionError("The connection was closed")

    def _moved(self) -> None:
        self._live.moved()
        self._subscriptions.clear()

    def _heard(self, _: SmcpConnection, number: int | None, event: str, payload: Any) -> None:  # noqa: ARG002
        if event == UPDATE_PROGRESS_NOTIFICATION:
            self._hearings.hear(payload)
            return
        if event == ENTER_OFFICE_NOTIFICATION and isinstance(payload, Mapping):
            self._asker.came(str(payload.get("computer")))
        elif event == UPDATE_TOOL_LIST_NOTIFICATION:
            self._asker.news()
        self._live.heard(event, payload)
