"""The language model behind a real HTTP endpoint."""

import logging
from typing import Any

import pytest

from a2c_smcp.digest.framework_protocol import make_request
from a2c_smcp.digest.intents import IntentExpert
from a2c_smcp.digest.llm_proxy import LlmProxy, LlmSettings, ask
from a2c_smcp.errors import BadRequest
from tests.interaction.digest.conftest import Endpoint, said

KEY = "planted-key-0123456789"


def proxy(endpoint: Endpoint, **more: Any) -> LlmProxy:
    return LlmProxy(LlmSettings(endpoint.url, KEY, "small", **more))


@pytest.mark.rule("8.6")
def test_a_prompt_gets_text_and_usage(endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("An answer.", prompt_tokens=12, completion_tokens=3)
    params = {"prompt": "p", "system": "s", "model": "large", "temperature": 0.2, "max_tokens": 50}
    response = proxy(endpoint).ask(make_request("llm_proxy", params=params, trace_id="t"))
    usage = {"prompt_tokens": 12, "completion_tokens": 3}
    assert (response["ok"], response["data"]) == (True, {"text": "An answer.", "usage": usage, "model": "m"})
    assert response["meta"]["trace_id"] == "t"
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "p"}]
    assert endpoint.asked == [{"model": "large", "messages": messages, "temperature": 0.2, "max_tokens": 50}]
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"


def test_what_a_model_thinks_aloud_is_no_answer(endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("<think>What do they want?</think>\n\nAn answer.")
    data = proxy(endpoint).ask({"prompt": "p"})["data"]
    assert data is not None
    assert data["text"] == "An answer."


def test_an_endpoint_that_names_no_model_has_the_one_that_was_asked_for(endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: (200, {"choices": [{"message": {"content": "x"}}]})
    assert proxy(endpoint).ask({"prompt": "p"})["data"] == {"text": "x", "usage": {}, "model": "small"}


def test_a_key_that_the_endpoint_says_back_is_not_shown(endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: (400, {"error": f"no such key: {KEY}"})
    assert proxy(endpoint).ask({"prompt": "p"})["error"] == "The language model answered 400: no such key: <redacted>"


def test_usage_is_summed(endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("x", prompt_tokens=5)
    model = proxy(endpoint)
    for _ in range(3):
        model.ask({"prompt": "p"})
    assert dict(model.usage) == {"prompt_tokens": 15}


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failure_that_may_pass_is_tried_again(endpoint: Endpoint, status: int) -> None:
    endpoint.answer = lambda _: (
        said("At last.") if len(endpoint.asked) > 1 else (status, {"error": {"message": "busy"}})
    )
    response = proxy(endpoint).ask({"prompt": "p"})
    assert (response["ok"], len(endpoint.asked)) == (True, 2)


def test_a_failure_that_stays_is_told_once(endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: (400, {"error": {"message": "context length exceeded"}})
    response = proxy(endpoint).ask({"prompt": "p"})
    assert response["error"] == "The language model answered 400: context length exceeded"
    assert len(endpoint.asked) == 1


def test_a_wrong_key_says_which_setting_it_is_and_not_the_key(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint.answer = lambda _: (401, {"error": {"message": f"bad key {KEY}"}})
    response = proxy(endpoint).ask({"prompt": "p"})
    assert "A2C_LLM_API_KEY" in str(response["error"])
    assert KEY not in caplog.text
    assert KEY not in repr(LlmSettings(endpoint.url, KEY))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"<html>", "no JSON"),
        ({"choices": []}, "no choices"),
        ({"choices": [{"message": {"content": "  "}}]}, "answered nothing"),
        ([1], "no JSON object"),
    ],
)
def test_an_answer_without_sense_is_an_error(endpoint: Endpoint, answer: Any, why: str) -> None:
    endpoint.answer = lambda _: (200, answer)
    assert why in str(proxy(endpoint).ask({"prompt": "p"})["error"])


def test_an_endpoint_that_is_away_is_told(endpoint: Endpoint) -> None:
    away = LlmProxy(LlmSettings("http://127.0.0.1:9/v1", model="m", retries=0))
    assert "cannot be reached" in str(away.ask({"prompt": "p"})["error"])


@pytest.mark.rule("8.6")
def test_without_an_endpoint_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BASE_URL", "API_KEY", "MODEL"):
        monkeypatch.delenv(f"A2C_LLM_{name}", raising=False)
    response = ask({"prompt": "p"})
    assert (response["ok"], "A2C_LLM_BASE_URL" in str(response["error"])) == (False, True)


def test_settings_come_from_the_environment_and_options_lie_over_them() -> None:
    env = {"A2C_LLM_BASE_URL": "https://a.example/v1", "A2C_LLM_API_KEY": "k", "A2C_LLM_MODEL": "m"}
    assert LlmSettings.from_environment(env) == LlmSettings("https://a.example/v1", "k", "m")
    assert LlmSettings.from_environment(env, model="other").model == "other"


@pytest.mark.parametrize("url", ["ftp://x/v1", "example.com", "http://model.example.com/v1"])
def test_an_address_that_is_no_good_is_refused(url: str) -> None:
    with pytest.raises(BadRequest):
        LlmSettings(url)


def test_the_model_says_what_a_text_asks_for(endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said('Sure: {"intents": ["translate", "fly", "digest"], "confidence": 0.8}')
    data = IntentExpert(proxy(endpoint)).identify({"text": "mach was draus"})["data"]
    assert data == {"intents": ["translate", "digest"], "confidence": 0.8, "by": "model"}


def test_a_model_that_gives_no_intents_leaves_it_to_the_rules(endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: said("I do not know.")
    data = IntentExpert(proxy(endpoint)).identify({"text": "summarize"})["data"]
    assert data == {"intents": ["summarize"], "confidence": 0.9, "by": "rules"}


def test_a_key_that_the_model_repeats_is_removed_from_its_text(endpoint: Endpoint) -> None:
    repeated = {"model": KEY, "choices": [{"message": {"content": f"You sent {KEY}."}}]}
    endpoint.answer = lambda _: (200, repeated)
    data = proxy(endpoint).ask({"prompt": "p"})["data"]
    assert data == {"text": "You sent <redacted>.", "usage": {}, "model": "<redacted>"}


def test_a_key_is_removed_from_an_error_before_the_error_is_cut(endpoint: Endpoint) -> None:
    endpoint.answer = lambda _: (400, {"error": "x" * 290 + KEY})
    assert KEY[:8] not in str(proxy(endpoint).ask({"prompt": "p"})["error"])
