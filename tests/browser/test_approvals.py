"""Consent: a call waits in the console, shows exactly what will run, and does what it is told."""

import asyncio

import pytest
from playwright.async_api import Browser, expect

from a2c_smcp.errors import ConfirmationRequired
from tests.browser.visiting import CAP, Place, Visit, visit

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.rule("4.4")]


async def refused(calling: "asyncio.Task[object]") -> object:
    with pytest.raises(ConfirmationRequired) as told:
        await asyncio.wait_for(calling, CAP)
    assert told.value.details is not None
    return told.value.details["reason"]


async def test_a_call_waits_and_runs_when_it_is_allowed_once(at: Visit, study: Place) -> None:
    await at.go("approvals")
    await expect(at.page.get_by_text("Nothing waits for you.")).to_be_visible()
    calling = study.ask("echo", text="hello")
    card = at.page.get_by_role("region", name="echo")
    await expect(card).to_contain_text("planner wants to run")
    await expect(card.locator("pre")).to_have_text('{ "text": "hello" }')
    await expect(card.get_by_role("timer")).to_contain_text("s left")
    assert not calling.done()
    await card.get_by_role("button", name="Allow once").click()
    assert (await asyncio.wait_for(calling, CAP))["content"][0]["text"] == "hello"
    await expect(card.get_by_role("timer")).to_have_text("Allowed once")


async def test_what_is_refused_does_not_run_and_once_is_once(at: Visit, study: Place) -> None:
    await at.go("approvals")
    first = study.ask("echo", text="the first")
    await at.page.get_by_role("button", name="Allow once: echo").click()
    await asyncio.wait_for(first, CAP)
    second = study.ask("echo", text="the second")
    card = at.page.get_by_role("region", name="echo").filter(has_text="the second")
    await card.get_by_role("button", name="Refuse").click()
    assert await refused(second) == "refused"
    await expect(card.get_by_role("timer")).to_have_text("Refused")


async def test_always_is_not_asked_again_until_it_is_taken_back(at: Visit, study: Place) -> None:
    await at.go("approvals")
    calling = study.ask("count")
    await at.page.get_by_role("button", name="Always allow: count").click()
    await asyncio.wait_for(calling, CAP)
    await asyncio.wait_for(study.ask("count"), CAP)
    rule = at.page.get_by_role("listitem").filter(has_text="planner may run count on office")
    await rule.get_by_role("button", name="Ask again").click()
    await expect(rule).to_have_count(0)
    asked = study.ask("count", now="again")
    card = at.page.get_by_role("region", name="count").filter(has_text="again")
    await card.get_by_role("button", name="Refuse").click()
    assert await refused(asked) == "refused"


async def test_a_question_expires_and_its_buttons_with_it(at: Visit, study: Place) -> None:
    await at.go("approvals")
    calling = study.ask("echo", seconds=1, text="too late")
    card = at.page.get_by_role("region", name="echo")
    await expect(card).to_be_visible()
    assert await refused(calling) == "expired"
    await expect(card.get_by_role("timer")).to_have_text("Expired")
    await expect(card.get_by_role("button", name="Allow once")).to_be_disabled()


async def test_every_section_tells_that_a_call_waits(at: Visit, study: Place) -> None:
    await at.go("desktop")
    calling = study.ask("echo", text="look here")
    await expect(at.page.get_by_role("alert").filter(has_text="1 call waits for your consent.")).to_be_visible()
    await expect(at.page).to_have_title("(1) Desktop · study")
    await at.page.get_by_role("link", name="Look").click()
    await at.page.get_by_role("button", name="Refuse").click()
    assert await refused(calling) == "refused"
    await expect(at.page).to_have_title("Approvals · study")


