"""An office as an MCP server: what clients ask becomes what an Agent asks, and the answers go back."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from mcp import MCPError, types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from a2c_smcp import __version__
from a2c_smcp.bridge.jsonrpc_errors import as_mcp_error, invalid_params
from a2c_smcp.bridge.mcp_results import failed_result, page_of, resource_contents, tool_result
from a2c_smcp.bridge.office_catalog import OfficeCatalog
from a2c_smcp.bridge.office_client import OfficeClient
from a2c_smcp.bridge.office_watcher import OfficeWatcher
from a2c_smcp.bridge.progress import reporting
from a2c_smcp.bridge.reading_tools import NAMES, TOOLS, ReadingTools
from a2c_smcp.bridge.resources import OfficeResources, TemplateCompleter
from a2c_smcp.bridge.tools import OfficeTools
from a2c_smcp.errors import BadRequest, InternalError, NotInOffice, SMCPError
from a2c_smcp.messages import passed_on
from a2c_smcp.smcp import SMCPTool

log = logging.getLogger(__name__)

Context: TypeAlias = ServerRequestContext[Any, Any]
Handler: TypeAlias = Callable[[Context, Any], Awaitable[dict[str, Any]]]

CACHEABLE: Final[tuple[CacheableMethod, ...]] = (
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
)
"""Methods that need cache hints in the newer era; no result of an office has a known lifetime."""

COMPLETE: Final = {"resultType": "complete"}
"""Required in every result of the newer era."""

INSTRUCTIONS: Final = (
    "The office {office!r}: tools, windows and documents of other machines (Computers). The name of a tool begins with "
    "the Computer it works on, as in desk__search; its _meta names it, too (a2c/computer). Resources are "
    "a2c://COMPUTER/@SERVER/SCHEME/...: a2c://desk/@board/window/... is what the MCP server board shows on the "
    "screen of desk, a2c://desk/@files/dpe/HOST/DOCUMENT a document there, with /pages/N and /elements/ID for its "
    "parts. The Computer's own URIs (dpe://..., window://...), which stand in what you read, can be read as well as "
    "long as only one MCP server has them. Tools, windows and documents come and go."
)
MAX_INSTRUCTIONS: Final = 40_000
"""Maximum length of the instructions, in characters."""

INSTRUCTIONS_SECONDS: Final = 2.0
"""Seconds that a handshake waits for the instructions of the office's MCP servers."""


@dataclass(frozen=True, slots=True)
class BridgeSettings:
    """How the bridge behaves.

    Attributes:
        plain_names: Whether a tool that only one Computer has keeps its own name. A name may then refer to another
            machine after Computers join or leave.
        reading_tools: Whether to offer tools that read windows and documents.
        call_timeout: Seconds for a tool call; clients may cancel earlier.
        progress: Seconds between keep-alive progress notifications for a silent tool, if the client requested progress.
        patience: Seconds that a request waits for a lost connection to be restored.
        page: Items per page of a list.
    """

    plain_names: bool = False
    reading_tools: bool = False
    call_timeout: float = 600.0
    progress: float = 5.0
    patience: float = 5.0
    page: int = 500


