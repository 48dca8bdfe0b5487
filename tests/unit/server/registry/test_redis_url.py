"""Redis URLs."""

import pytest

from a2c_smcp.errors import InvalidConfig
from a2c_smcp.server.registry.redis_url import RedisEndpoint, parse_endpoint

FILES = {"ssl_ca_certs": "/ca.pem", "ssl_certfile": "/c.pem", "ssl_keyfile": "/k.pem", "ssl_cert_reqs": "none"}


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("redis://localhost", RedisEndpoint(hosts=(("localhost", 6379),))),
        ("redis://localhost/", RedisEndpoint(hosts=(("localhost", 6379),))),
        ("redis://[::1]:7000/2", RedisEndpoint(hosts=(("::1", 7000),), db=2)),
        ("redis://host?db=3", RedisEndpoint(hosts=(("host", 6379),), db=3)),
        ("redis://:s%40cret@host", RedisEndpoint(hosts=(("host", 6379),), password="s@cret")),
        ("redis://me:p%3Aw@host:1", RedisEndpoint(hosts=(("host", 1),), username="me", password="p:w")),
        ("rediss://host", RedisEndpoint(hosts=(("host", 6379),), tls={})),
        (
            "rediss://host?ssl_ca_certs=/ca.pem&ssl_certfile=/c.pem&ssl_keyfile=/k.pem&ssl_cert_reqs=none",
            RedisEndpoint(
                hosts=(("host", 6379),),
                tls=FILES,
            ),
        ),
        ("unix:///run/redis%20a.sock?db=1", RedisEndpoint(path="/run/redis a.sock", db=1)),
        ("unix://me:pw@/run/r.sock", RedisEndpoint(path="/run/r.sock", username="me", password="pw")),
        (
            "redis+sentinel://:pw@one:1,two/primary",
            RedisEndpoint(hosts=(("one", 1), ("two", 26379)), password="pw", master="primary"),
        ),
        (
            "rediss+sentinel://one/primary/4?sentinel_password=x",
            RedisEndpoint(hosts=(("one", 26379),), tls={}, db=4, master="primary", sentinel_password="x"),
        ),
    ],
)
def test_a_url_says_where_redis_is(url: str, endpoint: RedisEndpoint) -> None:
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


@pytest.mark.parametrize(
    "url",
    ["redis://:hunter2@host:port", "redis://:hunter2/x@host", "ftp://me:hunter2@host", "redis://:hunter2@host?x=1"],
)
def test_a_refusal_does_not_repeat_the_password(url: str) -> None:
    with pytest.raises(InvalidConfig) as refusal:
        parse_endpoint(url)
    assert "hunter2" not in str(refusal.value)


def test_a_password_is_not_shown() -> None:
    endpoint = parse_endpoint("redis+sentinel://:hunter2@host/primary?sentinel_password=hunter3")
    assert "hunter" not in repr(endpoint)
