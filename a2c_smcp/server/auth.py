"""Authentication of clients: the provider interface, API keys, signed tokens, and combinations."""

import hashlib
import hmac
import inspect
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeAlias

from a2c_smcp.errors import InvalidConfig, Unauthorized
from a2c_smcp.server.jwt_tokens import LEEWAY, TokenKey, read_token
from a2c_smcp.server.offices import Identity

log = logging.getLogger(__name__)

AuthResult: TypeAlias = Identity | bool | None

MAX_CREDENTIAL: Final = 8_192
"""Longer values are ignored without hashing them."""

_HEADERS: Final = ("x-api-key", "access_token", "access-token")
_BEARER: Final = re.compile(r"bearer +(\S+) *", re.IGNORECASE)
_KEY: Final = re.compile(r"[!-~]+")
_TOKEN: Final = re.compile(r"[\w-]+\.[\w-]+\.[\w-]*", re.ASCII)


class AuthenticationProvider(Protocol):
    """Authenticates clients."""

    def authenticate(
        self, server: Any, environ: Mapping[str, Any], auth: Any, headers: Mapping[str, str]
    ) -> AuthResult | Awaitable[AuthResult]:
        """Return the identity of a client.

        `True` accepts the client without binding it to a role, name or office; `None` and `False` refuse it. Raising
        `Unauthorized` refuses it with a reason. May be a coroutine function on an async server. `headers` have
        lower-case names.
        """


def identity_of(answer: object) -> Identity:
    """Return the identity of a provider's result.

    Raises:
        Unauthorized: The result refuses the client.
    """
    if answer is True:
        return Identity()
    if isinstance(answer, Identity):
        expires: object = answer.expires  # users write providers
        if expires is not None and not isinstance(expires, int | float):
            log.error("authentication provider returned an Identity whose expires is not a number")
            raise Unauthorized("The credentials could not be checked")
        return answer
    raise Unauthorized("No valid credentials; send an API key or a token (header x-api-key, or auth.token)")


def dropped_header_error() -> Unauthorized:
    """Return the error for a client without credentials on a server that may drop headers like `access_token`."""
    return Unauthorized(
        "No credentials arrived: this server's WSGI server may drop headers with an underscore, such as access_token; "
        "send the API key or the token as header x-api-key or access-token, or as auth.token"
    )


def credentials_of(auth: Any, headers: Mapping[str, str]) -> Iterator[str]:
    """Yield every credential of a connection, in each form that released clients use."""
    found = [headers.get(name) for name in _HEADERS]
    if bearer := _BEARER.fullmatch(headers.get("authorization", "")):
        found.append(bearer[1])
    found.append(auth.get("token") if isinstance(auth, Mapping) else auth)
    yield from (one for one in found if isinstance(one, str) and 0 < len(one) <= MAX_CREDENTIAL)


class ApiKeyAuth:
    """Accepts clients with one of the keys; a mapping binds each key to an identity.

    Every key is compared with every credential, by digest and in constant time, so that timing reveals nothing about
    the keys.

    Raises:
        InvalidConfig: There is no key, or a key cannot be sent in a header.
    """

    def __init__(self, keys: str | Iterable[str] | Mapping[str, Identity]) -> None:
        given = {keys: Identity()} if isinstance(keys, str) else keys
        bound = given if isinstance(given, Mapping) else dict.fromkeys(given, Identity())
        if not bound or not all(_KEY.fullmatch(key) for key in bound):
            raise InvalidConfig("An API key must be printable ASCII characters without spaces")
        self._keys = [
            (_digest(key), _with_principal(identity, f"key {_digest(key).hex()}")) for key, identity in bound.items()
        ]

    def authenticate(
        self, _server: Any, _environ: Mapping[str, Any], auth: Any, headers: Mapping[str, str]
    ) -> Identity | None:
        """Return the identity of the key presented, or None."""
        found: Identity | None = None
        for credential in credentials_of(auth, headers):
            offered = _digest(credential)
            for digest, identity in self._keys:
                if hmac.compare_digest(digest, offered):
                    found = identity
        return found


class TokenAuth:
    """Accepts clients with a token that is signed with one of the keys, as the role, name and office in it.

    Args:
        keys: The keys that verify tokens, or a function that returns them, for keys that change.
        leeway: Seconds by which the clocks of signer and server may differ.
    """

    def __init__(self, keys: Sequence[TokenKey] | Callable[[], Sequence[TokenKey]], *, leeway: float = LEEWAY) -> None:
        self._keys = keys if callable(keys) else lambda: keys
        self._leeway = leeway

    def authenticate(
        self, _server: Any, _environ: Mapping[str, Any], auth: Any, headers: Mapping[str, str]
    ) -> Identity | None:
        """Return the identity in the token, or None without a token.

        Raises:
            Unauthorized: The token is not valid; the message says why.
        """
        refusal: Unauthorized | None = None
        for credential in credentials_of(auth, headers):
            if not _TOKEN.fullmatch(credential):
                continue
            try:
                claims = read_token(credential, self._keys(), leeway=self._leeway)
                # The leeway covers clock differences at connection time; the connection ends with the token.
                late = self._leeway if claims.expires <= time.time() else 0
                identity = replace(claims.identity, expires=claims.expires + late)
                # A renewed token is the same party; without a name, only the identical token is.
                party = (
                    (identity.role, identity.name, identity.office_id) if identity.name else _digest(credential).hex()
                )
                return _with_principal(identity, f"token {party}")
            except Unauthorized as error:
                refusal = error
        if refusal is not None:
            raise refusal
        return None


class AnyOf:
    """Accepts clients that any of the providers accepts; the first one decides the identity."""

    def __init__(self, *providers: AuthenticationProvider) -> None:
        self.providers = providers

    def authenticate(
        self, server: Any, environ: Mapping[str, Any], auth: Any, headers: Mapping[str, str]
    ) -> AuthResult | Awaitable[AuthResult]:
        """Return the first result that accepts the client.

        Raises:
            Unauthorized: No provider accepts it, and one gave a reason.
        """
        asked = (provider.authenticate for provider in self.providers)
        return _first(iter(asked), (server, environ, auth, headers), None)


def _first(
    asked: "Iterator[_Ask]", request: "_Request", refusal: Unauthorized | None
) -> AuthResult | Awaitable[AuthResult]:
    for ask in asked:
        try:
            answer = ask(*request)
        except Unauthorized as error:
            refusal = refusal or error
            continue
        if inspect.isawaitable(answer):
            return _first_later(answer, asked, request, refusal)
        if answer:
            return answer
    if refusal is not None:
        raise refusal
    return None


async def _first_later(
    waiting: Awaitable[AuthResult], asked: "Iterator[_Ask]", request: "_Request", refusal: Unauthorized | None
) -> AuthResult:
    try:
        answer = await waiting
    except Unauthorized as error:
        answer, refusal = None, refusal or error
    if answer:
        return answer
    rest = _first(asked, request, refusal)
    return await rest if inspect.isawaitable(rest) else rest


def _with_principal(identity: Identity, principal: str) -> Identity:
    return identity if identity.principal is not None else replace(identity, principal=principal)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


_Ask: TypeAlias = Callable[..., AuthResult | Awaitable[AuthResult]]
_Request: TypeAlias = tuple[Any, Mapping[str, Any], Any, Mapping[str, str]]
