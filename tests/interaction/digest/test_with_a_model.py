"""Digests that documents are served with, written by a language model, or broken off while it thinks."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.cli.digest_tool import DigestingService
from tests.interaction.digest.conftest import DOCUMENTS, Endpoint, said

CAP = 100
INVOICE = DOCUMENTS / "pdf_table_repair_inv.pdf"


@pytest.fixture
def service(endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DigestingService:
    monkeypatch.setenv("A2C_LLM_BASE_URL", endpoint.url)
    monkeypatch.setenv("A2C_LLM_MODEL", "m")
    return DigestingService([INVOICE], tmp_path / "digests", host="h", cache=tmp_path / "cache", workers=1)


async def told(_: float, __: float | None, ___: str) -> None:
    pass


async def the_document(service: DigestingService) -> str:
    (document,) = await service.documents()
    return document.doc_ref


async def test_the_model_of_the_environment_writes_the_sections(service: DigestingService, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("It is an invoice [p1].")
    async with service, asyncio.timeout(CAP):
        made = await service.digest(await the_document(service), section_ranges=[[1, 3]], dpi=40, tell=told)
        text = (await service.read(f"{made.uri}/pages/1?format=markdown")).text
    assert (made.by, made.source_pages, [section["by"] for section in made.sections]) == ("model", 3, ["model"])
    assert "It is an invoice" in text


async def test_a_run_that_waits_for_its_model_ends_at_once(service: DigestingService, endpoint: Endpoint) -> None:
    asked, over = threading.Event(), threading.Event()

    def think(_: dict[str, Any]) -> tuple[int, Any]:
        asked.set()
        over.wait(CAP)
        return said("Too late.")

    endpoint.answer = think
    async with service, asyncio.timeout(CAP):
        work = asyncio.create_task(service.digest(await the_document(service), section_ranges=None, dpi=40, tell=told))
        await asyncio.to_thread(asked.wait, CAP)
        work.cancel()
        # Its process is gone before the cancelling is over, long before the model would be heard.
        with pytest.raises(asyncio.CancelledError):
            await work
        assert not over.is_set()
    over.set()
