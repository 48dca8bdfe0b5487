"""Which clients are notified of a change, and what is kept of clients that left."""

import asyncio
from typing import Any

import mcp.types as t
import pytest
from mcp import Client, MCPError
from mcp.server.lowlevel import Server

from a2c_smcp.docserver import Offer
from a2c_smcp.docserver.change_notifier import DocumentChangeNotifier
from a2c_smcp.docserver.document_server import document_server
from a2c_smcp.docserver.memory_documents import MemoryDocuments
from a2c_smcp.web.mcp_changes import SubscriptionLimits
from tests.interaction.docserver.clients import LISTED, connected

URI = "dpe://h/a"


@pytest.fixture
def offer() -> Offer:
    made = Offer("h")
    made.put("a", "text")
    return made


def served(notifier: DocumentChangeNotifier) -> Server[Any]:
    documents = MemoryDocuments("h")
    documents.put("a", "text")
    return document_server(documents, notifier)


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_nothing_is_kept_of_a_client_that_left(era: str) -> None:
    notifier = DocumentChangeNotifier()
    async with connected(served(notifier), era) as client:
        await client.follow(URI)
        assert notifier.changes.subscriptions == [URI]
    assert notifier.changes.subscriptions == []


async def test_a_burst_of_changes_sends_one_notification(offer: Offer) -> None:
    async with connected(offer.server(), "legacy") as client:
        await client.follow(URI)
        for number in range(1_000):
            offer.put("a", f"text {number}")
        offer.put("b", "text")
        assert await client.hear(2) == {URI, LISTED}
        assert client.quiet()


async def test_a_client_that_sends_initialized_twice_is_notified_once(offer: Offer) -> None:
    async with connected(offer.server(), "legacy") as client:
        await client.client.session.send_notification(t.InitializedNotification())
        await client.follow(URI)
        offer.put("a", "other")
        assert await client.hear() == {URI}
        await client.client.list_resource_templates()
        assert client.quiet()


async def test_two_streams_for_one_uri_end_separately(offer: Offer) -> None:
    server = offer.server()
    async with connected(server, "auto") as staying:
        await staying.follow(URI)
        async with connected(server, "auto") as leaving:
            await leaving.follow(URI)
        offer.put("a", "other")
        assert await staying.hear() == {URI}


async def test_changes_before_the_first_client_connects_are_dropped(offer: Offer) -> None:
    offer.changed("a")
    async with connected(offer.server(), "legacy") as client:
        await client.follow(URI)
        assert client.quiet()


async def test_a_change_after_the_loop_closed_is_dropped(offer: Offer) -> None:
    async def visit() -> None:
        async with Client(offer.server(), mode="legacy") as client:
            await client.list_resources()

    await asyncio.to_thread(asyncio.run, visit())
    offer.changed("a")


async def test_subscriptions_are_bounded() -> None:
    notifier = DocumentChangeNotifier(SubscriptionLimits(uris=2))
    async with connected(served(notifier), "legacy") as client:
        await client.follow("dpe://h/1", "dpe://h/2", "dpe://h/2")
        with pytest.raises(MCPError, match="may subscribe to 2 resources"):
            await client.follow("dpe://h/1", "dpe://h/2", "dpe://h/3")


@pytest.mark.parametrize("uri", ["nonsense", "dpe://h/a?limit=0", "dpe://", "file:///a"])
async def test_a_subscription_to_anything_else_is_accepted_and_never_notified(offer: Offer, uri: str) -> None:
    async with connected(offer.server(), "legacy") as client:
        await client.follow(uri, URI)
        offer.put("a", "other")
        assert await client.hear() == {URI}
        assert client.quiet()
