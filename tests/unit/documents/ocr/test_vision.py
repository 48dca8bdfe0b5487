"""A vision model behind the chat completions of OpenAI."""

import base64
import json
from typing import Any

import pytest

from a2c_smcp.documents.ocr.base import OcrSpec, engine_of
from a2c_smcp.documents.ocr.model import OcrBlock
from a2c_smcp.documents.ocr.vision import PROMPT
from a2c_smcp.errors import DocumentError
from tests.unit.documents.ocr.conftest import FakeService, Reply


def spec(service: FakeService, **settings: Any) -> OcrSpec:
    url = service.url.replace("/extract", "/v1/")
    return OcrSpec("vision", url, "key-1", "dots.ocr", retries=0, allow_http="loopback", **settings)


def said(content: Any, finish: str = "stop") -> Reply:
    body = {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": finish}]}
    return Reply(json.dumps(body).encode(), "application/json")


def test_the_model_is_shown_the_picture_and_asked_for_markdown(service: FakeService, png: bytes) -> None:
    service.answer(said("# Hello"))
    page = engine_of(spec(service)).read(png)
    [request] = service.requests
    body = json.loads(request.body)
    [picture, text] = body["messages"][0]["content"]
    assert (request.path, request.headers["Authorization"]) == ("/v1/chat/completions", "Bearer key-1")
    assert (body["model"], body["temperature"], text["text"]) == ("dots.ocr", 0, PROMPT)
    assert base64.b64decode(picture["image_url"]["url"].removeprefix("data:image/png;base64,")) == png
    assert page.blocks == (OcrBlock("heading", {"level": 1, "text": "Hello"}),)


def test_a_prompt_of_ones_own_is_sent(service: FakeService, png: bytes) -> None:
    service.answer(said("x"))
    engine_of(spec(service, prompt="Give the layout as JSON")).read(png)
    assert b"Give the layout as JSON" in service.requests[0].body


def test_a_layout_answer_keeps_its_places(service: FakeService, png: bytes) -> None:
    service.answer(said(json.dumps([{"bbox": [1, 2, 30, 40], "category": "Text", "text": "a"}])))
    assert engine_of(spec(service)).read(png).blocks == (OcrBlock("text", {"text": "a"}, (1, 2, 30, 40)),)


def test_an_answer_in_parts_is_put_together(service: FakeService, png: bytes) -> None:
    service.answer(said([{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]))
    assert engine_of(spec(service)).read(png).blocks == (OcrBlock("text", {"text": "one two"}),)


def test_an_answer_of_nothing_is_a_page_without_text(service: FakeService, png: bytes) -> None:
    service.answer(said(None))
    assert engine_of(spec(service)).read(png).blocks == ()


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (said("cut", "length"), "end"),
        (said("hid", "content_filter"), "withheld"),
        (Reply(b'{"choices": []}', "application/json"), "no chat completion"),
        (Reply(b"hello"), "no chat completion"),
        (Reply(b"[" * 100_000), "no chat completion"),
    ],
)
def test_answers_that_are_refused(service: FakeService, png: bytes, reply: Reply, why: str) -> None:
    service.answer(reply)
    with pytest.raises(DocumentError, match=why):
        engine_of(spec(service)).read(png)


def test_a_key_that_the_model_repeats_is_removed(service: FakeService, png: bytes) -> None:
    service.answer(said("Bearer key-1 was sent"))
    (block,) = engine_of(spec(service)).read(png).blocks
    assert "was sent" in str(block.content)
    assert "key-1" not in str(block.content)
