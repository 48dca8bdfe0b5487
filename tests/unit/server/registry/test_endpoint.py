"""Redis URLs."""

import pytest

from a2c_smcp.errors import InvalidConfig
from a2c_smcp.server.registry.endpoint import Endpoint, Tls, parse_endpoint


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("redis://localhost", Endpoint(hosts=(("localhost", 6379),))),
        ("redis://localhost/", Endpoint(hosts=(("localhost", 6379),))),
        ("redis://[::1]:7000/2", Endpoint(hosts=(("::1", 7000),), db=2)),
        ("redis://host?db=3", Endpoint(hosts=(("host", 6379),), db=3)),
        ("redis://:s%40cret@host", Endpoint(hosts=(("host", 6379),), password="s@cret")),
        ("redis://me:p%3Aw@host:1", Endpoint(hosts=(("host", 1),), username="me", password="p:w")),
        ("rediss://host", Endpoint(hosts=(("host", 6379),), tls=Tls())),
        (
            "rediss://host?ssl_ca_certs=/ca.pem&ssl_certfile=/c.pem&ssl_keyfile=/k.pem&ssl_cert_reqs=none",
            Endpoint(hosts=(("host", 6379),), tls=Tls("/ca.pem", "/c.pem", "/k.pem", verify=False)),
        ),
        ("unix:///run/redis%20a.sock?db=1", Endpoint(path="/run/redis a.sock", db=1)),
        ("unix://me:pw@/run/r.sock", Endpoint(path="/run/r.sock", username="me", password="pw")),
        (
            "redis+sentinel://:pw@one:1,two/primary",
            Endpoint(hosts=(("one", 1), ("two", 26379)), password="pw", master="primary"),
        ),
        (
            "rediss+sentinel://one/primary/4?sentinel_password=x",
            Endpoint(hosts=(("one", 26379),), tls=Tls(), db=4, master="primary", sentinel_password="x"),
        ),
    ],
)
def test_a_url_says_where_redis_is(url: str, endpoint: Endpoint) -> None:
    assert parse_endpoint(url) == endpoint


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:6379",
        "http://localhost",
        "redis://",
        "redis://:hunter2@",
        "redis://host:port",
        "redis://host:99999",
        "redis://host/one",
        "redis://host/1/2",
        "redis://host?db=-1",
        "redis://host?timeout=3",
        "redis://[::1",
        "rediss://host?ssl_cert_reqs=maybe",
        "unix://host/path.sock",
        "unix://",
        "redis+sentinel://one,two",
        "redis+sentinel://one,/primary",
        "redis+sentinel://one/primary/x",
    ],
)
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(InvalidConfig):
        parse_endpoint(url)


@pytest.mark.parametrize("url", ["redis://:hunter2@host:port", "ftp://me:hunter2@host", "redis://:hunter2@host?x=1"])
def test_a_refusal_does_not_repeat_the_password(url: str) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        parse_endpoint(url)
    assert "hunter2" not in str(refusal.value)


def test_a_password_is_not_shown() -> None:
    endpoint = parse_endpoint("redis+sentinel://:hunter2@host/primary?sentinel_password=hunter3")
    assert "hunter" not in repr(endpoint)
