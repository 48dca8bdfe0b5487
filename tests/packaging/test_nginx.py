"""`deploy/nginx.conf` in a real nginx, before a real server."""

import asyncio
import os
import shutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from a2c_smcp.server import create_app
from a2c_smcp.server.settings import ServerSettings
from tests.interaction.server.client import CAP, Client
from tests.interaction.server.programs import get, serving

CONF = Path(__file__).parents[2] / "deploy" / "nginx.conf"
ORIGIN = "https://app.example.com"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def configured(folder: Path, upstream: str, port: int) -> Path:
    """Write the configuration with the addresses of this test, and with what nginx writes in a folder of its own."""
    text = CONF.read_text(encoding="utf-8")
    folders = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    changes = {
        "http {": f"http {{ access_log off; {folders}",
        "server server:8000;": f"server {upstream.removeprefix('http://')};",
        "listen 8000;": f"listen 127.0.0.1:{port};",
    }
    for before, after in changes.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    path = folder / "nginx.conf"
    path.write_text(text, encoding="utf-8")
    return path


@pytest_asyncio.fixture
async def proxy(tmp_path: Path) -> AsyncIterator[str]:
    """An nginx before a server that takes its word for addresses, and pages of one origin."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if nginx is None:
        pytest.skip("there is no nginx: apt-get install nginx-light")
    app = create_app(ServerSettings.of(allowed_origins=[ORIGIN]))
    async with serving(app, proxy_headers=True, forwarded_allow_ips="127.0.0.1") as server:
        port = free_port()
        words = ["-p", str(tmp_path), "-c", str(configured(tmp_path, server.url, port)), "-e", "stderr"]
        here = f"daemon off; pid {tmp_path}/pid;"
        if os.geteuid() == 0:
            here += " user root;"  # nobody else may look into the folder of the test
        running = await asyncio.create_subprocess_exec(nginx, *words, "-g", here, stderr=asyncio.subprocess.PIPE)
        try:
            await asyncio.wait_for(listening(port, running), CAP)
            yield f"http://127.0.0.1:{port}"
        finally:
            if running.returncode is None:
                running.terminate()
            await running.communicate()


async def listening(port: int, running: asyncio.subprocess.Process) -> None:
    """Wait until it does.

    Raises:
        AssertionError: It has ended.
    """
    while running.returncode is None:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return
    _, said = await running.communicate()
    raise AssertionError(said.decode())


@pytest.mark.parametrize("transports", [["websocket"], ["polling"], ["polling", "websocket"]], ids="-".join)
async def test_clients_talk_through_it_whatever_their_transport(proxy: str, transports: list[str]) -> None:
    computer = await Client(proxy, transports=transports).connect()
    agent = await Client(proxy, transports=transports).connect()

    async def echo(_: str, data: object) -> object:
        return data

    computer.answers["*"] = echo
    assert await computer.join("computer", "desk", "lab") == (True, None)
    assert await agent.join("agent", "ada", "lab") == (True, None)
    large = "x" * 500_000
    assert (await agent.tool("desk", text=large))["params"] == {"text": large}
    assert agent.sio.transport() == transports[-1]
    await agent.close()
    await computer.close()


async def test_a_page_of_an_allowed_origin_is_let_in_by_the_name_it_asked_for(proxy: str) -> None:
    polling = f"{proxy}/socket.io/?EIO=4&transport=polling"
    assert (await get(polling, headers={"origin": ORIGIN})).status_code == 200
    assert (await get(polling, headers={"origin": "https://evil.example.com"})).status_code == 403


async def test_health_is_seen_through_it_and_metrics_are_not(proxy: str) -> None:
    assert [(await get(f"{proxy}/{path}")).status_code for path in ("healthz", "readyz", "metrics")] == [200, 200, 404]
