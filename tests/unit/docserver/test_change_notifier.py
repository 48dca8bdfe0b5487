"""Who is told of what, and what remains when nobody listens."""

import asyncio
import gc

import mcp.types as t
import pytest
from mcp import Client, MCPError

from a2c_smcp.docserver import Offer, change_notifier
from tests.interaction.docserver.clients import LISTED, connected

URI = "dpe://h/a"


@pytest.fixture
def offer() -> Offer:
    made = Offer("h")
    made.put("a", "text")
    return made


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_nothing_is_kept_of_a_client_that_left(offer: Offer, era: str) -> None:
    async with connected(offer.server(), era) as client:
        await client.follow(URI)
        assert len(offer._notifier._ears) + len(offer._notifier._watched) > 0
    del client
    gc.collect()
    assert (len(offer._notifier._ears), len(offer._notifier._watched)) == (0, 0)


async def test_a_burst_is_told_once(offer: Offer) -> None:
    async with connected(offer.server(), "legacy") as client:
        await client.follow(URI)
        for number in range(1_000):
            offer.put("a", f"text {number}")
        offer.put("b", "text")
        assert await client.hear(2) == {URI, LISTED}
        assert client.quiet()


async def test_a_client_that_says_twice_that_it_is_ready_is_told_once(offer: Offer) -> None:
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


async def test_changes_before_anybody_connected_are_nobodys_business(offer: Offer) -> None:
    offer.changed("a")
    async with connected(offer.server(), "legacy") as client:
        await client.follow(URI)
        assert client.quiet()


async def test_a_loop_that_is_gone_is_told_nothing(offer: Offer) -> None:
    async def visit() -> None:
        async with Client(offer.server(), mode="legacy") as client:
            await client.list_resources()

    await asyncio.to_thread(asyncio.run, visit())
    offer.changed("a")


async def test_subscriptions_are_bounded(offer: Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_notifier, "MAX_SUBSCRIPTIONS", 2)
    async with connected(offer.server(), "legacy") as client:
        await client.follow("dpe://h/1", "dpe://h/2", "dpe://h/2")
        with pytest.raises(MCPError, match="No more than 2"):
            await client.follow("dpe://h/3")


@pytest.mark.parametrize("uri", ["nonsense", "dpe://h/a?limit=0", "dpe://", "file:///a"])
async def test_what_is_no_document_may_be_followed_in_vain(offer: Offer, uri: str) -> None:
    async with connected(offer.server(), "legacy") as client:
        await client.follow(uri, URI)
        offer.put("a", "other")
        assert await client.hear() == {URI}
        assert client.quiet()
