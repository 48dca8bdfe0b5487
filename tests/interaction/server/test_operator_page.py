"""The operator's page: who may see it, what it shows, and that it shows it to nobody else."""

import re
from typing import Any

import httpx
import pytest

from a2c_smcp import PROTOCOL_VERSION, __version__
from a2c_smcp.server import create_app
from a2c_smcp.server.offices import Member
from a2c_smcp.server.operator_page import MAX_OFFICES
from tests.interaction.server.conftest import Connect
from tests.interaction.server.programs import a2c_server, get, serving

TOKEN = "the-operators-own"
BEARER = {"authorization": f"Bearer {TOKEN}"}


async def state(url: str) -> Any:
    return (await get(f"{url}/console/state", headers=BEARER)).json()


async def test_there_is_no_console_unless_it_has_a_token() -> None:
    async with serving(create_app()) as server:
        assert [(await get(f"{server.url}/console{path}")).status_code for path in ("", "/", "/state")] == [404] * 3


@pytest.mark.parametrize("header", [{}, {"authorization": "Bearer wrong"}, {"authorization": TOKEN}])
async def test_the_state_is_for_who_has_the_token(header: dict[str, str]) -> None:
    async with serving(create_app(console_token=TOKEN)) as server:
        answer = await get(f"{server.url}/console/state", headers=header)
        in_the_address = await get(f"{server.url}/console/state?token={TOKEN}")
    assert answer.status_code == in_the_address.status_code == 401
    assert TOKEN not in answer.text


async def test_credentials_of_clients_do_not_open_it() -> None:
    async with serving(create_app(console_token=TOKEN, api_keys=["k"], metrics_token="m")) as server:
        for wrong in ("k", "m"):
            answer = await get(f"{server.url}/console/state", headers={"authorization": f"Bearer {wrong}"})
            assert answer.status_code == 401


async def test_the_page_holds_nothing_and_its_policy_forbids_inline_code() -> None:
    async with serving(create_app(console_token=TOKEN)) as server:
        moved = await get(f"{server.url}/console")
        page = await get(f"{server.url}/console/")
        parts = [await get(f"{server.url}/console/{name}") for name in re.findall(r'(?:src|href)="([^"]+)"', page.text)]
    assert (moved.status_code, moved.headers["location"]) == (308, "console/")
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert page.headers["x-frame-options"] == "DENY"
    assert re.findall(r"<script(?![^>]*src)|<style|\son\w+=|\sstyle=", page.text) == []
    assert {part.status_code for part in parts} == {200}


async def test_it_can_only_be_looked_at() -> None:
    async with serving(create_app(console_token=TOKEN)) as server, httpx.AsyncClient(headers=BEARER) as client:
        for path in ("/console/", "/console/state"):
            assert (await client.post(f"{server.url}{path}")).status_code == 405
        assert (await client.get(f"{server.url}/console/other")).status_code == 404


async def test_offices_members_requests_and_errors_are_shown(connect: Connect) -> None:
    async with serving(create_app(console_token=TOKEN)) as server:
        agent, computer = await connect(server), await connect(server)

        async def tools(_: str, data: Any) -> Any:
            return {"tools": [], "req_id": data["req_id"]}

        computer.answers["client:get_tools"] = tools
        assert await computer.join("computer", "desk", "lab") == (True, None)
        assert await agent.join("agent", "ada", "lab") == (True, None)
        await agent.ask("client:get_tools", "desk")
        await agent.ask("client:get_tools", "nobody")
        shown = await state(server.url)
        await computer.call("server:leave_office", {"office_id": "lab"})
        after = await state(server.url)
    times = [member.pop("since") for member in shown["offices"][0]["members"]]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", time) for time in times)
    version = shown["offices"][0]["members"][0]["version"]
    assert shown["offices"] == [
        {
            "office_id": "lab",
            "member_count": 2,
            "members": [
                {"role": "agent", "name": "ada", "version": version, "node": shown["node"]},
                {"role": "computer", "name": "desk", "version": version, "node": shown["node"]},
            ],
        }
    ]
    assert (shown["version"], shown["protocol"], shown["problem"]) == (__version__, PROTOCOL_VERSION, None)
    assert (shown["connections"], shown["in_flight"], shown["office_count"]) == (2, 0, 1)
    row = next(entry for entry in shown["events"] if entry["event"] == "client:get_tools")
    assert (row["requests"], row["errors"]) == (2, {"404": 1})
    assert 0 < row["median"] <= row["most"]
    assert [member["name"] for member in after["offices"][0]["members"]] == ["ada"]


async def test_a_crowd_is_counted_and_only_begun_to_be_listed() -> None:
    app = create_app(console_token=TOKEN)
    for number in range(MAX_OFFICES + 5):
        app.observer.joined(Member(f"office-{number:04}", "computer", "desk", f"sid-{number}"), "127.0.0.1")
    async with serving(app) as server:
        shown = await state(server.url)
    assert (shown["office_count"], len(shown["offices"])) == (MAX_OFFICES + 5, 0)


async def test_the_token_reaches_no_log(tmp_path: Any) -> None:
    with a2c_server(tmp_path, "--log-level", "debug", "--console-token", TOKEN) as program:
        assert (await get(f"{program.url}/console/state", headers=BEARER)).status_code == 200
        assert (await get(f"{program.url}/console/state", headers={"authorization": "Bearer guess"})).status_code == 401
        logged = program.logged()
    assert TOKEN not in logged
    assert "guess" not in logged
