"""Network addresses by their look alone: which are of this machine, and how URLs write them."""

from ipaddress import ip_address
from typing import Final

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""How clients on this machine call a server there, as in the `Host` header without its port."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host, which is not looked up."""
    try:
        return ip_address(host.strip("[]").partition("%")[0]).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def in_url(host: str) -> str:
    """Return a host as URLs have it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
