"""`a2c token`."""

import json
import re
import stat
from pathlib import Path

import jwt
import pytest

from tests.unit.cli.running import a2c


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    assert a2c("token", "key", "--out", str(path)).code == 0
    return path


def test_a_token_can_be_had_with_what_it_says(keys: Path) -> None:
    words = ["--role", "computer", "--name", "desk", "--office", "lab", "--ttl", "7d", "--key-file", str(keys)]
    found = json.loads(a2c("token", "create", *words, "--json").out)
    claims = found["claims"]
    assert found.keys() == {"token", "kid", "claims"}
    assert claims | {"iat": 0, "exp": 0, "jti": ""} == {
        "role": "computer",
        "name": "desk",
        "office_id": "lab",
        "iat": 0,
        "exp": 0,
        "jti": "",
    }
    assert claims["exp"] - claims["iat"] == 7 * 86_400


def test_a_key_file_is_for_its_owner_and_is_not_overwritten(keys: Path) -> None:
    before = keys.read_text()
    again = a2c("token", "key", "--out", str(keys))
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    assert (again.code, again.err) == (
        1,
        f"error 400: {keys} exists; use --rotate to add a new first key\n",
    )
    assert keys.read_text() == before


def test_keys_rotate_and_old_ones_go(keys: Path) -> None:
    first = json.loads(keys.read_text())["keys"][0]
    told = json.loads(a2c("token", "key", "--out", str(keys), "--rotate", "--json").out)
    assert told == {"file": str(keys), "signs": told["signs"], "verify": [told["signs"], first["kid"]]}
    assert json.loads(keys.read_text())["keys"][1] == first
    a2c("token", "key", "--out", str(keys), "--rotate")
    left = [key["kid"] for key in json.loads(keys.read_text())["keys"]]
    assert (len(left), left[1]) == (2, told["signs"])


def test_a_key_is_never_printed(keys: Path) -> None:
    secret = json.loads(keys.read_text())["keys"][0]["k"]
    made = a2c("token", "create", "--role", "agent", "--name", "a", "--office", "o", "--key-file", str(keys), "--json")
    seen = a2c("token", "inspect", json.loads(made.out)["token"], "--key-file", str(keys), "--json")
    turned = a2c("token", "key", "--out", str(keys), "--rotate")
    assert not [run for run in (made, seen, turned) if secret in run.out + run.err]


def test_a_token_can_be_looked_into(keys: Path) -> None:
    words = ["--role", "agent", "--name", "ada", "--office", "lab", "--key-file", str(keys)]
    token = a2c("token", "create", *words).out
    unverified = a2c("token", "inspect", "-", typed=token, env={"NO_COLOR": "1"}).out
    verified = json.loads(a2c("token", "inspect", token.strip(), "--key-file", str(keys), "--json").out)
    assert re.search(r"^office_id +lab$", unverified, re.MULTILINE)
    assert re.search(r"^expires +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$", unverified, re.MULTILINE)
    assert re.search(r"^valid +not verified: no --key-file$", unverified, re.MULTILINE)
    assert (verified["valid"], verified["claims"]["name"]) == (True, "ada")


def test_a_token_that_is_not_valid_says_why(keys: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    a2c("token", "key", "--out", str(other))
    token = a2c("token", "create", "--role", "agent", "--name", "a", "--office", "o", "--key-file", str(other)).out
    run = a2c("token", "inspect", token.strip(), "--key-file", str(keys))
    assert (run.code, run.out.splitlines()[-1].split(maxsplit=1)[1]) == (
        0,
        "no: The token is signed with a key that this server does not have; get a new one",
    )


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["create", "--role", "agent"], 2, "--name"),
        (["create", "--role", "boss", "--name", "a", "--office", "o", "--key-file", "f"], 2, "boss"),
        (["create", "--role", "agent", "--name", "a", "--office", "o", "--key-file", "none"], 1, "No such file"),
        (["create", "--role", "agent", "--name", "a", "--office", "o", "--key-file", "f", "--ttl", "x"], 2, "duration"),
        (["key"], 2, "--out"),
        (["key", "--out", "none/keys.json"], 1, "No such file"),
        (["key", "--out", "none.json", "--rotate"], 1, "No such file"),
        (["inspect", "no-token"], 1, "malformed"),
    ],
)
def test_misuse_is_told(words: list[str], code: int, says: str) -> None:
    run = a2c("token", *words)
    assert (run.code, run.out) == (code, "")
    assert says in run.err
    assert "Traceback" not in run.err


def test_a_key_file_says_what_it_is_for(keys: Path) -> None:
    first = json.loads(keys.read_text())["keys"][0]["kid"]
    one = a2c("token", "key", "--out", str(keys), "--rotate").out
    signs = json.loads(keys.read_text())["keys"][0]["kid"]
    two = a2c("token", "key", "--out", str(keys), "--rotate", "--keep", "3").out
    newest = json.loads(keys.read_text())["keys"][0]["kid"]
    assert one == f"{keys}: {signs} signs; {first} still verifies\n"
    assert two == f"{keys}: {newest} signs; {signs}, {first} still verify\n"


def test_a_strange_token_is_shown_as_it_is() -> None:
    token = jwt.encode({"exp": 1e300, "name": "a\x1b[2Jb"}, "k" * 32)
    shown = a2c("token", "inspect", token).out
    assert "\x1b" not in shown
    assert re.search(r"^expires +1e\+300$", shown, re.MULTILINE)