class Bridge:
    """Serves an office to any number of MCP clients.

    Args:
        office: The Agent's client; it does not need `live`.
        name: Name of the office for people and models.
    """

    def __init__(self, office: OfficeClient, name: str, settings: BridgeSettings | None = None) -> None:
        self.settings = settings if settings is not None else BridgeSettings()
        self.name = name
        self._office = office
        self._catalog = OfficeCatalog(office)
        self._watcher = OfficeWatcher(office, self._catalog)
        self._resources = OfficeResources(office, self._catalog)
        self._completer = TemplateCompleter(office, self._catalog)
        self._reading = ReadingTools(office, self._catalog, self._resources)
        self._reserved = NAMES if self.settings.reading_tools else frozenset[str]()
        self._named: tuple[Mapping[str, Sequence[SMCPTool]], OfficeTools] | None = None
        self._joined = asyncio.Event()
        self._problem = ""
        self.server = self._make_server()

    # Membership of the Agent

    def subscribe(self) -> Callable[[], None]:
        """Subscribe to the events of the office; returns an unsubscribe function."""
        subscriptions = [
            self._office.on("*", self._watcher.on_event),
            self._office.on("joined", lambda _: self.on_joined()),
            self._office.on("disconnected", lambda event: self.on_disconnected(str(event.data.get("problem", "")))),
        ]

        def unsubscribe() -> None:
            for end in subscriptions:
                end()

        return unsubscribe

    def on_joined(self) -> None:
        """Record that the Agent is in the office."""
        self._joined.set()

    def on_disconnected(self, problem: str) -> None:
        """Record that the Agent is not in the office and tries to rejoin."""
        self._problem = problem
        self._joined.clear()
        self._watcher.missed = True

    async def close(self) -> None:
        """End the streams of clients and all requests."""
        await self._watcher.close()
        await self._catalog.close()

    async def _wait_joined(self) -> None:
        if self._joined.is_set():
            return
        try:
            async with asyncio.timeout(self.settings.patience):
                await self._joined.wait()
        except TimeoutError:
            why = f" ({self._problem})" if self._problem else ""
            message = f"The office {self.name!r} cannot be reached now{why}; the bridge keeps trying"
            raise NotInOffice(message) from None

    # Requests of clients

    async def _list_tools(self, _: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        own = TOOLS if self.settings.reading_tools else ()
        found = sorted([*own, *(await self._tools()).in_mcp], key=lambda tool: str(tool["name"]))
        page, following = self._page(found, lambda tool: (tool["name"],), params)
        return {"tools": list(page)} | _next(following)

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> dict[str, Any]:
        if params.name in self._reserved:
            try:
                return await self._reading.call(params.name, params.arguments or {})
            except SMCPError as error:  # a result, not a JSON-RPC error, so that the model reads it
                return failed_result(error)
        named = (await self._tools()).find(params.name)
        computer, tool = named.computer or "", named.tool["name"]
        server = named.tool.get("bundle_id")
        run = partial(
            self._office.call_tool,
            computer,
            tool,
            params.arguments,
            timeout=self.settings.call_timeout,
            meta=_meta(context),
        )
        if not (context.meta and "progress_token" in context.meta):
            return tool_result(await run(), computer, server)
        doing = f"{tool} is running on {computer}"
        async with reporting(context.session.report_progress, doing, self.settings.progress) as report:
            return tool_result(await run(on_progress=report), computer, server)

    async def _list_resources(self, _: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        page, following = self._page(await self._resources.keys(), lambda key: key, params)
        return {"resources": await self._resources.described(page)} | _next(following)

    async def _list_templates(self, _: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        page, following = self._page(await self._resources.template_keys(), lambda key: key, params)
        return {"resourceTemplates": await self._resources.templates_described(page)} | _next(following)

    async def _read(self, context: Context, params: types.ReadResourceRequestParams) -> dict[str, Any]:
        address, found = await self._resources.read(params.uri, _meta(context))
        meta = found.get("meta")
        return {"contents": resource_contents(found["contents"], params.uri, address)} | (
            {"_meta": meta} if meta else {}
        )

    async def _complete(self, context: Context, params: types.CompleteRequestParams) -> dict[str, Any]:
        return {"completion": await self._completer.complete(params, _meta(context))}

    async def _subscribe(self, context: Context, params: types.SubscribeRequestParams) -> dict[str, Any]:
        await self._watcher.notifier.subscribe(context, params.uri)
        return {}

    async def _unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> dict[str, Any]:
        self._watcher.notifier.unsubscribe(context, params.uri)
        return {}

    async def _initialized(self, context: Context, _: types.NotificationParams) -> None:
        self._watcher.notifier.client_ready(context)

    async def _listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        try:
            return await self._watcher.notifier.listen_handler()(context, params)
        except SMCPError as error:
            raise as_mcp_error(error) from None

    # Internals

    async def _tools(self) -> OfficeTools:
        tools = await self._catalog.all_tools()
        if self._named is None or self._named[0] != tools:
            self._named = (tools, OfficeTools(tools, plain=self.settings.plain_names, reserved=self._reserved))
        return self._named[1]

    def _page(
        self, items: Sequence[Any], key: Callable[[Any], tuple[str, ...]], params: types.PaginatedRequestParams
    ) -> tuple[Sequence[Any], str | None]:
        try:
            return page_of(items, key, params.cursor, self.settings.page)
        except BadRequest as error:
            raise invalid_params(error) from None

    def _answering(self, handler: Handler) -> Handler:
        async def answer(context: Context, params: Any) -> dict[str, Any]:
            try:
                await self._wait_joined()
                result = await handler(context, params)
            except SMCPError as error:
                log.info("request failed: %s code=%d method=%s", type(error).__name__, error.code, context.method)
                raise as_mcp_error(error) from None
            except ConnectionError as error:
                raise as_mcp_error(
                    NotInOffice(f"The connection to the office {self.name!r} was lost: {error}")
                ) from None
            except MCPError:
                raise
            except Exception as problem:
                log.exception("request failed: unexpected error method=%s", context.method)
                message = f"{context.method} failed in the bridge ({type(problem).__name__}); see its log"
                raise as_mcp_error(InternalError(message)) from None
            return result | COMPLETE if context.protocol_version in MODERN_PROTOCOL_VERSIONS else result

        return answer

    async def _instruct(self, ctx: Context, call_next: Callable[[Context], Awaitable[Any]]) -> Any:
        """Add the instructions of the office's MCP servers to the handshake."""
        result = await call_next(ctx)
        if ctx.method in ("initialize", "server/discover") and isinstance(result, dict):
            return result | {"instructions": await self._instructions()}
        return result

    async def _instructions(self) -> str:
        parts = [INSTRUCTIONS.format(office=self.name)]
        try:
            async with asyncio.timeout(INSTRUCTIONS_SECONDS):
                await self._joined.wait()
                found = await self._catalog.instructions()
            parts += (f"Instructions of {server} on {name}:\n{text}" for (name, server), text in sorted(found.items()))
        except (SMCPError, ConnectionError, TimeoutError) as error:
            log.info("instructions not available: %s", str(error) or "time-out")
        return "\n\n".join(parts)[:MAX_INSTRUCTIONS]

    def _make_server(self) -> "_OfficeServer":
        server = _OfficeServer(
            "a2c",
            version=__version__,
            title=f"Office {self.name}",
            instructions=INSTRUCTIONS.format(office=self.name),
            cache_hints=dict.fromkeys(CACHEABLE, CacheHint()),
            on_subscriptions_listen=self._listen,
        )
        page = types.PaginatedRequestParams
        handlers: Mapping[str, tuple[type[BaseModel], Handler]] = {
            "tools/list": (page, self._list_tools),
            "tools/call": (types.CallToolRequestParams, self._call_tool),
            "resources/list": (page, self._list_resources),
            "resources/templates/list": (page, self._list_templates),
            "resources/read": (types.ReadResourceRequestParams, self._read),
            "resources/subscribe": (types.SubscribeRequestParams, self._subscribe),
            "resources/unsubscribe": (types.UnsubscribeRequestParams, self._unsubscribe),
            "completion/complete": (types.CompleteRequestParams, self._complete),
        }
        for method, (params, handler) in handlers.items():
            server.add_request_handler(method, params, self._answering(handler))
        server.middleware.append(self._instruct)
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self._initialized)
        return server


class _OfficeServer(Server[Any]):
    """A server that declares changing lists on every transport."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        changing = notification_options or NotificationOptions(resources_changed=True, tools_changed=True)
        return super().create_initialization_options(changing, experimental_capabilities, extensions)


def _meta(context: Context) -> dict[str, Any] | None:
    """Return the part of a request's `_meta` that is passed on to the MCP server."""
    given = (context.params or {}).get("_meta")
    return passed_on(given) or None if isinstance(given, Mapping) else None


def _next(cursor: str | None) -> dict[str, str]:
    return {} if cursor is None else {"nextCursor": cursor}
