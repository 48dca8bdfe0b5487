"""The error tree and its form on the wire."""

import pickle
import re
from copy import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp import errors
from a2c_smcp.errors import (
    BY_CODE,
    BadRequest,
    DocumentNotFound,
    InternalError,
    InvalidDPEUri,
    NotFound,
    PageOutOfRange,
    SMCPError,
    SmcpError,
    ToolTimeout,
    from_wire,
    is_error,
    make_finder_error,
    to_wire,
)

CODES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    408: "RequestTimeout",
    429: "RateLimited",
    500: "InternalError",
    4001: "ToolNotFound",
    4002: "ToolDisabled",
    4003: "ToolFailed",
    4004: "ToolTimeout",
    4005: "ConfirmationRequired",
    4006: "ToolStarting",
    4101: "OfficeFull",
    4102: "OfficeNotFound",
    4103: "NotInOffice",
    4104: "CrossOffice",
    4201: "DocumentNotFound",
    4202: "PageOutOfRange",
    4203: "ElementNotFound",
    4204: "InvalidDPEUri",
}
harmless = st.text("abcdefgh xyz,.äé文档", max_size=40)
details = st.none() | st.dictionaries(
    st.text("abcdef", min_size=1, max_size=8), harmless | st.integers() | st.booleans(), min_size=1, max_size=4
)


@pytest.mark.rule("3.2")
def test_every_code_of_the_contract_has_its_class() -> None:
    assert {code: kind.__name__ for code, kind in BY_CODE.items()} == CODES


@pytest.mark.rule("3.2")
def test_the_drawn_tree_is_the_real_one() -> None:
    drawn = dict(re.findall(r"[├└]── (\w+)[^\n]*?\s(\d{3,4})", errors.__doc__ or ""))
    real = {
        name: str(kind.code)
        for name, kind in vars(errors).items()
        if isinstance(kind, type)
        and issubclass(kind, SMCPError)
        and name not in {"SMCPError", "SmcpError", "ToolError", "OfficeError", "DocumentError"}
    }
    assert drawn == real


@pytest.mark.rule("3.1.ack")
def test_an_error_ack_has_the_form_of_the_contract() -> None:
    error = PageOutOfRange("Page 99 is out of range", details={"page_index": 99, "page_count": 12})
    assert to_wire(error, "r-1") == {
        "error": {
            "code": 4202,
            "message": "Page 99 is out of range",
            "details": {"page_index": 99, "page_count": 12},
        },
        "req_id": "r-1",
    }


@pytest.mark.rule("3.1.ack")
def test_without_details_and_request_the_ack_has_neither() -> None:
    assert to_wire(BadRequest("No")) == {"error": {"code": 400, "message": "No"}}


@pytest.mark.rule("3.1.tool")
def test_the_tool_form_also_parses_as_a_tool_result() -> None:
    assert to_wire(BadRequest("No"), "r", form="tool") == {
        "error": {"code": 400, "message": "No"},
        "content": [{"type": "text", "text": "No"}],
        "isError": True,
        "req_id": "r",
    }


@pytest.mark.parametrize("req_id", [None, "r"])
def test_the_flat_form_repeats_code_and_message_and_has_no_request_id(req_id: str | None) -> None:
    # Every release takes an ack with its request id for a result, and reads an empty list.
    assert to_wire(BadRequest("No", req_id=req_id), req_id, form="flat") == {
        "error": {"code": 400, "message": "No"},
        "code": 400,
        "message": "No",
    }


@pytest.mark.rule("3.1.ack", "3.2")
@given(
    st.sampled_from(sorted(CODES)),
    harmless,
    details,
    st.none() | st.text("abc123", min_size=1),
    st.sampled_from(["plain", "flat", "tool"]),
)
def test_from_wire_undoes_to_wire(
    code: int, message: str, facts: dict[str, Any] | None, req_id: str | None, form: errors.WireForm
) -> None:
    error = BY_CODE[code](message, details=facts, req_id=req_id)
    again = from_wire(to_wire(error, form=form))
    assert (type(again), again.code, again.message, again.details, again.req_id) == (
        BY_CODE[code],
        code,
        message,
        facts,
        None if form == "flat" else req_id,
    )
    assert to_wire(again, form=form) == to_wire(error, form=form)


