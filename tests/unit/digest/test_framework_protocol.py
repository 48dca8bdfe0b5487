"""Requests and responses of the pipeline."""

import logging
from typing import Any

import pytest

from a2c_smcp.digest.framework_protocol import make_request, make_response, respond, result_of, wanted
from a2c_smcp.errors import BadRequest, DocumentNotFound


@pytest.mark.rule("8.1")
def test_a_request_has_the_form_of_the_protocol() -> None:
    request = make_request("orchestrator", "v1", {"dpi": 180}, "b3e9")
    assert request == {"name": "orchestrator", "version": "v1", "params": {"dpi": 180}, "meta": {"trace_id": "b3e9"}}


@pytest.mark.rule("8.1")
def test_a_request_without_a_trace_begins_a_run_of_its_own() -> None:
    first, second = (make_request("x")["meta"]["trace_id"] for _ in range(2))
    assert len({first, second, ""}) == 3


@pytest.mark.rule("8.1")
def test_a_response_has_the_form_of_the_protocol() -> None:
    response = make_response(True, {"images": []}, duration_ms=1234.4, trace_id="t")
    assert response == {
        "ok": True,
        "error": None,
        "data": {"images": []},
        "meta": {"trace_id": "t", "duration_ms": 1234},
    }


@pytest.mark.rule("8.1")
def test_a_failure_always_has_an_error() -> None:
    assert make_response(False)["error"]
    assert make_response(False, error="no")["error"] == "no"


@pytest.mark.rule("8.1")
def test_the_trace_of_a_request_and_the_time_are_those_of_its_response() -> None:
    request = make_request("x", params={"a": 1}, trace_id="one")
    response = respond(request, lambda params, trace_id: {"params": params, "trace": trace_id})
    assert (response["data"], response["meta"]["trace_id"]) == ({"params": {"a": 1}, "trace": "one"}, "one")
    assert response["meta"]["duration_ms"] >= 0


def test_bare_parameters_may_carry_a_trace() -> None:
    response = respond({"a": 1, "trace_id": "two"}, lambda params, _: params)
    assert (response["data"], response["meta"]["trace_id"]) == ({"a": 1}, "two")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (BadRequest("what to do"), "what to do"),
        (FileNotFoundError(2, "No such file or directory", "a.pdf"), "a.pdf: No such file or directory"),
        (ValueError("odd"), "unexpected ValueError: odd"),
    ],
)
def test_whatever_is_raised_is_the_error(error: Exception, told: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)

    def fail(_: object, __: str) -> dict[str, object]:
        raise error

    response = respond({}, fail)
    assert (response["ok"], response["error"]) == (False, told)


def test_details_of_an_error_are_its_data() -> None:
    def fail(_: object, __: str) -> dict[str, object]:
        raise DocumentNotFound("gone", details={"doc_ref": "x"})

    assert respond({}, fail)["data"] == {"doc_ref": "x"}


def test_secrets_do_not_reach_an_error() -> None:
    def fail(_: object, __: str) -> dict[str, object]:
        raise BadRequest("api_key=sk-abcdefghijklmnopqrstuv was refused")

    assert "abcdefghij" not in str(respond({}, fail))


def test_the_result_of_a_failure_is_raised() -> None:
    with pytest.raises(BadRequest, match="why not"):
        result_of(make_response(False, error="why not"))


@pytest.mark.parametrize(
    ("params", "why"),
    [({}, "is missing"), ({"pdf_path": ""}, "is missing"), ({"pdf_path": 5}, "must be of type str; it is int")],
)
def test_a_parameter_that_is_needed_is_asked_for(params: dict[str, object], why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        wanted(params, "pdf_path")


@pytest.mark.parametrize("nonsense", [None, "text", 7])
def test_what_are_no_parameters_is_told_by_whoever_needs_some(nonsense: Any) -> None:
    response = respond(nonsense, lambda params, _: {"pdf": wanted(params, "pdf_path")})
    assert (response["ok"], response["error"]) == (False, "The parameter 'pdf_path' is missing")
