"""How a command connects: headers of its own, and servers whose certificate a private CA signed."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interaction.server.programs import PATIENCE, ROOT, command, environment

KEY = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for this machine that signs itself, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed: apt-get install openssl")
    folder = tmp_path_factory.mktemp("tls")
    found, key = folder / "cert.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    words = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *subject]
    subprocess.run([*words, "-keyout", str(key), "-out", str(found)], check=True, capture_output=True)
    return found, key


@pytest.fixture(scope="module")
def url(certificate: tuple[Path, Path]) -> Iterator[str]:
    """A server over TLS that wants a key."""
    found, key = certificate
    words = command("server", "--port", "0", "--tls-cert", str(found), "--tls-key", str(key), "--drain", "0", "--json")
    env = environment({"A2C_SERVER_API_KEY": KEY})
    process = subprocess.Popen(words, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    yield json.loads(process.stdout.readline())["url"]
    process.terminate()
    process.communicate(timeout=PATIENCE)


def rooms(url: str, *options: str, **env: str) -> "subprocess.CompletedProcess[str]":
    words = command("agent", "rooms", "--url", url, "--office", "lab", "--json", *options)
    return subprocess.run(words, cwd=ROOT, env=environment(env), capture_output=True, text=True, check=False)


def test_a_certificate_that_is_not_trusted_says_how_to_trust_it(url: str) -> None:
    words = command("agent", "rooms", "--url", url, "--office", "lab")
    run = subprocess.run(words, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.startswith(f"error 500: The certificate of {url} is not trusted: ")
    assert "--ca or SSL_CERT_FILE" in run.stderr


@pytest.mark.parametrize("how", ["--ca", "A2C_AGENT_CA", "SSL_CERT_FILE"])
def test_a_private_ca_can_be_trusted(url: str, certificate: tuple[Path, Path], how: str) -> None:
    authority = str(certificate[0])
    options, env = (["--ca", authority], {}) if how == "--ca" else ([], {how: authority})
    run = rooms(url, "--header", f"access_token={KEY}", *options, **env)
    assert (run.returncode, [member["role"] for member in json.loads(run.stdout)["sessions"]]) == (0, ["agent"])


def test_headers_may_come_from_a_variable(url: str, certificate: tuple[Path, Path]) -> None:
    run = rooms(url, "--ca", str(certificate[0]), A2C_AGENT_HEADER=f"access_token={KEY}")
    assert run.returncode == 0
    wrong = rooms(url, "--ca", str(certificate[0]), A2C_AGENT_HEADER="access_token=wrong")
    assert (wrong.returncode, json.loads(wrong.stdout)["error"]["code"]) == (1, 401)
