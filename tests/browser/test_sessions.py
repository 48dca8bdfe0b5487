"""Who is let in: what another port of this machine sees of a session, and how sessions end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from playwright.async_api import Browser, expect

from tests.bare_server import bare_server
from tests.browser.visiting import CAP, Place, Visit, visit

pytestmark = pytest.mark.asyncio(loop_scope="module")

CLOSED = "This console is closed."


@asynccontextmanager
async def other_program() -> AsyncIterator[tuple[str, "asyncio.Future[str]"]]:
    """A web server of somebody else on another port; the future is the cookie that a visitor sends it."""
    seen: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        cookies = [line.partition(": ")[2] for line in head.split("\r\n") if line.lower().startswith("cookie:")]
        if cookies and not seen.done():
            seen.set_result(cookies[0])
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi")
        await writer.drain()
        writer.close()

    async with bare_server(answer) as port:
        yield f"http://127.0.0.1:{port}", seen


async def test_the_cookie_that_another_port_receives_opens_nothing(browser: Browser, study: Place) -> None:
    async with visit(browser, study) as made, other_program() as (address, seen):
        await (await made.page.context.new_page()).goto(address)
        cookie = await asyncio.wait_for(seen, CAP)
        assert "a2c_console" in cookie
        async with httpx.AsyncClient(headers={"cookie": cookie}) as thief:
            for path in ("state", "tools", "approvals", "events", "image"):
                assert (await thief.get(f"{study.base}/api/{path}")).status_code == 401
            assert (await thief.post(f"{study.base}/api/run", json={"tool": "echo"})).status_code == 401


async def test_the_address_and_the_store_of_the_browser_hold_no_token(at: Visit) -> None:
    assert at.page.url == f"{at.base}/"
    assert await at.page.evaluate("localStorage.length") == 0
    assert await at.page.evaluate("Object.keys(sessionStorage)") == ["a2c-console-key"]


async def test_a_browser_without_the_address_sees_an_empty_frame(browser: Browser, study: Place) -> None:
    async with visit(browser, study, url=f"{study.base}/") as made:
        await expect(made.page.locator("#banner")).to_contain_text(CLOSED)
        assert await made.page.locator("#main").inner_text() == ""


async def test_a_tab_that_is_loaded_again_stays_in(at: Visit) -> None:
    await at.page.reload()
    await at.page.wait_for_selector("html[data-live]")


async def test_all_sessions_end_at_a_click_in_every_tab(browser: Browser, study: Place) -> None:
    context = await browser.new_context(locale="en-GB")
    first = await context.new_page()
    await first.goto(study.url())
    await first.wait_for_selector("html[data-live]")
    second = await context.new_page()
    await second.goto(f"{study.base}/#/approvals")
    await second.wait_for_selector("html[data-live]")
    second.on("dialog", lambda asked: asked.accept())
    await second.get_by_role("button", name="End all sessions").click()
    for page in (first, second):
        await expect(page.locator("#banner")).to_contain_text(CLOSED)
    await first.goto(study.url())  # a new address, in a tab that is open already
    for page in (first, second):
        await page.wait_for_selector("html[data-live]")
    await context.close()
