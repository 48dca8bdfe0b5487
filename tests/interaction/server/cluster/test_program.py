"""`a2c server --redis` as users run it: processes on one Redis are one server."""

import signal
from pathlib import Path

import pytest

from tests.interaction.redis_server import RedisServer
from tests.interaction.server.cluster.conftest import NodeProcess
from tests.interaction.server.cluster.steps import joined_client, listed, until
from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import Program, a2c_server, get


def at(program: Program) -> NodeProcess:
    return NodeProcess(program.process, program.url)


@pytest.mark.rule("1.6.told")
async def test_two_programs_on_one_redis_are_one_server(
    redis: RedisServer, connect: Connect, office: str, tmp_path: Path
) -> None:
    with a2c_server(tmp_path, "--redis", redis.url) as one, a2c_server(tmp_path, "--redis", redis.url) as two:
        agent = await joined_client(connect, at(one), "agent", "a", office)
        await joined_client(connect, at(two), "computer", "c", office)
        assert await agent.next() == ("notify:enter_office", {"office_id": office, "computer": "c"})
        assert await agent.tool("c") == {"from": "c"}
        assert await listed(agent, office) == [("agent", "a"), ("computer", "c")]
        two.tell(signal.SIGTERM)
        assert await agent.next() == ("notify:leave_office", {"office_id": office, "computer": "c"})
        assert two.ended() == 0


async def test_readiness_tells_the_truth_while_redis_comes_and_goes(redis: RedisServer, tmp_path: Path) -> None:
    with a2c_server(tmp_path, "--redis", redis.url) as program:

        async def status() -> int:
            return (await get(f"{program.url}/readyz")).status_code

        async def ready() -> bool:
            return await status() == 200

        async def away() -> bool:
            return await status() == 503

        assert await ready()
        redis.kill()
        await until(away)
        assert (await get(f"{program.url}/healthz")).status_code == 200
        redis.start()
        await until(ready)
        redis.pause()
        await until(away)
        redis.resume()
        await until(ready)
