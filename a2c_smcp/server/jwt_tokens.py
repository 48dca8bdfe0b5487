"""JWTs that bind role, name and office, and the files of their keys.

A token is a JWT signed with HS256. Its claims:

    role, name, office_id   the identity of its bearer; required
    exp, iat, jti           expiry, time of signing, id; required
    nbf                     start of validity, if later

A key file is a JWK Set (RFC 7517) of symmetric keys. The first key signs and all verify, so that keys can be
rotated: put a new one first, and remove the old one when its tokens have expired.
"""

import base64
import binascii
import json
import os
import secrets
import stat
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast, get_args

import jwt

from a2c_smcp.errors import InvalidConfig, Unauthorized
from a2c_smcp.messages import MAX_NAME
from a2c_smcp.server.offices import Identity
from a2c_smcp.types import Role

ALGORITHM: Final = "HS256"
KEY_BYTES: Final = 32
MAX_TOKEN: Final = 8_192
LEEWAY: Final = 5.0
REQUIRED_CLAIMS: Final = ("exp", "iat", "jti", "role", "name", "office_id")

_OPTIONS: Final[Any] = {"require": list(REQUIRED_CLAIMS), "verify_aud": False}
# Exceptions of decoding untrusted bytes: json adds the last two to the library's own.
_BROKEN: Final = (jwt.InvalidTokenError, ValueError, OverflowError, RecursionError)
_FAILURES: Final[Sequence[tuple[type[Exception], str]]] = (
    (jwt.ExpiredSignatureError, "The token has expired; get a new one"),
    (jwt.ImmatureSignatureError, "The token is not valid yet; compare the clocks of its signer and this server"),
    (jwt.InvalidSignatureError, "The token's signature is wrong"),
    (jwt.InvalidAlgorithmError, f"The token is not signed with {ALGORITHM}"),
)


@dataclass(frozen=True, slots=True)
class TokenKey:
    """A key that signs and verifies tokens.

    Attributes:
        kid: The key id that tokens name in their header.
    """

    kid: str
    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) < KEY_BYTES:
            raise InvalidConfig(
                f"The key {self.kid!r} is shorter than {KEY_BYTES} bytes; make one with `a2c token key`"
            )

    @classmethod
    def new(cls) -> "TokenKey":
        """Return a new random key."""
        return cls(secrets.token_hex(8), secrets.token_bytes(KEY_BYTES))


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """The claims of a valid token; times are in seconds since the epoch."""

    role: Role
    name: str
    office_id: str
    jti: str
    issued: float
    expires: float
    not_before: float | None = None
    kid: str | None = None

    @property
    def identity(self) -> Identity:
        """The identity that the token binds a connection to."""
        return Identity(self.role, self.name, self.office_id, expires=self.expires, subject=self.jti)


def sign_token(
    key: TokenKey,
    *,
    role: Role,
    name: str,
    office_id: str,
    ttl: float,
    now: float | None = None,
    not_before: float | None = None,
) -> str:
    """Return a token that is valid for `ttl` seconds.

    Args:
        now: The time of signing, in seconds since the epoch; by default the current time.
        not_before: The start of validity, if later than `now`.

    Raises:
        InvalidConfig: The token could never be valid: an unknown role, an empty name, no time to live.
    """
    issued = time.time() if now is None else now
    claims: dict[str, Any] = {
        "role": role,
        "name": name,
        "office_id": office_id,
        "iat": int(issued),
        "exp": int(issued + ttl),
        "jti": secrets.token_hex(8),
    }
    if not_before is not None:
        claims["nbf"] = int(not_before)
    if problem := _problem_of(claims):
        raise InvalidConfig(problem)
    if claims["exp"] <= max(claims["iat"], claims.get("nbf", 0)):
        raise InvalidConfig("The token would never be valid: it must live for at least a second")
    return jwt.encode(claims, key.secret, ALGORITHM, headers={"kid": key.kid})


def read_token(token: str, keys: Iterable[TokenKey], *, leeway: float = LEEWAY) -> TokenClaims:
    """Verify the signature and times of a token and return its claims.

    Raises:
        Unauthorized: The token is not valid; the message says why and quotes nothing of it.
    """
    kid = _kid_of(token)
    refusal = Unauthorized("The token is signed with a key that this server does not have; get a new one")
    for key in keys:
        if kid is None or key.kid == kid:
            try:
                return _claims(_decode(token, key, leeway), kid)
            except _WrongKey as error:
                refusal = error
    raise refusal


