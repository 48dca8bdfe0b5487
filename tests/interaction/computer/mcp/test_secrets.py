"""What a server was configured with never shows: not in its state, not in logs, not in errors."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from a2c_smcp.computer.config.models import MCPServerConfig, MCPServerStdioConfig, MCPServerStreamableHttpConfig
from a2c_smcp.computer.mcp.restarts import RestartPolicy
from a2c_smcp.computer.mcp.server_run import Timing
from a2c_smcp.computer.ports import ServerState
from a2c_smcp.errors import BadRequest, SMCPError
from tests.interaction.computer.mcp.conftest import Host, HttpServer, life, stdio, streamable

SECRET = "hunter-the-second"
SAYS_IT = "import os, sys; sys.exit(f'Error: the key {os.environ[\"KEY\"]} is not valid')"


async def resolve(config: MCPServerConfig) -> MCPServerConfig:
    """What inputs do: put the secret in wherever the placeholder is."""
    kind: type[MCPServerStdioConfig] | type[MCPServerStreamableHttpConfig] = type(config)  # type: ignore[assignment]
    return kind.model_validate_json(config.model_dump_json().replace("${input:key}", SECRET))


@pytest.fixture
def host(hosts: Callable[..., Host]) -> Host:
    return hosts(resolve=resolve)


@pytest.mark.rule("5.2")
async def test_a_secret_in_last_words_is_hidden(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await host.apply(
        stdio("input", "python3", "-c", SAYS_IT, env={"KEY": "${input:key}"}),
        stdio("literal", "python3", "-c", SAYS_IT, env={"KEY": SECRET}),
    )
    for name in ("input", "literal"):
        await host.becomes(name, ServerState.FAILED)

        assert host[name].status.problem == (
            "it exited with code 1 before it answered: Error: the key <redacted> is not valid"
        )
    assert SECRET not in caplog.text


@pytest.mark.rule("5.2")
async def test_a_secret_in_a_servers_error_is_hidden(host: Host) -> None:
    session = await host.running(life("a", env={"KEY": "${input:key}"}))

    with pytest.raises(SMCPError) as failed:
        await session.call_tool("fail", {"code": -1, "message": f"bad key {SECRET}", "data": {SECRET: [SECRET]}})

    assert SECRET not in repr(failed.value)
    assert failed.value.message == "bad key <redacted>"


@pytest.mark.rule("5.2")
async def test_secrets_in_urls_and_headers_are_hidden_in_the_logs_of_the_libraries_too(
    host: Host, http_server: Callable[..., HttpServer], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = http_server("--token", SECRET)
    good = streamable("a", server.url() + "?key=${input:key}", headers={"Authorization": "Bearer ${input:key}"})
    bad = streamable("b", "http://127.0.0.1:1/${input:key}", headers={"X-Key": "${input:key}"})
    await host.apply(good, bad)
    await host.becomes("a", ServerState.RUNNING)
    await host["a"].call_tool("echo", {})
    await host.becomes("b", ServerState.WAITING)

    server.kill()
    await asyncio.gather(host["a"].call_tool("echo", {}), return_exceptions=True)
    await host.becomes("a", ServerState.WAITING)
    server.start_again()
    await host.becomes("a", ServerState.RUNNING)

    assert "HTTP Request" in caplog.text
    assert SECRET not in caplog.text
    assert SECRET not in repr(host.manager.statuses())


@pytest.mark.rule("5.2", "5.5")
async def test_an_input_that_has_no_value_waits_for_the_owner_and_asks_once(hosts: Callable[..., Host]) -> None:
    asked = 0

    async def nobody(config: MCPServerConfig) -> MCPServerConfig:
        nonlocal asked
        asked += 1
        raise BadRequest("the input 'key' has no value")

    host = hosts(resolve=nobody)
    await host.apply(life("a", env={"KEY": "${input:key}"}))

    await host.becomes("a", ServerState.FAILED)

    assert (host["a"].status.problem, host["a"].status.advice, asked) == (
        "its configuration could not be completed: the input 'key' has no value",
        "set the input, then start the server again",
        1,
    )


@pytest.mark.rule("3.4", "5.5")
async def test_what_a_server_writes_to_standard_error_stays_with_its_owner(
    hosts: Callable[..., Host], caplog: pytest.LogCaptureFixture
) -> None:
    host = hosts(Timing(restarts=RestartPolicy(failures=1)))
    session = await host.running(life("a"))
    said = []

    for request in (session.call_tool("die", {}), session.read_resource("window://life/main"), session.list_tools()):
        with pytest.raises(SMCPError) as failed:
            await request
        said.append(repr(failed.value))
        await host.becomes("a", ServerState.FAILED)

    assert all("it exited with code 9 while running" in one for one in said)
    assert not any("told to die" in one for one in said)
    assert str(session.status.problem).endswith("Error: told to die")
    assert "told to die" in caplog.text
