"""The ready application on live sockets."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from a2c_smcp.errors import Forbidden, InternalError, InvalidConfig
from a2c_smcp.server import Identity, MemoryRegistry, ServerObserver, ServerSettings, create_app
from a2c_smcp.server.call_router import CallRouter
from a2c_smcp.server.limits import ServerLimits
from a2c_smcp.server.observer import ObservedClient
from a2c_smcp.server.tracing import Tracing
from tests.interaction.server.cluster.steps import Asked, listed
from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import POLL, get, pair, refused, serving


class Stillborn(MemoryRegistry):
    """A registry that does not start."""

    async def start(self, router: CallRouter) -> None:
        raise InternalError("no Redis at redis://:tiger@10.1.2.3")


class Clumsy(MemoryRegistry):
    """A registry with a bug."""

    async def start(self, router: CallRouter) -> None:
        raise RuntimeError("tiger")


@pytest.mark.rule("1.2")
async def test_agent_and_computer_meet_in_the_ready_application(connect: Connect) -> None:
    async with serving(create_app()) as server:
        agent, _ = await pair(connect, server)
        assert await agent.ask("client:get_tools", "desk", "r-7") == {"echo": "r-7"}


@pytest.mark.rule("1.2")
async def test_the_path_can_be_chosen(connect: Connect) -> None:
    async with serving(create_app(path="/a2c/io")) as server:
        agent, _ = await pair(connect, server, socketio_path="/a2c/io")
        assert await agent.ask("client:get_tools", "desk", "r-7") == {"echo": "r-7"}
        assert (await get(f"{server.url}{POLL}")).status_code == 404


async def test_clients_that_poll_are_served(connect: Connect) -> None:
    async with serving(create_app()) as server:
        agent, computer = await pair(connect, server, transports=["polling"])
        assert await agent.ask("client:get_tools", "desk", "r-7") == {"echo": "r-7"}
        await agent.close()
        await computer.close()


async def test_it_works_below_another_application(connect: Connect) -> None:
    smcp = create_app()
    async with serving(Starlette(routes=[Mount("/deep/down", smcp)])) as server:
        agent, _ = await pair(connect, server, socketio_path="/deep/down/socket.io")
        assert await agent.ask("client:get_tools", "desk", "r-7") == {"echo": "r-7"}
        assert (await get(f"{server.url}/deep/down/readyz")).json() == {"status": "ready"}


async def test_it_starts_and_stops_with_an_application_around_it() -> None:
    smcp = create_app()
    async with serving(Starlette(routes=[Mount("/", smcp)], lifespan=smcp.lifespan)) as server:
        assert (await get(f"{server.url}/healthz")).status_code == 200
    assert smcp.problem() == "the server is shutting down"


# Failures


async def test_a_bug_is_an_answer_and_a_traceback_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    app = create_app()

    async def broken(*_: Any) -> None:
        raise RuntimeError("tiger")

    app.server.handle_request = broken
    async with serving(app) as server:
        reply = await get(f"{server.url}{POLL}")
        await refused(server.url)
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, 500)
    ours = [record for record in caplog.records if record.name == "a2c_smcp.server.app"]
    assert [record.getMessage() for record in ours] == ["HTTP request failed"] * 2
    assert all(record.exc_info and record.exc_info[0] is RuntimeError for record in ours)


@pytest.mark.parametrize(
    ("registry", "reason"), [(Stillborn(), "no Redis at redis://<redacted>@<address>"), (Clumsy(), "RuntimeError")]
)
async def test_a_server_that_cannot_start_says_so_without_secrets(registry: MemoryRegistry, reason: str) -> None:
    told: list[Any] = []

    async def receive() -> Any:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        told.append(message)

    await create_app(registry=registry)({"type": "lifespan"}, receive, send)
    assert told == [{"type": "lifespan.startup.failed", "message": reason}]


async def test_an_end_that_fails_is_an_end(caplog: pytest.LogCaptureFixture) -> None:
    class Clumsier(MemoryRegistry):
        async def stop(self) -> None:
            raise RuntimeError("tiger")

    async with serving(create_app(registry=Clumsier()), lifespan="on"):
        pass
    assert [record.getMessage() for record in caplog.records] == ["shutdown failed"]
    assert caplog.records[0].exc_info


async def test_a_mounted_server_that_cannot_start_refuses_connections(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(create_app(registry=Clumsy()), lifespan="off") as server:
        assert (await get(f"{server.url}{POLL}")).status_code == 500
    assert [record.exc_info is not None for record in caplog.records] == [True]


# Code of others


class Faulty(ServerObserver):
    """An observer whose every method fails."""

    def _fail(self, *_: object) -> None:
        raise KeyError("observer")

    connections = offices = joined = left = refused = served = failed = answered = _fail  # type: ignore[assignment]


class FaultyProvider:
    """An OpenTelemetry provider whose exporter is broken."""

    def get_tracer(self, *_: object) -> Any:
        return self

    def start_span(self, *_: object, **__: object) -> Any:
        raise RuntimeError("no collector")


@pytest.mark.parametrize("observer", [Faulty(), Tracing(FaultyProvider())])  # type: ignore[arg-type]
async def test_an_observer_that_fails_costs_neither_an_answer_nor_the_time_out_of_another_call(
    connect: Connect, observer: ServerObserver, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(
        create_app(observer=observer, limits=ServerLimits(default_timeout=0.2, timeout_margin=0.1))
    ) as server:
        agent, computer = await pair(connect, server)
        assert await agent.ask("client:get_tools", "desk", "r-1") == {"echo": "r-1"}
        asked = computer.answers["*"] = Asked()
        assert [(await agent.ask("client:get_tools", "desk", f"r-{n}"))["error"]["code"] for n in (2, 3)] == [408, 408]
        assert (await agent.ask("client:get_tools", "nobody", "r-4"))["error"]["code"] == 404
        assert len(await listed(agent, "lab")) == 2
        await asked.wait()
    failures = [record for record in caplog.records if record.getMessage().startswith("observer failed: ")]
    assert failures
    assert all(record.exc_info for record in failures)


@pytest.mark.rule("3.4.log")
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"error": {"code": 4202, "message": "tiger"}, "code": 4202}, "4202"),
        ({"content": [], "isError": True}, "tool"),
        ({"content": [{"type": "text", "text": '"isError":true'}], "isError": False}, None),
    ],
)
async def test_an_error_that_a_computer_answers_is_logged_with_its_request(
    connect: Connect, caplog: pytest.LogCaptureFixture, answer: dict[str, Any], code: str | None
) -> None:
    caplog.set_level(logging.INFO)
    async with serving(create_app()) as server:
        agent, computer = await pair(connect, server)

        async def answers(_: str, __: Any) -> Any:
            return answer

        computer.answers["*"] = answers
        assert await agent.ask("client:tool_call", "desk", "r-9", tool_name="x", params={}, timeout=5) == answer
    told = [record for record in caplog.records if record.getMessage() == "error forwarded"]
    assert [(vars(record)["code"], vars(record)["req_id"], vars(record)["computer"]) for record in told] == (
        [(code, "r-9", "desk")] if code else []
    )
    assert "tiger" not in caplog.text


async def test_an_authentication_provider_that_fails_is_logged_with_its_traceback_and_without_its_message(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def authenticate(self, _server: Any, _environ: Any, auth: Any, _headers: Any) -> Identity:
            raise LookupError(auth["token"])

    async with serving(create_app(auth=Broken())) as server:
        refusal = await refused(server.url, auth={"token": "tiger"})
    assert refusal["code"] == 401
    (record,) = [one for one in caplog.records if one.getMessage() == "authentication provider failed"]
    text = logging.Formatter().format(record)
    assert "in authenticate" in text
    assert "LookupError" in text
    assert "tiger" not in text


# Making one


def test_settings_and_options_exclude_each_other() -> None:
    with pytest.raises(InvalidConfig, match="not both"):
        create_app(ServerSettings(), port=1)


def test_settings_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(InvalidConfig, match="--insecure"):
        create_app(host="0.0.0.0")


def test_a_provider_of_ones_own_is_authentication() -> None:
    class Everybody:
        def authenticate(self, *_: Any) -> Identity:
            return Identity()

    assert create_app(host="0.0.0.0", auth=Everybody()).settings.host == "0.0.0.0"


@pytest.mark.parametrize("setting", ["token_keys", "api_key_file", "audit_log"])
def test_a_file_that_cannot_be_used_is_told_at_once(setting: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {setting: tmp_path / "none" / "file"}
    with pytest.raises(InvalidConfig, match=setting.replace("token_keys", "token keys")):
        create_app(**options)


async def test_somebody_else_can_be_told_of_what_happens(connect: Connect) -> None:
    heard: list[str] = []

    class Ear(ServerObserver):
        def served(self, event: str, seconds: float, who: ObservedClient) -> None:
            heard.append(event)

        def refused(self, event: str, error: Any, who: ObservedClient | None, req_id: str | None) -> None:
            heard.append(f"{event} {error.code} {who.address if who else ''}")

    async with serving(create_app(observer=Ear())) as server:
        client = await connect(server)
        await client.join("agent", "ada", "lab")
        await get(f"{server.url}/x", headers={"origin": "http://evil.example"})
    assert heard == ["server:join_office", f"connect {Forbidden.code} 127.0.0.1"]


@pytest.mark.rule("1.5")
async def test_a_claimed_name_is_noted_once_per_connection(connect: Connect) -> None:
    noted: list[tuple[str, str, str]] = []

    class Ear(ServerObserver):
        def sender_replaced(self, event: str, claimed: str, who: ObservedClient) -> None:
            noted.append((event, claimed, who.member.name if who.member else ""))

    async with serving(create_app(observer=Ear())) as server:
        agent, _ = await pair(connect, server)
        agent.name = "eve"
        for _ in range(3):
            await agent.ask("client:get_tools", "desk")
            await agent.call("server:tool_call_cancel", {"agent": "mallory", "req_id": "r"})
    assert noted == [("client:get_tools", "eve", "ada")]


async def test_a_second_life_begins_where_the_first_ended(
    tmp_path: Path, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(audit_log=tmp_path / "audit.jsonl")
    async with serving(app) as server:
        await pair(connect, server)
    assert app.problem() == "the server is shutting down"
    async with serving(app) as server:
        agent, _ = await pair(connect, server)
        assert await agent.ask("client:get_tools", "desk", "r-7") == {"echo": "r-7"}
    assert app.problem() == "the server is shutting down"
    assert caplog.text == ""
    assert (tmp_path / "audit.jsonl").read_text().count('"join"') == 4


async def test_many_may_come_at_once_to_a_server_that_has_not_started(connect: Connect) -> None:
    starts: list[int] = []

    class Slow(MemoryRegistry):
        async def start(self, router: CallRouter) -> None:
            starts.append(1)
            await asyncio.sleep(0)

    async with serving(create_app(registry=Slow()), lifespan="off") as server:
        await asyncio.gather(*(connect(server) for _ in range(5)))
    assert starts == [1]


# Its files


async def test_an_application_without_files_has_nothing_to_read_again(caplog: pytest.LogCaptureFixture) -> None:
    create_app().reload()
    assert caplog.records == []


async def test_the_audit_log_goes_on_in_a_new_file_and_is_closed_at_the_end(tmp_path: Path, connect: Connect) -> None:
    audit = tmp_path / "audit.jsonl"
    app = create_app(audit_log=audit)
    async with serving(app) as server:
        await pair(connect, server)
        moved = audit.rename(tmp_path / "audit.1")
        app.reload()
        await refused(server.url, headers={"origin": "http://evil.example"})
    assert moved.read_text().count('"join"') == 2
    assert audit.read_text().count('"refused"') == 1
