"""Every section as it looks, for a person to judge: the pictures are kept in `artifacts/console`."""

from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, expect

from tests.browser.visiting import ROOT, Place, visit

pytestmark = pytest.mark.asyncio(loop_scope="module")

ARTIFACTS = ROOT / "artifacts" / "console"
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": PHONE,
    "chinese": {"locale": "zh-CN"},
    "chinese-phone": {**PHONE, "locale": "zh-CN", "color_scheme": "dark"},
}
REPORT = f"documents/documents/{quote('dpe://study.docs/pdf_word365_structure.pdf', safe='')}"
SECTIONS = {
    "servers": ("servers", ".cards .card"),
    "tools": ("tools/search_documents", "form.call"),
    "desktop": ("desktop", ".window"),
    "documents": ("documents", ".list .item .title"),
    "document": (REPORT, ".list .item .title"),
    "page": (f"{REPORT}/0/p0-tbl1", ".box:not(.faint)"),
    "calls": ("calls", ".list .item .title"),
    "approvals": ("approvals", ".approval"),
}
"""Where each is, and what has to be there before it is worth a picture."""


@pytest.mark.parametrize("look", LOOKS)
async def test_every_section_has_its_contents_in_every_look(browser: Browser, study: Place, look: str) -> None:
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    async with visit(browser, study, **LOOKS[look]) as at:
        calling = study.ask("echo", text="a call to look at")
        for name, (section, contents) in SECTIONS.items():
            await at.go(section)
            await expect(at.page.locator(contents).first).to_be_visible()
            await at.page.screenshot(path=ARTIFACTS / f"{look}-{name}.png")
        await at.page.locator(".approval button.primary").click()
        assert (await calling)["isError"] is False
