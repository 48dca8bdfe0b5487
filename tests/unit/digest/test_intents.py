"""What a text asks for."""

import pytest

from a2c_smcp.digest.intents import INTENTS, IntentExpert


@pytest.mark.rule("8.2")
@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Please summarize this report", "summarize"),
        ("给我这份指南的解读", "digest"),
        ("总结这份文件的要点", "summarize"),
        ("OCR these scanned pages", "ocr"),
        ("识别图片中的文字", "ocr"),
        ("Extract all tables as CSV", "extract_tables"),
        ("把表格提取出来，提取表格", "extract_tables"),
        ("translate it into German", "translate"),
        ("把这篇文章翻译成英文", "translate"),
        ("search for the budget", "search"),
        ("Convert this to Markdown", "convert"),
        ("compare both contracts", "compare"),
        ("What is the deadline?", "answer"),
        ("装好缺少的依赖", "install"),
    ],
)
def test_rules_know_both_languages(text: str, intent: str) -> None:
    response = IntentExpert().identify({"text": text})
    assert response["data"] is not None
    assert response["data"]["intents"][0] == intent
    assert 0.5 <= response["data"]["confidence"] <= 1


def test_several_intents_come_the_surest_first() -> None:
    data = IntentExpert().identify({"text": "OCR the scans, translate them and make a digest"})["data"]
    assert data is not None
    assert set(data["intents"]) == {"ocr", "translate", "digest"}


def test_what_is_not_wanted_is_no_intent() -> None:
    data = IntentExpert().identify({"text": "Summarize it, but do not translate it; 不要翻译"})["data"]
    assert data is not None
    assert data["intents"] == ["summarize"]


def test_a_text_without_a_hint_asks_for_a_digest_perhaps() -> None:
    data = IntentExpert().identify({"text": "guide.pdf"})["data"]
    assert data == {"intents": ["digest"], "confidence": 0.3, "by": "rules"}


@pytest.mark.rule("8.2")
def test_intents_and_confidence_stand_at_the_top_as_well() -> None:
    response = IntentExpert().identify({"text": "summarize"})
    assert (response["intents"], response["confidence"]) == (["summarize"], 0.9)  # type: ignore[typeddict-item]


def test_without_a_text_there_is_an_error() -> None:
    response = IntentExpert().identify({})
    assert (response["ok"], bool(response["error"])) == (False, True)


def test_every_intent_is_known() -> None:
    data = IntentExpert().identify({"text": " ".join(INTENTS.values())})["data"]
    assert data is not None
    assert set(data["intents"]) <= set(INTENTS)
