"""Digests of real documents, with and without a service and a model."""

import base64
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.digest.dotsocr import local_pdf_tool, remote_tools
from a2c_smcp.digest.experts import AutoInstallerExpert, OrchestratorExpert, OutputAssemblerExpert
from a2c_smcp.digest.llm_proxy import LlmProxy, LlmSettings
from a2c_smcp.digest.pipeline import Pipeline
from tests.interaction.digest.conftest import DOCUMENTS, Endpoint, said
from tests.unit.cli.running import a2c

INVOICE = str(DOCUMENTS / "pdf_table_repair_inv.pdf")
SPARSE = str(DOCUMENTS / "pdf_table_borderless.pdf")
NO_MODEL = LlmProxy(LlmSettings())
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def digest(out_dir: Path, pdf: str = INVOICE, llm: LlmProxy = NO_MODEL, **more: Any) -> dict[str, Any]:
    params = {"pdf_path": pdf, "out_dir": str(out_dir), "folder": ".", "dpi": 50, "ocr": False, "trace_id": "run"}
    params |= more
    return dict(Pipeline(llm=llm).run(params))


def _prose(seed: int) -> str:
    return " ".join(
        f"Thing {seed * word} is unlike thing {word + seed * 7} by {seed + word} inches." for word in range(60)
    )


def text_at(response: dict[str, Any]) -> str:
    assert response["error"] is None
    return Path(response["data"]["output_md"]).read_text(encoding="utf-8")


@pytest.mark.rule("8.5", "8.6")
def test_without_a_model_a_digest_has_headings_sentences_tables_and_images(tmp_path: Path) -> None:
    response = digest(tmp_path)
    text = text_at(response)
    assert "without a language model" in text
    assert re.search(r"^\|.*\|$", text, re.MULTILINE)
    assert "](page1.png)" in text
    assert response["meta"]["trace_id"] == "run"
    assert [page["path"] for page in response["data"]["pages"]] == ["local"] * 3
    assert all(Path(image).is_file() for image in response["data"]["images"])


@pytest.mark.rule("8.5")
def test_a_second_run_does_nothing_twice_and_gives_the_same(tmp_path: Path) -> None:
    first = text_at(digest(tmp_path))
    image = tmp_path / "page2.png"
    before = image.stat().st_mtime_ns
    seen: list[tuple[str, int, int]] = []
    params = {"pdf_path": INVOICE, "out_dir": str(tmp_path), "folder": ".", "dpi": 50, "ocr": False}
    again = Pipeline(llm=NO_MODEL).run(params, progress=lambda *step: seen.append(step))
    assert (text_at(dict(again)), image.stat().st_mtime_ns) == (first, before)
    assert seen[0] == ("pages", 3, 3)


@pytest.mark.rule("8.5")
def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    def kill(step: str, done: int, _: int) -> None:
        if (step, done) == ("pages", 2):
            raise Killed

    params = {"pdf_path": INVOICE, "out_dir": str(tmp_path), "dpi": 50, "ocr": False}
    with pytest.raises(BaseException):  # noqa: B017, PT011 - in a group, or alone
        local_pdf_tool.call(params, progress=kill)
    response = local_pdf_tool.call(params)
    assert response["data"] is not None
    assert (response["data"]["reused"] >= 1, len(response["data"]["images"])) == (True, 3)


def test_sections_are_those_that_were_asked_for(tmp_path: Path) -> None:
    response = digest(tmp_path, section_ranges=[[1, 1], [2, 3]])
    assert [section["pages"] for section in response["data"]["sections"]] == [[1, 1], [2, 3]]
    assert "[p2-3]" in text_at(response)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"section_ranges": [[7, 9]]}, "beyond the 3 pages"),
        ({"dpi": 5}, "dpi must be"),
        ({"no_fallback": True}, "needs a remote service"),
        ({"use_existing_images": True}, "no images"),
        ({"pdf_path": "missing.pdf"}, "There is no file"),
        ({"packages": ["left-pad"]}, "Not on the list"),
        ({"ocr_url": "http://ocr.example.com/extract", "no_fallback": True}, "not encrypted"),
    ],
)
def test_what_cannot_be_done_is_told(tmp_path: Path, more: dict[str, Any], why: str) -> None:
    response = digest(tmp_path, **more)
    assert (response["ok"], why in response["error"]) == (False, True), response["error"]


