"""Who may connect, and as whom."""

import inspect
import time
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.errors import InvalidConfig, Unauthorized
from a2c_smcp.server.auth import (
    MAX_CREDENTIAL,
    AnyOf,
    ApiKeyAuth,
    AuthenticationProvider,
    TokenAuth,
    credentials_of,
    identity_of,
)
from a2c_smcp.server.jwt_tokens import TokenKey, sign_token
from a2c_smcp.server.offices import Identity

KEY = "correct-horse-battery-staple"
AGENT = Identity("agent", "ada", "office-1")
SIGNER = TokenKey("2025-01", b"a" * 32)


def ask(provider: AuthenticationProvider, auth: Any = None, **headers: str) -> Any:
    lower = {name.replace("_", "-") if name != "access_token" else name: value for name, value in headers.items()}
    return provider.authenticate(None, {}, auth, lower)


class Slow:
    """A provider that answers later."""

    def __init__(self, answer: Identity | bool | None = None, refusal: str = "") -> None:
        self.answer = answer
        self.refusal = refusal

    async def authenticate(self, *_: Any) -> Identity | bool | None:
        if self.refusal:
            raise Unauthorized(self.refusal)
        return self.answer


class Refusing:
    """A provider that says why not."""

    def __init__(self, why: str) -> None:
        self.why = why

    def authenticate(self, *_: Any) -> Identity | bool | None:
        raise Unauthorized(self.why)


@pytest.mark.parametrize(
    ("auth", "headers"),
    [
        (None, {"x-api-key": KEY}),
        (None, {"access_token": KEY}),
        (None, {"access-token": KEY}),
        (None, {"authorization": f"Bearer {KEY}"}),
        (None, {"authorization": f"bearer  {KEY} "}),
        ({"token": KEY}, {}),
        (KEY, {}),
        ({"token": KEY}, {"x-api-key": "a wrong one beside it"}),
    ],
)
def test_a_key_is_taken_in_every_form_that_clients_send(auth: Any, headers: dict[str, str]) -> None:
    assert ApiKeyAuth([KEY]).authenticate(None, {}, auth, headers) == Identity()


@pytest.mark.parametrize(
    ("auth", "headers"),
    [
        (None, {}),
        ({}, {}),
        ([KEY], {}),
        ({"token": [KEY]}, {}),
        ({"token": KEY.encode()}, {}),
        (KEY[:-1], {}),
        (f"{KEY} ", {}),
        ("", {"x-api-key": ""}),
        ("\ud800", {}),
        (None, {"authorization": KEY}),
        (None, {"authorization": f"Basic {KEY}"}),
        (None, {"x-api-key": f"{KEY}, {KEY}"}),
    ],
)
def test_anything_but_the_key_keeps_the_connection_out(auth: Any, headers: dict[str, str]) -> None:
    assert ApiKeyAuth([KEY]).authenticate(None, {}, auth, headers) is None


def test_each_key_can_be_bound_to_an_identity() -> None:
    provider = ApiKeyAuth({"one": AGENT, "two": Identity("computer")})
    assert [ask(provider, key) for key in ("one", "two", "three")] == [AGENT, Identity("computer"), None]


@pytest.mark.parametrize("offered", ["key-0", "key-49", "wrong"])
def test_every_key_is_compared_whichever_one_matches(offered: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append(one)
        return one == other

    monkeypatch.setattr("a2c_smcp.server.auth.hmac.compare_digest", compare)
    ask(ApiKeyAuth([f"key-{number}" for number in range(50)]), offered)
    assert len(compared) == 50


def test_a_single_key_may_be_given_as_text() -> None:
    assert ask(ApiKeyAuth(KEY), KEY) == Identity()


@pytest.mark.parametrize("keys", [[], [""], ["with blank"], ["schlüssel"], ["line\nbreak"], {}])
def test_keys_that_nobody_could_send_are_refused_at_the_start(keys: Any) -> None:
    with pytest.raises(InvalidConfig, match="printable ASCII"):
        ApiKeyAuth(keys)


def test_a_credential_that_is_far_too_long_is_not_looked_at() -> None:
    assert list(credentials_of("x" * (MAX_CREDENTIAL + 1), {"x-api-key": "x" * MAX_CREDENTIAL})) == [
        "x" * MAX_CREDENTIAL
    ]


@given(
    auth=st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.just("token") | st.text(), inner),
        max_leaves=6,
    )
)
def test_no_auth_data_whatever_makes_a_provider_fail(auth: Any) -> None:
    with suppress(Unauthorized):
        assert AnyOf(ApiKeyAuth([KEY]), TokenAuth([SIGNER])).authenticate(None, {}, auth, {}) is None


