"""Plain answers and paths."""

from typing import Any

import pytest

from a2c_smcp.errors import Forbidden
from a2c_smcp.server.web import answer, is_below, path_of, refuse
from a2c_smcp.web.guard import headers_of


@pytest.mark.parametrize(
    ("path", "root", "found"),
    [
        ("/x", "", "/x"),
        ("/a2c/x", "/a2c", "/x"),
        ("/a2c/x", "/a2c/", "/x"),
        ("/x", "/a2c", "/x"),  # a server that takes the mount point away
        ("/a2cx", "/a2c", "/a2cx"),
        ("/a2c", "/a2c", "/a2c"),
    ],
)
def test_the_path_is_told_from_where_the_application_is_mounted(path: str, root: str, found: str) -> None:
    assert path_of({"path": path, "root_path": root}) == found


@pytest.mark.parametrize(
    ("path", "below"), [("/socket.io", True), ("/socket.io/", True), ("/socket.io/x", True), ("/socket.iox", False)]
)
def test_what_is_below_a_path_is_known(path: str, below: bool) -> None:
    assert is_below(path, "/socket.io") is below


def test_headers_have_lower_case_names_and_all_of_their_values() -> None:
    scope = {"headers": [(b"Host", b"a"), (b"x-y", b"\xe9"), (b"X-Y", b"2")]}
    assert headers_of(scope) == {"host": "a", "x-y": "\xe9, 2"}


async def told(scope: dict[str, Any], **options: Any) -> list[Any]:
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    await answer(scope, send, 404, "nothing", kind="text/plain", **options)
    return messages


async def test_a_websocket_is_refused_by_http_where_the_server_can() -> None:
    start, body = await told({"type": "websocket", "extensions": {"websocket.http.response": {}}})
    assert (start["type"], start["status"]) == ("websocket.http.response.start", 404)
    assert (body["type"], body["body"]) == ("websocket.http.response.body", b"nothing")


@pytest.mark.parametrize("more", [{}, {"extensions": None}, {"extensions": {}}])
async def test_a_websocket_is_closed_where_the_server_cannot(more: dict[str, Any]) -> None:
    assert await told({"type": "websocket"} | more) == [{"type": "websocket.close", "code": 1008}]


async def test_a_refusal_is_an_error_ack() -> None:
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    await refuse({"type": "http", "method": "GET"}, send, 403, Forbidden("no"), allow="GET")
    assert messages[1]["body"] == b'{"error": {"code": 403, "message": "no"}}'
    assert dict(messages[0]["headers"])[b"allow"] == b"GET"
