"""Many tabs of one browser: they share one stream of news, and any of them may be closed or put to sleep."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Page, expect

from a2c_smcp.computer.tools.confirmation import ApprovalQueue
from a2c_smcp.console.api import Console
from a2c_smcp.console.calls import CallLog
from a2c_smcp.console.serving import serve_console
from tests.browser.visiting import CAP, Place, visit
from tests.interaction.ports import free_port

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANY = 8
"""More than the six connections that a browser opens to a host."""


@asynccontextmanager
async def tabs(browser: Browser, study: Place, count: int) -> AsyncIterator[list[Page]]:
    """Tabs of one browser, open at the calls that wait; the first of them listens."""
    async with visit(browser, study) as first:
        opened = [first.page]
        for _ in range(count - 1):
            opened.append(await first.page.context.new_page())
            await opened[-1].goto(f"{study.base}/#/approvals")
            await opened[-1].wait_for_selector("html[data-live]")
        await first.go("approvals")
        yield opened


async def settled_by(page: Page, others: list[Page], study: Place) -> None:
    """An Agent asks: every tab shows it, and the answer of one settles it in all."""
    calling = study.ask("echo", text="for all of you")
    for one in (page, *others):
        await expect(one.get_by_role("region", name="echo")).to_be_visible()
    await page.get_by_role("button", name="Allow once: echo").click()
    assert (await asyncio.wait_for(calling, CAP))["isError"] is False
    for one in others:
        timer = one.get_by_role("region", name="echo").get_by_role("timer")
        await expect(timer).to_have_text("Settled elsewhere or withdrawn")


async def until_streams(study: Place, count: int, without: object = None) -> None:
    """Wait until so many streams are open, and that of one watcher is not among them."""
    async with asyncio.timeout(CAP):
        while len(study.desk._watchers) != count or without in study.desk._watchers:
            await asyncio.sleep(0.01)


async def test_more_tabs_than_connections_hear_of_a_question_through_one(browser: Browser, study: Place) -> None:
    async with tabs(browser, study, MANY) as opened:
        assert len(study.desk._watchers) == 1
        await settled_by(opened[-1], opened[:-1], study)


async def test_when_the_tab_that_listens_is_closed_another_listens(browser: Browser, study: Place) -> None:
    async with tabs(browser, study, 3) as (first, second, third):
        (listener,) = study.desk._watchers
        await first.close()
        await until_streams(study, 1, without=listener)
        await settled_by(third, [second], study)


async def test_a_tab_that_does_not_answer_keeps_no_news_from_the_others(browser: Browser, study: Place) -> None:
    async with tabs(browser, study, 3) as (first, second, third):
        (listener,) = study.desk._watchers
        await first.evaluate(
            "BroadcastChannel.prototype.postMessage = () => {}"
        )  # as if the browser had put it to sleep
        await second.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # it comes to the front
        await until_streams(study, 1, without=listener)
        await settled_by(first, [second, third], study)


async def test_old_tabs_are_let_in_with_the_address_of_a_console_started_anew(browser: Browser, study: Place) -> None:
    context = await browser.new_context(locale="en-GB")
    opened = [await context.new_page(), await context.new_page()]
    old, new = (Console(study.computer, ApprovalQueue(), CallLog()) for _ in range(2))
    port = free_port()
    async with serve_console(old, port=port) as base:
        for page in opened:
            await page.goto(old.app.url(base))
            await page.wait_for_selector("html[data-live]")
    async with serve_console(new, port=port):
        for page in opened:
            await expect(page.get_by_role("alert").first).to_contain_text("This console is closed.")
        await (await context.new_page()).goto(new.app.url(base))
        for page in opened:
            await page.wait_for_selector("html[data-live]")
            await expect(page.locator("#banner")).to_be_hidden()
    await context.close()
