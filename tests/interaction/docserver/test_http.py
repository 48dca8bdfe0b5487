"""An offer over HTTP, in this process."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

from a2c_smcp.docserver import Admission, Offer
from a2c_smcp.docserver.web import Address, serve_http
from a2c_smcp.errors import InvalidConfig
from tests.interaction.docserver.clients import ERAS, LISTED, connected

HERE = Address("127.0.0.1", 0)
APP = "https://app.example"


@pytest.fixture
def offer() -> Offer:
    made = Offer("h")
    made.put("a", "text")
    return made


async def begin(offer: Offer, admission: Admission) -> tuple["asyncio.Task[None]", str]:
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve_http(offer.server(), HERE, admission, ready=listening.set_result))
    awaited: list[asyncio.Future[Any]] = [task, listening]
    await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
    return task, listening.result()


async def finish(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest_asyncio.fixture
async def url(offer: Offer) -> AsyncIterator[str]:
    task, where = await begin(offer, Admission(origins=(APP,)))
    yield where
    await finish(task)


@pytest.mark.parametrize("era", ERAS)
async def test_clients_are_told_of_changes(offer: Offer, url: str, era: str) -> None:
    async with connected(url, era) as client:
        await client.follow("dpe://h/a")
        offer.put("a", "other")
        assert await client.hear() == {"dpe://h/a"}
        offer.put("b", "new")
        assert await client.hear() == {LISTED}
        assert await client.uris() == ["dpe://h", "dpe://h/a", "dpe://h/b"]


async def test_a_page_that_may_call_is_told_so_by_its_browser(url: str) -> None:
    asked = {"Origin": APP, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "mcp-session-id"}
    async with httpx.AsyncClient() as browser:
        allowed = await browser.options(url, headers=asked)
        refused = await browser.options(url, headers=asked | {"Origin": "https://other.example"})
    assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, APP)
    assert (refused.status_code, "access-control-allow-origin" in refused.headers) == (403, False)


async def test_a_page_may_ask_without_the_token_that_it_then_needs(offer: Offer) -> None:
    task, url = await begin(offer, Admission(token="s3", origins=(APP,)))
    asked = {"Origin": APP, "Access-Control-Request-Method": "POST"}
    async with httpx.AsyncClient() as browser:
        statuses = [(await browser.request(method, url, headers=asked)).status_code for method in ("OPTIONS", "POST")]
    await finish(task)
    assert statuses == [200, 401]


async def test_a_port_that_is_taken_is_said(url: str, offer: Offer) -> None:
    address = Address("127.0.0.1", httpx.URL(url).port or 0)
    with pytest.raises(InvalidConfig, match="in use"):
        await serve_http(offer.server(), address, Admission(), ready=lambda _: None)


async def test_an_address_that_is_not_ours_is_said(offer: Offer) -> None:
    with pytest.raises(InvalidConfig, match="cannot listen on"):
        await serve_http(offer.server(), Address("192.0.2.1", 0), Admission(token="t"), ready=lambda _: None)
