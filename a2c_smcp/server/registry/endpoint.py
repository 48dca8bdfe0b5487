"""Which Redis to talk to, read from a URL. Pure.

redis://[user:password@]host[:port][/db]
rediss://…                                       TLS; ?ssl_ca_certs= ?ssl_certfile= ?ssl_keyfile= ?ssl_cert_reqs=none
unix://[user:password@]/path/to.sock[?db=1]
redis+sentinel://[user:password@]host[:port],host[:port]/name[/db]      rediss+sentinel:// with TLS
"""

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from a2c_smcp.errors import InvalidConfig

REDIS_PORT = 6379
SENTINEL_PORT = 26379
SCHEMES = ("redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel")
SETTINGS = frozenset({"db", "sentinel_password", "ssl_ca_certs", "ssl_cert_reqs", "ssl_certfile", "ssl_keyfile"})


@dataclass(frozen=True, slots=True)
class Tls:
    """How to speak TLS.

    Attributes:
        verify: Whether the certificate of the other side counts.
    """

    ca_certs: str | None = None
    certfile: str | None = None
    keyfile: str | None = None
    verify: bool = True


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A Redis, or the Sentinels that know where it is.

    Attributes:
        hosts: Addresses to try; of a Redis there is one.
        path: A Unix socket instead.
        master: The name that the Sentinels (`hosts`) know the primary by.
    """

    hosts: tuple[tuple[str, int], ...] = ()
    path: str | None = None
    tls: Tls | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    db: int = 0
    master: str | None = None
    sentinel_password: str | None = field(default=None, repr=False)


def parse_endpoint(url: str) -> Endpoint:
    """Read the URL.

    Raises:
        InvalidConfig: It is none of the forms; the message never repeats the URL, which may hold a password.
    """
    try:
        parts = urlsplit(url)
        settings = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError as problem:
        raise InvalidConfig(f"The Redis URL cannot be read: {problem}") from None
    if parts.scheme not in SCHEMES:
        raise InvalidConfig(f"The Redis URL must begin with one of {', '.join(f'{s}://' for s in SCHEMES)}")
    if unknown := sorted(settings.keys() - SETTINGS):
        raise InvalidConfig(f"The Redis URL has settings that are not known: {', '.join(unknown)}")
    account, _, address = parts.netloc.rpartition("@")
    username, _, password = account.partition(":")
    sentinel = parts.scheme.endswith("+sentinel")
    path = [unquote(segment) for segment in parts.path.split("/") if segment]
    if parts.scheme == "unix":
        if address or not path:
            raise InvalidConfig("A Unix socket is written unix:///path/to.sock")
    elif len(path) > (2 if sentinel else 1) or (sentinel and not path):
        raise InvalidConfig(
            "The path of the Redis URL is the database's number (with Sentinel: the master's name, then the number)"
        )
    db = settings.get("db") or (path[-1] if parts.scheme != "unix" and len(path) == 1 + sentinel else "0")
    if not (db.isascii() and db.isdigit()):
        raise InvalidConfig("The database of the Redis URL must be a number")
    return Endpoint(
        hosts=() if parts.scheme == "unix" else _hosts(address, SENTINEL_PORT if sentinel else REDIS_PORT, sentinel),
        path=unquote(parts.path) if parts.scheme == "unix" else None,
        tls=_tls(settings) if parts.scheme.startswith("rediss") else None,
        username=unquote(username) or None,
        password=unquote(password) or None,
        db=int(db),
        master=path[0] if sentinel else None,
        sentinel_password=settings.get("sentinel_password"),
    )


def _hosts(address: str, default: int, many: bool) -> tuple[tuple[str, int], ...]:  # noqa: FBT001
    found = []
    for one in address.split(",") if many else [address]:
        try:
            parts = urlsplit(f"//{one}")
            host, port = parts.hostname, parts.port
        except ValueError as problem:
            raise InvalidConfig(f"The address in the Redis URL cannot be read: {problem}") from None
        if not host:
            raise InvalidConfig("The Redis URL names no host")
        found.append((host, default if port is None else port))
    return tuple(found)


def _tls(settings: dict[str, str]) -> Tls:
    demand = settings.get("ssl_cert_reqs", "required")
    if demand not in ("required", "none"):
        raise InvalidConfig("ssl_cert_reqs is 'required' or 'none'")
    return Tls(
        ca_certs=settings.get("ssl_ca_certs"),
        certfile=settings.get("ssl_certfile"),
        keyfile=settings.get("ssl_keyfile"),
        verify=demand == "required",
    )
