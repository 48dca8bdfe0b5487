"""Attaches resources to an MCP server, which may have its own."""

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
    """Add resources to a server; its own resources are listed after them."""
    # MCPServer has no public way to register these methods.
    low: Server[Any] = server._lowlevel_server if isinstance(server, MCPServer) else server  # noqa: SLF001
    existing = _ExistingHandlers(low)
    low.add_request_handler("resources/list", t.PaginatedRequestParams, existing.list_after(resources))
    low.add_request_handler("resources/templates/list", t.PaginatedRequestParams, existing.templates_after(resources))
    low.add_request_handler("resources/read", t.ReadResourceRequestParams, existing.read_else(resources))
    low.add_request_handler("completion/complete", t.CompleteRequestParams, existing.complete_else(resources))
    low.add_request_handler(
        "resources/subscribe", t.SubscribeRequestParams, existing.also("resources/subscribe", notifier.subscribe)
    )
    low.add_request_handler(
        "resources/unsubscribe",
        t.UnsubscribeRequestParams,
        existing.also("resources/unsubscribe", notifier.unsubscribe),
    )
    low.add_request_handler(
        "subscriptions/listen",
        t.SubscriptionsListenRequestParams,
        notifier.listen_handler(existing.request("subscriptions/listen")),
    )
    low.add_notification_handler(
        "notifications/initialized",
        t.NotificationParams,
        existing.first("notifications/initialized", notifier.client_ready),
    )
    low.middleware.append(_declare)


async def _declare(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Declare `listChanged` in the handshake: the SDK does not do so on all transports."""
    result = await call_next(ctx)
    if ctx.method == "initialize" and isinstance(result, dict):
        result["capabilities"].setdefault("resources", {})["listChanged"] = True
    return result


class _ExistingHandlers:
    """The handlers that a server already has."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server

    def request(self, method: str) -> Handler | None:
        entry = self._server.get_request_handler(method)
        return None if entry is None else entry.handler

    def list_after(self, ours: DocumentResources) -> Handler:
        existing = self.request("resources/list")

        async def handle(ctx: Context, params: t.PaginatedRequestParams) -> t.ListResourcesResult:
            if existing is not None and params.cursor is not None and not ours.gave(params.cursor):
                return await existing(ctx, params)  # type: ignore[no-any-return]
            result = await ours.listed(ctx, params)
            if existing is not None and result.next_cursor is None:
                more: t.ListResourcesResult = await existing(ctx, t.PaginatedRequestParams())
                result.resources += more.resources
                result.next_cursor = more.next_cursor
            return result

        return handle

    def templates_after(self, ours: DocumentResources) -> Handler:
        existing = self.request("resources/templates/list")

        async def handle(ctx: Context, params: t.PaginatedRequestParams) -> t.ListResourceTemplatesResult:
            if existing is None:
                return await ours.templates(ctx, params)
            more: t.ListResourceTemplatesResult = await existing(ctx, params)
            if params.cursor is None:
                result = await ours.templates(ctx, params)
                more.resource_templates = [*result.resource_templates, *more.resource_templates]
            return more

        return handle

    def read_else(self, ours: DocumentResources) -> Handler:
        existing = self.request("resources/read")

        async def handle(ctx: Context, params: t.ReadResourceRequestParams) -> Any:
            if existing is None or ours.owns(params.uri):
                return await ours.read(ctx, params)
            return await existing(ctx, params)

        return handle

    def complete_else(self, ours: DocumentResources) -> Handler:
        existing = self.request("completion/complete")

        async def handle(ctx: Context, params: t.CompleteRequestParams) -> Any:
            mine = isinstance(params.ref, t.ResourceTemplateReference) and ours.templated(params.ref.uri)
            if existing is None or mine:
                return await ours.complete(ctx, params)
            return await existing(ctx, params)

        return handle

    def also(self, method: str, ours: Handler) -> Handler:
        existing = self.request(method)

        async def handle(ctx: Context, params: Any) -> Any:
            result = await ours(ctx, params)
            return result if existing is None else await existing(ctx, params)

        return handle

    def first(self, method: str, ours: Handler) -> Handler:
        entry = self._server.get_notification_handler(method)

        async def handle(ctx: Context, params: Any) -> None:
            if entry is not None:
                await entry.handler(ctx, params)
            await ours(ctx, params)

        return handle
