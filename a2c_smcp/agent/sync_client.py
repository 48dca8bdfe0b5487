# Generated from client.py by tools/gen_sync.py. Edit the source, not this file.
"""The Agent's client: joins an office, sends requests to its Computers, calls tools, and tracks the office."""

import ssl
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from a2c_smcp.agent.client import AsyncSMCPAgentClient, DEFAULT_LIMIT
from a2c_smcp.agent.events import FinderHook
from a2c_smcp.agent.loop_thread import BlockingEventStream, BlockingHandler, BlockingProgressHandler
from a2c_smcp.agent.office_view import OfficeView
from a2c_smcp.agent.sync_conveniences import SyncConveniences
from a2c_smcp.agent.sync_resources import SyncResourceMethods
from a2c_smcp.common.backoff import Backoff
from a2c_smcp.connection.connection import Secret
from a2c_smcp.connection.status import ConnectionStatus
from a2c_smcp.messages import CallToolResult, GetFinderRet, SMCPTool, SessionInfo
from a2c_smcp.smcp import SOCKETIO_PATH
from a2c_smcp.types import Desktop


class SMCPAgentClient(SyncResourceMethods, SyncConveniences, FinderHook):
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
        super().__init__(name)
        self._agent = AsyncSMCPAgentClient(
            url,
            name=name,
            office_id=office_id,
            token=token,
            api_key=api_key,
            headers=headers,
            path=path,
            timeout=timeout,
            live=live,
            backoff=backoff,
            transports=transports,
            ssl_context=ssl_context,
        )
        self._install_hooks(self._agent.on)

    @property
    def name(self) -> str:
        """The Agent's name."""
        return self._agent.name

    @property
    def office(self) -> OfficeView:
        """The tracked state of the Computers in the office."""
        return self._agent.office

    @property
    def status(self) -> ConnectionStatus:
        """State of the connection."""
        return self._agent.status

    @property
    def office_id(self) -> str | None:
        """The office that the Agent is in now."""
        return self._agent.office_id

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def connect(self) -> None:
        """Connect, and join the office if one is set; then stay connected.

        Raises:
            SMCPError: The server refused: the credentials, the office, the name.
            ConnectionError: The server cannot be reached.
        """
        self._start(self._agent.connect)

    def close(self) -> None:
        """Leave the office and disconnect; pending requests fail."""
        self._stop(self._agent.close)

    def join(self, office_id: str) -> None:
        """Join an office.

        Raises:
            SMCPError: The server refused: the office has an Agent, or the name or credentials are not accepted.
            ConnectionError: The client is not connected.
        """
        return self._thread.run(self._agent.join(office_id))

    def leave(self) -> None:
        """Leave the office and stay connected.

        Raises:
            SMCPError: The server refused; the Agent stays in the office.
        """
        return self._thread.run(self._agent.leave())

    def settled(self) -> None:
        """Wait until every view of the office that is known to be stale has been read again."""
        return self._thread.run(self._agent.settled())

    def list_room(self) -> list[SessionInfo]:
        """List the members of the office, including this Agent.

        Raises:
            SMCPError: Any request: the error reply of the server or the Computer; `NotInOffice` outside an office.
            RequestTimeout: No reply arrived in time.
            ConnectionError: The client is closed, or was never connected.
        """
        return self._thread.run(self._agent.list_room())

    def get_tools(self, computer: str) -> list[SMCPTool]:
        """List the tools of a Computer.

        Raises:
            NotFound: No such Computer is in the office.
            SMCPError: As `list_room`.
        """
        return self._thread.run(self._agent.get_tools(computer))

    def call_tool(
        self,
        computer: str,
        tool_name: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float = 60,  # noqa: ASYNC109 - it travels to the Computer
        req_id: str | None = None,
        on_progress: BlockingProgressHandler | None = None,
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
        with self._handler_thread(on_progress) as handler:
            return self._thread.run(self._agent.call_tool(
                computer,
                tool_name,
                params,
                timeout=timeout,
                req_id=req_id,
                on_progress=handler,
                meta=meta,
            ))

    def cancel(self, req_id: str) -> None:
        """Cancel a tool call of this Agent; does nothing if the call has ended.

        Raises:
            SMCPError: As `list_room`.
        """
        return self._thread.run(self._agent.cancel(req_id))

    def get_desktop(self, computer: str, *, size: int | None = None, window: str | None = None) -> list[Desktop]:
        """Return the rendered windows of a Computer, most important first; raises as `get_tools`.

        Args:
            size: Maximum number of windows; default all.
            window: Only the window of this URI.
        """
        return self._thread.run(self._agent.get_desktop(computer, size=size, window=window))

    def get_finder(
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
        return self._thread.run(self._agent.get_finder(computer, keywords, file_type, offset, limit))

    def on(self, kind: str, handler: BlockingHandler) -> Callable[[], None]:
        """Call `handler` for every event of a kind, or of any kind for `*`; returns an unsubscribe function.

        Each handler gets its events in order, one at a time. Its exceptions are logged, and a slow handler delays no
        other.

        Raises:
            BadRequest: There is no such kind.
        """
        return self._subscribe(self._agent.on, kind, handler)

    def events(self) -> BlockingEventStream:
        """Return an iterator of all events from now on, until the client closes; a slow reader loses the oldest."""
        return self._stream(self._agent.events)
