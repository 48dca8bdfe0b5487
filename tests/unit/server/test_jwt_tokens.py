"""Signed tokens and their key files."""

import base64
import json
import stat
import time
from itertools import count
from pathlib import Path
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.errors import InvalidConfig, Unauthorized
from a2c_smcp.server.jwt_tokens import (
    MAX_TOKEN,
    TokenClaims,
    TokenKey,
    is_readable_by_others,
    load_keys,
    peek_token,
    read_token,
    sign_token,
    write_keys,
)
from a2c_smcp.server.offices import Identity

OLD = TokenKey("old", b"o" * 32)
NEW = TokenKey("new", b"n" * 32)
WHO: dict[str, Any] = {"role": "agent", "name": "ada", "office_id": "office-1"}


def signed(
    key: TokenKey = NEW, *, algorithm: str = "HS256", headers: dict[str, Any] | None = None, **claims: Any
) -> str:
    """A token with anything in it; None leaves a claim out."""
    now = int(time.time())
    whole = WHO | {"iat": now, "exp": now + 86_400, "jti": "t-1"} | claims
    kept = {name: value for name, value in whole.items() if value is not None}
    return jwt.encode(kept, key.secret, algorithm, headers={"kid": key.kid} if headers is None else headers)


def segment(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def test_a_token_says_what_was_signed() -> None:
    now = time.time()
    claims = read_token(sign_token(NEW, **WHO, ttl=60, now=now, not_before=now - 1), [NEW])
    assert claims == TokenClaims(
        **WHO, jti=claims.jti, issued=int(now), expires=int(now + 60), not_before=int(now - 1), kid="new"
    )


def test_the_claims_bind_a_connection() -> None:
    claims = read_token(signed(exp=9_000_000_000), [NEW])
    assert claims.identity == Identity("agent", "ada", "office-1", expires=9_000_000_000, subject="t-1")


@given(name=st.text(min_size=1, max_size=256), office=st.text(min_size=1, max_size=256))
def test_reading_undoes_signing(name: str, office: str) -> None:
    token = sign_token(NEW, role="computer", name=name, office_id=office, ttl=60)
    claims = read_token(token, [NEW])
    assert (claims.role, claims.name, claims.office_id) == ("computer", name, office)


def test_no_two_tokens_have_one_id() -> None:
    assert len({read_token(sign_token(NEW, **WHO, ttl=60), [NEW]).jti for _ in range(50)}) == 50


def test_every_key_of_the_ring_verifies() -> None:
    for key in (OLD, NEW):
        assert read_token(sign_token(key, **WHO, ttl=60), [NEW, OLD]).kid == key.kid


def test_a_token_that_names_no_key_is_tried_with_all() -> None:
    assert read_token(signed(OLD, headers={}), [NEW, OLD]).name == "ada"


@pytest.mark.parametrize(
    ("token", "why"),
    [
        (signed(exp=1_000), "expired"),
        (signed(nbf=9_000_000_000), "not valid yet"),
        (signed(iat=9_000_000_000, exp=9_000_000_100), "not valid yet"),
        (signed(TokenKey("gone", b"g" * 32)), "does not have"),
        (signed(TokenKey("new", b"x" * 32)), "signature is wrong"),
        (signed(TokenKey("new", b"x" * 32), headers={}), "signature is wrong"),
        (signed(TokenKey("new", b"n" * 64), algorithm="HS512"), "not signed with HS256"),
        (jwt.encode(WHO, "", "none", headers={"kid": "new"}), "not signed with HS256"),
        (signed(exp=None), "lacks the claim 'exp'"),
        (signed(iat=None), "lacks the claim 'iat'"),
        (signed(jti=None), "lacks the claim 'jti'"),
        (signed(role=None), "lacks the claim 'role'"),
        (signed(name=None), "lacks the claim 'name'"),
        (signed(office_id=None), "lacks the claim 'office_id'"),
        (signed(role="owner"), "role must be one of computer, agent"),
        (signed(role=["agent"]), "role must be one of computer, agent"),
        (signed(name=""), "name must be text"),
        (signed(office_id=7), "office_id must be text"),
        (signed(office_id="o" * 257), "office_id must be text"),
        (signed(exp="9000000000"), "exp must be a number"),
        (signed(exp="soon"), "malformed"),
        (signed(headers={"kid": "new", "crit": ["b64"], "b64": False}), "malformed"),
        ("", "malformed"),
        ("no token", "malformed"),
        ("a.b.c", "malformed"),
        ("é.é.é", "malformed"),
        (f"{segment(b'[' * 3000)}.e30.", "malformed"),
        (segment(b'{"alg":"HS256","kid":7}') + ".e30.c2ln", "malformed"),
        ("x" * (MAX_TOKEN + 1), "longer than"),
    ],
    ids=map(str, count()),  # tokens differ from run to run
)
def test_a_token_that_is_not_valid_says_why_and_is_not_echoed(token: str, why: str) -> None:
    with pytest.raises(Unauthorized, match=why) as caught:
        read_token(token, [NEW, OLD])
    assert len(token) < 8 or token not in str(caught.value)


def test_a_changed_token_is_no_longer_valid() -> None:
    header, _, signature = signed().split(".")
    claims = WHO | {"iat": 0, "exp": 9_000_000_000, "jti": "t", "office_id": "office-2"}
    with pytest.raises(Unauthorized, match="signature is wrong"):
        read_token(f"{header}.{segment(json.dumps(claims).encode())}.{signature}", [NEW])


def test_clocks_may_differ_a_little() -> None:
    now = int(time.time())
    assert read_token(signed(iat=now - 60, exp=now - 2), [NEW], leeway=60).name == "ada"


def test_an_audience_is_nothing_that_we_mind() -> None:
    assert read_token(signed(aud="somebody"), [NEW]).name == "ada"


@given(st.text(max_size=300))
def test_any_text_is_a_token_or_unauthorized(text: str) -> None:
    with pytest.raises(Unauthorized):
        read_token(text, [NEW])


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"role": "owner"}, "role must be one of"),
        ({"name": ""}, "name must be text"),
        ({"office_id": "o" * 257}, "office_id must be text"),
        ({"ttl": 0}, "never be valid"),
        ({"ttl": 60, "not_before": 9_000_000_000}, "never be valid"),
    ],
)
def test_a_token_of_no_use_is_not_signed(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidConfig, match=why):
        sign_token(NEW, **({"ttl": 60.0} | WHO | wrong))


