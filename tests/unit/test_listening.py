"""Sockets that listen; what serves on them is tested with real servers."""

import errno
import socket

import pytest

from a2c_smcp.errors import InvalidConfig
from a2c_smcp.listening import bind, url_of


def test_a_free_port_is_found() -> None:
    (one,) = bind("127.0.0.1", 0)
    with one:
        host, port = one.getsockname()
        assert (host, port > 0) == ("127.0.0.1", True)


def test_a_name_with_several_addresses_has_one_port_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("127.0.0.1", "127.0.0.2", "127.0.0.1")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    sockets = bind("both.example", 0)
    names = [one.getsockname() for one in sockets]
    for one in sockets:
        one.close()
    assert [name[0] for name in names] == ["127.0.0.1", "127.0.0.2"]
    assert names[0][1] == names[1][1]


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(InvalidConfig, match=f"port {port} of 127.0.0.1 is in use"):
            bind("127.0.0.1", port)


def test_what_was_bound_is_closed_when_the_rest_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("127.0.0.1", "192.0.2.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(InvalidConfig, match=r"cannot listen on both\.example"):
        bind("both.example", 0)


def test_a_port_that_needs_privileges_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> socket.socket:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(InvalidConfig, match="port 80 needs privileges"):
        bind("127.0.0.1", 80)


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_number_that_is_no_port_is_told(port: int) -> None:
    with pytest.raises(InvalidConfig, match=f"there is no port {port}: choose one of 1 to 65535"):
        bind("127.0.0.1", port)


def test_a_name_that_is_no_host_is_told() -> None:
    with pytest.raises(InvalidConfig, match="cannot listen on no such host"):
        bind("no such host", 0)


def test_the_address_of_an_ipv6_server_has_brackets() -> None:
    sockets = bind("[::1]", 0)
    with sockets[0]:
        assert url_of("::1", sockets) == f"http://[::1]:{sockets[0].getsockname()[1]}"
