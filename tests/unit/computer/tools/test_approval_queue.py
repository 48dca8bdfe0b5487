"""The desk where questions wait."""

import asyncio
import logging

import pytest

from a2c_smcp.computer.tools.confirmation import ApprovalQueue, Confirmation, Decision, PendingApproval
from tests.unit.computer.tools.fakes import until

CONFIRMATION = Confirmation("fs", "rm", "rm", {}, "agent", "r1", "f", 30)


async def test_with_nobody_watching_there_is_nobody_to_ask() -> None:
    assert await ApprovalQueue()(CONFIRMATION) is None


async def test_a_question_waits_until_somebody_answers() -> None:
    desk, told = ApprovalQueue(), list[PendingApproval | None]()
    with desk.watch(told.append):
        asked = asyncio.ensure_future(desk(CONFIRMATION))
        await until(lambda: bool(desk.pending()))
        (question,) = desk.pending()
        assert (question.number, question.confirmation) == (1, CONFIRMATION)
        assert desk.answer(1, Decision.ALWAYS)
        assert await asked is Decision.ALWAYS
    assert (desk.pending(), told) == ([], [question, None])


async def test_questions_are_answered_by_their_numbers() -> None:
    desk = ApprovalQueue()
    with desk.watch(lambda _: None):
        asked = [asyncio.ensure_future(desk(CONFIRMATION)) for _ in range(2)]
        await until(lambda: len(desk.pending()) == 2)
        desk.answer(2, Decision.ONCE)
        desk.answer(1, Decision.REFUSE)
        assert await asyncio.gather(*asked) == [Decision.REFUSE, Decision.ONCE]


async def test_the_first_answer_counts() -> None:
    desk = ApprovalQueue()
    with desk.watch(lambda _: None):
        asked = asyncio.ensure_future(desk(CONFIRMATION))
        await until(lambda: bool(desk.pending()))
        assert [desk.answer(1, Decision.REFUSE), desk.answer(1, Decision.ONCE), desk.answer(9, Decision.ONCE)] == [
            True,
            False,
            False,
        ]
        assert await asked is Decision.REFUSE


async def test_a_withdrawn_question_leaves_the_desk() -> None:
    desk = ApprovalQueue()
    with desk.watch(lambda _: None):
        asked = asyncio.ensure_future(desk(CONFIRMATION))
        await until(lambda: bool(desk.pending()))
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert desk.pending() == []


async def test_a_watcher_that_fails_spoils_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    desk, told = ApprovalQueue(), list[PendingApproval | None]()

    def fail(_: PendingApproval | None) -> None:
        raise ConnectionError

    with desk.watch(fail), desk.watch(told.append):
        asked = asyncio.ensure_future(desk(CONFIRMATION))
        await until(lambda: bool(told))
        desk.answer(1, Decision.ONCE)
        assert await asked is Decision.ONCE
