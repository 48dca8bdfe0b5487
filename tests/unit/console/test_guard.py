"""Who gets past the guard: one browser with the one-time address, from the console's own page, by its own name."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.responses import PlainTextResponse

from a2c_smcp.console.guard import (
    COOKIE,
    HEADERS,
    IDLE_SECONDS,
    KEY_HEADER,
    MAX_SECONDS,
    MAX_SESSIONS,
    ConsoleGuard,
    ConsoleSession,
)
from tests.interaction.console import enter

BASE = "http://127.0.0.1:8123"


@pytest.fixture
def guard() -> ConsoleGuard:
    return ConsoleGuard(PlainTextResponse("inside"))


def client(guard: ConsoleGuard, **options: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(guard), base_url=BASE, **options)


class Clock:
    """Time that passes when it is told to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_the_address_opens_the_console_once(guard: ConsoleGuard) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner, client(guard) as stranger:
        opened = await enter(owner, address)
        assert (opened.status_code, (await owner.get("/api/state")).text) == (200, "inside")
        assert (await enter(stranger, address)).status_code == 401
        assert (await stranger.get("/api/state")).status_code == 401
    cookie = opened.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}_8123=")
    assert cookie.endswith("; HttpOnly; Path=/; SameSite=strict")
    assert opened.headers["cache-control"] == "no-store"


async def test_the_token_is_in_no_request_line(guard: ConsoleGuard) -> None:
    address = urlsplit(guard.url(BASE))
    assert (address.path, address.query, address.fragment.startswith("token=")) == ("/", "", True)


async def test_the_cookie_which_other_ports_see_is_not_enough_and_neither_is_the_key(guard: ConsoleGuard) -> None:
    async with client(guard) as owner:
        await enter(owner, guard.url(BASE))
        key = owner.headers.pop(KEY_HEADER)
        for path in ("/api/state", "/api/events", "/api/image"):
            assert (await owner.get(path)).status_code == 401
        assert (await owner.get("/api/state", headers={KEY_HEADER: "guess"})).status_code == 401
        owner.cookies.clear()
        assert (await owner.get("/api/state", headers={KEY_HEADER: key})).status_code == 401


async def test_the_key_of_another_session_does_not_go_with_a_cookie(guard: ConsoleGuard) -> None:
    async with client(guard) as one, client(guard) as other:
        await enter(one, guard.url(BASE))
        await enter(other, guard.url(BASE))
        assert (await one.get("/api/state", headers={KEY_HEADER: other.headers[KEY_HEADER]})).status_code == 401


