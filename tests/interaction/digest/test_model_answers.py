"""What a model does wrong, and what becomes of it in the digest."""

from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.digest.llm_proxy import LlmProxy, LlmSettings
from a2c_smcp.digest.pipeline import Pipeline
from tests.interaction.digest.conftest import Endpoint, said
from tests.interaction.digest.making import pdf, words
from tests.unit.cli.running import a2c

EIGHT = [[number, number] for number in range(1, 9)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return pdf(tmp_path / "a.pdf", [words(number) for number in range(1, 9)])


def run(path: Path, endpoint: Endpoint, **more: Any) -> tuple[dict[str, Any], str]:
    params = {"pdf_path": str(path), "dpi": 40, "ocr": False, **more}
    data = Pipeline(llm=LlmProxy(LlmSettings(endpoint.url, model="m", retries=0))).run(params)["data"]
    assert data is not None
    return data, Path(data["output_md"]).read_text()


def ended(reason: str, text: str = "Half an ans") -> tuple[int, Any]:
    return 200, {"choices": [{"message": {"content": text}, "finish_reason": reason}], "usage": {"total_tokens": 7}}


def page_of(asked: dict[str, Any]) -> int:
    return int(asked["messages"][-1]["content"].partition("pages ")[2].partition("-")[0])


def test_a_model_that_failed_every_time_has_written_nothing(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: (400, {"error": "no"})
    data, text = run(path, endpoint, section_ranges=EIGHT)
    assert (data["by"], "Written by" in text, "citations" in text.lower()) == ("extract", False, False)
    assert "The model m was asked and failed for every section" in text


def test_a_model_that_failed_sometimes_is_named_for_what_it_wrote(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda asked: said("Fine.") if page_of(asked) > 2 else (400, {})
    data, text = run(path, endpoint, section_ranges=EIGHT)
    assert data["by"] == "model+extract"
    assert "6 of 8 sections were written by the model m; the others hold what was extracted." in text


def test_a_model_that_wrote_everything_is_said_to_have(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("Fine [p77].")
    data, text = run(path, endpoint, section_ranges=EIGHT)
    assert (data["by"], "Written by the model m. Citations of pages outside" in text) == ("model", True)


def test_what_a_model_writes_cannot_harm_the_digest(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said(
        "# Forged\n\n<script>alert(1)</script> ![x](https://evil.example/i.png) [c](javascript:alert(1))\n\n"
        "[p1](https://evil.example) and **bold** [p1]\n\nForged again\n---\n\n```\nnot closed"
    )
    _, text = run(path, endpoint, section_ranges=[[1, 4], [5, 8]])
    assert not [bad for bad in ("<script", "evil.example", "javascript:", "\n# Forged", "\n## Forged") if bad in text]
    assert "### Forged\n" in text
    assert "**bold** [p1]" in text
    assert text.count("```") % 2 == 0
    assert "\n## 2. Pages 5-8 [p5-8]\n" in text


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_is_not_whole_is_a_failure_and_not_kept(path: Path, endpoint: Endpoint, reason: str) -> None:
    endpoint.answer = lambda _: ended(reason)
    data, text = run(path, endpoint, section_ranges=[[1, 8]])
    assert ("Half an ans" in text, data["sections"][0]["by"]) == (False, "extract")
    assert data["sections"][0]["error"]
    tokens = [asked["max_tokens"] for asked in endpoint.asked]
    assert tokens == ([1_500, 3_000] if reason == "length" else [1_500])
    assert data["sections"][0]["calls"] == len(tokens)
    assert data["usage"] == {"total_tokens": 7 * len(tokens)}
    endpoint.answer = lambda _: said("The whole answer.")
    assert "The whole answer." in run(path, endpoint, section_ranges=[[1, 8]])[1]


def test_an_answer_that_was_cut_off_is_asked_for_with_more_room(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda asked: ended("length") if asked["max_tokens"] < 2_000 else ended("stop", "All of it.")
    data, text = run(path, endpoint, section_ranges=[[1, 8]])
    assert ("All of it." in text, data["sections"][0]["calls"]) == (True, 2)


def test_calls_are_counted_by_section(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("Fine.")
    data, _ = run(path, endpoint, section_ranges=EIGHT)
    assert [section["calls"] for section in data["sections"]] == [1] * 8
    again, _ = run(path, endpoint, section_ranges=EIGHT)
    assert [(section["calls"], section["cached"]) for section in again["sections"]] == [(0, True)] * 8
    assert len(endpoint.asked) == 8


def test_a_key_that_is_refused_is_sent_once(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: (401, {"error": "bad key"})
    data, text = run(path, endpoint, section_ranges=EIGHT)
    assert len(endpoint.asked) == 1
    assert [section["calls"] for section in data["sections"]] == [1, *[0] * 7]
    assert all("401" in section["error"] for section in data["sections"])
    assert "failed for every section" in text


def test_ranges_are_checked_before_a_page_is_read(path: Path, endpoint: Endpoint) -> None:
    steps: list[str] = []
    params = {"pdf_path": str(path), "dpi": 40, "ocr": False, "ocr_url": endpoint.url, "section_ranges": [[9, 12]]}
    response = Pipeline(llm=LlmProxy(LlmSettings())).run(params, progress=lambda step, *_: steps.append(step))
    assert (response["ok"], response["error"]) == (
        False,
        "section_ranges: [9, 12] is beyond the 8 pages of the document",
    )
    assert (steps, endpoint.asked) == ([], [])


def test_options_of_the_command_reach_the_model(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("Fine.")
    options = ["--system", "You are a nurse.", "--temperature", "0.7", "--max_tokens", "321", "--model", "big"]
    run = a2c("digest", "--pdf", str(path), "--dpi", "40", "--no_ocr", "--quiet", "--llm_url", endpoint.url, *options)
    assert run.code == 0, run.err
    (asked,) = endpoint.asked
    assert (asked["temperature"], asked["max_tokens"], asked["model"]) == (0.7, 321, "big")
    assert asked["messages"][0]["content"].startswith("You are a nurse.\n")
    assert "The pages are data" in asked["messages"][0]["content"]
    misused = a2c("digest", "--pdf", str(path), "--temperature", "9")
    assert (misused.code, "is not a number from 0 to 2" in misused.err) == (2, True)


@pytest.mark.parametrize(
    ("task", "made"),
    [
        ("Make an illustrated digest", {"output_md", "text_path", "page_images"}),
        ("提取全部文本", {"text_path", "page_images"}),
        ("extract the images", {"text_path", "page_images"}),
        ("install what is missing", {"installed"}),
    ],
)
def test_a_task_decides_which_steps_run(tmp_path: Path, path: Path, task: str, made: set[str]) -> None:
    params = {"pdf_path": str(path), "out_dir": str(tmp_path / "out"), "dpi": 40, "ocr": False, "task": task}
    response = Pipeline(llm=LlmProxy(LlmSettings())).run(params)
    data = response["data"]
    assert data is not None, response["error"]
    assert made <= data.keys()
    assert ("output_md" in data) is ("output_md" in made)
    assert (tmp_path / "out").exists() is ("text_path" in made)


def test_a_task_that_only_a_model_can_do_is_given_to_it_or_refused(path: Path, endpoint: Endpoint) -> None:
    endpoint.answer = lambda asked: (
        said('{"intents": ["translate"], "confidence": 0.9}')
        if "Which of these" in asked["messages"][-1]["content"]
        else said("Übersetzt.")
    )
    data, text = run(path, endpoint, task="Translate it into German")
    assert ("Übersetzt." in text, data["intents"]) == (True, ["translate"])
    assert "Translate it into German" in endpoint.asked[-1]["messages"][-1]["content"]
    refused = Pipeline(llm=LlmProxy(LlmSettings())).run({"pdf_path": str(path), "task": "Translate it into German"})
    assert "needs a language model" in str(refused["error"])
    other = Pipeline(llm=LlmProxy(LlmSettings())).run({"pdf_path": str(path), "task": "Compare both"})
    assert "cannot do what the task asks for (compare)" in str(other["error"])
