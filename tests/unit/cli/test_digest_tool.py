"""Digests of served documents: what they are called, how scans are read, and how a run ends."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from a2c_smcp.cli.digest_tool import DigestingService, digest_name, ocr_params
from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec
from a2c_smcp.errors import BadRequest, InternalError
from tests.unit.cli.running import a2c

INVOICE = Path(__file__).parents[2] / "data" / "documents" / "pdf_table_repair_inv.pdf"


@pytest.mark.parametrize(
    ("doc_ref", "stem", "name"),
    [
        ("report.pdf", "report", "report"),
        ("2026-annual-report.pdf", "Annual Report", "2026-annual-report"),
        ("doc-1a2b3c.pdf", "年度报告", "年度报告-7830c0"),
    ],
)
def test_a_digest_is_called_like_its_document(doc_ref: str, stem: str, name: str) -> None:
    assert digest_name(doc_ref, stem) == name


def test_documents_of_one_name_have_digests_of_two_names() -> None:
    assert digest_name("doc-1a2b3c.pdf", "年度报告") != digest_name("doc-ffffff.pdf", "年度报告")


def test_scans_are_read_as_the_server_reads_them() -> None:
    remote = OcrSpec("remote", url="https://ocr.example/parse", key="k")
    assert ocr_params(None) == {"ocr": False}
    assert ocr_params(OcrPolicy((OcrSpec("local"),))) == {"ocr": True}
    assert ocr_params(OcrPolicy((remote, OcrSpec("local")))) == {
        "ocr": True,
        "ocr_url": "https://ocr.example/parse",
        "ocr_key": "k",
        "allow_http": False,
    }


def test_a_folder_that_cannot_be_made_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BadRequest, match="cannot be made"):
        DigestingService([tmp_path], tmp_path / "file" / "digests", host="h")
    run = a2c(
        "docs", "serve", str(tmp_path), "--digests", str(tmp_path / "file" / "x"), "--http", "127.0.0.1:0", "--no-auth"
    )
    assert (run.code, "cannot be made" in run.err) == (1, True)


async def test_a_digest_that_is_left_out_of_the_documents_is_said(tmp_path: Path) -> None:
    told: list[str] = []

    async def tell(_: float, __: float | None, message: str) -> None:
        told.append(message)

    service = DigestingService(
        [INVOICE], tmp_path / "digests", host="h", cache=tmp_path / "cache", excludes=["*.md"], workers=1, watch=False
    )
    async with service:
        (document,) = await service.documents()
        with pytest.raises(InternalError, match="hides it"):
            await service.digest(document.doc_ref, section_ranges=None, dpi=40, tell=tell)
    assert told[-1] == "sections: 1 of 1"


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
def test_a_run_ends_when_nobody_wants_it_any_more(tmp_path: Path) -> None:
    params = {"pdf_path": str(INVOICE), "out_dir": str(tmp_path), "dpi": 600, "ocr": False}
    with subprocess.Popen(
        [sys.executable, "-c", "from a2c_smcp.cli.digest_tool import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        run.stdin.write(json.dumps({"params": params}).encode() + b"\n")
        run.stdin.flush()
        assert json.loads(run.stdout.readline()) == {"progress": ["pages", 0, 3]}
        run.stdin.close()
        assert run.wait(60) == -signal.SIGKILL
