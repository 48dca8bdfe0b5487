"""The URL of a Redis, and the primary that its Sentinels name. redis-py parses, makes TLS contexts and asks Sentinels.

redis://[user:password@]host[:port][/db]
rediss://…                                       TLS; ?ssl_ca_certs= ?ssl_certfile= ?ssl_keyfile= ?ssl_cert_reqs=none
unix://[user:password@]/path/to.sock[?db=1]
redis+sentinel://[user:password@]host[:port],host[:port]/name[/db]      rediss+sentinel:// with TLS

redis-py ignores the parts of a URL that it does not understand, so they are checked here, and it has no URL for
Sentinels, so such a URL is split into one per host.
"""

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from redis.asyncio import Sentinel
from redis.asyncio.connection import SSLConnection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from a2c_smcp.errors import InvalidConfig

REDIS_PORT: Final = 6379
SENTINEL_PORT: Final = 26379
SCHEMES: Final = ("redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel")
QUERY_OPTIONS: Final = frozenset(
    {"db", "sentinel_password", "ssl_ca_certs", "ssl_cert_reqs", "ssl_certfile", "ssl_keyfile"}
)
CERT_REQS: Final = ("required", "optional", "none")
_DATABASE: Final = re.compile(r"/?|/\d+/?", re.ASCII)


@dataclass(frozen=True, slots=True)
class RedisEndpoint:
    """A Redis, or the Sentinels that know its address.

    Attributes:
        hosts: Addresses to try; one without Sentinels.
        path: The path of a Unix socket, in place of `hosts`.
        tls: The `ssl_*` options of redis-py; None without TLS.
        master: The name of the primary at the Sentinels in `hosts`.
    """

    hosts: tuple[tuple[str, int], ...] = ()
    path: str | None = None
    tls: Mapping[str, str] | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    db: int = 0
    master: str | None = None
    sentinel_password: str | None = field(default=None, repr=False)

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return a new TLS context, or None without TLS.

        Raises:
            OSError: A certificate or key file cannot be used.
        """
        return None if self.tls is None else SSLConnection(**dict[str, Any](self.tls)).ssl_context.get()


def parse_endpoint(url: str) -> RedisEndpoint:
    """Return the endpoint of a URL.

    Raises:
        InvalidConfig: The URL has none of the forms above; the message never quotes it, it may hold a password.
    """
    try:
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
        master, urls = _plain_urls(url) if parts.scheme.endswith("+sentinel") else (None, [url])
        problem = _problem_of(parts.scheme, query, master, urls)
        found = [] if problem else [parse_url(one) for one in urls]
    except ValueError:  # its text may quote a part of the password
        raise InvalidConfig("The Redis URL is malformed") from None
    if problem:
        raise InvalidConfig(f"The Redis URL {problem}")
    first = found[0]
    port = REDIS_PORT if master is None else SENTINEL_PORT
    return RedisEndpoint(
        hosts=tuple((one["host"], one.get("port", port)) for one in found) if "path" not in first else (),
        path=first.get("path"),
        tls={name: value for name, value in query.items() if name.startswith("ssl_")}
        if first.get("connection_class") is SSLConnection
        else None,
        username=first.get("username"),
        password=first.get("password"),
        db=first.get("db", 0),
        master=master,
        sentinel_password=query.get("sentinel_password"),
    )


def _plain_urls(url: str) -> tuple[str, list[str]]:
    """Return the name of the primary, and a URL without Sentinel for each host."""
    parts = urlsplit(url)
    account, at, addresses = parts.netloc.rpartition("@")
    master, slash, database = parts.path.strip("/").partition("/")
    scheme = parts.scheme.removesuffix("+sentinel")
    hosts = addresses.split(",")
    return unquote(master), [f"{scheme}://{account}{at}{host}{slash}{database}?{parts.query}" for host in hosts]


def _problem_of(scheme: str, query: Mapping[str, str], master: str | None, urls: list[str]) -> str | None:
    if scheme not in SCHEMES:
        return f"must begin with one of {', '.join(f'{known}://' for known in SCHEMES)}"
    if unknown := sorted(query.keys() - QUERY_OPTIONS):
        return f"has unknown options: {', '.join(unknown)}"
    if not query.get("db", "0").isdecimal():
        return "must have a number as db"
    if query.get("ssl_cert_reqs", "none") not in CERT_REQS:
        return f"must have one of {', '.join(CERT_REQS)} as ssl_cert_reqs"
    for parts in map(urlsplit, urls):
        if scheme == "unix":
            if parts.hostname or not parts.path.strip("/"):
                return "of a Unix socket must have the form unix:///path/to.sock"
        elif not parts.hostname:
            return "must name a host"
        elif not _DATABASE.fullmatch(parts.path):
            return "must have the number of the database as its path"
    if master == "":
        return "must name the primary as its path, before the number of the database"
    return None


async def find_primary(endpoint: RedisEndpoint, deadline: float) -> RedisEndpoint:
    """Return the endpoint of the primary that the first Sentinel in reach names.

    Raises:
        ConnectionError: No Sentinel names one.
    """
    seconds = deadline / (len(endpoint.hosts) + 1)
    options: dict[str, Any] = {
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
        "retry": Retry(NoBackoff(), 0),
        "password": endpoint.sentinel_password,
    }
    if endpoint.tls is not None:
        options |= {"ssl": True, **endpoint.tls}
    sentinels = Sentinel(list(endpoint.hosts), sentinel_kwargs=options)  # type: ignore[no-untyped-call]
    try:
        host, port = await sentinels.discover_master(endpoint.master or "")
    except (RedisError, OSError) as error:
        raise ConnectionError(f"no Sentinel knows the primary ({type(error).__name__})") from None
    finally:
        for client in sentinels.sentinels:
            await client.aclose()
    return replace(endpoint, hosts=((host, port),), master=None)
