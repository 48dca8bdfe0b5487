"""A list of 10 000 documents: it comes at once, and what is not seen does not exist."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.browser.many_documents import COUNT
from tests.browser.many_documents import __file__ as server
from tests.browser.visiting import Place, place, program, visit

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAX_NODES = 1_500
MAX_SECONDS = 1.0
"""Of a processor's time for the page, whatever else the machine does meanwhile; it takes a tenth of that."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def archive() -> AsyncIterator[Place]:
    async with place({"archive": program(server, subscribe="assume")}) as made:
        assert (await made.computer.finder(limit=1))["total_count"] == COUNT
        yield made


async def test_the_list_takes_little_work_and_keeps_few_nodes(browser: Browser, archive: Place) -> None:
    async with visit(browser, archive) as at:
        inspector = await at.page.context.new_cdp_session(at.page)
        await inspector.send("Performance.enable", {"timeDomain": "threadTicks"})
        await at.go("documents")
        rows = at.page.get_by_role("listbox").get_by_role("option")
        await expect(at.page.get_by_text("10,000 documents")).to_be_visible()
        await expect(rows.first).to_contain_text("Report")
        metrics = (await inspector.send("Performance.getMetrics"))["metrics"]
        seconds = {metric["name"]: metric["value"] for metric in metrics}["TaskDuration"]
        assert 0 < seconds < MAX_SECONDS
        await at.page.get_by_role("listbox").focus()
        await at.page.keyboard.press("End")
        await expect(at.page.get_by_role("listbox").locator("[aria-posinset='10000']")).to_contain_text("Report")
        await at.page.keyboard.press("PageUp")
        assert await at.page.evaluate("document.querySelectorAll('*').length") < MAX_NODES


async def test_a_search_among_them_answers_while_one_types(browser: Browser, archive: Place) -> None:
    async with visit(browser, archive) as at:
        await at.go("documents")
        await expect(at.page.get_by_text("10,000 documents")).to_be_visible()
        await at.page.keyboard.press("/")
        await at.page.keyboard.type("04321")
        await expect(at.page.get_by_text("1 document", exact=True)).to_be_visible()
        await expect(at.page.get_by_role("listbox").get_by_role("option")).to_contain_text("Report 04321")
        await at.page.get_by_role("searchbox").fill("")
        await at.page.get_by_label("Type").select_option("xlsx")
        await expect(at.page.get_by_text("2,500 documents", exact=True)).to_be_visible()
