"""MCP servers that others wrote, from npm and PyPI, over every transport."""

import asyncio
import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from a2c_smcp.computer.config.models import MCPServerConfig
from a2c_smcp.computer.ports import ServerState
from a2c_smcp.errors import BadRequest
from tests.interaction.computer.mcp.conftest import CAP, Host, HttpServer, npm, older, sse, stdio, streamable, text_of
from tests.interaction.ports import free_port
from tests.peers.environments import PATIENCE

pytestmark = pytest.mark.timeout(PATIENCE)


@pytest.fixture
def everything() -> Iterator[Callable[[str], HttpServer]]:
    """Start npm's server-everything over HTTP."""
    made: list[HttpServer] = []

    def make(transport: str) -> HttpServer:
        made.append(HttpServer(*npm("server-everything"), transport, port=free_port(), env={}))
        return made[-1]

    yield make
    for server in made:
        server.kill()


@pytest.fixture(params=["stdio", "streamable", "sse", "sse behind a URL without a type"])
def everywhere(request: pytest.FixtureRequest, everything: Callable[[str], HttpServer]) -> MCPServerConfig:
    match request.param:
        case "stdio":
            return stdio("everything", *npm("server-everything"))
        case "streamable":
            return streamable("everything", everything("streamableHttp").url())
        case "sse":
            return sse("everything", everything("sse").url("/sse"))
        case _:
            return streamable("everything", everything("sse").url("/sse"))


async def test_server_everything_over_every_transport(host: Host, everywhere: MCPServerConfig) -> None:
    session = await host.running(everywhere)
    steps: list[float] = []

    assert text_of(await session.call_tool("echo", {"message": "hello"})) == "Echo: hello"
    await session.call_tool(
        "trigger-long-running-operation",
        {"duration": 0.2, "steps": 2},
        progress=lambda done, total, message: steps.append(done),
    )
    resources, _ = await session.list_resources()
    contents = await session.read_resource(str(resources[0]["uri"]))

    status = session.status
    assert (status.subscribes, status.protocol_version, steps) == (True, "2025-11-25", [1.0, 2.0])
    assert "text" in contents[0]
    assert {"echo", "get-sum"} <= {tool["name"] for tool in await session.list_tools()}


async def test_an_answer_over_the_limit_fails_its_own_call_only(host: Host, everywhere: MCPServerConfig) -> None:
    session = await host.running(everywhere.model_copy(update={"max_message": 65_536}))

    async with asyncio.timeout(CAP):
        other = asyncio.create_task(session.call_tool("trigger-long-running-operation", {"duration": 1, "steps": 1}))
        with pytest.raises(BadRequest, match="over the limit of 65536 bytes") as failed:
            await session.call_tool("echo", {"message": "x" * 70_000})
        await other

    assert dict(failed.value.details or {})["value"] == 65_536
    assert text_of(await session.call_tool("echo", {"message": "x" * 60_000})) == "Echo: " + "x" * 60_000
    assert session.status.restarts == 0


async def test_a_url_that_turned_out_to_be_sse_is_remembered(
    host: Host, everything: Callable[[str], HttpServer]
) -> None:
    server = everything("sse")
    session = await host.running(streamable("everything", server.url("/sse")))

    server.kill()
    await host.becomes("everything", ServerState.WAITING)
    # A URL whose streamable side was asked again would be told as one without an endpoint.
    assert session.status.problem in ("its event stream broke", "it cannot be reached: All connection attempts failed")
    server.start_again()
    await host.becomes("everything", ServerState.RUNNING)
    assert text_of(await session.call_tool("echo", {"message": "again"})) == "Echo: again"


async def test_an_http_server_that_lost_our_session_is_joined_anew(
    host: Host, everything: Callable[[str], HttpServer]
) -> None:
    server = everything("streamableHttp")
    session = await host.running(streamable("everything", server.url()))

    server.kill()
    server.start_again()

    await host.ears.until(lambda: session.status.state is ServerState.RUNNING and session.status.restarts > 0)
    assert text_of(await session.call_tool("echo", {"message": "again"})) == "Echo: again"


async def test_server_filesystem(host: Host, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("remember the milk")
    session = await host.running(stdio("files", *npm("server-filesystem"), str(tmp_path)))

    result = await session.call_tool("read_text_file", {"path": str(tmp_path / "note.txt")})

    assert text_of(result) == "remember the milk"
    assert result["structuredContent"] == {"content": "remember the milk"}


async def test_server_memory(host: Host, tmp_path: Path) -> None:
    session = await host.running(
        stdio("memory", *npm("server-memory"), env={"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")})
    )
    entity = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
    await session.call_tool("create_entities", {"entities": [entity]})

    found = json.loads(text_of(await session.call_tool("search_nodes", {"query": "Ada"})))

    assert found["entities"] == [entity]


async def test_mcp_server_time(host: Host) -> None:
    session = await host.running(stdio("time", *older("-m", "mcp_server_time")))

    answer = json.loads(text_of(await session.call_tool("get_current_time", {"timezone": "UTC"})))

    assert answer["timezone"] == "UTC"


@pytest.fixture
def repository(tmp_path: Path) -> str:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "new.txt").touch()
    return str(tmp_path)


async def test_mcp_server_git(host: Host, repository: str) -> None:
    session = await host.running(stdio("git", *older("-m", "mcp_server_git")))

    assert "new.txt" in text_of(await session.call_tool("git_status", {"repo_path": repository}))
