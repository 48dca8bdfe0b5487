"""For everybody: by keyboard alone, on a phone, in dark and light, in English and Chinese; and for nobody else."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.visiting import Place, Visit, visit

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECTIONS = ("servers", "tools", "desktop", "documents", "calls", "approvals")
PAGE = f"documents/documents/{quote('dpe://study.docs/pdf_word365_structure.pdf', safe='')}/0"
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


async def tab_to(page: Page, name: str, most: int = 60) -> None:
    """Press Tab until what has this name has the focus."""
    told = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()"
    for _ in range(most):
        await page.keyboard.press("Tab")
        if await page.evaluate(told) == name:
            return
    raise AssertionError(f"{name} cannot be reached with Tab")


async def test_everything_can_be_done_with_the_keyboard(at: Visit, study: Place) -> None:
    await expect(at.page.get_by_role("region", name="office", exact=True)).to_be_visible()
    await tab_to(at.page, "Skip to content")
    await tab_to(at.page, "Tools")
    await at.page.keyboard.press("Enter")
    await expect(at.page.get_by_role("heading", name="Tools")).to_be_visible()
    await at.page.keyboard.press("/")
    await at.page.keyboard.type("echo")
    await expect(at.page.get_by_text("1 tool", exact=True)).to_be_visible()
    await at.page.keyboard.press("ArrowDown")
    await at.page.keyboard.press("Enter")
    await tab_to(at.page, "Arguments as JSON")
    await at.page.keyboard.type('{"text": "by keyboard"}')
    await tab_to(at.page, "Call")
    await at.page.keyboard.press("Enter")
    await expect(at.page.locator(".outcome > pre")).to_have_text("by keyboard")


async def test_a_document_is_walked_with_the_keyboard(at: Visit) -> None:
    await at.go("documents")
    await expect(at.page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
    await at.page.keyboard.press("/")
    await at.page.keyboard.type("Titre")
    await expect(at.page.get_by_text("1 document", exact=True)).to_be_visible()
    await at.page.keyboard.press("ArrowDown")
    await at.page.keyboard.press("Enter")
    await expect(at.page.get_by_role("heading", level=1)).to_have_text("Titre")
    await expect(at.page.get_by_role("option", name="6 elements")).to_be_visible()
    await tab_to(at.page, "Pages")
    await at.page.keyboard.press("Enter")
    await expect(at.page.get_by_role("region", name="heading p0-h1")).to_be_visible()
    await tab_to(at.page, "heading p0-h1")
    await at.page.keyboard.press("ArrowDown")
    await expect(at.page.get_by_role("region", name="text p0-txt1")).to_be_focused()


async def test_a_question_is_answered_with_the_keyboard(at: Visit, study: Place) -> None:
    calling = study.ask("echo", text="by keyboard")
    await expect(at.page.get_by_role("link", name="Look")).to_be_visible()
    await tab_to(at.page, "Look")
    await at.page.keyboard.press("Enter")
    await expect(at.page.get_by_role("button", name="Allow once: echo")).to_be_visible()
    await tab_to(at.page, "Allow once: echo")
    await at.page.keyboard.press("Enter")
    assert (await calling)["isError"] is False


async def test_a_phone_needs_no_sideways_scrolling(browser: Browser, study: Place) -> None:
    async with visit(browser, study, **PHONE) as at:
        for section in (*SECTIONS, "tools/search_documents", PAGE):
            await at.go(section)
            await expect(at.page.get_by_role("heading", level=1).first).to_be_visible()
            wide = await at.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert (section, wide) == (section, 0)


async def test_on_a_phone_a_question_can_be_answered(browser: Browser, study: Place) -> None:
    async with visit(browser, study, **PHONE) as at:
        await at.page.get_by_role("link", name="Approvals").tap()
        calling = study.ask("echo", text="from the train")
        button = at.page.get_by_role("button", name="Allow once: echo")
        await expect(button).to_be_visible()
        box = await button.bounding_box()
        assert box is not None
        assert box["height"] >= 44  # what a finger needs
        await button.tap()
        assert (await calling)["isError"] is False


async def test_on_a_phone_buttons_without_words_have_names(browser: Browser, study: Place) -> None:
    async with visit(browser, study, **PHONE) as at:
        await at.page.get_by_role("button", name="Dark").tap()
        await expect(at.page.get_by_role("button", name="Light")).to_be_visible()
        await at.page.get_by_role("button", name="中文").tap()
        await expect(at.page.get_by_role("button", name="English")).to_be_visible()


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
async def test_the_page_looks_as_the_system_does_until_one_chooses(
    browser: Browser, study: Place, scheme: str, dark: bool
) -> None:
    async with visit(browser, study, color_scheme=scheme) as at:
        await expect(at.page.get_by_role("button", name="Light" if dark else "Dark")).to_be_visible()
        assert await is_dark(at.page) is dark
        await at.page.get_by_role("button", name="Light" if dark else "Dark").click()
        assert await is_dark(at.page) is not dark
        await at.page.reload()
        assert await is_dark(at.page) is not dark


async def is_dark(page: Page) -> bool:
    color = str(await page.evaluate("getComputedStyle(document.body).backgroundColor"))
    return sum(map(int, re.findall(r"\d+", color)[:3])) < 3 * 128


async def test_a_chinese_browser_sees_chinese_and_can_change(browser: Browser, study: Place) -> None:
    async with visit(browser, study, locale="zh-CN") as at:
        for section, title in zip(SECTIONS, ("服务器", "工具", "桌面", "文档", "调用", "审批"), strict=True):
            await at.go(section)
            await expect(at.page.get_by_role("heading", level=1)).to_have_text(title)
        assert await at.page.evaluate("document.documentElement.lang") == "zh-CN"
        await at.page.get_by_role("button", name="English").click()
        await expect(at.page.get_by_role("heading", level=1)).to_have_text("Approvals")


async def test_the_address_opens_the_console_once_and_in_one_browser(browser: Browser, study: Place) -> None:
    address = study.url()
    async with visit(browser, study, url=address) as at:
        await expect(at.page).to_have_url(f"{study.base}/")
        await at.page.wait_for_selector("html[data-live]")
        await at.page.goto(address)  # from the history
        await expect(at.page).to_have_url(f"{study.base}/")
        await at.page.wait_for_selector("html[data-live]")
        at.complaints.clear()  # the browser notes that the address was refused
    context = await browser.new_context(locale="en-GB")
    page = await context.new_page()
    await page.goto(address)
    await expect(page.locator("#banner")).to_contain_text("This console is closed")
    await context.close()


async def test_a_page_that_lost_its_computer_says_so(browser: Browser, study: Place) -> None:
    async with visit(browser, study) as at:
        await expect(at.page.get_by_role("region", name="office", exact=True)).to_be_visible()
        await at.page.context.set_offline(True)
        await at.page.get_by_role("link", name="Desktop").click()
        await expect(at.page.get_by_role("main").get_by_role("alert")).to_have_text("The Computer does not answer.")
        at.complaints.clear()  # the browser complains of what it could not load
