"""One browser and one Computer for each module; a context of its own for each test."""

import asyncio
import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from a2c_smcp.computer.tools.confirmation import Decision
from tests.browser.visiting import CAP, DOCUMENTS, OFFICE_SERVER, Place, Visit, chromium, place, program, visit

CHOSEN = (
    "pdf_word365_structure.pdf",
    "docx_word_sample.docx",
    "xlsx_tables.xlsx",
    "xlsx_password.xlsx",
    "epub_purvis.epub",
)
SECRET = "hunter2-of-the-owner"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def study(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    """A Computer with windows and tools that ask first, and with documents."""
    folder = tmp_path_factory.mktemp("documents")
    for name in CHOSEN:
        shutil.copy(DOCUMENTS / name, folder)
    (folder / "年度计划.md").write_text("# 年度计划\n\n第一季度完成设计。\n", encoding="utf-8")
    words = ["-m", "a2c_smcp.cli", "docs", "serve", str(folder), "--host", "study.docs", "--workers", "1"]
    servers = {
        "office": program(
            str(OFFICE_SERVER), "office", parameters={"env": {"NOTES_TOKEN": "${input:token}", "API_KEY": SECRET}}
        ),
        "documents": program(*words, "--cache", str(tmp_path_factory.mktemp("cache"))),
    }
    token = {"type": "promptString", "id": "token", "description": "The token of the notes", "default": SECRET}
    async with place(servers, [token]) as made:
        await asyncio.wait_for(collected(made), CAP)
        yield made


async def collected(made: Place) -> None:
    """Wait until the catalogue has every document."""
    while "unavailable" in await made.computer.finder():
        await asyncio.sleep(0.05)


@pytest_asyncio.fixture(loop_scope="module")
async def at(browser: Browser, study: Place) -> AsyncIterator[Visit]:
    """A visit to the console; a call that it leaves unanswered is refused."""
    async with visit(browser, study) as made:
        yield made
    for question in study.desk.pending():
        study.desk.answer(question.number, Decision.REFUSE)