def test_a_code_of_a_newer_peer_is_kept() -> None:
    error = from_wire({"error": {"code": 4999, "message": "Later"}})
    assert (type(error), error.code, error.message) == (SMCPError, 4999, "Later")
    assert to_wire(error) == {"error": {"code": 4999, "message": "Later"}}


@pytest.mark.parametrize(
    ("ack", "code"),
    [
        ({"error": {"code": 404}}, 404),
        ({"code": 404, "message": "flat"}, 404),
        ({"error": {"code": 4201, "message": 7, "details": "no"}, "req_id": 5}, 4201),
        ({"error": "text only"}, 500),
        ({"error": {"code": "404"}}, 500),
        ({"error": {"code": True}}, 500),
        ({}, 500),
    ],
)
def test_any_ack_gives_an_error_and_never_raises(ack: dict[str, Any], code: int) -> None:
    assert from_wire(ack).code == code


@pytest.mark.parametrize(
    ("ack", "answer"),
    [
        ({"error": {"code": 404, "message": "x"}}, True),
        ({"code": 404, "message": "x"}, True),
        ({"tools": [], "req_id": "r"}, False),
        ({"content": [], "isError": True}, False),
        ({"error": None}, False),
        ([], False),
        (None, False),
    ],
)
def test_an_error_ack_is_told_from_a_result(ack: object, answer: bool) -> None:
    assert is_error(ack) is answer


def test_an_ack_that_is_no_error_becomes_an_internal_error() -> None:
    assert isinstance(from_wire({"tools": []}), InternalError)


def test_errors_survive_the_way_to_another_process() -> None:
    error = InvalidDPEUri("Bad", details={"rule": 1}, req_id="r")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.message, again.details, again.req_id) == (InvalidDPEUri, "Bad", {"rule": 1}, "r")


def test_a_copy_keeps_a_code_of_its_own_and_what_a_subclass_adds() -> None:
    class Counted(SMCPError):
        def __init__(self, message: str, *, count: int = 0, code: int | None = None) -> None:
            super().__init__(message, code=code)
            self.count = count

    again = copy(Counted("Bad", count=3, code=499))
    assert (repr(again), again.args, again.count) == (
        "Counted(code=499, message='Bad', details=None)",
        ("Bad",),
        3,
    )


@pytest.mark.parametrize("name", ["RequestTimeout", "ToolTimeout"])
def test_time_outs_are_caught_as_python_names_them(name: str) -> None:
    with pytest.raises(TimeoutError):
        raise getattr(errors, name)("late")


@pytest.mark.rule("3.4")
def test_what_goes_on_the_wire_is_redacted_and_what_stays_is_not() -> None:
    error = BadRequest(
        "Cannot read /home/someone/plans/q3.pdf", details={"password": "hunter2", "path": "/srv/data/q3.pdf"}
    )
    assert to_wire(error)["error"] == {
        "code": 400,
        "message": "Cannot read …/q3.pdf",
        "details": {"password": "<redacted>", "path": "…/q3.pdf"},
    }
    assert error.message == "Cannot read /home/someone/plans/q3.pdf"


@pytest.mark.parametrize(
    ("code", "kind"), [(4201, DocumentNotFound), (404, NotFound), (4004, ToolTimeout), (999, SMCPError)]
)
def test_an_error_is_made_from_its_code_and_caught_by_either_name(code: int, kind: type[SMCPError]) -> None:
    with pytest.raises(SmcpError) as raised:
        raise SmcpError(code, "No MCP server for this host")
    error = raised.value
    assert (type(error), error.code, error.message) == (kind, code, "No MCP server for this host")
    assert pickle.loads(pickle.dumps(error)).code == code


def test_the_error_of_the_guide_has_details_only_where_there_are_any() -> None:
    details = {"page_index": 99, "page_count": 12}
    body = {"code": 4202, "message": "Page out of range"}
    assert make_finder_error(4202, "Page out of range", details) == {"error": body | {"details": details}}
    assert make_finder_error(4202, "Page out of range") == {"error": body}
