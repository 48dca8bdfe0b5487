"""`a2c server` as a command."""

import json
import re
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import aiohttp
import httpx
import pytest
import socketio

from tests.interaction.ports import free_port
from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import PATIENCE, ROOT, a2c, a2c_server, command, get, refused

CERT, KEY = ROOT / "tests" / "data" / "tls" / "cert.pem", ROOT / "tests" / "data" / "tls" / "key.pem"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    assert a2c("token", "key", "--out", str(path)).returncode == 0
    return path


async def test_it_says_where_it_listens_once_it_does(tmp_path: Path) -> None:
    with a2c_server(tmp_path) as program:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", program.url)
        assert (await get(f"{program.url}/readyz")).status_code == 200


def test_for_a_person_it_is_one_line(tmp_path: Path) -> None:
    port = free_port()
    process = subprocess.Popen(
        command("server", "--port", str(port)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    process.terminate()
    rest, _ = process.communicate(timeout=PATIENCE)
    assert (line, rest) == (f"listening on http://127.0.0.1:{port} (path /socket.io, Ctrl-C ends)\n", "")


def test_a_port_in_use_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        run = a2c("server", "--port", str(port))
    line = f"error 400: port {port} of 127.0.0.1 is in use; choose another port, or 0 for any\n"
    assert (run.returncode, run.stdout, run.stderr) == (1, "", line)


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_an_address_that_is_not_ours_is_one_clear_line(host: str) -> None:
    run = a2c("server", "--port", "0", "--host", host, "--insecure")
    assert (run.returncode, run.stderr.count("\n")) == (1, 1)
    assert run.stderr.startswith(f"error 400: cannot listen on {host}: ")


def test_without_credentials_it_does_not_listen_for_other_machines() -> None:
    run = a2c("server", "--port", "0", "--host", "0.0.0.0")
    assert run.returncode == 1
    assert all(word in run.stderr for word in ("--api-key", "--token-keys", "--insecure"))


async def test_with_credentials_or_by_its_own_wish_it_does(tmp_path: Path) -> None:
    with a2c_server(tmp_path, "--host", "0.0.0.0", env={"A2C_SERVER_API_KEY": "s3cret"}) as program:
        url = program.url.replace("0.0.0.0", "127.0.0.1")
        assert (await refused(url))["code"] == 401
    with a2c_server(tmp_path, "--host", "0.0.0.0", "--insecure") as program:
        assert (await get(f"{program.url.replace('0.0.0.0', '127.0.0.1')}/healthz")).status_code == 200


@pytest.mark.parametrize(("host", "shown"), [("localhost", "localhost"), ("::1", "[::1]"), ("::", "[::]")])
async def test_names_and_both_families_of_addresses_are_served(host: str, shown: str, tmp_path: Path) -> None:
    with a2c_server(tmp_path, "--host", host, "--insecure") as program:
        assert program.url.startswith(f"http://{shown}:")
        port = program.url.rpartition(":")[2]
        assert (await get(f"http://{'[::1]' if ':' in host else 'localhost'}:{port}/healthz")).status_code == 200


def test_every_mistake_is_a_line(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text("prot = 1\n")
    run = a2c("server", "--config", str(config), "--drain", "soon", env={"A2C_SERVER_LOG_LEVEL": "loud"})
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.splitlines() == [
        f"error 400: {config}: prot: unknown setting; did you mean port?",
        "A2C_SERVER_LOG_LEVEL: 'loud' should be 'debug', 'info', 'warning' or 'error'",
        "--drain: 'soon' should be a duration like 30, 250ms, 5m, 12h or 7d",
    ]


@pytest.mark.rule("3.1.ack")
def test_with_json_a_mistake_is_an_error_ack() -> None:
    run = a2c("server", "--port", "none", "--json")
    assert (run.returncode, json.loads(run.stdout)["error"]["code"], run.stderr) == (1, 400, "")


async def test_settings_come_from_file_environment_and_command_line(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text('path = "/file"\nlog_format = "text"\nmetrics_public = true\n[limits]\nframe_bytes = "5MB"\n')
    env = {"A2C_SERVER_PATH": "/env", "A2C_SERVER_LOG_FORMAT": "json"}
    with a2c_server(tmp_path, "--config", str(config), "--path", "/line", env=env) as program:
        reply = await get(f"{program.url}/line/?EIO=4&transport=polling")
        assert json.loads(reply.text[1:])["maxPayload"] == 5_000_000
        await get(f"{program.url}/x", headers={"origin": "http://evil.example"})
        await program.logs('"code": 403')


async def test_keys_on_the_command_line_let_in(tmp_path: Path, connect: Connect) -> None:
    with a2c_server(tmp_path, "--api-key", "one", "--api-key", "two") as program:
        await connect(program, headers={"x-api-key": "one"})
        await connect(program, auth={"token": "two"})
        assert (await refused(program.url, auth={"token": "three"}))["code"] == 401


async def test_limits_on_the_command_line_hold(tmp_path: Path, connect: Connect) -> None:
    with a2c_server(tmp_path, "--limits", "connections_per_address=1", "in_flight=3") as program:
        await connect(program)
        told = await refused(program.url)
    assert told == {"code": 429, "message": "Limit exceeded: connections per address (1)"}


async def test_tls_is_spoken(tmp_path: Path) -> None:
    with a2c_server(tmp_path, "--tls-cert", str(CERT), "--tls-key", str(KEY)) as program:
        assert program.url.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=str(CERT))
        async with httpx.AsyncClient(verify=trusting) as client:
            assert (await client.get(f"{program.url}/readyz")).status_code == 200
        session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusting))
        agent = socketio.AsyncClient(http_session=session, reconnection=False)
        await agent.connect(program.url, namespaces=["/smcp"], transports=["websocket"])
        joining = {"role": "agent", "name": "ada", "office_id": "lab"}
        assert await agent.call("server:join_office", joining, namespace="/smcp") == (True, None)
        await agent.disconnect()
        await session.close()
        with pytest.raises(httpx.HTTPError):
            await get(program.url.replace("https", "http"))
    assert "Traceback" not in program.logged()


@pytest.mark.parametrize("broken", ["cert", "key", "swapped"])
def test_a_certificate_that_cannot_be_used_is_one_clear_line(broken: str) -> None:
    pair = {"cert": ("none", KEY), "key": (CERT, "none"), "swapped": (KEY, CERT)}[broken]
    run = a2c("server", "--port", "0", "--tls-cert", str(pair[0]), "--tls-key", str(pair[1]))
    assert (run.returncode, run.stderr.count("\n")) == (1, 1)
    assert run.stderr.startswith("error 400: tls_cert, tls_key: ")


async def test_a_proxy_that_is_trusted_tells_where_clients_are(tmp_path: Path, connect: Connect) -> None:
    audit = tmp_path / "audit.jsonl"
    for words, address in (((), "127.0.0.1"), (("--trust-proxy", "127.0.0.1"), "198.51.100.7")):
        with a2c_server(tmp_path, "--audit-log", str(audit), *words) as program:
            client = await connect(program, headers={"x-forwarded-for": "198.51.100.7"})
            await client.join("agent", "ada", "lab")
        joins = [record for record in map(json.loads, audit.read_text().splitlines()) if record["what"] == "join"]
        assert joins[-1]["address"] == address


def test_redis_is_only_needed_where_it_is_used() -> None:
    code = "import sys, a2c_smcp.server.server_process; print([m for m in sys.modules if 'registry.redis' in m])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


async def test_a_token_made_here_is_good_there(tmp_path: Path, keys: Path, connect: Connect) -> None:
    made = a2c("token", "create", "--role", "agent", "--name", "ada", "--office", "lab", "--key-file", str(keys))
    assert (made.returncode, made.stderr) == (0, "")
    with a2c_server(tmp_path, "--token-keys", str(keys)) as program:
        agent = await connect(program, auth={"token": made.stdout.strip()})
        assert await agent.join("agent", "ada", "lab") == (True, None)
