"""Running a server: its end, its logs, its spans, and what they never hold."""

import asyncio
import contextlib
import json
import signal
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import socketio

from a2c_smcp.server import TokenKey, sign_token
from a2c_smcp.server.jwt_tokens import write_keys
from a2c_smcp.smcp import SMCP_NAMESPACE
from tests.interaction.ports import free_port
from tests.interaction.server.client import Client
from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import PATIENCE, Program, a2c_server, get, refused, until


class Slow:
    """A computer that answers when it is told to."""

    def __init__(self, client: Client) -> None:
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        client.answers["*"] = self.answer

    async def answer(self, _: str, data: Any) -> Any:
        self.asked.set()
        await self.may_answer.wait()
        return {"tools": [], "req_id": data["req_id"]}


async def pair(connect: Connect, program: Program, **options: Any) -> tuple[Client, Client, Slow]:
    agent, computer = await connect(program, **options), await connect(program, **options)
    slow = Slow(computer)
    assert await computer.join("computer", "desk", "lab") == (True, None)
    assert await agent.join("agent", "ada", "lab") == (True, None)
    return agent, computer, slow


async def ready(program: Program) -> int:
    try:
        return (await get(f"{program.url}/readyz")).status_code
    except httpx.HTTPError:
        return 0


async def turns(program: Program, code: int) -> None:
    """Wait until `/readyz` answers so."""

    async def look() -> None:
        while await ready(program) != code:
            await asyncio.sleep(0.01)

    await asyncio.wait_for(look(), PATIENCE)


# The end


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_at_once_when_nothing_is_under_way(
    number: signal.Signals, tmp_path: Path, connect: Connect
) -> None:
    with a2c_server(tmp_path, "--drain", "1h") as program:
        agent, computer, _ = await pair(connect, program)
        program.tell(number)
        await asyncio.wait_for(asyncio.gather(agent.gone.wait(), computer.gone.wait()), PATIENCE)
        assert await asyncio.to_thread(program.ended) == 0
    assert "Traceback" not in program.logged()


async def test_a_call_under_way_is_finished_first(tmp_path: Path, connect: Connect) -> None:
    with a2c_server(tmp_path, "--drain", "1h") as program:
        agent, computer, slow = await pair(connect, program)
        bystander = await connect(program)
        call = asyncio.create_task(agent.ask("client:get_tools", "desk", "r-7", timeout=60))
        await asyncio.wait_for(slow.asked.wait(), PATIENCE)
        program.tell(signal.SIGTERM)
        await turns(program, 503)
        assert (await get(f"{program.url}/readyz")).json() == {
            "status": "not ready",
            "reason": "the server is shutting down",
        }
        assert (await get(f"{program.url}/healthz")).status_code == 200
        await asyncio.wait_for(bystander.gone.wait(), PATIENCE)  # it has nothing to wait for
        refusal = await get(f"{program.url}/socket.io/?EIO=4&transport=polling")
        assert (refusal.status_code, refusal.headers["retry-after"]) == (503, "1")
        await refused(program.url)
        assert not agent.gone.is_set()
        slow.may_answer.set()
        assert await asyncio.wait_for(call, PATIENCE) == {"tools": [], "req_id": "r-7"}
        await asyncio.wait_for(asyncio.gather(agent.gone.wait(), computer.gone.wait()), PATIENCE)
        assert await asyncio.to_thread(program.ended) == 0
    assert "Traceback" not in program.logged()


async def test_a_call_that_takes_too_long_is_given_up(tmp_path: Path, connect: Connect) -> None:
    with a2c_server(tmp_path, "--drain", "200ms") as program:
        agent, _, slow = await pair(connect, program)
        call = asyncio.create_task(agent.ask("client:get_tools", "desk", timeout=60))
        await asyncio.wait_for(slow.asked.wait(), PATIENCE)
        program.tell(signal.SIGTERM)
        await asyncio.wait_for(agent.gone.wait(), PATIENCE)
        assert await asyncio.to_thread(program.ended) == 0
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError, socketio.exceptions.SocketIOError):
            await call
    assert "Traceback" not in program.logged()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_second_signal_ends_it_at_once(number: signal.Signals, tmp_path: Path, connect: Connect) -> None:
    with a2c_server(tmp_path, "--drain", "1h") as program:
        agent, _, slow = await pair(connect, program)
        call = asyncio.create_task(agent.ask("client:get_tools", "desk", timeout=60))
        await asyncio.wait_for(slow.asked.wait(), PATIENCE)
        program.tell(signal.SIGTERM)
        await turns(program, 503)
        program.tell(number)
        assert await asyncio.to_thread(program.ended) == 130
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError, socketio.exceptions.SocketIOError):
            await call
    assert "Traceback" not in program.logged()


