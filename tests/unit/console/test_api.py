"""What the page may ask, and what it is told when it asks wrongly."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.tools.confirmation import ApprovalQueue, Confirmation
from a2c_smcp.console.api import Console
from a2c_smcp.console.calls import CallLog
from a2c_smcp.console.http_endpoints import MAX_BODY
from tests.interaction.console import enter

BASE = "http://127.0.0.1:8123"


@pytest.fixture
def desk() -> ApprovalQueue:
    return ApprovalQueue()


@pytest.fixture
async def page(desk: ApprovalQueue) -> AsyncIterator[httpx.AsyncClient]:
    async with Computer(name="study", confirm=desk) as computer:
        console = Console(computer, desk, CallLog())
        async with httpx.AsyncClient(transport=httpx.ASGITransport(console.app), base_url=BASE) as client:
            await enter(client, console.app.url(BASE))
            yield client
        console.close()


@pytest.mark.parametrize(
    ("path", "empty"),
    [
        ("tools", {"tools": []}),
        ("desktop", {"windows": []}),
        ("finder", {"documents": [], "total_count": 0}),
        ("types", {"types": {}, "total": 0}),
        ("search?q=x", {"hits": []}),
        ("calls", {"calls": []}),
        ("approvals", {"approvals": [], "inputs": [], "standing": [], "changed": []}),
        ("config", {}),
    ],
)
async def test_a_computer_with_nothing_shows_nothing(page: httpx.AsyncClient, path: str, empty: Any) -> None:
    assert (await page.get(f"/api/{path}")).json() == empty


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("finder?offset=-1", 400),
        ("finder?limit=many", 400),
        ("finder?offset=99999999999999999999", 400),
        ("search", 400),
        ("page", 400),
        ("page?uri=dpe://nobody/x/pages/0", 404),
        ("page?uri=nonsense", 404),
        ("image?uri=dpe://nobody/x&server=s", 400),
        ("call?id=7", 404),
        ("nonsense", 404),
    ],
)
async def test_a_wrong_question_is_told_so(page: httpx.AsyncClient, path: str, status: int) -> None:
    assert (await page.get(f"/api/{path}")).status_code == status


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("run", {}, 400),
        ("run", {"tool": "nobody"}, 404),
        ("run", {"tool": "nobody", "id": "no uuid"}, 400),
        ("approve", {"number": "1", "answer": "once"}, 400),
        ("approve", {"number": True, "answer": "once"}, 400),
        ("approve", {"number": 1, "answer": "perhaps"}, 400),
        ("approve", {"number": 1, "answer": "once"}, 404),
        ("withdraw", {"agent": "a"}, 404),
        ("server", {"name": "nobody", "action": "restart"}, 400),
        ("server", {"name": "nobody", "action": "explode"}, 400),
        ("cancel", {"agent": "a"}, 400),
        ("input", {"id": "key"}, 400),
        ("input", {"id": "key", "value": 7}, 400),
        ("input", {"id": "nobody", "value": "x"}, 400),
    ],
)
async def test_a_wrong_wish_changes_nothing(page: httpx.AsyncClient, path: str, body: Any, status: int) -> None:
    answer = await page.post(f"/api/{path}", json=body)
    assert (answer.status_code, "message" in answer.json()["error"]) == (status, True)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"{}", "text/plain"),
        (b"no JSON", "application/json"),
        (b"[]", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b" " * (MAX_BODY + 1), "application/json"),
    ],
)
async def test_only_a_json_object_of_sound_size_is_read(page: httpx.AsyncClient, content: bytes, kind: str) -> None:
    answer = await page.post("/api/run", content=content, headers={"content-type": kind})
    assert answer.status_code == 400


async def test_what_changes_something_is_no_link(page: httpx.AsyncClient) -> None:
    for path in ("run", "approve", "withdraw", "server", "cancel", "input"):
        assert (await page.get(f"/api/{path}")).status_code in (404, 405)


async def test_an_answer_of_the_console_answers_the_question(page: httpx.AsyncClient, desk: ApprovalQueue) -> None:
    asked = Confirmation("s", "t", "t", {"path": "/"}, "ada", "r", "f", seconds=9.0)
    with desk.watch(lambda _: None):
        waiting = asyncio.ensure_future(desk(asked))
        await asyncio.sleep(0)
        (shown,) = (await page.get("/api/approvals")).json()["approvals"]
        assert 0 < shown.pop("seconds_left") <= 9
        assert shown == {
            "number": 1,
            "agent": "ada",
            "tool": "t",
            "own_name": "t",
            "server": "s",
            "arguments": '{\n  "path": "/"\n}',
            "description": "",
            "annotations": {},
            "changes": "",
            "seconds": 9.0,
        }
        assert (await page.get("/api/state")).json()["approvals"] == 1
        assert (await page.post("/api/approve", json={"number": 1, "answer": "refuse"})).json() == {"ok": True}
        assert await waiting == "refuse"
        assert (await page.post("/api/approve", json={"number": 1, "answer": "once"})).status_code == 404
