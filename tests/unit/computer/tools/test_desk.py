"""The desk where questions wait."""

import asyncio
import logging

import pytest

from a2c_smcp.computer.tools.confirmation import Answer, Confirmation
from a2c_smcp.computer.tools.desk import ApprovalDesk, Question
from tests.unit.computer.tools.fakes import until

CONFIRMATION = Confirmation("fs", "rm", "rm", {}, "agent", "r1", "f", 30)


async def test_with_nobody_watching_there_is_nobody_to_ask() -> None:
    assert await ApprovalDesk()(CONFIRMATION) is None


async def test_a_question_waits_until_somebody_answers() -> None:
    desk, told = ApprovalDesk(), list[Question | None]()
    with desk.watch(told.append):
        asked = asyncio.ensure_future(desk(CONFIRMATION))
        await until(lambda: bool(desk.pending()))
        (question,) = desk.pending()
        assert (question.number, question.confirmation) == (1, CONFIRMATION)
        assert desk.answer(1, Answer.ALWAYS)
        assert await asked is Answer.ALWAYS
    assert (desk.pending(), told) == ([], [question, None])


async def test_questions_are_answered_by_their_numbers() -> None:
    desk = ApprovalDesk()
    with desk.watch(lambda _: None):
        asked = [asyncio.ensure_future(desk(CONFIRMATION)) for _ in range(2)]
        await until(lambda: len(desk.pending()) == 2)
        desk.answer(2, Answer.ONCE)
        desk.answer(1, Answer.REFUSE)
        assert await asyncio.gather(*asked) == [Answer.REFUSE, Answer.ONCE]


async def test_the_first_answer_counts() -> None:
    desk = ApprovalDesk()
    with desk.watch(lambda _: None):
        asked = asyncio.ensure_future(desk(CONFIRMATION))
        await until(lambda: bool(desk.pending()))
        assert [desk.answer(1, Answer.REFUSE), desk.answer(1, Answer.ONCE), desk.answer(9, Answer.ONCE)] == [
            True,
            False,
            False,
        ]
        assert await asked is Answer.REFUSE


async def test_a_withdrawn_question_leaves_the_desk() -> None:
    desk = ApprovalDesk()
    with desk.watch(lambda _: None):
        asked = asyncio.ensure_future(desk(CONFIRMATION))
        await until(lambda: bool(desk.pending()))
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert desk.pending() == []


async def test_a_watcher_that_fails_spoils_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    desk, told = ApprovalDesk(), list[Question | None]()

    def fail(_: Question | None) -> None:
        raise ConnectionError

    with desk.watch(fail), desk.watch(told.append):
        asked = asyncio.ensure_future(desk(CONFIRMATION))
        await until(lambda: bool(told))
        desk.answer(1, Answer.ONCE)
        assert await asked is Answer.ONCE
