"""An office as an MCP server: what clients ask becomes what an Agent asks, and the answers go back."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from mcp import MCPError, types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from a2c_smcp import __version__
from a2c_smcp.bridge.completion import Completer
from a2c_smcp.bridge.contents import failed_result, resource_contents, tool_result
from a2c_smcp.bridge.cursors import page_of
from a2c_smcp.bridge.directory import Directory
from a2c_smcp.bridge.office import Office
from a2c_smcp.bridge.problems import as_mcp_error, invalid_params
from a2c_smcp.bridge.progress import reporting
from a2c_smcp.bridge.reading import NAMES, TOOLS, Reading
from a2c_smcp.bridge.resources import Resources
from a2c_smcp.bridge.tools import Tools
from a2c_smcp.bridge.watcher import Watcher
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
"""What the newer era wants a freshness for; nothing of an office is fresh for a known time."""

COMPLETE: Final = {"resultType": "complete"}
"""What the newer era demands in every result."""

INSTRUCTIONS: Final = (
    "The office {office!r}: tools, windows and documents of other machines (Computers). The name of a tool begins with "
    "the Computer it works on, as in desk__search; its _meta names it, too (a2c/computer). Resources are "
    "a2c://COMPUTER/@SERVER/SCHEME/...: a2c://desk/@board/window/... is what the MCP server board shows on the "
    "screen of desk, a2c://desk/@files/dpe/HOST/DOCUMENT a document there, with /pages/N and /elements/ID for its "
    "parts. The Computer's own URIs (dpe://..., window://...), which stand in what you read, can be read as well as "
    "long as only one MCP server has them. Tools, windows and documents come and go."
)
MAX_INSTRUCTIONS: Final = 40_000
"""The most characters that clients are given as instructions."""

INSTRUCTED_WITHIN: Final = 2.0
"""Seconds that a client waits, when it connects, for the instructions of the MCP servers of the office."""


@dataclass(frozen=True, slots=True)
class BridgeSettings:
    """How the bridge behaves.

    Attributes:
        plain_names: Whether a tool that only one Computer has is listed under its own name. Then a name may lead to
            another machine than before when Computers come and go.
        reading_tools: Whether there are tools that read windows and documents, too.
        call_timeout: Seconds that a tool may take; a client that gives up earlier cancels.
        progress: Seconds between signs of life of a running tool that says nothing of its progress, to clients that
            asked for it.
        patience: Seconds for which a request waits for a lost connection to come back.
        page: How many things a page of a list has.
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
        office: The Agent's seat; `live` is not needed.
        name: What the office is called, for people and models.
    """

    def __init__(self, office: Office, name: str, settings: BridgeSettings | None = None) -> None:
        self.settings = settings if settings is not None else BridgeSettings()
        self.name = name
        self._office = office
        self._directory = Directory(office)
        self._watcher = Watcher(office, self._directory)
        self._resources = Resources(office, self._directory)
        self._completer = Completer(office, self._directory)
        self._reading = Reading(office, self._directory, self._resources)
        self._reserved = NAMES if self.settings.reading_tools else frozenset[str]()
        self._named: tuple[Mapping[str, Sequence[SMCPTool]], Tools] | None = None
        self._seated = asyncio.Event()
        self._problem = ""
        self.server = self._make_server()

    # Where the Agent sits

    def follow(self) -> Callable[[], None]:
        """Begin to hear the events of the office; returns what ends that."""
        heard = [
            self._office.on("*", self._watcher.heard),
            self._office.on("joined", lambda _: self.seated()),
            self._office.on("disconnected", lambda event: self.unseated(str(event.data.get("problem", "")))),
        ]

        def end() -> None:
            for unsubscribe in heard:
                unsubscribe()

        return end

    def seated(self) -> None:
        """The Agent is in the office."""
        self._seated.set()

    def unseated(self, problem: str) -> None:
        """The Agent is not in the office, and tries to come back."""
        self._problem = problem
        self._seated.clear()
        self._watcher.missed = True

    async def close(self) -> None:
        """End the streams of clients, and ask no more."""
        await self._watcher.close()
        await self._directory.close()

    async def _seat(self) -> None:
        if self._seated.is_set():
            return
        try:
            async with asyncio.timeout(self.settings.patience):
                await self._seated.wait()
        except TimeoutError:
            why = f" ({self._problem})" if self._problem else ""
            message = f"The office {self.name!r} cannot be reached at the moment{why}; the bridge goes on trying"
            raise NotInOffice(message) from None

    # What clients ask

    async def _list_tools(self, _: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        own = TOOLS if self.settings.reading_tools else ()
        found = sorted([*own, *(await self._tools()).in_mcp], key=lambda tool: str(tool["name"]))
        page, following = self._page(found, lambda tool: (tool["name"],), params)
        return {"tools": list(page)} | _next(following)

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> dict[str, Any]:
        if params.name in self._reserved:
            try:
                return await self._reading.call(params.name, params.arguments or {})
            except SMCPError as error:  # a result, not an error of JSON-RPC: the model has to read it
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
        async with reporting(context.session.report_progress, doing, self.settings.progress) as tell:
            return tool_result(await run(on_progress=tell), computer, server)

    async def _list_resources(self, _: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        page, following = self._page(await self._resources.keys(), lambda key: key, params)
        return {"resources": await self._resources.described(page)} | _next(following)

    async def _list_templates(self, _: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        page, following = self._page(await self._resources.template_keys(), lambda key: key, params)
        return {"resourceTemplates": await self._resources.templates_described(page)} | _next(following)

    async def _read(self, context: Context, params: types.ReadResourceRequestParams) -> dict[str, Any]:
        place, found = await self._resources.read(params.uri, _meta(context))
        meta = found.get("meta")
        return {"contents": resource_contents(found["contents"], params.uri, place)} | ({"_meta": meta} if meta else {})

    async def _complete(self, context: Context, params: types.CompleteRequestParams) -> dict[str, Any]:
        return {"completion": await self._completer.complete(params, _meta(context))}

    async def _subscribe(self, context: Context, params: types.SubscribeRequestParams) -> dict[str, Any]:
        await self._watcher.news.subscribe(_connection(context), params.uri)
        return {}

    async def _unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> dict[str, Any]:
        self._watcher.news.unsubscribe(_connection(context), params.uri)
        return {}

    async def _initialized(self, context: Context, _: types.NotificationParams) -> None:
        self._watcher.news.met(_connection(context))

    # Behind the scenes

    async def _tools(self) -> Tools:
        tools = await self._directory.all_tools()
        if self._named is None or self._named[0] != tools:
            self._named = (tools, Tools(tools, plain=self.settings.plain_names, reserved=self._reserved))
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
                await self._seat()
                result = await handler(context, params)
            except SMCPError as error:
                log.info("%s was refused: %d", context.method, error.code)
                raise as_mcp_error(error) from None
            except ConnectionError as error:
                raise as_mcp_error(NotInOffice(f"The office {self.name!r} was left: {error}")) from None
            except MCPError:
                raise
            except Exception as problem:
                log.exception("%s failed", context.method)
                told = f"{context.method} failed in the bridge ({type(problem).__name__}); it is logged there"
                raise as_mcp_error(InternalError(told)) from None
            return result | COMPLETE if context.protocol_version in MODERN_PROTOCOL_VERSIONS else result

        return answer

    async def _instruct(self, ctx: Context, call_next: Callable[[Context], Awaitable[Any]]) -> Any:
        """Give a client that connects the instructions of the office's MCP servers."""
        result = await call_next(ctx)
        if ctx.method in ("initialize", "server/discover") and isinstance(result, dict):
            return result | {"instructions": await self._instructions()}
        return result

    async def _instructions(self) -> str:
        parts = [INSTRUCTIONS.format(office=self.name)]
        try:
            async with asyncio.timeout(INSTRUCTED_WITHIN):
                await self._seated.wait()
                found = await self._directory.instructions()
            parts += (f"Instructions of {server} on {name}:\n{text}" for (name, server), text in sorted(found.items()))
        except (SMCPError, ConnectionError, TimeoutError) as error:
            log.info("instructions of MCP servers not available reason=%s", str(error) or "no answer in time")
        return "\n\n".join(parts)[:MAX_INSTRUCTIONS]

    def _make_server(self) -> "_OfficeServer":
        server = _OfficeServer(
            "a2c",
            version=__version__,
            title=f"Office {self.name}",
            instructions=INSTRUCTIONS.format(office=self.name),
            cache_hints=dict.fromkeys(CACHEABLE, CacheHint()),
            on_subscriptions_listen=self._watcher.news.listen,
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
    """A server whose lists change, whoever asks for its options."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        changing = notification_options or NotificationOptions(resources_changed=True, tools_changed=True)
        return super().create_initialization_options(changing, experimental_capabilities, extensions)


def _connection(context: Context) -> Connection:
    # The SDK documents what a connection does for handlers, its exit stack above all, but leads no public way to it.
    return context.session._connection  # noqa: SLF001


def _meta(context: Context) -> dict[str, Any] | None:
    """Return what of a request's `_meta` is for the MCP server behind the office."""
    given = (context.params or {}).get("_meta")
    return passed_on(given) or None if isinstance(given, Mapping) else None


def _next(cursor: str | None) -> dict[str, str]:
    return {} if cursor is None else {"nextCursor": cursor}