@pytest.mark.rule("8.6")
def test_a_model_writes_the_sections_and_its_citations_are_checked(tmp_path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("It is an invoice [p1]. It names a moon [p77].", prompt_tokens=10)
    model = LlmProxy(LlmSettings(endpoint.url, model="m"))
    response = digest(tmp_path, llm=model, section_ranges=[[1, 2], [3, 3]])
    text = text_at(response)
    assert "It is an invoice [p1]. It names a moon." in text
    assert [section["dropped_citations"] for section in response["data"]["sections"]] == [1, 2]
    assert response["data"]["usage"] == {"prompt_tokens": 20}
    again = digest(tmp_path, llm=LlmProxy(LlmSettings(endpoint.url, model="m")), section_ranges=[[1, 2], [3, 3]])
    assert (text_at(again), len(endpoint.asked)) == (text, 2)


@pytest.mark.rule("8.6")
def test_a_section_whose_call_fails_is_marked_and_the_rest_goes_on(tmp_path: Path, endpoint: Endpoint) -> None:
    def answer(asked: dict[str, Any]) -> tuple[int, Any]:
        fails = "pages 1-1" in asked["messages"][-1]["content"]
        return (400, {"error": {"message": "too spicy"}}) if fails else said("Fine [p2].")

    endpoint.answer = answer
    model = LlmProxy(LlmSettings(endpoint.url, model="m"))
    response = digest(tmp_path, llm=model, section_ranges=[[1, 1], [2, 3]])
    sections = response["data"]["sections"]
    assert [section["by"] for section in sections] == ["extract", "model"]
    assert "too spicy" in sections[0]["error"]
    text = text_at(response)
    assert ("⚠" in text, "Fine [p2]." in text, "### Key points" in text or "### Tables" in text) == (True, True, True)


def test_a_long_section_is_written_in_parts_that_fit_the_model(tmp_path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("A note [p1].")
    pages = "".join(f"<!-- page {number} -->\n{_prose(number)}\n\n" for number in range(1, 7))
    (tmp_path / "text.txt").write_text(pages)
    settings = LlmSettings(endpoint.url, model="m", context_tokens=1_600)
    params = {
        "text_path": str(tmp_path / "text.txt"),
        "out_md_path": str(tmp_path / "d.md"),
        "page_count": 6,
        "max_tokens": 200,
    }
    response = OutputAssemblerExpert(LlmProxy(settings)).compose(params)
    assert response["data"] is not None
    assert response["data"]["sections"][0]["calls"] > 3
    assert all(len(asked["messages"][1]["content"]) < 6_000 for asked in endpoint.asked)


@pytest.mark.rule("8.3")
@pytest.mark.parametrize("form", ["json", "zip", "text"])
def test_every_form_of_answer_lands_in_the_folder(tmp_path: Path, endpoint: Endpoint, form: str) -> None:
    text = "".join(f"<!-- page {n} -->\nWhat stands on page {n} of the remote text.\n\n" for n in (1, 2, 3))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("text.txt", text)
        archive.writestr("images/page1.png", PNG)
    image = {"filename": "page1.png", "content": base64.b64encode(PNG).decode()}
    answers: dict[str, Any] = {
        "json": {"text": text, "images": [image]},
        "zip": packed.getvalue(),
        "text": text.encode(),
    }
    endpoint.answer = lambda _: (200, answers[form])
    params = {"pdf_path": INVOICE, "out_dir": str(tmp_path / "out"), "ocr_url": endpoint.url, "trace_id": "t"}
    response = remote_tools.call_pdf(params)
    data = response["data"]
    assert data is not None
    names = [] if form == "text" else [str(tmp_path / "out" / "page1.png")]
    assert (data["images"], Path(data["text_path"]).read_text().strip()) == (names, text.strip())
    assert data["page_count"] == 3
    assert not (tmp_path / "page1.png").exists()
    assert b'name="task"\r\n\r\npdf_ocr' in endpoint.asked[0]["body"]
    remote_tools.call_pdf(params)
    assert len(endpoint.asked) == 1


@pytest.mark.rule("8.3")
@pytest.mark.parametrize("name", ["../../page1.png", "..\\page1.png", "/tmp/page1.png", "C:\\page1.png"])
def test_an_archive_that_leaves_its_folder_is_refused(tmp_path: Path, endpoint: Endpoint, name: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("text.txt", "Enough words to be a text, whoever wrote them.")
        archive.writestr(name, PNG)
    endpoint.answer = lambda _: (200, packed.getvalue())
    params = {"pdf_path": INVOICE, "out_dir": str(tmp_path / "out"), "ocr_url": endpoint.url}
    response = remote_tools.call_pdf(params)
    assert (response["ok"], "lead out of its folder" in str(response["error"])) == (False, True)
    assert list(tmp_path.rglob("*")) == [tmp_path / "out"]


@pytest.mark.rule("8.4")
def test_a_page_that_the_service_reads_badly_is_read_here(tmp_path: Path, endpoint: Endpoint) -> None:
    loop = "the same again " * 100
    text = (
        f"<!-- page 1 -->\nRemote words for page one, enough of them.\n\n<!-- page 2 -->\n{loop}\n\n<!-- page 3 -->\n\n"
    )
    endpoint.answer = lambda _: (200, {"text": text + "more " * 3})
    response = digest(tmp_path, ocr_url=endpoint.url)
    data = response["data"]
    assert data["path"] == "remote+local"
    assert [(page["page"], page["path"]) for page in data["pages"]][:2] == [(1, "remote"), (2, "local")]
    assert "repeats itself" in data["pages"][1]["why"]
    final = Path(data["text_path"]).read_text()
    assert ("Remote words" in final, "the same again the same again" in final) == (True, False)


@pytest.mark.rule("8.4")
@pytest.mark.parametrize(
    "answer", [(500, {}), (200, {"error": "no engine"}), (200, {"text": ""}), (200, b"\xff\xfe\x00")]
)
def test_a_service_that_fails_is_replaced_by_this_machine(
    tmp_path: Path, endpoint: Endpoint, answer: tuple[int, Any]
) -> None:
    endpoint.answer = lambda _: answer
    calls: list[str] = []

    def remote(params: Any, *, progress: Any = None) -> Any:
        calls.append(params["meta"]["trace_id"])
        inner = {**params, "params": {**params["params"], "retries": 0}}
        return remote_tools.call_pdf(inner, progress=progress)

    params = {"pdf_path": INVOICE, "out_dir": str(tmp_path), "dpi": 50, "ocr": False, "ocr_url": endpoint.url}
    tools = {"remote": remote, "local": local_pdf_tool.call}
    response = OrchestratorExpert().orchestrate({**params, "trace_id": "one"}, tools)
    data = response["data"]
    assert data is not None
    assert (data["path"], calls, len(data["images"])) == ("local", ["one"], 3)
    assert data["pages"][0]["why"].startswith("the remote service")
    refused = OrchestratorExpert().orchestrate({**params, "no_fallback": True}, tools)
    assert (refused["ok"], "--no_fallback" in str(refused["error"])) == (False, True)


def test_a_tool_that_raises_is_a_tool_that_failed(tmp_path: Path) -> None:
    def remote(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a bug")

    params = {"pdf_path": SPARSE, "out_dir": str(tmp_path), "dpi": 50, "ocr": False, "ocr_url": "https://x.example"}
    response = OrchestratorExpert().orchestrate(params, {"remote": remote, "local": local_pdf_tool.call})
    assert response["data"] is not None
    assert response["data"]["why"] == "the remote service failed: RuntimeError: a bug"


@pytest.mark.rule("8.2", "8.4")
@pytest.mark.parametrize("names", [("remote", "local"), ("dotsocr_pdf@v1", "local_pdf@v1")])
def test_tools_that_know_the_protocol_alone_will_do(tmp_path: Path, names: tuple[str, str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("Enough words to be a text, whoever wrote them.")
    asked: list[Any] = []

    def remote(params: Any) -> Any:
        asked.append((params["name"], params["pdf_path"], params["params"]["pdf_path"]))
        return {"ok": False, "error": "out of order"}

    def local(params: Any) -> Any:
        asked.append((params["name"], params["pdf_path"], params["params"]["pdf_path"]))
        return {"ok": True, "error": None, "data": {"images": [], "text_path": str(text)}}

    params = {"pdf_path": "a.pdf", "out_dir": str(tmp_path)}
    response = OrchestratorExpert().orchestrate(params, dict(zip(names, (remote, local), strict=True)))
    assert asked == [("dotsocr_pdf", "a.pdf", "a.pdf"), ("local_pdf", "a.pdf", "a.pdf")]
    assert response["data"] == {
        "images": [],
        "text_path": str(text),
        "pages": [],
        "path": "local",
        "why": "the remote service failed: out of order",
    }


def test_without_tools_those_of_the_package_are_used(tmp_path: Path) -> None:
    params = {"pdf_path": SPARSE, "out_dir": str(tmp_path), "dpi": 50, "ocr": False}
    response = OrchestratorExpert().orchestrate(params)
    assert response["data"] is not None
    assert (response["data"]["path"], response["data"]["page_count"]) == ("local", 2)


@pytest.mark.rule("8.4")
def test_images_that_are_there_already_are_taken(tmp_path: Path) -> None:
    for number in (1, 2, 10):
        (tmp_path / f"page{number}.png").write_bytes(PNG)
    response = digest(tmp_path, use_existing_images=True)
    images = [Path(image).name for image in response["data"]["page_images"]]
    assert images == ["page1.png", "page2.png", "page10.png"]
    assert {page["path"] for page in response["data"]["pages"]} == {"existing"}
    assert "bumper" in text_at(response).lower()


@pytest.mark.rule("8.4")
def test_a_text_that_is_too_short_is_read_from_the_pdf(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("?")
    params = {
        "pdf_path": SPARSE,
        "text_path": str(tmp_path / "text.txt"),
        "images": [],
        "out_md_path": str(tmp_path / "d.md"),
    }
    response = OutputAssemblerExpert(NO_MODEL).compose(params)
    assert "invoice" in text_at(dict(response)).lower() or "inventory" in text_at(dict(response)).lower()


def test_a_text_without_page_marks_is_spread_and_says_so(tmp_path: Path) -> None:
    text = "\n\n".join(f"Paragraph {number} says something about the matter at hand." for number in range(12))
    (tmp_path / "text.txt").write_text(text)
    params = {"pdf_path": INVOICE, "text_path": str(tmp_path / "text.txt"), "out_md_path": str(tmp_path / "d.md")}
    written = text_at(dict(OutputAssemblerExpert(NO_MODEL).compose(params)))
    assert "page numbers are those of whole sections" in written


@pytest.mark.rule("8.4")
def test_a_package_that_is_missing_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("a2c_smcp.digest.installer._is_there", lambda name: name != "isal")
    expert = AutoInstallerExpert()
    refused = expert.ensure({"packages": ["lxml", "isal"], "allow_install": False})
    assert (refused["ok"], refused["data"]) == (False, {"installed": [["lxml", "ok"], ["isal", "missing"]]})
    response = Pipeline(installer=expert, llm=NO_MODEL).run({"pdf_path": INVOICE, "out_dir": str(tmp_path)})
    assert (response["ok"], "isal" in str(response["error"])) == (False, True)


@pytest.mark.rule("8.2")
def test_packages_that_are_there_are_ok() -> None:
    response = AutoInstallerExpert().ensure({"packages": ["Pillow", "pypdfium2"]})
    assert response["data"] == {"installed": [["pillow", "ok"], ["pypdfium2", "ok"]]}


@pytest.mark.rule("8.5")
def test_the_command_prints_the_response(tmp_path: Path) -> None:
    out = str(tmp_path / "d.md")
    words = ["--pdf", INVOICE, "--out_dir", str(tmp_path / "images"), "--output_md", out, "--dpi", "50", "--no_ocr"]
    run = a2c("digest", *words, "--section_ranges", "[[1,2],[3,3]]", "--json")
    response = json.loads(run.out)
    assert (run.code, response["ok"], response["data"]["output_md"]) == (0, True, out)
    own = Path(response["data"]["folder"])
    assert (own.parent, f"](images/{own.name}/page1.png)" in Path(out).read_text()) == (tmp_path / "images", True)
    shown = a2c("digest", *words)
    assert (shown.code, shown.out.splitlines()[1]) == (0, "3 pages, read: local; 1 sections, by: extract")


def test_the_command_says_what_failed(tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    run = a2c("digest", "--pdf", str(tmp_path / "broken.pdf"), "--no_ocr")
    assert (run.code, run.out.startswith("failed: Cannot be read"), run.err) == (1, True, "")


def test_what_is_no_pdf_gets_no_digest(tmp_path: Path) -> None:
    path = tmp_path / "notes.pdf"
    path.write_text("A text that calls itself a PDF.")
    assert digest(tmp_path, str(path))["error"] == "'notes.pdf' is no PDF"
    local = local_pdf_tool.call({"pdf_path": str(path), "out_dir": str(tmp_path)})
    assert (local["ok"], local["error"]) == (False, "'notes.pdf' is no PDF")


def test_the_command_says_why_the_service_was_not_used(tmp_path: Path) -> None:
    words = ["--pdf", INVOICE, "--out_dir", str(tmp_path), "--dpi", "50", "--no_ocr", "--quiet"]
    run = a2c("digest", *words, "--ocr_url", "http://ocr.example.com/extract")
    assert run.code == 0
    assert "\nnote: the remote service failed: " in run.out


def test_ranges_that_are_none_are_misuse() -> None:
    run = a2c("digest", "--pdf", INVOICE, "--section_ranges", "abc")
    assert (run.code, "argument --section_ranges: 'abc' is no list of page ranges" in run.err) == (2, True)


def test_a_key_that_the_ocr_service_sends_back_is_in_no_answer_and_no_file(tmp_path: Path, endpoint: Endpoint) -> None:
    key = "ocr-planted-0123456789"
    endpoint.answer = lambda _: (200, {"ok": False, "error": f"key {key} is over its quota"})
    fallen_back = digest(tmp_path, ocr_url=endpoint.url, ocr_key=key)
    assert "is over its quota" in str(fallen_back["data"])
    endpoint.answer = lambda _: (200, {"text": f"Authorization: Bearer {key}\n" * 40})
    remote = digest(tmp_path, ocr_url=endpoint.url, ocr_key=key)
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert key not in str(fallen_back) + str(remote)
    assert not any(key.encode() in content for content in written)
