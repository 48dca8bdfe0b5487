"""Where to listen, and who may come in."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from a2c_smcp.docserver.web import Address, Admission, GuardedApp
from a2c_smcp.errors import InvalidConfig


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8080", Address("127.0.0.1", 8080)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:80", Address("::1", 80)),
        (":9000", Address("127.0.0.1", 9000)),
        ("9000", Address("127.0.0.1", 9000)),
        ("0.0.0.0:1", Address("0.0.0.0", 1)),
    ],
)
def test_an_address_is_read(text: str, address: Address) -> None:
    assert Address.parse(text) == address


@pytest.mark.parametrize("text", ["", "x", "127.0.0.1", "host:port", "host:70000", "::1:80", "http://h:1", "h:-1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidConfig, match="HOST:PORT"):
        Address.parse(text)


@pytest.mark.parametrize(
    ("host", "local"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)]
)
def test_an_address_that_others_can_reach_needs_a_token(host: str, local: bool) -> None:
    address = Address(host, 0)
    assert address.is_loopback == local
    Admission(token="secret").check(address)
    if local:
        Admission().check(address)
    else:
        with pytest.raises(InvalidConfig, match="token"):
            Admission().check(address)


def status(admission: Admission, address: Address, **headers: str) -> int:
    inner = Starlette(routes=[Route("/mcp", lambda request: PlainTextResponse("in"), methods=["GET", "POST"])])
    client = TestClient(GuardedApp(inner, admission, address))
    answers = {client.request(method, "/mcp", headers=headers).status_code for method in ("GET", "POST")}
    assert len(answers) == 1
    return answers.pop()


HERE, OPEN = Address("127.0.0.1", 1), Address("0.0.0.0", 1)


@pytest.mark.parametrize(
    ("admission", "address", "headers", "expected"),
    [
        (Admission(), HERE, {"host": "localhost:1"}, 200),
        (Admission(), HERE, {"host": "LOCALHOST"}, 200),
        (Admission(), HERE, {"host": "docs.example"}, 421),
        (Admission(hosts=("docs.example",)), HERE, {"host": "docs.example:443"}, 200),
        (Admission(hosts=("docs.example",)), HERE, {"host": "localhost"}, 421),
        (Admission(token="s3"), OPEN, {"host": "any.example"}, 401),
        (Admission(token="s3"), OPEN, {"host": "any.example", "authorization": "Bearer s3"}, 200),
        (Admission(token="s3"), OPEN, {"host": "any.example", "authorization": "bearer s3"}, 200),
        (Admission(token="s3"), OPEN, {"host": "any.example", "authorization": "Bearer s4"}, 401),
        (Admission(token="s3"), OPEN, {"host": "any.example", "authorization": "Basic s3"}, 401),
        (Admission(token="s3"), OPEN, {"authorization": "Bearer s3", "origin": "http://localhost"}, 403),
        (Admission(), HERE, {"host": "localhost", "origin": "http://127.0.0.1:6274"}, 200),
        (Admission(), HERE, {"host": "localhost", "origin": "https://app.example"}, 403),
        (
            Admission(origins=("https://app.example",)),
            HERE,
            {"host": "localhost", "origin": "https://app.example"},
            200,
        ),
    ],
)
def test_requests_are_let_in_by_host_origin_and_token(
    admission: Admission, address: Address, headers: dict[str, str], expected: int
) -> None:
    assert status(admission, address, **headers) == expected
