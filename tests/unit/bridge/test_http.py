import pytest

from a2c_smcp.bridge.http import HttpSettings, check, security
from a2c_smcp.errors import BadRequest


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.0.0.2"])
def test_on_this_machine_no_token_is_needed(host: str) -> None:
    check(HttpSettings(host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", ""])
def test_where_others_reach_it_a_token_is_needed(host: str) -> None:
    check(HttpSettings(host, token="secret"))
    with pytest.raises(BadRequest, match="set a token"):
        check(HttpSettings(host))


def test_hosts_and_origins_are_those_of_the_server_itself() -> None:
    found = security(HttpSettings("127.0.0.1", hosts=["bridge.example.com"]), 9000)
    assert found.enable_dns_rebinding_protection
    assert {"127.0.0.1:9000", "localhost:9000", "[::1]:9000", "bridge.example.com"} <= set(found.allowed_hosts)
    assert "https://bridge.example.com" in found.allowed_origins
    assert not any("*" in host for host in found.allowed_hosts)


def test_on_every_address_only_named_hosts_can_be_checked() -> None:
    assert not security(HttpSettings("0.0.0.0"), 9000).enable_dns_rebinding_protection
    assert security(HttpSettings("0.0.0.0", hosts=["a.example.com"]), 9000).enable_dns_rebinding_protection
    assert "192.168.1.5:9000" in security(HttpSettings("192.168.1.5"), 9000).allowed_hosts
