"""Commands of the owner that decide on calls."""

import asyncio
from typing import Any

import pytest

from a2c_smcp.cli.computer_line import parse_line
from a2c_smcp.cli.computer_owner import ConnectOptions, Owner
from a2c_smcp.cli.computer_verbs import VERBS, run
from a2c_smcp.computer.tools.confirmation import Confirmation, Decision
from a2c_smcp.errors import BadRequest, NotFound

pytestmark = pytest.mark.rule("4.4")


def asked(**arguments: Any) -> Confirmation:
    return Confirmation("files", "rm", "rm", arguments, "ada", "r1", "f", 30.0)


async def typed(owner: Owner, line: str) -> Any:
    return await run(parse_line(line, VERBS), owner)


async def test_a_long_call_can_be_approved_only_after_all_of_it_was_shown() -> None:
    owner = Owner(None, ConnectOptions(name="desk"))
    with owner.desk.watch(lambda _: None):
        waiting = asyncio.ensure_future(owner.desk(asked(text="x" * 5_000 + "; rm -rf ~")))
        await asyncio.sleep(0)
        for how in ("once", "always"):
            with pytest.raises(BadRequest, match="approvals show 1 first"):
                await typed(owner, f"approvals approve 1 {how}")
        shown = await typed(owner, "approvals show 1")
        assert shown["confirmation"]["arguments"]["text"].endswith("; rm -rf ~")
        assert await typed(owner, "approvals approve 1") == {"number": 1, "answer": "once"}
        assert await waiting is Decision.ONCE


async def test_a_short_call_and_a_refusal_need_no_further_look() -> None:
    owner = Owner(None, ConnectOptions(name="desk"))
    with owner.desk.watch(lambda _: None):
        short, long = (asyncio.ensure_future(owner.desk(asked(text="x" * size))) for size in (10, 5_000))
        await asyncio.sleep(0)
        await typed(owner, "approvals approve 1 once")
        await typed(owner, "approvals refuse 2")
        assert (await short, await long) == (Decision.ONCE, Decision.REFUSE)


async def test_what_does_not_wait_cannot_be_shown() -> None:
    with pytest.raises(NotFound, match="No question '7' waits"):
        await typed(Owner(None, ConnectOptions(name="desk")), "approvals show 7")
