"""The operator's page in a real browser: a token opens it, and what it shows stays true."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from a2c_smcp.server import create_app
from tests.browser.visiting import Visit
from tests.interaction.server.client import Client
from tests.interaction.server.programs import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOKEN = "the-operators-own"
EVIL = "<img src=x onerror=alert(1)>"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[str]:
    async with serving(create_app(console_token=TOKEN)) as running:
        yield running.url


async def test_the_operator_sees_offices_members_and_requests(browser: Browser, server: str) -> None:
    context = await browser.new_context(locale="en-GB")
    at = Visit(await context.new_page(), server)
    at.watch()
    await at.page.goto(f"{server}/console")
    await at.page.get_by_label("Console token").fill(TOKEN)
    await at.page.keyboard.press("Enter")
    await expect(at.page.get_by_text("Nobody is in an office.")).to_be_visible()
    computer = await Client(server).connect()
    assert await computer.join("computer", EVIL, "lab") == (True, None)
    await expect(at.page.get_by_role("cell", name=EVIL)).to_be_visible()
    await expect(at.page.get_by_role("row").filter(has_text="server:join_office")).to_be_visible()
    await at.page.get_by_role("button", name="中文").click()
    await expect(at.page.get_by_role("heading", name="办公室")).to_be_visible()
    await computer.close()
    await expect(at.page.get_by_text("办公室里没有成员。")).to_be_visible()
    assert TOKEN not in at.page.url
    assert await context.cookies() == []
    assert at.complaints == []
    await context.close()


async def test_a_wrong_token_opens_nothing(browser: Browser, server: str) -> None:
    context = await browser.new_context(locale="en-GB", viewport={"width": 390, "height": 844})
    page = await context.new_page()
    await page.goto(f"{server}/console/")
    await page.get_by_label("Console token").fill("a guess")
    await page.get_by_role("button", name="Open").click()
    await expect(page.get_by_role("alert")).to_have_text("This is not the console's token.")
    await expect(page.get_by_label("Console token")).to_be_focused()
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
    await context.close()