async def test_characters_that_hide_are_shown_as_what_they_are(at: Visit, study: Place) -> None:
    await at.go("approvals")
    calling = study.ask("echo", text="safe\u202etxt.exe\u200b", number=12345678901234567890)
    card = at.page.get_by_role("region", name="echo")
    shown = card.locator("pre")
    await expect(shown).to_have_text('{\n  "text": "safe\\u202etxt.exe\\u200b",\n  "number": 12345678901234567890\n}')
    await card.get_by_role("button", name="Refuse").click()
    await refused(calling)


async def test_fillers_and_selectors_are_shown_as_what_they_are(at: Visit, study: Place) -> None:
    await at.go("approvals")
    calling = study.ask("echo", text="a\ufe0fb\u3164c\u2800d\u00a0e")
    card = at.page.get_by_role("region", name="echo")
    await expect(card.locator("pre")).to_have_text('{ "text": "a\\ufe0fb\\u3164c\\u2800d\\u00a0e" }')
    await card.get_by_role("button", name="Refuse").click()
    await refused(calling)


async def test_a_call_that_does_not_fit_is_allowed_only_after_its_end_was_seen(at: Visit, study: Place) -> None:
    await at.go("approvals")
    first, second = (study.ask("echo", text="x" * 20_000 + f"; rm -rf {number}") for number in (1, 2))
    scrolled, expanded = (
        at.page.get_by_role("region", name="echo").filter(has_text=f"rm -rf {number}") for number in (1, 2)
    )
    for card in (scrolled, expanded):
        await expect(card).to_contain_text("20,026 characters in 3 lines")
        for name in ("Allow once", "Always allow"):
            await expect(card.get_by_role("button", name=name)).to_be_disabled()
        await expect(card.get_by_role("button", name="Refuse")).to_be_enabled()
    await scrolled.locator("pre").evaluate("box => box.scrollTo(0, box.scrollHeight / 2)")
    await expect(scrolled.get_by_role("button", name="Allow once")).to_be_disabled()
    await scrolled.locator("pre").evaluate("box => box.scrollTo(0, box.scrollHeight)")
    await scrolled.get_by_role("button", name="Allow once").click()
    assert (await asyncio.wait_for(first, CAP))["isError"] is False
    await expanded.get_by_role("button", name="Show all").click()
    await expanded.get_by_role("button", name="Allow once").click()
    assert (await asyncio.wait_for(second, CAP))["isError"] is False


async def test_an_answer_in_one_page_settles_the_question_in_the_other(
    at: Visit, browser: Browser, study: Place
) -> None:
    async with visit(browser, study) as other:
        await at.go("approvals")
        await other.go("approvals")
        calling = study.ask("echo", text="for two")
        seen = other.page.get_by_role("region", name="echo")
        await expect(seen).to_be_visible()
        await at.page.get_by_role("button", name="Allow once").click()
        await asyncio.wait_for(calling, CAP)
        await expect(seen.get_by_role("button", name="Allow once")).to_be_disabled()
        await expect(seen.get_by_role("timer")).to_have_text("Settled elsewhere or withdrawn")


async def test_questions_do_not_move_when_another_is_settled(at: Visit, study: Place) -> None:
    await at.go("approvals")
    first, second = study.ask("echo", text="first"), study.ask("count")
    button = at.page.get_by_role("button", name="Refuse: count")
    before = await button.bounding_box()
    await at.page.get_by_role("button", name="Refuse: echo").click()
    await refused(first)
    await expect(at.page.get_by_role("region", name="echo").get_by_role("timer")).to_have_text("Refused")
    assert await button.bounding_box() == before
    await button.click()
    await refused(second)


async def test_without_an_open_page_there_is_nobody_to_ask(browser: Browser, study: Place) -> None:
    async with visit(browser, study) as made:
        await expect(made.page.get_by_role("region", name="office")).to_be_visible()
    async with asyncio.timeout(CAP):
        while study.desk._watchers:  # the browser has closed, and the server hears of it soon
            await asyncio.sleep(0.01)
    assert await refused(study.ask("echo", text="anybody?")) == "nobody"
