"""Putting resources into an MCP server: a new one, or one that offers something already."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import mcp.types as t
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from a2c_smcp.docserver.change_notifier import DocumentChangeNotifier
from a2c_smcp.docserver.resources import DocumentResources

Context = ServerRequestContext[Any, Any]
Handler: TypeAlias = Callable[[Context, Any], Awaitable[Any]]


def attach_resources(
    server: Server[Any] | MCPServer[Any], resources: DocumentResources, notifier: DocumentChangeNotifier
) -> None:
    """Add these resources to a server; what it offered before goes on being offered, after them."""
    # MCPServer has no other door to the methods that it does not know.
    low: Server[Any] = server._lowlevel_server if isinstance(server, MCPServer) else server  # noqa: SLF001
    theirs = _ExistingHandlers(low)
    low.add_request_handler("resources/list", t.PaginatedRequestParams, theirs.list_after(resources))
    low.add_request_handler("resources/templates/list", t.PaginatedRequestParams, theirs.templates_after(resources))
    low.add_request_handler("resources/read", t.ReadResourceRequestParams, theirs.read_else(resources))
    low.add_request_handler("completion/complete", t.CompleteRequestParams, theirs.complete_else(resources))
    low.add_request_handler(
        "resources/subscribe", t.SubscribeRequestParams, theirs.also("resources/subscribe", notifier.subscribe)
    )
    low.add_request_handler(
        "resources/unsubscribe", t.UnsubscribeRequestParams, theirs.also("resources/unsubscribe", notifier.unsubscribe)
    )
    low.add_request_handler(
        "subscriptions/listen",
        t.SubscriptionsListenRequestParams,
        notifier.listen_handler(theirs.request("subscriptions/listen")),
    )
    low.add_notification_handler(
        "notifications/initialized",
        t.NotificationParams,
        theirs.first("notifications/initialized", notifier.client_ready),
    )
    low.middleware.append(_declare)


async def _declare(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Say at the handshake that the list of resources changes: servers cannot say so on all transports."""
    result = await call_next(ctx)
    if ctx.method == "initialize" and isinstance(result, dict):
        result["capabilities"].setdefault("resources", {})["listChanged"] = True
    return result


class _ExistingHandlers:
    """The handlers that a server has had before."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server

    def request(self, method: str) -> Handler | None:
        entry = self._server.get_request_handler(method)
        return None if entry is None else entry.handler

    def list_after(self, ours: DocumentResources) -> Handler:
        theirs = self.request("resources/list")

        async def handle(ctx: Context, params: t.PaginatedRequestParams) -> t.ListResourcesResult:
            if theirs is not None and params.cursor is not None and not ours.gave(params.cursor):
                return await theirs(ctx, params)  # type: ignore[no-any-return]
            result = await ours.listed(ctx, params)
            if theirs is not None and result.next_cursor is None:
                more: t.ListResourcesResult = await theirs(ctx, t.PaginatedRequestParams())
                result.resources += more.resources
                result.next_cursor = more.next_cursor
            return result

        return handle

    def templates_after(self, ours: DocumentResources) -> Handler:
        theirs = self.request("resources/templates/list")

        async def handle(ctx: Context, params: t.PaginatedRequestParams) -> t.ListResourceTemplatesResult:
            if theirs is None:
                return await ours.templates(ctx, params)
            more: t.ListResourceTemplatesResult = await theirs(ctx, params)
            if params.cursor is None:
                result = await ours.templates(ctx, params)
                more.resource_templates = [*result.resource_templates, *more.resource_templates]
            return more

        return handle

    def read_else(self, ours: DocumentResources) -> Handler:
        theirs = self.request("resources/read")

        async def handle(ctx: Context, params: t.ReadResourceRequestParams) -> Any:
            if theirs is None or ours.owns(params.uri):
                return await ours.read(ctx, params)
            return await theirs(ctx, params)

        return handle

    def complete_else(self, ours: DocumentResources) -> Handler:
        theirs = self.request("completion/complete")

        async def handle(ctx: Context, params: t.CompleteRequestParams) -> Any:
            mine = isinstance(params.ref, t.ResourceTemplateReference) and ours.templated(params.ref.uri)
            if theirs is None or mine:
                return await ours.complete(ctx, params)
            return await theirs(ctx, params)

        return handle

    def also(self, method: str, ours: Handler) -> Handler:
        theirs = self.request(method)

        async def handle(ctx: Context, params: Any) -> Any:
            result = await ours(ctx, params)
            return result if theirs is None else await theirs(ctx, params)

        return handle

    def first(self, method: str, ours: Handler) -> Handler:
        entry = self._server.get_notification_handler(method)

        async def handle(ctx: Context, params: Any) -> None:
            if entry is not None:
                await entry.handler(ctx, params)
            await ours(ctx, params)

        return handle
