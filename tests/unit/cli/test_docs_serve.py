"""`a2c docs serve`: what it is given, and what it refuses before it serves."""

import asyncio
import json
import os
from argparse import Namespace
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest

from a2c_smcp.cli import docs_serve
from a2c_smcp.cli.command import Context
from a2c_smcp.cli.docs_options import ocr_policy, passwords
from a2c_smcp.documents.indexing import Progress
from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec
from a2c_smcp.errors import BadRequest
from tests.unit.cli.running import EXAMPLES, a2c


def context(env: Mapping[str, str] | None = None) -> Context:
    return Context((), StringIO(), StringIO(), StringIO(), env or {})


def given(**arguments: Any) -> Namespace:
    return Namespace(**({"ocr": None, "ocr_model": None, "ocr_allow_http": False, "password_env": None} | arguments))


def test_the_commands_below_docs_have_their_own_help() -> None:
    assert a2c("docs", "serve", "--help").out.startswith("usage: a2c docs serve FOLDER... ")
    assert "a2c docs cache COMMAND" in a2c("docs", "cache", "--help").out
    assert "commands:\n  serve" in a2c("docs", "--help").out


def test_a_folder_of_the_name_of_a_command_can_still_be_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "serve").mkdir()
    monkeypatch.chdir(tmp_path)
    for words in (["docs", "./serve"], ["docs", "--limit", "1", "serve"], ["docs", "--", "serve"]):
        assert a2c(*words).out.startswith("0 documents in ")


@pytest.mark.parametrize(
    ("options", "code", "why"),
    [
        (["--http", "0.0.0.0:0", "--no-auth"], 1, "token"),
        (["--http", "127.0.0.1:0", "--no-auth", "--http-token", "x"], 1, "mutually exclusive"),
        (["--http", "nowhere"], 1, "HOST:PORT"),
        (["--http", "127.0.0.1:0", "--http-token", "x", "--http-token-file", "y"], 1, "one of them"),
        (["--http", "127.0.0.1:0", "--http-token-file", "no-such-file"], 1, "cannot be read"),
        (["--ocr", "abbyy"], 2, "no OCR engine"),
        (["--ocr", "http://ocr.example"], 1, "--ocr-allow-http"),
        (["--password-env", "NO_SUCH_VARIABLE"], 1, "NO_SUCH_VARIABLE is not set"),
        (["--host", "a b"], 1, "error 4204"),
        (["--workers", "0"], 2, "above 0"),
    ],
)
def test_what_cannot_be_is_said_at_once(tmp_path: Path, options: list[str], code: int, why: str) -> None:
    run = a2c("docs", "serve", EXAMPLES, "--cache", str(tmp_path), *options)
    assert (run.code, run.out) == (code, "")
    assert why in run.err


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    run = a2c("docs", "serve", "no-such-folder", "--http", "127.0.0.1:0", "--no-auth", "--cache", str(tmp_path))
    assert run == (1, "", "error 400: There is no folder 'no-such-folder'\n")


def test_json_has_no_place_where_standard_output_is_the_clients(tmp_path: Path) -> None:
    run = a2c("docs", "serve", EXAMPLES, "--json")
    assert (run.code, "--json needs --http" in run.out) == (2, True)


def test_without_an_engine_there_is_no_ocr() -> None:
    assert ocr_policy(context(), given()) is None


def test_services_are_asked_before_the_local_engine_if_they_are_named_first() -> None:
    policy = ocr_policy(context({"A2C_DOCS_OCR_KEY": "k"}), given(ocr=["https://ocr.example/parse", "local"]))
    remote = OcrSpec("remote", url="https://ocr.example/parse", key="k", allow_http="loopback")
    assert policy == OcrPolicy((remote, OcrSpec("local")))


def test_a_model_makes_a_vision_endpoint_of_a_url() -> None:
    policy = ocr_policy(context(), given(ocr=["https://llm.example/v1"], ocr_model="m"))
    assert policy == OcrPolicy((OcrSpec("vision", url="https://llm.example/v1", model="m", allow_http="loopback"),))


@pytest.mark.parametrize(
    ("url", "flag", "allowed"),
    [("http://127.0.0.1:9/", False, "loopback"), ("http://ocr.example/", True, "always")],
)
def test_plain_http_is_for_this_machine_unless_it_is_allowed(url: str, flag: bool, allowed: str) -> None:
    policy = ocr_policy(context(), given(ocr=[url], ocr_allow_http=flag))
    assert policy is not None
    assert policy.engines[0].allow_http == allowed


def test_passwords_come_from_variables_for_all_or_for_one() -> None:
    ask = passwords(context({"ALL": "one", "OTHER": "two"}), given(password_env=["ALL", "report.pdf=OTHER"]))
    assert ask is not None
    assert (ask("report.pdf"), ask("anything")) == ("two", "one")


def test_a_password_for_one_document_is_for_no_other() -> None:
    ask = passwords(context({"OTHER": "two"}), given(password_env=["report.pdf=OTHER"]))
    assert ask is not None
    assert (ask("report.pdf"), ask("anything")) == ("two", None)


class Indexing:
    """A service that is further each time it is asked, and then has more to do."""

    def __init__(self) -> None:
        self.steps = [Progress(3, 3), Progress(1, 4), Progress(1, 4), Progress(3, 4), Progress(4, 4), Progress(4, 4)]
        self.over = asyncio.Event()

    @property
    def progress(self) -> Progress:
        if len(self.steps) == 1:
            self.over.set()
            return self.steps[0]
        return self.steps.pop(0)


async def test_progress_is_told_while_it_takes_longer_than_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_serve, "TELL_AFTER", 0.0)
    service, where = Indexing(), context()
    telling = asyncio.create_task(docs_serve._tell_progress(cast("Any", service), where))
    await asyncio.wait_for(service.over.wait(), 60)
    telling.cancel()
    written = cast("StringIO", where.stderr).getvalue().splitlines()
    assert [line.partition(" doc")[0] for line in written] == ["1 of 4", "3 of 4", "4 of 4"]


def test_without_variables_there_are_no_passwords() -> None:
    assert passwords(context(), given()) is None
    with pytest.raises(BadRequest):
        passwords(context(), given(password_env=["MISSING"]))


async def test_progress_is_kept_in_a_file_for_a_program_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs_serve, "WRITE_EVERY", 0.0)
    service, file = Indexing(), tmp_path / "progress.json"
    writing = asyncio.create_task(docs_serve._write_progress(cast("Any", service), file))
    await asyncio.wait_for(service.over.wait(), 60)
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    assert json.loads(file.read_text(encoding="ascii")) == {"indexed": 4, "total": 4}
    assert os.listdir(tmp_path) == ["progress.json"]  # noqa: PTH208