def peek_token(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and claims of a token without verification, only for display.

    Raises:
        Unauthorized: The text is not a token.
    """
    _kid_of(token)
    try:
        whole = jwt.decode_complete(token, options={"verify_signature": False})
    except _BROKEN:
        raise Unauthorized("The token is malformed") from None
    return whole["header"], whole["payload"]


class _WrongKey(Unauthorized):
    """The signature does not match this key; another may match."""


def _kid_of(token: str) -> str | None:
    if len(token) > MAX_TOKEN:
        raise Unauthorized(f"The token is longer than {MAX_TOKEN} characters")
    try:
        kid = jwt.get_unverified_header(token).get("kid")
    except _BROKEN:
        raise Unauthorized("The token is malformed") from None
    return cast("str | None", kid)


def _decode(token: str, key: TokenKey, leeway: float) -> dict[str, Any]:
    try:
        return jwt.decode(token, key.secret, [ALGORITHM], leeway=leeway, options=_OPTIONS)
    except jwt.MissingRequiredClaimError as error:
        raise Unauthorized(f"The token lacks the claim {error.claim!r}") from None
    except _BROKEN as error:
        kind = _WrongKey if isinstance(error, jwt.InvalidSignatureError) else Unauthorized
        known = (words for failure, words in _FAILURES if isinstance(error, failure))
        raise kind(next(known, "The token is malformed")) from None


def _claims(claims: dict[str, Any], kid: str | None) -> TokenClaims:
    if problem := _problem_of(claims):
        raise Unauthorized(f"The token has an invalid claim: {problem}")
    return TokenClaims(
        role=claims["role"],
        name=claims["name"],
        office_id=claims["office_id"],
        jti=claims["jti"],
        issued=claims["iat"],
        expires=claims["exp"],
        not_before=claims.get("nbf"),
        kid=kid,
    )


def _problem_of(claims: dict[str, Any]) -> str | None:
    if claims["role"] not in get_args(Role):
        return f"the role must be one of {', '.join(get_args(Role))}"
    for claim in ("name", "office_id"):
        if not isinstance(claims[claim], str) or not 0 < len(claims[claim]) <= MAX_NAME:
            return f"{claim} must be text of 1 to {MAX_NAME} characters"
    for claim in ("exp", "iat", "nbf"):
        if type(claims.get(claim, 0)) not in (int, float):
            return f"{claim} must be a number of seconds"
    return None


# Key files


def load_keys(path: Path | str) -> list[TokenKey]:
    """Return the keys of a file, the one that signs first.

    Raises:
        InvalidConfig: The file cannot be read or is not a key file; the message quotes no key.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))["keys"]
        keys = [TokenKey(str(one["kid"]), _unpadded(one["k"])) for one in found if one.get("kty") == "oct"]
    except OSError as error:
        raise InvalidConfig(f"token keys {path}: {error.strerror}") from None
    except InvalidConfig as error:
        raise InvalidConfig(f"token keys {path}: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error):
        raise InvalidConfig(f"token keys {path}: not a key file; make one with `a2c token key`") from None
    if not keys:
        raise InvalidConfig(f"token keys {path}: the file has no key")
    if len({key.kid for key in keys}) != len(keys):
        raise InvalidConfig(f"token keys {path}: two keys have the same kid")
    return keys


def write_keys(path: Path | str, keys: Sequence[TokenKey], *, replace: bool = False) -> None:
    """Write a key file with mode 600.

    Raises:
        InvalidConfig: The file exists and `replace` is False.
        OSError: The file cannot be written.
    """
    target = Path(path)
    entries = [{"kty": "oct", "alg": ALGORITHM, "kid": key.kid, "k": _padless(key.secret)} for key in keys]
    text = json.dumps({"keys": entries}, indent=2) + "\n"
    # Written to another file and moved, so that a server never reads a partial file.
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, stat.S_IRUSR | stat.S_IWUSR)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        if replace:
            draft.replace(target)
        else:
            os.link(draft, target)  # unlike a check before writing, this never overwrites
    except FileExistsError:
        raise InvalidConfig(f"{target} exists; use --rotate to add a new first key") from None
    finally:
        draft.unlink(missing_ok=True)


def is_readable_by_others(path: Path | str) -> bool:
    """Return whether users other than the owner can read a file."""
    return bool(Path(path).stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def _padless(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unpadded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
