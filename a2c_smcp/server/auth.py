"""Who a connection is: the provider interface, API keys and signed tokens."""

from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from a2c_smcp.errors import Unauthorized
from a2c_smcp.server.rooms import Identity


class AuthenticationProvider(Protocol):
    """Decides who may connect, and as whom."""

    def authenticate(
        self, server: Any, environ: Mapping[str, Any], auth: Any, headers: Mapping[str, str]
    ) -> Identity | bool | Awaitable[Identity | bool | None] | None:
        """Return who the connection is.

        `True` lets it in without binding it to a role, name or office; `None` and `False` keep it out. May be a
        coroutine function on an async server. `headers` have lower-case names.
        """


def identity_of(answer: object) -> Identity:
    """What a provider's answer means.

    Raises:
        Unauthorized: It keeps the connection out.
    """
    if answer is True:
        return Identity()
    if isinstance(answer, Identity):
        return answer
    raise Unauthorized("No valid credentials: send an API key or a token (header x-api-key, or auth.token)")