def test_a_look_into_a_token_verifies_nothing() -> None:
    header, claims = peek_token(signed(TokenKey("gone", b"g" * 32), exp=1))
    assert (header["kid"], claims["exp"], claims["name"]) == ("gone", 1, "ada")


@pytest.mark.parametrize("token", ["", "a.b.c", segment(b'{"alg":"HS256"}') + ".W10.c2ln"])
def test_a_look_into_no_token_is_refused(token: str) -> None:
    with pytest.raises(Unauthorized, match="malformed"):
        peek_token(token)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="shorter than 32 bytes"):
        TokenKey("weak", b"secret")


def test_a_key_does_not_show_its_secret() -> None:
    assert repr(OLD) == "TokenKey(kid='old')"


def test_a_key_file_keeps_keys_in_order_and_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    write_keys(path, [NEW, OLD])
    assert load_keys(path) == [NEW, OLD]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_key_file_is_a_jwk_set(tmp_path: Path) -> None:
    write_keys(tmp_path / "keys.json", [OLD])
    assert json.loads((tmp_path / "keys.json").read_text()) == {
        "keys": [{"kty": "oct", "alg": "HS256", "kid": "old", "k": segment(OLD.secret)}]
    }


def test_a_key_file_is_not_overwritten_by_mistake(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    write_keys(path, [OLD])
    with pytest.raises(InvalidConfig, match="--rotate"):
        write_keys(path, [NEW])
    assert load_keys(path) == [OLD]
    assert list(tmp_path.iterdir()) == [path]


def test_a_key_file_is_replaced_when_that_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    write_keys(path, [OLD])
    write_keys(path, [NEW, OLD], replace=True)
    assert load_keys(path) == [NEW, OLD]


def test_new_keys_differ_and_are_long_enough() -> None:
    one, two = TokenKey.new(), TokenKey.new()
    assert one.kid != two.kid
    assert one.secret != two.secret


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a key file"),
        ("[]", "not a key file"),
        ('{"keys": 7}', "not a key file"),
        ('{"keys": [7]}', "not a key file"),
        ('{"keys": [{"kty": "oct", "kid": "a"}]}', "not a key file"),
        ('{"keys": [{"kty": "oct", "kid": "a", "k": "§§"}]}', "not a key file"),
        ('{"keys": []}', "has no key"),
        ('{"keys": [{"kty": "RSA", "kid": "a"}]}', "has no key"),
        ('{"keys": [{"kty": "oct", "kid": "a", "k": "c2hvcnQ"}]}', "shorter than"),
        (json.dumps({"keys": [{"kty": "oct", "kid": "a", "k": segment(b"k" * 32)}] * 2}), "two keys have the same kid"),
    ],
)
def test_a_key_file_that_is_none_is_refused_without_showing_it(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidConfig, match=why) as caught:
        load_keys(path)
    assert str(path) in str(caught.value)


def test_a_missing_key_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="No such file"):
        load_keys(tmp_path / "none.json")


def test_a_key_file_that_others_can_read_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    write_keys(path, [OLD])
    assert not is_readable_by_others(path)
    path.chmod(0o640)
    assert is_readable_by_others(path)
