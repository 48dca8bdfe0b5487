"""The end of the application: calls may finish, nobody new is let in."""

import asyncio
from typing import Any

import pytest

from a2c_smcp.server import create_app
from tests.interaction.server.client import CAP
from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import POLL, get, pair, serving


async def test_draining_lets_calls_end_and_nobody_else_stay(connect: Connect) -> None:
    app = create_app()
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def slow(_: str, data: Any) -> Any:
        asked.set()
        await may_answer.wait()
        return {"echo": data["req_id"]}

    async with serving(app) as server:
        agent, computer = await pair(connect, server)
        bystander = await connect(server)
        computer.answers["*"] = slow
        call = asyncio.create_task(agent.ask("client:get_tools", "desk", "r-7"))
        await asyncio.wait_for(asked.wait(), CAP)
        drained = asyncio.create_task(app.drain(60))
        await asyncio.wait_for(bystander.gone.wait(), CAP)
        assert (await get(f"{server.url}{POLL}")).status_code == 503
        assert not agent.gone.is_set()
        may_answer.set()
        assert await asyncio.wait_for(call, CAP) == {"echo": "r-7"}
        await asyncio.wait_for(asyncio.gather(agent.gone.wait(), computer.gone.wait(), drained), CAP)


async def test_draining_ends_when_it_must(connect: Connect) -> None:
    app = create_app()
    asked = asyncio.Event()

    async def never(*_: Any) -> Any:
        asked.set()
        await asyncio.Event().wait()

    async with serving(app) as server:
        agent, computer = await pair(connect, server)
        computer.answers["*"] = never
        await agent.emit("client:get_tools", {"agent": "ada", "req_id": "r-7", "computer": "desk"})
        await asyncio.wait_for(asked.wait(), CAP)
        await asyncio.wait_for(app.drain(0.1), CAP)
        await asyncio.wait_for(asyncio.gather(agent.gone.wait(), computer.gone.wait()), CAP)


async def test_stopping_what_never_started_does_nothing() -> None:
    app = create_app()
    await app.stop()
    assert app.problem() is None


async def test_a_request_that_the_server_gives_up_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    app = create_app()

    async def hang(*_: Any) -> None:
        await asyncio.Event().wait()

    app.server.handle_request = hang
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/socket.io/",
        "query_string": b"sid=x",
        "headers": [(b"host", b"localhost")],
    }
    await app.start()
    for draining in (False, True):
        app.draining = draining
        task = asyncio.create_task(app(scope, hang, hang))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait([task])
        assert [one.cancelled() for one in done] == [not draining]
    await app.stop()
    assert caplog.records == []
