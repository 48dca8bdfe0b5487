"""Who gets past the guard: one browser with the one-time address, from the console's own page, by its own name."""

from typing import Any

import httpx
import pytest
from starlette.responses import PlainTextResponse

from a2c_smcp.console.guard import COOKIE, HEADERS, MAX_SESSIONS, Guard

BASE = "http://127.0.0.1:8123"


@pytest.fixture
def guard() -> Guard:
    return Guard(PlainTextResponse("inside"))


def client(guard: Guard, **options: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url=BASE, **options)


async def test_the_address_opens_the_console_once(guard: Guard) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner, client(guard) as stranger:
        opened = await owner.get(address)
        assert (opened.status_code, (await owner.get("/api/state")).text) == (200, "inside")
        assert (await stranger.get(address)).status_code == 401
        assert (await stranger.get("/api/state")).status_code == 401
    cookie = opened.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}_8123=")
    assert cookie.endswith("; HttpOnly; Path=/; SameSite=strict")


async def test_who_is_in_may_open_an_old_address_again(guard: Guard) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner:
        await owner.get(address)
        again = await owner.get(address)
    assert (again.status_code, again.headers["location"]) == (303, "/")


async def test_a_look_at_the_head_does_not_use_the_address_up(guard: Guard) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner:
        assert (await owner.head(address)).status_code == 401
        assert (await owner.get(address)).status_code == 200


async def test_a_new_address_ends_the_one_before_it(guard: Guard) -> None:
    first, second = guard.url(BASE), guard.url(BASE)
    async with client(guard) as owner:
        assert (await owner.get(first)).status_code == 401
        assert (await owner.get(second)).status_code == 200


@pytest.mark.parametrize("token", ["", "guess", "é", "x" * 10_000])
async def test_a_guess_opens_nothing(guard: Guard, token: str) -> None:
    guard.url(BASE)
    async with client(guard, params={"token": token}) as stranger:
        assert (await stranger.get("/")).status_code == 401


@pytest.mark.parametrize("cookie", ["", "guess", "é"])
async def test_a_guessed_cookie_is_none(guard: Guard, cookie: str) -> None:
    async with client(guard) as stranger:
        answer = await stranger.get("/api/state", headers={b"cookie": f"{COOKIE}_8123={cookie}".encode()})
    assert answer.status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8123", "127.0.0.1.evil.example", "", "192.0.2.1:8123"])
async def test_a_name_pointed_at_this_machine_is_refused(guard: Guard, host: str) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner:
        await owner.get(address)
        for path in ("/", "/api/state", "/static/app.js"):
            assert (await owner.get(path, headers={"host": host})).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8123", "localhost:8123", "[::1]:8123", "localhost"])
async def test_the_names_of_this_machine_are_answered_to(guard: Guard, host: str) -> None:
    async with client(guard) as stranger:
        assert (await stranger.get("/", headers={"host": host})).status_code == 401


@pytest.mark.parametrize(
    "foreign",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_another_page_may_not_ask(guard: Guard, method: str, foreign: dict[str, str]) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner:
        await owner.get(address)
        assert (await owner.request(method, "/api/state", headers=foreign)).status_code == 403


async def test_the_console_may_be_linked_to_and_asks_itself(guard: Guard) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner:
        assert (await owner.get(address, headers={"sec-fetch-site": "cross-site"})).status_code == 200
        own = {"origin": BASE, "sec-fetch-site": "same-origin"}
        assert (await owner.post("/api/run", headers=own)).text == "inside"


async def test_every_answer_carries_the_strict_policy(guard: Guard) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner:
        answers = [await owner.get(path) for path in ("/api/state", address, "/api/state", "/static/app.js")]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answers[2].headers["cache-control"] == "no-store"
    assert "'unsafe" not in HEADERS["content-security-policy"]


async def test_a_person_without_the_address_is_told_what_to_do_and_a_program_too(guard: Guard) -> None:
    async with client(guard) as stranger:
        page = await stranger.get("/", headers={"accept": "text/html"})
        reply = (await stranger.get("/api/state")).json()
    assert "This console is closed" in page.text
    assert reply["error"]["code"] == 401


async def test_old_sessions_end_when_there_are_too_many(guard: Guard) -> None:
    async with client(guard) as first:
        await first.get(guard.url(BASE))
        for _ in range(MAX_SESSIONS):
            async with client(guard) as other:
                await other.get(guard.url(BASE))
        assert (await first.get("/api/state")).status_code == 401
