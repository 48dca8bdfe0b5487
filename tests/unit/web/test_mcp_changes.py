"""Change notifications of MCP servers, for clients of both eras."""

from collections.abc import Callable
from typing import Any

import mcp.types as t
import pytest
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated

from a2c_smcp.errors import BadRequest, RateLimited, SMCPError
from a2c_smcp.web.mcp_changes import EventBus, McpChangeNotifier, SubscriptionLimits
from tests.interaction.docserver.clients import LISTED, connected

Context = ServerRequestContext[Any, Any]
A, B = "x://a", "x://b"


def server_of(notifier: McpChangeNotifier) -> Server[Any]:
    async def ready(ctx: Context, _: t.NotificationParams) -> None:
        notifier.client_ready(ctx)

    async def subscribe(ctx: Context, params: t.SubscribeRequestParams) -> t.EmptyResult:
        try:
            await notifier.subscribe(ctx, params.uri)
        except SMCPError as error:
            raise MCPError(t.INVALID_REQUEST, error.message) from None
        return t.EmptyResult()

    async def unsubscribe(ctx: Context, params: t.UnsubscribeRequestParams) -> t.EmptyResult:
        notifier.unsubscribe(ctx, params.uri)
        return t.EmptyResult()

    async def templates(_: Context, __: Any) -> t.ListResourceTemplatesResult:
        return t.ListResourceTemplatesResult(resource_templates=[])

    server: Server[Any] = Server("test", on_subscriptions_listen=notifier.listen_handler())
    server.add_request_handler("resources/templates/list", t.PaginatedRequestParams, templates)
    server.add_request_handler("resources/subscribe", t.SubscribeRequestParams, subscribe)
    server.add_request_handler("resources/unsubscribe", t.UnsubscribeRequestParams, unsubscribe)
    server.add_notification_handler("notifications/initialized", t.NotificationParams, ready)
    return server


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_client_is_notified_of_lists_and_of_its_own_subscriptions(era: str) -> None:
    notifier = McpChangeNotifier()
    async with connected(server_of(notifier), era) as client:
        await client.follow(A)
        notifier.publish(ResourceUpdated(uri=B))
        notifier.publish(ResourceUpdated(uri=A))
        notifier.publish(ResourcesListChanged())
        assert await client.hear(2) == {A, LISTED}
        assert client.quiet()


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_the_owner_is_called_for_every_subscription_and_after_the_last(era: str) -> None:
    subscribed: list[str] = []
    ended: list[int] = []

    async def on_subscribe(uri: str) -> None:
        subscribed.append(uri)

    notifier = McpChangeNotifier(on_subscribe=on_subscribe, on_unsubscribe=lambda: ended.append(1))
    async with connected(server_of(notifier), era) as client:
        await client.follow(A, B)
        assert (subscribed, notifier.subscriptions) == ([A, B], [A, B])
    assert (notifier.subscriptions, bool(ended)) == ([], True)


async def test_a_subscription_that_the_owner_refuses_is_not_kept() -> None:
    async def refuse(uri: str) -> None:
        raise BadRequest(f"{uri} is not available")

    notifier = McpChangeNotifier(on_subscribe=refuse)
    async with connected(server_of(notifier), "legacy") as client:
        with pytest.raises(MCPError, match="x://a is not available"):
            await client.follow(A)
        assert notifier.subscriptions == []


@pytest.mark.parametrize(
    ("uris", "kind"), [(["a", "b", "c"], RateLimited), (["abcdefghi"], BadRequest)], ids=["too many", "too long"]
)
def test_subscriptions_are_limited(uris: list[str], kind: type[SMCPError]) -> None:
    limits = SubscriptionLimits(uris=2, uri_length=8)
    limits.check(["a", "b"])
    with pytest.raises(kind):
        limits.check(uris)


def test_a_listener_that_fails_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    bus, heard = EventBus(), list[Any]()

    def fail(_: Any) -> None:
        raise RuntimeError("broken")

    ends: list[Callable[[], None]] = [bus.subscribe(fail), bus.subscribe(heard.append)]
    bus.emit(ResourcesListChanged())
    for end in ends:
        end()
    bus.emit(ResourcesListChanged())
    assert (heard, "broken" in caplog.text) == ([ResourcesListChanged()], True)