async def test_clients_that_poll_do_not_hold_it_up(tmp_path: Path, connect: Connect) -> None:
    with a2c_server(tmp_path, "--drain", "1h") as program:
        agent, _, slow = await pair(connect, program, transports=["polling"])
        slow.may_answer.set()
        await agent.ask("client:get_tools", "desk")
        program.tell(signal.SIGTERM)
        assert await asyncio.to_thread(program.ended) == 0
    assert "Traceback" not in program.logged()


async def test_clients_that_began_with_polling_do_not_hold_it_up(tmp_path: Path, connect: Connect) -> None:
    with a2c_server(tmp_path, "--drain", "1h") as program:
        agent, _, slow = await pair(connect, program, transports=["polling", "websocket"])
        slow.may_answer.set()
        await agent.ask("client:get_tools", "desk")
        program.tell(signal.SIGTERM)
        await asyncio.wait_for(agent.gone.wait(), PATIENCE)
        assert await asyncio.to_thread(program.ended) == 0
    assert "Traceback" not in program.logged()


async def test_stock_clients_come_back_by_themselves_after_a_restart(tmp_path: Path) -> None:
    back = asyncio.Event()
    client = socketio.AsyncClient(reconnection_delay=0.1, reconnection_delay_max=0.2)
    connections: list[int] = []

    async def on_connect() -> None:
        connections.append(1)
        if len(connections) == 2:
            back.set()

    client.on("connect", on_connect, namespace=SMCP_NAMESPACE)
    port = free_port()
    with a2c_server(tmp_path, port=port) as program:
        await client.connect(program.url, namespaces=[SMCP_NAMESPACE], transports=["websocket"])
        program.tell(signal.SIGTERM)
        assert await asyncio.to_thread(program.ended) == 0
    with a2c_server(tmp_path, port=port):
        await asyncio.wait_for(back.wait(), PATIENCE)
        await client.disconnect()


@pytest.mark.rule("1.6.told", "1.6.inflight")
async def test_the_members_left_behind_are_told(tmp_path: Path, connect: Connect) -> None:
    with a2c_server(tmp_path, "--drain", "1h") as program:
        agent, computer, slow = await pair(connect, program)
        other = await connect(program)
        assert await other.join("computer", "idle", "lab") == (True, None)
        assert await agent.next() == ("notify:enter_office", {"office_id": "lab", "computer": "idle"})
        call = asyncio.create_task(agent.ask("client:get_tools", "desk", timeout=60))
        await asyncio.wait_for(slow.asked.wait(), PATIENCE)
        program.tell(signal.SIGTERM)
        assert await agent.next() == ("notify:leave_office", {"office_id": "lab", "computer": "idle"})
        await computer.close()
        assert (await asyncio.wait_for(call, PATIENCE))["error"]["code"] == 404
        assert await asyncio.to_thread(program.ended) == 0


# Reading again


async def test_a_hang_up_reads_keys_again_and_moves_on_in_the_audit_log(tmp_path: Path, connect: Connect) -> None:
    audit, ring = tmp_path / "audit.jsonl", tmp_path / "keys.json"
    old, new = TokenKey("old", b"o" * 32), TokenKey("new", b"n" * 32)
    write_keys(ring, [old])
    token = sign_token(new, role="agent", name="ada", office_id="lab", ttl=60)
    with a2c_server(tmp_path, "--audit-log", str(audit), "--token-keys", str(ring)) as program:
        assert (await refused(program.url, auth={"token": token}))["code"] == 401
        moved = audit.rename(tmp_path / "audit.1")
        write_keys(ring, [new, old], replace=True)
        program.tell(signal.SIGHUP)
        await program.logs("reloaded: part='audit log'")
        agent = await connect(program, auth={"token": token})
        await agent.join("agent", "ada", "lab")
    assert [json.loads(line)["what"] for line in moved.read_text().splitlines()] == ["refused"]
    assert json.loads(audit.read_text().splitlines()[0])["what"] == "join"


# What is written, and what is not


SECRET = "tiger-tiger-burning-bright"


