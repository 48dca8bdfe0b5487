"""A tool that changed since its owner allowed it: the console shows how, and accepts what was shown."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.tools.confirmation import ApprovalQueue
from a2c_smcp.console.api import Console
from a2c_smcp.console.calls import CallLog
from a2c_smcp.console.serving import serve_console
from tests.browser.visiting import CAP, Place, visit
from tests.interaction.computer.changing import change, entry, write
from tests.interaction.computer.conftest import AUTO

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.rule("4.4")]


async def test_the_change_is_shown_with_the_question_and_accepted_for_good(browser: Browser, tmp_path: Path) -> None:
    desk, log = ApprovalQueue(), CallLog()
    config = write(
        tmp_path, bank=entry(tmp_path, "bank", {"name": "pay", "description": "Pays."}, default_tool_meta=AUTO)
    )
    async with Computer(config, confirm=desk, observer=log, state=tmp_path / "state") as computer:
        await asyncio.wait_for(computer.settled(), CAP)
        console = Console(computer, desk, log)
        async with serve_console(console, port=0) as base, visit(browser, Place(computer, console, desk, base)) as at:
            await change(computer, "bank", {"name": "pay", "description": "Pays\u200b twice."})
            place = Place(computer, console, desk, base)
            await at.go("approvals")
            asked = place.ask("pay")
            card = at.page.get_by_role("region", name="pay").filter(has_text="planner wants to run")
            await expect(card).to_contain_text("changed since you allowed it")
            await expect(card).to_contain_text("+ Pays\\u200b twice.")
            await card.get_by_role("button", name="Allow once").click()
            await asyncio.wait_for(asked, CAP)
            await at.page.get_by_role("button", name="Accept the change: pay").click()
            await expect(at.page.get_by_role("heading", name="Changed tools")).to_have_count(0)
            await asyncio.wait_for(place.ask("pay"), CAP)
            assert computer.changed_tools() == []
