"""The ready application on live sockets."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed, InvalidStatus

from a2c_smcp.errors import Forbidden, InternalError, InvalidConfig
from a2c_smcp.server import Identity, MemoryRegistry, Observer, ServerSettings, create_app
from a2c_smcp.server.observer import Member
from a2c_smcp.server.switchboard import Switchboard
from tests.interaction.server.client import CAP, Client
from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import Here, get, refused, serving

POLL = "/socket.io/?EIO=4&transport=polling"


def websocket(server: Here) -> str:
    return server.url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"


async def pair(connect: Connect, server: Here, **options: Any) -> tuple[Client, Client]:
    """An agent and a computer that answers with what it is asked."""

    async def echo(_: str, data: Any) -> Any:
        return {"echo": data["req_id"]}

    agent, computer = await connect(server, **options), await connect(server, **options)
    computer.answers["*"] = echo
    assert await computer.join("computer", "desk", "lab") == (True, None)
    assert await agent.join("agent", "ada", "lab") == (True, None)
    return agent, computer


class Sick(MemoryRegistry):
    """A registry with a problem."""

    trouble: str | None = "redis://:tiger@10.1.2.3 cannot be reached"

    def problem(self) -> str | None:
        return self.trouble


class Stillborn(MemoryRegistry):
    """A registry that does not start."""

    async def start(self, board: Switchboard) -> None:
        raise InternalError("no Redis at redis://:tiger@10.1.2.3")


class Clumsy(MemoryRegistry):
    """A registry with a bug."""

    async def start(self, board: Switchboard) -> None:
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


async def test_health_and_readiness_are_told() -> None:
    async with serving(create_app()) as server:
        health, ready = await get(f"{server.url}/healthz"), await get(f"{server.url}/readyz")
    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})


async def test_a_server_without_its_registry_is_alive_but_not_ready_and_keeps_the_secret() -> None:
    registry = Sick()
    async with serving(create_app(registry=registry)) as server:
        health, ready = await get(f"{server.url}/healthz"), await get(f"{server.url}/readyz")
        numbers = await get(f"{server.url}/metrics")
        registry.trouble = None
        again = await get(f"{server.url}/readyz")
    assert (health.status_code, ready.status_code, again.status_code) == (200, 503, 200)
    assert ready.json() == {"status": "not ready", "reason": "redis://<redacted>@<address> cannot be reached"}
    assert "a2c_ready 0" in numbers.text


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_pages_are_for_reading(path: str) -> None:
    async with serving(create_app()) as server, httpx.AsyncClient() as client:
        post, head = await client.post(f"{server.url}{path}"), await client.head(f"{server.url}{path}")
    assert (post.status_code, post.headers["allow"]) == (405, "GET, HEAD")
    assert (head.status_code, head.content) == (200, b"")


async def test_other_paths_are_not_found_and_say_where_to_look() -> None:
    async with serving(create_app()) as server:
        reply = await get(f"{server.url}/socket.iox")
    assert (reply.status_code, reply.json()) == (
        404,
        {"error": {"code": 404, "message": "Socket.IO is at /socket.io"}},
    )


async def test_a_websocket_elsewhere_is_refused_by_http() -> None:
    async with serving(create_app()) as server, httpx.AsyncClient() as client:
        upgrade = {
            "connection": "upgrade",
            "upgrade": "websocket",
            "sec-websocket-version": "13",
            "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
        }
        codes = [
            (await client.get(f"{server.url}{path}", headers=upgrade | more)).status_code
            for path, more in [("/x", {}), ("/healthz", {}), ("/socket.io/", {"origin": "http://evil.example"})]
        ]
    assert codes == [404, 405, 403]


# Who is heard at all


async def test_web_pages_may_not_connect() -> None:
    async with serving(create_app()) as server:
        replies = [
            await get(f"{server.url}{POLL}", headers={"origin": origin})
            for origin in ("http://evil.example", "null", "http://127.0.0.1", "*", "")
        ]
    assert [(reply.status_code, reply.json()["error"]["code"]) for reply in replies] == [(403, 403)] * 5


async def test_not_even_a_page_of_the_same_origin_may_connect() -> None:
    async with serving(create_app()) as server:
        assert (await get(f"{server.url}{POLL}", headers={"origin": server.url})).status_code == 403
        await refused(server.url, headers={"origin": server.url})


async def test_a_page_that_is_listed_may_connect_and_read_the_answer(connect: Connect) -> None:
    app = create_app(allowed_origins=["https://app.example.com"])
    async with serving(app) as server:
        reply = await get(f"{server.url}{POLL}", headers={"origin": "https://app.example.com"})
        other = await get(f"{server.url}{POLL}", headers={"origin": "https://app.example.com.evil.example"})
        await connect(server, headers={"origin": "https://app.example.com"})
    assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (200, "https://app.example.com")
    assert "access-control-allow-credentials" not in reply.headers
    assert other.status_code == 403


async def test_without_a_page_no_header_invites_one() -> None:
    async with serving(create_app(allowed_origins=["*"])) as server:
        reply = await get(f"{server.url}{POLL}")
    assert reply.status_code == 200
    assert not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", [POLL, "/metrics", "/x"])
async def test_a_loopback_server_does_not_answer_to_other_names(path: str) -> None:
    names = ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", ""]
    async with serving(create_app()) as server:
        codes = [(await get(f"{server.url}{path}", headers={"host": name})).status_code for name in names]
    assert codes == [403] * len(names)


async def test_a_loopback_server_answers_to_its_own_names() -> None:
    names = ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:8000", "[::1]"]
    async with serving(create_app()) as server:
        codes = [(await get(f"{server.url}{POLL}", headers={"host": name})).status_code for name in names]
    assert codes == [200] * len(names)


async def test_probes_may_use_any_name() -> None:
    async with serving(create_app()) as server:
        codes = [
            (await get(f"{server.url}{p}", headers={"host": "10.0.0.7"})).status_code for p in ("/healthz", "/readyz")
        ]
    assert codes == [200, 200]


async def test_where_credentials_are_needed_the_name_does_not_matter_unless_it_is_said() -> None:
    async with serving(create_app(api_keys=["k"])) as server:
        assert (await get(f"{server.url}{POLL}", headers={"host": "a2c.example.com"})).status_code == 200
    async with serving(create_app(api_keys=["k"], allowed_hosts=["a2c.example.com"])) as server:
        assert (await get(f"{server.url}{POLL}", headers={"host": "a2c.example.com"})).status_code == 200
        assert (await get(f"{server.url}{POLL}")).status_code == 403


@pytest.mark.parametrize(
    ("address", "options", "status"),
    [
        ("192.0.2.1", {}, 403),
        ("fe80::1%eth0", {}, 403),
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("testserver", {}, 200),
        (None, {}, 200),
        ("192.0.2.1", {"insecure": True}, 200),
        ("192.0.2.1", {"api_keys": ["k"]}, 200),
    ],
)
async def test_a_server_without_credentials_answers_on_loopback_only_whoever_runs_it(
    address: str | None, options: dict[str, Any], status: int
) -> None:
    app = create_app(**options)

    async def moved(scope: Any, receive: Any, send: Any) -> None:
        await app(scope | {"server": address and (address, 80)}, receive, send)

    async with serving(moved) as server:
        assert (await get(f"{server.url}{POLL}")).status_code == status


async def test_a_client_that_joins_no_namespace_does_not_stay() -> None:
    app = create_app(ping_interval=0.05)
    app.server.hello_seconds = 0.3
    async with serving(app) as server:
        pings = 0
        async with open_websocket(websocket(server)) as socket:
            with pytest.raises(ConnectionClosed):
                async with asyncio.timeout(CAP):
                    while True:
                        if await socket.recv() == "2":  # it answers every ping
                            pings += 1
                            await socket.send("3")
    assert pings > 0


async def test_those_outside_the_namespace_are_counted_too(connect: Connect) -> None:
    async with serving(create_app(limits={"connections_per_address": 2})) as server:
        outside = [await open_websocket(websocket(server)) for _ in range(4)]
        with pytest.raises(InvalidStatus) as caught:
            await open_websocket(websocket(server))
        assert caught.value.response.status_code == 429
        await outside[0].close()
        await connect(server)
        await asyncio.gather(*(socket.close() for socket in outside))


# Metrics


@pytest.mark.parametrize(
    ("options", "header", "status"),
    [
        ({}, "", 200),
        ({"api_keys": ["k"]}, "", 403),
        ({"api_keys": ["k"]}, "Bearer k", 403),
        ({"api_keys": ["k"], "metrics_public": True}, "", 200),
        ({"api_keys": ["k"], "metrics_token": "m"}, "", 401),
        ({"api_keys": ["k"], "metrics_token": "m"}, "Bearer k", 401),
        ({"api_keys": ["k"], "metrics_token": "m"}, "Bearer \xe9", 401),
        ({"api_keys": ["k"], "metrics_token": "m"}, "Bearer m", 200),
    ],
)
async def test_metrics_are_for_those_who_may_see_them(options: dict[str, Any], header: str, status: int) -> None:
    async with serving(create_app(**options)) as server:
        headers = {"authorization": header.encode("latin-1")} if header else {}
        assert (await get(f"{server.url}/metrics", headers=headers)).status_code == status


async def test_metrics_count_what_happened(connect: Connect) -> None:
    async with serving(create_app()) as server:
        agent, _ = await pair(connect, server)
        await agent.ask("client:get_tools", "desk")
        await agent.ask("client:get_tools", "nobody")
        await agent.ask("client:new_in_later_releases", "desk")
        await agent.call("nonsense", {})
        lines = (await get(f"{server.url}/metrics")).text.splitlines()
    assert {
        "a2c_connections 2",
        "a2c_offices 1",
        "a2c_in_flight 0",
        'a2c_joins_total{role="agent"} 1',
        'a2c_joins_total{role="computer"} 1',
        'a2c_requests_total{event="client:get_tools",outcome="ok"} 1',
        'a2c_requests_total{event="client:get_tools",outcome="404"} 1',
        'a2c_requests_total{event="other",outcome="ok"} 1',
        'a2c_requests_total{event="other",outcome="400"} 1',
        'a2c_refused_total{event="other",code="400"} 1',
        'a2c_requests_total{event="server:join_office",outcome="ok"} 2',
        'a2c_request_seconds_count{event="client:get_tools"} 2',
    } <= set(lines)


# Failures


async def test_a_bug_is_an_answer_and_one_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    app = create_app()

    async def broken(*_: Any) -> None:
        raise RuntimeError("tiger")

    app.server.handle_request = broken
    async with serving(app) as server:
        reply = await get(f"{server.url}{POLL}")
        await refused(server.url)
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, 500)
    ours = [record for record in caplog.records if record.name == "a2c_smcp.server.app"]
    assert [record.getMessage() for record in ours] == ["a request failed: RuntimeError"] * 2
    assert not [record for record in caplog.records if record.exc_info]


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
    assert [record.getMessage() for record in caplog.records] == ["the end failed: RuntimeError"]


async def test_a_mounted_server_that_cannot_start_refuses_connections(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(create_app(registry=Clumsy()), lifespan="off") as server:
        assert (await get(f"{server.url}{POLL}")).status_code == 500
    assert "tiger" not in caplog.text


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

    class Ear(Observer):
        def served(self, event: str, seconds: float, who: Member) -> None:
            heard.append(event)

        def refused(self, event: str, error: Any, who: Member | None, req_id: str | None) -> None:
            heard.append(f"{event} {error.code} {who.address if who else ''}")

    async with serving(create_app(observer=Ear())) as server:
        client = await connect(server)
        await client.join("agent", "ada", "lab")
        await get(f"{server.url}/x", headers={"origin": "http://evil.example"})
    assert heard == ["server:join_office", f"connect {Forbidden.code} 127.0.0.1"]


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
        async def start(self, board: Switchboard) -> None:
            starts.append(1)
            await asyncio.sleep(0)

    async with serving(create_app(registry=Slow()), lifespan="off") as server:
        await asyncio.gather(*(connect(server) for _ in range(5)))
    assert starts == [1]


# The end


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
