import pytest

from a2c_smcp.common.addresses import in_url, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost", "LocalHost", "localhost."])
def test_this_machine_is_known_by_its_look(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", "localhost.example.com", "", "127.1"])
def test_anything_else_is_not_this_machine(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(("host", "written"), [("::1", "[::1]"), ("[::1]", "[::1]"), ("example.com", "example.com")])
def test_ipv6_is_in_brackets_in_urls(host: str, written: str) -> None:
    assert in_url(host) == written