async def test_a_session_ends_when_it_is_not_used_and_one_day_in_any_case() -> None:
    clock = Clock()
    guard = ConsoleGuard(PlainTextResponse("inside"), clock=clock)
    async with client(guard) as owner:
        await enter(owner, guard.url(BASE))
        for _ in range(int(MAX_SECONDS // IDLE_SECONDS)):
            clock.now += IDLE_SECONDS
            assert (await owner.get("/api/state")).status_code == 200
        clock.now += 1
        assert (await owner.get("/api/state")).status_code == 401
        await enter(owner, guard.url(BASE))
        clock.now += IDLE_SECONDS + 1
        assert (await owner.get("/api/state")).status_code == 401


async def test_an_address_that_nobody_opened_expires() -> None:
    clock = Clock()
    guard = ConsoleGuard(PlainTextResponse("inside"), clock=clock)
    address = guard.url(BASE)
    clock.now += IDLE_SECONDS + 1
    async with client(guard) as owner:
        assert (await enter(owner, address)).status_code == 401


async def test_all_sessions_and_the_unused_address_end_together(guard: ConsoleGuard) -> None:
    async with client(guard) as one, client(guard) as other:
        await enter(one, guard.url(BASE))
        await enter(other, guard.url(BASE))
        address = guard.url(BASE)
        guard.end_all()
        assert [(await owner.get("/api/state")).status_code for owner in (one, other)] == [401, 401]
        assert (await enter(one, address)).status_code == 401


async def test_an_open_page_keeps_its_session_and_hears_of_the_end() -> None:
    clock = Clock()
    session = ConsoleSession(clock())
    with session.page(clock):
        clock.now += IDLE_SECONDS + 1
        assert session.lives(clock())
        over = asyncio.create_task(session.over(clock))
        session.end()
        await asyncio.wait_for(over, 30)
    assert not session.lives(clock())


async def test_a_look_at_the_page_does_not_use_the_address_up_and_shows_nothing(guard: ConsoleGuard) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner:
        assert (await owner.get("/")).text == "inside"  # the frame, which holds nothing
        assert (await owner.get("/api/session")).status_code == 401
        assert (await enter(owner, address)).status_code == 200


async def test_a_new_address_ends_the_one_before_it(guard: ConsoleGuard) -> None:
    first, second = guard.url(BASE), guard.url(BASE)
    async with client(guard) as owner:
        assert (await enter(owner, first)).status_code == 401
        assert (await enter(owner, second)).status_code == 200


@pytest.mark.parametrize("token", ["", "guess", "é", "x" * 10_000])
async def test_a_guess_opens_nothing(guard: ConsoleGuard, token: str) -> None:
    guard.url(BASE)
    async with client(guard) as stranger:
        headers = {b"a2c-console-token": token.encode()}
        assert (await stranger.post("/api/session", headers=headers)).status_code == 401


@pytest.mark.parametrize("cookie", ["", "guess", "é"])
async def test_a_guessed_cookie_is_none(guard: ConsoleGuard, cookie: str) -> None:
    async with client(guard) as stranger:
        answer = await stranger.get("/api/state", headers={b"cookie": f"{COOKIE}_8123={cookie}".encode()})
    assert answer.status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8123", "127.0.0.1.evil.example", "", "192.0.2.1:8123"])
async def test_a_name_pointed_at_this_machine_is_refused(guard: ConsoleGuard, host: str) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner:
        await enter(owner, address)
        for path in ("/", "/api/state", "/static/app.js"):
            assert (await owner.get(path, headers={"host": host})).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8123", "localhost:8123", "[::1]:8123", "localhost"])
async def test_the_names_of_this_machine_are_answered_to(guard: ConsoleGuard, host: str) -> None:
    async with client(guard) as stranger:
        assert (await stranger.get("/api/state", headers={"host": host})).status_code == 401


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
async def test_another_page_may_not_ask(guard: ConsoleGuard, method: str, foreign: dict[str, str]) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner:
        await enter(owner, address)
        assert (await owner.request(method, "/api/state", headers=foreign)).status_code == 403


async def test_the_console_may_be_linked_to_and_asks_itself(guard: ConsoleGuard) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner:
        assert (await owner.get("/", headers={"sec-fetch-site": "cross-site"})).status_code == 200
        await enter(owner, address)
        own = {"origin": BASE, "sec-fetch-site": "same-origin"}
        assert (await owner.post("/api/run", headers=own)).text == "inside"


async def test_every_answer_carries_the_strict_policy(guard: ConsoleGuard) -> None:
    address = guard.url(BASE)
    async with client(guard) as owner:
        answers = [await owner.get("/api/state"), await enter(owner, address)]
        answers += [await owner.get(path) for path in ("/api/state", "/static/app.js")]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answers[2].headers["cache-control"] == "no-store"
    assert "'unsafe" not in HEADERS["content-security-policy"]


async def test_a_person_without_the_address_is_told_what_to_do_and_a_program_too(guard: ConsoleGuard) -> None:
    async with client(guard) as stranger:
        page = await stranger.get("/old", headers={"accept": "text/html"})
        reply = (await stranger.get("/api/state")).json()
    assert "This console is closed" in page.text
    assert reply["error"]["code"] == 401


async def test_old_sessions_end_when_there_are_too_many(guard: ConsoleGuard) -> None:
    async with client(guard) as first:
        await enter(first, guard.url(BASE))
        for _ in range(MAX_SESSIONS):
            async with client(guard) as other:
                await enter(other, guard.url(BASE))
        assert (await first.get("/api/state")).status_code == 401
