"""Which engine reads a picture, what happens when one cannot, and what a policy is."""

import pickle
from typing import Any

import pytest

from a2c_smcp.documents.ocr.base import OcrPolicy, OcrSpec, elements_of, engine_of, read_with_fallback
from a2c_smcp.documents.ocr.model import OcrLine
from a2c_smcp.errors import BadRequest, DocumentError
from tests.unit.documents.ocr.conftest import FakeService, Reply


def remote(service: FakeService, **settings: Any) -> OcrSpec:
    return OcrSpec("remote", service.url, allow_http="loopback", retries=0, backoff=0.0, **settings)


@pytest.fixture
def other() -> Any:
    fake = FakeService()
    yield fake
    fake.close()


def test_the_first_engine_that_can_reads_the_page(service: FakeService, png: bytes) -> None:
    service.answer(Reply(b"# Title\n\nSome text"))
    page = read_with_fallback(OcrPolicy((remote(service),)), png)
    assert (page.engine, page.width, page.height, page.failures) == ("remote", 200, 100, ())
    [heading, text] = elements_of(page, 3, 200)
    assert (heading.id, heading.category, heading.content) == ("p3-h1", "heading", {"level": 1, "text": "Title"})
    assert (text.id, text.metadata) == ("p3-txt1", {"ocr": {"engine": "remote", "confidence": None}})


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (Reply(status=503), "remote: the service answered 503"),
        (Reply(b"   \n "), "remote: no text was found"),
        (Reply(b"the same line\n\n" * 40), "remote: the text repeats itself"),
        (Reply(b'{"ok": false, "error": "busy"}', "application/json"), "remote: the service says: busy"),
    ],
)
def test_the_next_engine_is_asked_where_one_fails(
    service: FakeService, other: FakeService, png: bytes, bad: Reply, why: str
) -> None:
    service.answer(bad)
    other.answer(Reply(b"Read by the other"))
    page = read_with_fallback(OcrPolicy((remote(service), remote(other))), png)
    [element] = elements_of(page)
    assert element.content == {"text": "Read by the other"}
    assert element.metadata["ocr"]["failures"] == [why]


def test_a_page_that_no_engine_reads_says_what_each_met(service: FakeService, other: FakeService, png: bytes) -> None:
    service.answer(Reply(status=404))
    other.answer(Reply(status=401))
    with pytest.raises(DocumentError, match=r"404.*another key"):
        read_with_fallback(OcrPolicy((remote(service), remote(other))), png)


def test_a_page_on_which_nobody_finds_text_has_none(service: FakeService, png: bytes) -> None:
    service.answer(Reply(b""))
    page = read_with_fallback(OcrPolicy((remote(service),)), png)
    assert elements_of(page) == []


def test_a_blank_page_is_sent_nowhere(service: FakeService, blank: bytes) -> None:
    read_with_fallback(OcrPolicy((remote(service),)), blank)
    assert service.requests == []


def test_a_picture_that_is_none_is_an_error_and_no_crash(service: FakeService) -> None:
    with pytest.raises(DocumentError, match="damaged"):
        read_with_fallback(OcrPolicy((remote(service),)), b"not a picture")


def test_an_engine_is_built_once(service: FakeService) -> None:
    spec = remote(service)
    assert engine_of(spec) is engine_of(remote(service))


def test_a_policy_goes_to_another_process_and_shows_no_key() -> None:
    policy = OcrPolicy((OcrSpec("remote", "https://ocr.example/x", "k-secret"), OcrSpec("local")))
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert "k-secret" not in repr(policy)
    assert policy.is_local


def test_a_fingerprint_changes_with_what_is_read_and_not_with_the_key() -> None:
    one = OcrPolicy((OcrSpec("remote", "https://ocr.example/x", "a"),))
    same = OcrPolicy((OcrSpec("remote", "https://ocr.example/x", "b"),))
    other = OcrPolicy((OcrSpec("remote", "https://ocr.example/y", "a"),))
    assert one.fingerprint == same.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    "settings",
    [
        {"kind": "magic"},
        {"kind": "remote"},
        {"kind": "remote", "url": "http://ocr.example/"},
        {"kind": "vision", "url": "https://ocr.example/v1"},
        {"kind": "local", "timeout": 0},
        {"kind": "local", "retries": -1},
        {"kind": "local", "threads": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        OcrSpec(**settings)


def test_a_policy_without_engines_is_refused() -> None:
    with pytest.raises(BadRequest, match="at least one"):
        OcrPolicy(())


def test_confidence_is_weighed_by_length() -> None:
    from a2c_smcp.documents.ocr.model import OcrPage

    lines = (OcrLine("a" * 9, (0, 0, 9, 9), 1.0), OcrLine("b", (0, 9, 9, 18), 0.0))
    assert OcrPage(lines, "x", 10, 20).confidence == 0.9
