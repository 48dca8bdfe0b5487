# Generated from client.py by tools/gen_sync.py. Edit the source, not this file.
"""The Agent's client: it sits in an office, asks its Computers, calls their tools, and keeps what it knows current."""

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
        """What is known of the Computers in the office."""
        return self._agent.office

    @property
    def status(self) -> ConnectionStatus:
        """Where the connection stands."""
        return self._agent.status

    @property
    def office_id(self) -> str | None:
        """The office it is in at this moment."""
        return self._agent.office_id

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def connect(self) -> None:
        """Connect, and join the office if one was named; from then on stay connected.

        Raises:
            SMCPError: The server refused: the credentials, the office, the name.
            ConnectionError: There is no such server.
        """
        self._start(self._agent.connect)

    def close(self) -> None:
        """Leave, and end the connection; requests that are under way fail."""
        self._stop(self._agent.close)

    def join(self, office_id: str) -> None:
        """Join an office.

        Raises:
            SMCPError: The server refused: another Agent is there, the name is taken, it is not for these credentials.
            ConnectionError: There is no connection.
        """
        return self._thread.run(self._agent.join(office_id))

    def leave(self) -> None:
        """Leave the office and stay connected.

        Raises:
            SMCPError: The server refused; it stays where it was.
        """
        return self._thread.run(self._agent.leave())

    def settled(self) -> None:
        """Wait until everything that is known to have changed in the office has been read anew."""
        return self._thread.run(self._agent.settled())

    def list_room(self) -> list[SessionInfo]:
        """List who is in the office, this Agent included.

        Raises:
            SMCPError: As every request: what the server or the Computer answered, `NotInOffice` where there is no seat.
            RequestTimeout: No answer came in time.
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
        """Cancel a tool call of this Agent; one that has ended is left alone.

        Raises:
            SMCPError: As `list_room`.
        """
        return self._thread.run(self._agent.cancel(req_id))

    def get_desktop(self, computer: str, *, size: int | None = None, window: str | None = None) -> list[Desktop]:
        """Read the windows of a Computer, rendered, the most important first; raises as `get_tools`.

        Args:
            size: The most windows; all by default.
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
        """Read a page of a Computer's document catalogue; raises as `get_tools`.

        Args:
            keywords: Documents that have any of these in title, keywords or summary.
            file_type: Documents of exactly this type, such as `pdf`.
        """
        return self._thread.run(self._agent.get_finder(computer, keywords, file_type, offset, limit))

    def on(self, kind: str, handler: BlockingHandler) -> Callable[[], None]:
        """Call `handler` for every event of a kind, or of any kind for `*`; returns what ends that.

        Each handler gets its events in order, one at a time. One that fails is logged, one that is slow is behind; it
        hurts nobody else.

        Raises:
            BadRequest: There is no such kind.
        """
        return self._subscribe(self._agent.on, kind, handler)

    def events(self) -> BlockingEventStream:
        """Iterate over all events from now on, until the client closes; whoever is too slow loses the oldest."""
        return self._stream(self._agent.events)
