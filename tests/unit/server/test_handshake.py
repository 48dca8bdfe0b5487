"""What a connection says of itself."""

from typing import Any

import pytest

from a2c_smcp.server.handshake import address_of, headers_of, version_of

ASGI: dict[str, Any] = {
    "asgi.scope": {
        "client": ("192.0.2.1", 5),
        "headers": [(b"X-Api-Key", b"k"), (b"access_token", b"t"), (b"X", b"1"), (b"x", b"2")],
    },
    "REMOTE_ADDR": "ignored",
}
WSGI = {"REMOTE_ADDR": "192.0.2.2", "HTTP_X_API_KEY": "k", "HTTP_ACCESS_TOKEN": "t"}


def test_the_address_is_the_peers() -> None:
    assert (address_of(ASGI), address_of(WSGI), address_of({"asgi.scope": {"client": None}})) == (
        "192.0.2.1",
        "192.0.2.2",
        "",
    )


def test_headers_have_lower_case_names() -> None:
    assert headers_of(ASGI) == {"x-api-key": "k", "access_token": "t", "x": "1, 2"}
    assert headers_of(WSGI) == {"x-api-key": "k", "access-token": "t"}


@pytest.mark.parametrize(
    ("query", "version"),
    [
        ("EIO=4&a2c_version=0.4.0", "0.4.0"),
        ("EIO=4", None),
        ("a2c_version=%0Aevil", None),
        ("a2c_version=" + "9" * 99, None),
    ],
)
def test_the_version_is_taken_if_it_looks_like_one(query: str, version: str | None) -> None:
    assert version_of({"QUERY_STRING": query}) == version
