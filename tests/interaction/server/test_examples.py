"""Every example of the documentation, run as it is printed."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import ROOT, Here, environment, refused

PAGE = ROOT / "docs" / "how-to" / "mount-the-namespace.md"
BLOCK = re.compile(r'^```python title="([\w.]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
PRINTED = dict(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
EXAMPLES = {name: text for name, text in PRINTED.items() if name != "keeps_access_token.py"}
"""All but the request handler for WSGI servers, which `wsgi_key.py` has and `test_auth.py` runs."""
MOUNTED = {"inside_fastapi.py", "inside_starlette.py"}


@pytest.fixture(scope="module", params=sorted(EXAMPLES))
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Here]]:
    file = tmp_path_factory.mktemp("example") / request.param
    file.write_text(EXAMPLES[request.param], encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.interaction.server.example", str(file)],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        yield request.param, Here(f"http://127.0.0.1:{json.loads(line)['port']}")
    finally:
        process.kill()
        process.communicate()


def test_there_is_an_example_for_every_way_in() -> None:
    ways = {"ready.py", "own_server.py", "with_threads.py", "with_gevent.py", "own_provider.py"} | MOUNTED
    assert set(EXAMPLES) == ways


def test_each_way_in_takes_a_handful_of_lines() -> None:
    lines = {
        name: sum(1 for line in text.splitlines() if line and not line.startswith(("import ", "from ")))
        for name, text in EXAMPLES.items()
    }
    assert max(lines.values()) <= 5, lines


def options(name: str, key: str) -> dict[str, Any]:
    header = "x-member" if name == "own_provider.py" else "x-api-key"
    path = "/a2c/socket.io" if name in MOUNTED else "/socket.io"
    return {"headers": {header: key}, "socketio_path": path}


@pytest.mark.rule("1.2", "2.1.forward")
async def test_it_serves_those_who_have_the_key(example: tuple[str, Here], connect: Connect) -> None:
    name, server = example
    key = "s3cret" if name == "own_provider.py" else "change-me"

    async def answer(event: str, data: Any) -> Any:
        return {"event": event, "req_id": data["req_id"]}

    computer = await connect(server, **options(name, key))
    computer.answers["*"] = answer
    assert await computer.join("computer", "desk", "lab") == (True, None)
    if name == "own_provider.py":
        return  # its only member is this computer
    agent = await connect(server, **options(name, key))
    assert await agent.join("agent", "ada", "lab") == (True, None)
    assert await agent.ask("client:get_tools", "desk", "r-7") == {"event": "client:get_tools", "req_id": "r-7"}


async def test_it_refuses_those_who_have_not(example: tuple[str, Here]) -> None:
    name, server = example
    assert (await refused(server.url, **options(name, "wrong")))["code"] == 401
