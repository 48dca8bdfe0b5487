"""Which HTTP requests may be answered: by Host, Origin and bearer token."""

import pytest

from a2c_smcp.web.guard import HOST_REFUSED, ORIGIN_REFUSED, TOKEN_REFUSED, HttpGuard, HttpRefusal, headers_of

LOCAL = HttpGuard(hosts=["127.0.0.1", "localhost", "::1"], local_origins=True, token="s3cret")
AUTHORIZED = {"authorization": "Bearer s3cret"}


@pytest.mark.parametrize(
    ("headers", "refusal"),
    [
        ({"host": "127.0.0.1:8000"}, None),
        ({"host": "LOCALHOST"}, None),
        ({"host": "[::1]:8000"}, None),
        ({"host": "attacker.example"}, HOST_REFUSED),
        ({"host": "127.0.0.1.attacker.example:8000"}, HOST_REFUSED),
        ({"host": "localhost@attacker.example"}, HOST_REFUSED),
        ({}, HOST_REFUSED),
        ({"host": "localhost", "origin": "http://localhost:5173"}, None),
        ({"host": "localhost", "origin": "https://[::1]"}, None),
        ({"host": "localhost", "origin": "https://attacker.example"}, ORIGIN_REFUSED),
        ({"host": "localhost", "origin": "http://localhost.attacker.example"}, ORIGIN_REFUSED),
        ({"host": "localhost", "origin": "file://localhost"}, ORIGIN_REFUSED),
        ({"host": "localhost", "origin": "null"}, ORIGIN_REFUSED),
    ],
)
def test_a_local_server_answers_to_local_names_and_local_pages(
    headers: dict[str, str], refusal: HttpRefusal | None
) -> None:
    assert LOCAL.refusal(headers | AUTHORIZED) is refusal


@pytest.mark.parametrize(
    ("authorization", "refusal"),
    [
        ("Bearer s3cret", None),
        ("bearer s3cret", None),
        ("BEARER  s3cret ", None),
        ("Bearer other", TOKEN_REFUSED),
        ("Bearer", TOKEN_REFUSED),
        ("Basic s3cret", TOKEN_REFUSED),
        ("s3cret", TOKEN_REFUSED),
        ("Bearer s\u00e9cret", TOKEN_REFUSED),
        ("", TOKEN_REFUSED),
    ],
)
def test_the_token_is_needed_and_the_scheme_has_no_case(authorization: str, refusal: HttpRefusal | None) -> None:
    assert LOCAL.refusal({"host": "localhost", "authorization": authorization}) is refusal


def test_a_preflight_carries_no_token() -> None:
    assert LOCAL.refusal({"host": "localhost", "origin": "http://localhost"}, preflight=True) is None
    assert LOCAL.refusal({"host": "localhost", "origin": "http://elsewhere"}, preflight=True) is ORIGIN_REFUSED


def test_named_origins_are_compared_without_case_and_trailing_slash() -> None:
    guard = HttpGuard(origins=["https://App.example/"])
    assert guard.allows_origin("https://app.example")
    assert not guard.allows_origin("https://app.example:8443")
    assert not guard.allows_origin("http://localhost")
    assert HttpGuard(origins=["*"]).allows_origin("https://any.example")


def test_without_hosts_every_name_is_one() -> None:
    assert HttpGuard().refusal({"host": "anything.example"}) is None


def test_headers_given_twice_are_joined() -> None:
    scope = {"headers": [(b"Host", b"a"), (b"X", b"1"), (b"x", b"2")]}
    assert headers_of(scope) == {"host": "a", "x": "1, 2"}
