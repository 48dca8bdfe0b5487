"""Servers, tools, windows and calls: what each section shows, and that it changes by itself."""

import re

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import SECRET
from tests.browser.visiting import Place, Visit, visit

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_servers_are_shown_with_their_state(at: Visit) -> None:
    card = at.page.get_by_role("region", name="office", exact=True)
    await expect(card.get_by_text("running", exact=True)).to_be_visible()
    await expect(card).to_contain_text("MCP 2026-07-28")
    await expect(at.page.get_by_role("region", name="Computer")).to_contain_text("2 / 2")


async def test_the_configuration_keeps_its_placeholders_and_no_secret(at: Visit) -> None:
    card = at.page.get_by_role("region", name="office", exact=True)
    await card.get_by_text("Configuration").click()
    await expect(card.locator("pre")).to_contain_text("${input:token}")
    assert SECRET not in await at.page.content()


async def test_a_server_that_is_disabled_and_enabled_shows_so_in_every_page(
    at: Visit, browser: Browser, study: Place
) -> None:
    async with visit(browser, study) as other:
        card = at.page.get_by_role("region", name="office", exact=True)
        seen = other.page.get_by_role("region", name="office", exact=True)
        await card.get_by_role("button", name="Disable office").click()
        await expect(seen.get_by_text("disabled", exact=True)).to_be_visible()
        await seen.get_by_role("button", name="Enable office").click()
        await expect(card.get_by_text("running", exact=True)).to_be_visible()


async def test_a_server_that_dies_is_seen_to_come_back(at: Visit, study: Place) -> None:
    card = at.page.get_by_role("region", name="office", exact=True)
    await expect(card.get_by_text("running", exact=True)).to_be_visible()
    calling = study.ask("die")
    await at.page.get_by_role("link", name="Look").click()
    await at.page.get_by_role("button", name="Allow once: die").click()
    await calling
    await at.go("servers")
    await expect(card).to_contain_text("1 restart")
    await expect(card.get_by_text("running", exact=True)).to_be_visible()


async def test_a_tool_is_tried_with_a_form_made_from_its_schema(at: Visit) -> None:
    await at.go("tools")
    await at.page.get_by_label("Filter tools").fill("search")
    await at.page.get_by_role("option", name="search_documents").click()
    await at.page.get_by_label("query").fill("Alouette")
    await at.page.get_by_label("limit").fill("3")
    await at.page.get_by_role("button", name="Call", exact=True).click()
    result = at.page.locator(".outcome")
    await expect(result).to_contain_text('"doc_ref": "pdf_word365_structure.pdf"')
    await expect(result).to_contain_text(re.compile(r"\d+ ms|s$"))


async def test_a_form_is_not_sent_without_what_the_schema_requires(at: Visit) -> None:
    await at.go("tools/search_documents")
    await at.page.get_by_role("button", name="Call", exact=True).click()
    assert await at.page.get_by_label("query").evaluate("field => field.validity.valueMissing") is True
    await expect(at.page.locator(".outcome")).to_have_count(0)


async def test_arguments_can_be_given_as_json_and_both_views_agree(at: Visit) -> None:
    await at.go("tools/search_documents")
    await at.page.get_by_label("query").fill("duck")
    await at.page.get_by_role("button", name="JSON").click()
    field = at.page.get_by_label("Arguments as JSON")
    assert await field.input_value() == '{\n  "query": "duck",\n  "limit": 20\n}'
    await field.fill("not JSON")
    await at.page.get_by_role("button", name="Call", exact=True).click()
    await expect(at.page.get_by_role("alert").filter(has_text="is no JSON")).to_be_visible()


async def test_a_tool_that_asks_runs_for_the_owner_without_another_question(at: Visit) -> None:
    await at.go("tools/echo")
    await at.page.get_by_label("Arguments as JSON").fill('{"text": "from the console"}')
    await at.page.get_by_role("button", name="Call", exact=True).click()
    await expect(at.page.locator(".outcome > pre")).to_have_text("from the console")


async def test_a_tool_that_fails_says_so(at: Visit) -> None:
    await at.go("tools/fail")
    await at.page.get_by_role("button", name="Call", exact=True).click()
    await expect(at.page.locator(".outcome")).to_contain_text("The tool failed")
    await expect(at.page.locator(".outcome > pre")).to_have_text("it failed")


async def test_a_call_that_takes_too_long_can_be_cancelled(at: Visit) -> None:
    await at.go("tools/wait")
    await at.page.get_by_role("button", name="Call", exact=True).click()
    await at.page.get_by_role("button", name="Cancel").click()
    await expect(at.page.locator(".outcome")).to_contain_text("The tool failed")


async def test_windows_change_while_one_looks(at: Visit, study: Place) -> None:
    await at.go("desktop")
    window = at.page.get_by_role("region", name="window://office/board")
    await expect(window).to_be_visible()
    session = study.computer.servers.get("office")
    assert session is not None
    await session.call_tool("write", {"text": "The meeting is at three."})
    await expect(window.locator("pre")).to_have_text("The meeting is at three.")
    await session.call_tool("open_window", {})
    await expect(at.page.get_by_role("region", name="window://office/extra")).to_be_visible()


async def test_calls_are_logged_with_time_arguments_and_result(at: Visit) -> None:
    await at.go("tools/echo")
    await at.page.get_by_label("Arguments as JSON").fill('{"text": "for the log"}')
    await at.page.get_by_role("button", name="Call", exact=True).click()
    await expect(at.page.locator(".outcome > pre")).to_have_text("for the log")
    await at.go("calls")
    await at.page.get_by_label("Filter calls").fill("nothing-like-this")
    await expect(at.page.get_by_text("No call has these words.")).to_be_visible()
    await at.page.get_by_label("Filter calls").fill("echo done")
    await at.page.get_by_role("option").first.click()
    call = at.page.get_by_role("article")
    await expect(call).to_contain_text('"text": "for the log"')
    await expect(call.locator(".outcome > pre")).to_have_text("for the log")
    await expect(call).to_contain_text(re.compile(r"Time\s*\d+ ms"))


async def test_a_running_call_is_seen_running_and_can_be_stopped(at: Visit, study: Place) -> None:
    await at.go("calls")
    calling = study.ask("wait")
    await at.page.get_by_role("link", name="Look").click()
    await at.page.get_by_role("button", name="Allow once: wait").click()
    await at.go("calls")
    row = at.page.get_by_role("option").first
    await expect(row).to_contain_text("running")
    await row.click()
    await at.page.get_by_role("button", name="Stop").click()
    await expect(row).to_contain_text("cancelled")
    assert (await calling)["isError"] is True
