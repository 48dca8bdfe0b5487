"""Inputs without a value: the console asks for them, and the server starts."""

import asyncio

import pytest
from playwright.async_api import Browser, expect

from a2c_smcp.computer.ports import ServerState
from tests.browser.visiting import CAP, OFFICE_SERVER, place, program, visit

pytestmark = pytest.mark.asyncio(loop_scope="module")
SECRET = "hunter2-typed-in-the-console"


async def test_a_value_is_typed_unseen_and_the_server_starts(browser: Browser) -> None:
    server = program(str(OFFICE_SERVER), "office", parameters={"env": {"NOTES_TOKEN": "${input:token}"}})
    token = {"type": "promptString", "id": "token", "description": "The token of the notes", "password": True}
    region = {"type": "pickString", "id": "region", "description": "Not needed by anybody", "options": ["eu", "us"]}
    async with place({"office": server}, [token, region]) as made, visit(browser, made) as at:
        await at.go("servers")
        await expect(at.page.locator("#nav .badge")).to_have_text("1")
        await at.go("approvals")
        card = at.page.get_by_role("region", name="token")
        field = card.get_by_label("The token of the notes")
        await expect(field).to_have_attribute("type", "password")
        await expect(at.page.get_by_role("region", name="region", exact=True)).to_have_count(0)
        await field.fill(SECRET)
        await card.get_by_role("button", name="Use this value").click()
        await expect(card).to_have_count(0)
        async with asyncio.timeout(CAP):
            while made.computer.servers.statuses()[0].state is not ServerState.RUNNING:
                await asyncio.sleep(0.01)
        assert SECRET not in await at.page.content()
        await expect(at.page.locator("#nav .badge")).to_have_count(0)
        assert at.complaints == []
