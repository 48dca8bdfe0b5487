"""Who may connect, and as whom, on live sockets."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.server import Identity, TokenKey, create_app, sign_token
from a2c_smcp.server.jwt_tokens import write_keys
from tests.interaction.server.client import CAP
from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import ROOT, Here, refused, serving
from tests.interaction.server.raw import RawClient

KEY = "correct-horse-battery-staple"
SIGNER = TokenKey("2025-01", b"a" * 32)
UNKNOWN = {
    "code": 401,
    "message": "No valid credentials; send an API key or a token (header x-api-key, or auth.token)",
}


def token(role: Any = "agent", name: str = "ada", office: str = "lab", ttl: float = 60, **more: Any) -> str:
    return sign_token(SIGNER, role=role, name=name, office_id=office, ttl=ttl, **more)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Here]:
    """A server that takes a key, a bound key and tokens."""
    write_keys(tmp_path / "keys.json", [SIGNER])
    bound = {"key": "only-for-desk", "role": "computer", "name": "desk", "office_id": "lab"}
    async with serving(create_app(api_keys=[KEY, bound], token_keys=tmp_path / "keys.json")) as here:
        yield here


@pytest.mark.parametrize("credential", [KEY, "token"])
@pytest.mark.parametrize("form", ["x-api-key", "access_token", "access-token", "authorization", "auth.token", "auth"])
@pytest.mark.parametrize("transport", ["websocket", "polling"])
async def test_credentials_are_taken_in_every_form_that_clients_send(
    credential: str, form: str, transport: str, server: Here, connect: Connect
) -> None:
    secret = token() if credential == "token" else credential
    forms: dict[str, Any] = {
        "auth.token": {"auth": {"token": secret}},
        "auth": {"auth": secret},
        "authorization": {"headers": {"Authorization": f"Bearer {secret}"}},
    }
    client = await connect(server, transports=[transport], **forms.get(form, {"headers": {form: secret}}))
    assert await client.join("agent", "ada", "lab") == (True, None)
    await client.close()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, UNKNOWN),
        ({"auth": {"token": "wrong"}}, UNKNOWN),
        ({"auth": {"token": 7}}, UNKNOWN),
        ({"auth": ["wrong"]}, UNKNOWN),
        ({"headers": {"x-api-key": KEY[:-1]}}, UNKNOWN),
        (
            {"auth": {"token": token(ttl=60, now=1_000)}},
            {"code": 401, "message": "The token has expired; get a new one"},
        ),
        (
            {"headers": {"x-api-key": token().rpartition(".")[0] + "." + "A" * 43}},
            {"code": 401, "message": "The token's signature is wrong"},
        ),
    ],
    ids=map(str, range(7)),
)
async def test_others_are_refused_and_told_why(options: dict[str, Any], told: Any, server: Here) -> None:
    assert await refused(server.url, **options) == told


@pytest.mark.rule("1.5")
@pytest.mark.parametrize(
    ("role", "name", "office", "what"),
    [
        ("computer", "ada", "lab", "role 'agent', not for 'computer'"),
        ("agent", "eve", "lab", "name 'ada', not for 'eve'"),
        ("agent", "ada", "vault", "office 'lab', not for 'vault'"),
    ],
)
async def test_a_token_is_good_for_one_role_name_and_office_which_the_refusal_names(
    role: str, name: str, office: str, what: str, server: Here, connect: Connect
) -> None:
    client = await connect(server, auth={"token": token()})
    other = "join as agent 'ada' in office 'lab', or connect with other credentials"
    why = f"403: The credentials of this connection are for the {what}: {other}"
    assert await client.join(role, name, office) == (False, why)
    assert await client.join("agent", "ada", "lab") == (True, None)


@pytest.mark.rule("1.5")
async def test_a_key_can_be_bound_too(server: Here, connect: Connect) -> None:
    client = await connect(server, headers={"x-api-key": "only-for-desk"})
    accepted, why = await client.join("agent", "desk", "lab")
    assert (accepted, why.partition(", ")[0]) == (
        False,
        "403: The credentials of this connection are for the role 'computer'",
    )
    assert await client.join("computer", "desk", "lab") == (True, None)


@pytest.fixture(params=["werkzeug", "gevent"])
def blocking(request: pytest.FixtureRequest) -> Iterator[Callable[[bool], str]]:
    """Start a blocking server that takes a key, behind a WSGI server as it comes or with the handler of the guide."""
    programs: list[subprocess.Popen[str]] = []

    def start(guided: bool) -> str:
        words = [sys.executable, "-m", "tests.interaction.server.wsgi_key", request.param, KEY, str(guided)]
        programs.append(subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True))
        assert programs[-1].stdout is not None
        return f"http://127.0.0.1:{int(programs[-1].stdout.readline())}"

    yield start
    for program in programs:
        program.kill()
        program.communicate()


async def test_a_server_whose_wsgi_server_drops_headers_says_so(blocking: Callable[[bool], str]) -> None:
    url = await asyncio.to_thread(blocking, False)
    told = await refused(url, headers={"access_token": KEY})
    assert (told["code"], "drop headers with an underscore, such as access_token" in told["message"]) == (401, True)
    assert await refused(url, headers={"x-api-key": "wrong"}) == UNKNOWN


async def test_a_wsgi_server_can_be_told_to_keep_access_token(
    blocking: Callable[[bool], str], connect: Connect
) -> None:
    url = await asyncio.to_thread(blocking, True)
    client = await connect(Here(url), headers={"access_token": KEY})
    assert await client.join("agent", "ada", "lab") == (True, None)


async def test_a_connection_ends_with_its_credentials(connect: Connect) -> None:
    class Soon:
        def authenticate(self, *_: Any) -> Identity:
            return Identity(expires=time.time() + 3)

    async with serving(create_app(auth=Soon())) as server:
        client = await connect(server)
        assert await client.join("agent", "ada", "lab") == (True, None)
        await asyncio.wait_for(client.gone.wait(), CAP)


async def test_a_websocket_ends_with_its_token(server: Here) -> None:
    raw = await RawClient.open(server.url, additional_headers={"x-api-key": token(ttl=2, now=time.time())})
    joined = await raw.call(1, "server:join_office", {"role": "agent", "name": "ada", "office_id": "lab"})
    assert joined == [True, None]
    told = await raw.receive("42/smcp,")
    assert json.loads(told[len("42/smcp,") :]) == [
        "notify:disconnect",
        {"code": 401, "message": "The credentials of this connection have expired; connect again with new ones"},
    ]
    await asyncio.wait_for(raw.socket.wait_closed(), CAP / 4)


async def test_a_provider_that_answers_later_may_stand_beside_keys(connect: Connect) -> None:
    class Members:
        async def authenticate(self, server: Any, environ: Any, auth: Any, headers: Any) -> Identity | None:
            return Identity(name="desk") if headers.get("x-member") == "7" else None

    async with serving(create_app(auth=Members(), api_keys=[KEY])) as server:
        guest = await connect(server, headers={"x-member": "7"})
        assert (await guest.join("computer", "other", "lab"))[0] is False
        await connect(server, headers={"x-api-key": KEY})
        assert await refused(server.url) == UNKNOWN


async def test_a_provider_that_fails_keeps_everybody_out_and_the_secret_in(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def authenticate(self, server: Any, environ: Any, auth: Any, headers: Any) -> Identity:
            raise RuntimeError(auth)

    async with serving(create_app(auth=Broken())) as server:
        told = await refused(server.url, auth={"token": "tiger"})
    assert told == {"code": 401, "message": "The credentials could not be checked"}
    assert "tiger" not in caplog.text


async def test_keys_in_files_are_read_again_when_told(tmp_path: Path, connect: Connect) -> None:
    keys, ring = tmp_path / "keys.txt", tmp_path / "keys.json"
    keys.write_text("# ours\nfirst-key-of-some-length\n\n")
    write_keys(ring, [SIGNER])
    newer = TokenKey("2025-02", b"b" * 32)
    later = sign_token(newer, role="agent", name="ada", office_id="lab", ttl=60)
    app = create_app(api_key_file=keys, token_keys=ring)
    async with serving(app) as server:
        await connect(server, auth="first-key-of-some-length")
        assert await refused(server.url, auth=later)
        keys.write_text("second-key-of-some-length\n")
        write_keys(ring, [newer, SIGNER], replace=True)
        app.reload()
        for credential in ("second-key-of-some-length", later, token()):
            await connect(server, auth=credential)
        assert await refused(server.url, auth="first-key-of-some-length") == UNKNOWN


@pytest.mark.parametrize("text", ["", "# nothing\n", "two words\n", "\xff"])
async def test_files_that_were_broken_leave_the_old_keys_in_force(
    text: str, tmp_path: Path, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text(f"{KEY}\n")
    app = create_app(api_key_file=keys)
    async with serving(app) as server:
        keys.write_bytes(text.encode("latin-1"))
        app.reload()
        await connect(server, auth=KEY)
    assert "reload failed, nothing changed: part='credentials'" in caplog.text


def test_keys_that_are_easily_guessed_or_seen_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ring = tmp_path / "keys.json"
    write_keys(ring, [SIGNER])
    ring.chmod(0o644)
    create_app(api_keys=["tiger"], token_keys=ring)
    assert [record.getMessage() for record in caplog.records] == [
        "API key is short and can be guessed: min_characters=16",
        "keys.json is readable by other users; run chmod 600",
    ]
