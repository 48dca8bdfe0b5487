"""The Agent's client: joins an office, sends requests to its Computers, calls tools, and tracks the office."""

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
from a2c_smcp.agent.subscriptions import ResourceSubscriptions
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
"""Seconds after the time-out of a call in which the Computer's own time-out result may arrive."""

DEFAULT_LIMIT: Final = 20


class AsyncSMCPAgentClient(ResourceMethods, Conveniences, FinderHook):
    """A member of an office with the role Agent.

    It stays connected until `close`: after a lost connection it reconnects and rejoins. Pending requests are then sent
    again with the same `req_id`, so no tool runs twice.

    Args:
        url: URL of the server; a path in it is put before `path`.
        name: The Agent's name.
        office_id: The office to join after connecting.
        token: Sent as `auth["token"]`. May be a callable that returns a fresh token for every attempt.
        api_key: Sent as header `x-api-key`; may be a callable too.
        headers: Additional HTTP headers.
        path: Path of Socket.IO on the server.
        timeout: Seconds for connecting, and for every request except tool calls.
        live: Whether to keep `office` current; without it notifications only become events.
        backoff: Delays between connection attempts.
        transports: `("polling", "websocket")` for networks that block websockets at first.
        ssl_context: Trust settings for a certificate that the system does not trust.

    Raises:
        BadRequest: The name or the office is not valid.
        InvalidConfig: The URL is not valid.
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
        self._progress = ProgressRouter()
        self._tracker = OfficeTracker(
            self._office, self._events, enabled=live, members=self.list_room, read=self._read_view
        )
        self._membership = Membership(
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
            self._on_event,
            office_id=office_id,
            backoff=backoff,
            callbacks=MembershipCallbacks(
                connected=lambda: self._events.emit("connected"),
                moved=lambda _: self._on_moved(),
                joined=self._tracker.joined,
                disconnected=lambda why: self._events.emit("disconnected", data={"problem": why}),
            ),
            log=log,
        )
        self._subscriptions = ResourceSubscriptions(self._ask, self._events)
        self._events.on("*", self._subscriptions.on_event)
        self._requests = RetryingRequester(
            self._membership, timeout, is_present=lambda computer: computer in self._office.computers
        )
        if (handler := self._finder_handler()) is not None:
            self._events.on("update_finder", handler)

    @property
    def name(self) -> str:
        """The Agent's name."""
        return self._name

    @property
    def office(self) -> OfficeView:
        """The tracked state of the Computers in the office."""
        return self._office

    @property
    def status(self) -> ConnectionStatus:
        """State of the connection."""
        return self._membership.status

    @property
    def office_id(self) -> str | None:
        """The office that the Agent is in now."""
        return self._membership.office_id

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # Connection and membership

    async def connect(self) -> None:
        """Connect, and join the office if one is set; then stay connected.

        Raises:
            SMCPError: The server refused: the credentials, the office, the name.
            ConnectionError: The server cannot be reached.
        """
        await self._membership.connect()
        await self._tracker.wait_listed()

    async def close(self) -> None:
        """Leave the office and disconnect; pending requests fail."""
        await self._subscriptions.close()
        await self._requests.close()
        await self._tracker.close()
        await self._membership.close()
        await self._events.close()

    async def join(self, office_id: str) -> None:
        """Join an office.

        Raises:
            SMCPError: The server refused: the office has an Agent, or the name or credentials are not accepted.
            ConnectionError: The client is not connected.
        """
        if not self._membership.open:
            raise ConnectionError("The client is not connected: call connect() first")
        before = self._membership.wanted
        if not await self._membership.join(office_id):
            try:
                await self._wait_joined()
            except BaseException:
                self._membership.want(before)
                raise
        await self._tracker.wait_listed()

    async def leave(self) -> None:
        """Leave the office and stay connected.

        Raises:
            SMCPError: The server refused; the Agent stays in the office.
        """
        await self._membership.leave()

    async def settled(self) -> None:
        """Wait until every view of the office that is known to be stale has been read again."""
        await self._tracker.settled()

    async def list_room(self) -> list[SessionInfo]:
        """List the members of the office, including this Agent.

        Raises:
            SMCPError: Any request: the error reply of the server or the Computer; `NotInOffice` outside an office.
            RequestTimeout: No reply arrived in time.
            ConnectionError: The client is closed, or was never connected.
        """
        request = {"agent": self._name, "req_id": self._requests.new_id(), "office_id": self._membership.wanted or ""}
        reply = await self._requests.request(LIST_ROOM_EVENT, request, within=self._timeout)
        sessions: list[SessionInfo] = reply_to(LIST_ROOM_EVENT, reply)["sessions"]
        return sessions

    # Tools

    async def get_tools(self, computer: str) -> list[SMCPTool]:
        """List the tools of a Computer.

        Raises:
            NotFound: No such Computer is in the office.
            SMCPError: As `list_room`.
        """
        version = self._tracker.version(computer, TOOLS)
        tools: list[SMCPTool] = (await self._ask(GET_TOOLS_EVENT, computer))["tools"]
        self._tracker.record(computer, TOOLS, version, tools)
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
        `meta["timeout"]`. Cancelling this method cancels the call at the Computer too. If the tool ran but its result
        cannot be delivered, the result has `isError` and `meta["ran"]`; call again with the same `req_id` to fetch it.

        Args:
            req_id: Identifies the call: the same id within some minutes returns the same result and does not run the
                tool again. A Computer with a journal remembers it for a day, across restarts: a call that had started
                and has no result returns `isError` and `meta["interrupted"]`. The tool may have run, and never runs
                again for this id.
            on_progress: Called with the progress reports of the tool, in order, the last time before the result is
                returned. Frequent reports are coalesced; exceptions are logged. It does not extend the time-out.
            meta: MCP's `_meta` of the request, such as `{"traceparent": …}`; it reaches the MCP server.

        Raises:
            ToolNotFound, ToolDisabled, ConfirmationRequired: The tool did not run.
            ToolStarting: Its MCP server was still starting after `timeout`; the tool did not run.
            NotFound: The Computer is not in the office, or it left before it replied and did not return soon.
            SMCPError: As `list_room`.
        """
        req_id = req_id if req_id is not None else self._requests.new_id()
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
        async with self._progress.route(computer, req_id, on_progress) as receiver:
            return receiver.finish(await self._call(request, timeout))

    async def cancel(self, req_id: str) -> None:
        """Cancel a tool call of this Agent; does nothing if the call has ended.

        Raises:
            SMCPError: As `list_room`.
        """
        parse_request(CANCEL_TOOL_CALL_EVENT, {"agent": self._name, "req_id": req_id})
        await self._requests.cancel(req_id, within=self._timeout)

    # Desktop and Finder

    async def get_desktop(self, computer: str, *, size: int | None = None, window: str | None = None) -> list[Desktop]:
        """Return the rendered windows of a Computer, most important first; raises as `get_tools`.

        Args:
            size: Maximum number of windows; default all.
            window: Only the window of this URI.
        """
        version = self._tracker.version(computer, DESKTOP)
        reply = await self._ask(GET_DESKTOP_EVENT, computer, desktop_size=size, window=window)
        windows: list[Desktop] = reply.get("desktops", [])
        if size is None and window is None:
            self._tracker.record(computer, DESKTOP, version, windows)
        return windows

    async def get_finder(
        self,
        computer: str,
        keywords: Sequence[str] | None = None,
        file_type: str | None = None,
        offset: int = 0,
        limit: int = DEFAULT_LIMIT,
    ) -> GetFinderRet:
        """Return a page of a Computer's document catalogue; raises as `get_tools`.

        Args:
            keywords: Only documents with any of these in title, keywords or summary.
            file_type: Only documents of exactly this type, such as `pdf`.
        """
        version = self._tracker.version(computer, FINDER)
        asked = {
            "keywords": keyword_list(keywords),
            "file_type": file_type,
            "offset": offset or None,
            "limit": limit if limit != DEFAULT_LIMIT else None,
        }
        reply: GetFinderRet = await self._ask(GET_FINDER_EVENT, computer, **asked)
        if all(value is None for value in asked.values()):
            self._tracker.record(computer, FINDER, version, reply)
        return reply

    # Events

    def on(self, kind: str, handler: EventHandler) -> Callable[[], None]:
        """Call `handler` for every event of a kind, or of any kind for `*`; returns an unsubscribe function.

        Each handler gets its events in order, one at a time. Its exceptions are logged, and a slow handler delays no
        other.

        Raises:
            BadRequest: There is no such kind.
        """
        return self._events.on(kind, handler)

    def events(self) -> OfficeEventStream:
        """Return an iterator of all events from now on, until the client closes; a slow reader loses the oldest."""
        return self._events.stream()

    # Internals

    def _request(self, event: str, computer: str, req_id: str, **fields: Any) -> dict[str, Any]:
        given = {key: value for key, value in fields.items() if value is not None}
        return parse_request(event, {"agent": self._name, "req_id": req_id, "computer": computer, **given})

    async def _ask(self, event: str, computer: str, **fields: Any) -> Any:
        request = self._request(event, computer, self._requests.new_id(), **fields)
        return reply_to(event, await self._requests.fetch(event, request, within=self._timeout))

    async def _call(self, request: dict[str, Any], seconds: float) -> CallToolResult:
        req_id, tool_name = request["req_id"], request["tool_name"]
        try:
            return tool_result(await self._requests.fetch(TOOL_CALL_EVENT, request, within=seconds + GRACE))
        except ResultNotFetched as missed:
            return unfetched(tool_name, req_id, missed.problem)
        except asyncio.CancelledError:
            self._requests.cancel_in_background(req_id)
            raise
        except RequestTimeout:
            cancelling = self._requests.cancel_in_background(req_id)
            if self._membership.joined_connection is None:
                return timed_out(tool_name, seconds, req_id, self.status.problem or self.status.state)
            await asyncio.wait([cancelling], timeout=GRACE)
            return timed_out(tool_name, seconds, req_id)

    async def _read_view(self, computer: str, aspect: str) -> Any:
        if aspect == TOOLS:
            return await self.get_tools(computer)
        return await (self.get_desktop(computer) if aspect == DESKTOP else self.get_finder(computer))

    async def _wait_joined(self) -> None:
        """Wait until the lost connection is restored and the office is joined."""
        try:
            async with asyncio.timeout(self._timeout):
                while self._membership.open:
                    with suppress(ConnectionError):
                        return await self._membership.settle()
        except RequestTimeout:
            raise
        except TimeoutError:
            raise RequestTimeout(
                f"Could not join within {seconds_text(self._timeout)}: {self.status.problem}"
            ) from None
        raise ConnectionError("The client was closed")

    def _on_moved(self) -> None:
        self._tracker.reset()
        self._subscriptions.clear()

    def _on_event(self, _: SmcpConnection, number: int | None, event: str, payload: Any) -> None:  # noqa: ARG002
        if event == UPDATE_PROGRESS_NOTIFICATION:
            self._progress.dispatch(payload)
            return
        if event == ENTER_OFFICE_NOTIFICATION and isinstance(payload, Mapping):
            self._requests.computer_joined(str(payload.get("computer")))
        elif event == UPDATE_TOOL_LIST_NOTIFICATION:
            self._requests.tools_changed()
        self._tracker.on_notification(event, payload)