@pytest.mark.rule("1.5")
def test_a_token_binds_role_name_and_office_and_ends() -> None:
    token = sign_token(SIGNER, role="agent", name="ada", office_id="office-1", ttl=60, now=2_000_000_000)
    identity = ask(TokenAuth([SIGNER], leeway=3e8), {"token": token})
    assert (identity.role, identity.name, identity.office_id) == ("agent", "ada", "office-1")
    assert identity.expires == 2_000_000_060


def test_a_token_that_is_let_in_by_the_leeway_ends_with_it() -> None:
    token = sign_token(SIGNER, role="agent", name="ada", office_id="office-1", ttl=60, now=time.time() - 70)
    identity = ask(TokenAuth([SIGNER], leeway=30), {"token": token})
    assert identity.expires is not None
    assert time.time() < identity.expires < time.time() + 30


def test_what_is_no_token_is_left_to_other_providers() -> None:
    assert ask(TokenAuth([SIGNER]), KEY, x_api_key="a.b") is None


def test_a_token_that_is_not_valid_is_refused_with_the_reason() -> None:
    token = sign_token(SIGNER, role="agent", name="ada", office_id="office-1", ttl=60, now=1_000)
    with pytest.raises(Unauthorized, match="expired"):
        ask(TokenAuth([SIGNER]), token)


def test_a_valid_token_counts_although_a_bad_one_comes_with_it() -> None:
    bad = sign_token(SIGNER, role="agent", name="ada", office_id="office-1", ttl=60, now=1_000)
    good = sign_token(SIGNER, role="computer", name="desk", office_id="office-1", ttl=60)
    assert ask(TokenAuth([SIGNER]), good, x_api_key=bad).name == "desk"


def test_keys_that_change_while_the_server_runs_take_effect() -> None:
    ring = [SIGNER]
    provider = TokenAuth(lambda: ring)
    newer = TokenKey("2025-02", b"b" * 32)
    token = sign_token(newer, role="agent", name="ada", office_id="office-1", ttl=60)
    with pytest.raises(Unauthorized, match="does not have"):
        ask(provider, token)
    ring.insert(0, newer)
    assert ask(provider, token).name == "ada"


def test_the_first_provider_that_lets_in_decides_who_it_is() -> None:
    provider = AnyOf(ApiKeyAuth(["other"]), ApiKeyAuth({KEY: AGENT}), ApiKeyAuth({KEY: Identity("computer")}))
    assert ask(provider, KEY) == AGENT


def test_none_of_several_providers_keeps_out() -> None:
    assert ask(AnyOf(ApiKeyAuth(["other"]), TokenAuth([SIGNER])), KEY) is None


def test_the_first_reason_is_told_when_no_provider_lets_in() -> None:
    with pytest.raises(Unauthorized, match="first"):
        ask(AnyOf(Refusing("first"), ApiKeyAuth([KEY]), Refusing("second")), "wrong")


@pytest.mark.parametrize(
    ("providers", "answer"),
    [
        ((Slow(), ApiKeyAuth({KEY: AGENT})), AGENT),
        ((ApiKeyAuth(["other"]), Slow(AGENT)), AGENT),
        ((Slow(), Slow(True)), True),
        ((Slow(refusal="no"), Slow(AGENT)), AGENT),
        ((Slow(), Slow(None), ApiKeyAuth(["other"])), None),
    ],
)
async def test_providers_that_answer_later_can_be_mixed_with_others(providers: Any, answer: Any) -> None:
    waiting = ask(AnyOf(*providers), KEY)
    assert inspect.isawaitable(waiting)
    assert await waiting == answer


async def test_a_reason_told_later_is_told() -> None:
    waiting: Awaitable[Any] = ask(AnyOf(Slow(), Slow(refusal="expired")), KEY)
    with pytest.raises(Unauthorized, match="expired"):
        await waiting


@pytest.mark.parametrize(("answer", "identity"), [(True, Identity()), (AGENT, AGENT)])
def test_an_answer_that_lets_in_is_an_identity(answer: Any, identity: Identity) -> None:
    assert identity_of(answer) == identity


@pytest.mark.parametrize("answer", [None, False, 1, "yes", {"role": "agent"}])
def test_any_other_answer_keeps_out(answer: Any) -> None:
    with pytest.raises(Unauthorized, match="x-api-key"):
        identity_of(answer)


def test_a_class_with_the_method_is_a_provider() -> None:
    class Office:
        def authenticate(self, server: Any, environ: Mapping[str, Any], auth: Any, headers: Mapping[str, str]) -> bool:
            return headers.get("x-office") == "1"

    assert ask(Office(), **{"x-office": "1"}) is True
