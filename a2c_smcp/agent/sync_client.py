# Generated from resources.py, client.py by tools/gen_blocking.py. Edit the sources, not this file.
"""The Agent's client for code that waits: what `AsyncSMCPAgentClient` does, done when it returns."""

import ssl
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from a2c_smcp.agent.client import AsyncSMCPAgentClient, DEFAULT_LIMIT
from a2c_smcp.agent.loop_thread import BlockingClientBase, BlockingEventStream, BlockingHandler, BlockingProgressHandler
from a2c_smcp.agent.office_view import OfficeView
from a2c_smcp.agent.sync_conveniences import SyncConveniences
from a2c_smcp.connection.connection import Secret
from a2c_smcp.connection.reconnect import Backoff
from a2c_smcp.connection.status import ConnectionStatus
from a2c_smcp.messages import (
    CallToolResult,
    CompleteRet,
    GetComputerConfigRet,
    GetFinderRet,
    GetResourceTemplatesRet,
    GetResourcesRet,
    ReadResourceRet,
    SMCPTool,
    SessionInfo,
)
from a2c_smcp.smcp import SOCKETIO_PATH
from a2c_smcp.types import Desktop


class SMCPAgentClient(BlockingClientBase, SyncConveniences):
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
        transports: tuple[str, ...] = ('websocket',),
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
        self._follow(self._agent.on)

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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

    def connect(self) -> None:
        """Connect, and join the office if one was named; from then on stay connected.

        Raises:
            SMCPError: The server refused: the credentials, the office, the name.
            ConnectionError: There is no such server.
        """
        self._begin(self._agent.connect)

    def close(self) -> None:
        """Leave, and end the connection; requests that are under way fail."""
        self._end(self._agent.close)

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
        timeout: float = 60,
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
        with self._telling(on_progress) as told:
            call = self._agent.call_tool(computer, tool_name, params, timeout=timeout, req_id=req_id, on_progress=told, meta=meta)
            return self._thread.run(call)

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
        return self._listen(self._agent.on, kind, handler)

    def events(self) -> BlockingEventStream:
        """Iterate over all events from now on, until the client closes; whoever is too slow loses the oldest."""
        return self._stream(self._agent.events)

    def get_config(self, computer: str) -> GetComputerConfigRet:
        """Read a Computer's configuration, secrets left out; raises as `get_tools`.

        A server that runs and tells models about itself has that text as `instructions`.
        """
        return self._thread.run(self._agent.get_config(computer))

    def read_result(
        self,
        computer: str,
        uri: str,
        *,
        mcp_server: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> ReadResourceRet:
        """Read a resource of any scheme and return the answer of its MCP server: `contents`, and `meta` if it has one.

        Args:
            mcp_server: The MCP server to read from; needed where several of the Computer's serve the URI.
            meta: MCP's `_meta` of the request, such as `{"traceparent": …}`; it reaches the MCP server.

        Raises:
            BadRequest: Several MCP servers serve the URI; `details["mcp_servers"]` names them.
            DocumentNotFound, PageOutOfRange, ElementNotFound: A `dpe://` URI points at nothing.
            InvalidDPEUri: A `dpe://` URI broke a rule.
            SMCPError: As `get_tools`.
        """
        return self._thread.run(self._agent.read_result(computer, uri, mcp_server=mcp_server, meta=meta))

    def read_contents(self, computer: str, uri: str, *, mcp_server: str | None = None) -> list[dict[str, Any]]:
        """Read a resource of any scheme and return its MCP contents as they are: each has `text` or `blob`.

        Raises as `read_result`.
        """
        return self._thread.run(self._agent.read_contents(computer, uri, mcp_server=mcp_server))

    def read_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> dict[str, Any]:
        """Read a resource of any scheme and return it as a dict; raises as `read_result`.

        JSON objects come parsed, Markdown as `content_markdown` and other text as `content_text` with `title` and
        `uri`, binaries as base64 in `blob`.
        """
        return self._thread.run(self._agent.read_resource(computer, uri, mcp_server=mcp_server))

    def read_document_metadata(self, computer: str, uri: str) -> dict[str, Any]:
        """Read what is known of a document; raises as `read_result`."""
        return self._thread.run(self._agent.read_document_metadata(computer, uri))

    def read_document_pages(self, computer: str, uri: str, offset: int = 0, limit: int = 20) -> dict[str, Any]:
        """Read what is known of a document, and a window of its page index; raises as `read_result`."""
        return self._thread.run(self._agent.read_document_pages(computer, uri, offset, limit))

    def read_page(self, computer: str, uri: str, page_index: int, format: str = 'json') -> dict[str, Any]:
        """Read a page of a document, as `json`, `markdown` or `text`; raises as `read_result`."""
        return self._thread.run(self._agent.read_page(computer, uri, page_index, format))

    def read_element(self, computer: str, uri: str, element_id: str) -> dict[str, Any]:
        """Read an element of a document in full; raises as `read_result`."""
        return self._thread.run(self._agent.read_element(computer, uri, element_id))

    def get_resources(self, computer: str, mcp_server: str | None = None, cursor: str | None = None) -> GetResourcesRet:
        """List the resources of one MCP server, a page at a time, or all that all of them have; raises as `get_tools`.

        Args:
            mcp_server: Its name in the Computer's configuration. Without one, servers that cannot list are left out.
            cursor: The former page's `next_cursor`.
        """
        return self._thread.run(self._agent.get_resources(computer, mcp_server, cursor))

    def get_resource_templates(
        self,
        computer: str,
        mcp_server: str | None = None,
        cursor: str | None = None,
    ) -> GetResourceTemplatesRet:
        """List the resource templates of one MCP server, or of all, as `get_resources` lists resources."""
        return self._thread.run(self._agent.get_resource_templates(computer, mcp_server, cursor))

    def subscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> str | None:
        """Hear of updates of a resource of any scheme, as events of the kind `update_resources`.

        A subscription lasts until it is ended or the Agent goes to another office. When the Computer, or the
        connection, was away, it is made again, and the resource is reported as updated.

        Returns:
            The MCP server whose resource it is.

        Raises:
            BadRequest: Several MCP servers serve the URI, or its server takes no subscriptions.
            RateLimited: The Agent has as many subscriptions at the Computer as it may have.
            SMCPError: As `get_tools`.
        """
        return self._thread.run(self._agent.subscribe_resource(computer, uri, mcp_server=mcp_server))

    def unsubscribe_resource(self, computer: str, uri: str, *, mcp_server: str | None = None) -> None:
        """End a subscription, named as it was made; raises as `get_tools`."""
        return self._thread.run(self._agent.unsubscribe_resource(computer, uri, mcp_server=mcp_server))

    def complete(
        self,
        computer: str,
        mcp_server: str | None,
        ref: Mapping[str, Any],
        argument: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
    ) -> CompleteRet:
        """Ask an MCP server for values of an argument of a prompt or a resource template; raises as `get_tools`.

        Args:
            mcp_server: The MCP server to ask; None where only one of the Computer's offers what `ref` refers to.
            ref: The MCP reference, such as `{"type": "ref/resource", "uri": "dpe://host/{doc_ref}"}`.
            argument: `{"name": …, "value": what has been typed so far}`.
            context: The values chosen before: `{"arguments": {…}}`.
            meta: MCP's `_meta` of the request.
        """
        return self._thread.run(self._agent.complete(computer, mcp_server, ref, argument, context, meta=meta))