@pytest.mark.rule("3.4")
async def test_nothing_that_was_sent_shows_anywhere(tmp_path: Path, connect: Connect) -> None:
    audit, ring = tmp_path / "audit.jsonl", tmp_path / "keys.json"
    write_keys(ring, [TokenKey("k", SECRET.encode().ljust(32, b"!"))])
    token = sign_token(TokenKey("k", b"x" * 32), role="agent", name=SECRET, office_id="lab", ttl=60)
    words = ["--audit-log", str(audit), "--token-keys", str(ring), "--log-level", "debug", "--metrics-token", SECRET]
    with a2c_server(tmp_path, *words, env={"A2C_SERVER_API_KEY": f"{SECRET}-key"}) as program:
        told: list[Any] = [
            await refused(program.url, auth={"token": SECRET}),
            await refused(program.url, auth={"token": token}),
            await refused(program.url, auth={SECRET: SECRET}),
            await refused(program.url, headers={"x-api-key": SECRET, "authorization": f"Bearer {SECRET}"}),
            (await get(f"{program.url}/socket.io/?EIO=4&transport=polling&token={SECRET}&sid={SECRET}")).status_code,
            (await get(f"{program.url}/{SECRET}")).text,
            (await get(f"{program.url}/metrics?token={SECRET}")).text,
        ]
        key = {"x-api-key": f"{SECRET}-key"}
        agent, computer, slow = await pair(connect, program, headers=key)
        slow.may_answer.set()
        await agent.ask("client:tool_call", "desk", "r-1", tool_name=SECRET, params={SECRET: SECRET}, timeout=5)
        told += [
            await agent.ask("client:tool_call", "nobody", "r-2", tool_name=SECRET, params={"p": SECRET}, timeout=5),
            await agent.ask("client:tool_call", "desk", "r-3", tool_name=SECRET, params={"p": SECRET}, timeout=SECRET),
            await agent.call("client:tool_call", {"agent": SECRET, "req_id": "r-4", "computer": "desk"}),
            await agent.call("client:tool_call", SECRET),
            await agent.call("server:list_room", {"agent": SECRET, "office_id": SECRET, "req_id": "r-5"}),
            await agent.call("server:list_room", {"agent": {SECRET: 1}, "office_id": [SECRET], "req_id": "r-6"}),
            await computer.call("server:update_config", {"computer": SECRET}),
        ]
        await agent.call(SECRET, {SECRET: SECRET})
        await agent.call(f"client:{SECRET}", {"agent": "ada", "req_id": "r-8", "computer": SECRET, "x": SECRET})
        await agent.close()
        numbers = await get(f"{program.url}/metrics", headers={"authorization": f"Bearer {SECRET}"})
        await until(lambda: '"leave"' in audit.read_text())
    assert numbers.status_code == 200
    wires = [json.dumps(answer) for answer in told]
    assert not [answer for answer in wires if SECRET in answer]
    assert SECRET not in numbers.text
    assert SECRET not in program.logged()
    # A computer that is asked for by name, and a name that somebody claims, are part of what was done.
    records = [record for record in map(json.loads, audit.read_text().splitlines()) if SECRET in str(record)]
    assert {record.get("req_id") or record["what"] for record in records} == {"r-8", "misnamed"}
    assert "Traceback" not in program.logged()


async def test_the_log_of_a_day_can_be_read_by_machines(tmp_path: Path, connect: Connect) -> None:
    with a2c_server(tmp_path, "--log-format", "json") as program:
        agent, _, _ = await pair(connect, program)
        await agent.ask("client:get_tools", "nobody", "r-9")
        program.tell(signal.SIGTERM)
        await asyncio.to_thread(program.ended)
    lines = [json.loads(line) for line in program.logged().splitlines()]
    failure = next(line for line in lines if line["message"].startswith("failed"))
    assert (failure["req_id"], failure["office"], failure["agent"], failure["code"]) == ("r-9", "lab", "ada", 404)
    assert {line["message"] for line in lines} >= {"joined", "shutting down: drain_seconds=10"}


async def test_the_audit_log_tells_the_story(tmp_path: Path, connect: Connect) -> None:
    audit = tmp_path / "audit.jsonl"
    with a2c_server(tmp_path, "--audit-log", str(audit)) as program:
        agent, computer, slow = await pair(connect, program)
        slow.may_answer.set()
        await agent.ask("client:get_tools", "desk", "r-1")
        await computer.ask("client:get_tools", "desk", "r-2")
        await agent.close()
        await until(lambda: '"leave"' in audit.read_text())
    records = [json.loads(line) for line in audit.read_text().splitlines()]
    story = [(one["what"], one.get("event"), one.get("req_id"), one.get("outcome", one.get("code"))) for one in records]
    assert story == [
        ("join", None, None, None),
        ("join", None, None, None),
        ("call", "client:get_tools", "r-1", "ok"),
        ("refused", "client:get_tools", "r-2", 403),
        ("leave", None, None, None),
    ]


# Spans


class Collector:
    """Takes spans over OTLP."""

    def __init__(self) -> None:
        bodies = self.bodies = []  # type: list[bytes]

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                bodies.append(self.rfile.read(int(self.headers["content-length"])))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self) -> "Collector":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as running:
        yield running


async def test_spans_are_sent_where_the_environment_says(
    tmp_path: Path, connect: Connect, collector: Collector
) -> None:
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "signal"}
    with a2c_server(tmp_path, "--otel", env=env) as program:
        agent, _, slow = await pair(connect, program)
        slow.may_answer.set()
        await agent.ask("client:get_tools", "desk", "r-unmistakable")
        program.tell(signal.SIGTERM)
        assert await asyncio.to_thread(program.ended) == 0
    sent = b"".join(collector.bodies)
    assert all(word in sent for word in (b"client:get_tools", b"r-unmistakable", b"server:join_office", b"signal"))
