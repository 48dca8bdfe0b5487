"""Questions that wait for the owner's answer, for a shell or a console to show."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from a2c_smcp.common.callbacks import notify_guarded
from a2c_smcp.computer.tools.confirmation import Answer, Confirmation

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A confirmation that waits, under a number to answer it by."""

    number: int
    confirmation: Confirmation
    until: float = 0.0
    """The time, by the clock of the event loop, after which an answer is worth nothing."""


class ApprovalDesk:
    """A `Confirm` callback that holds questions until one of those who watch the desk answers.

    While nobody watches there is nobody to ask.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._waiting: dict[int, tuple[Question, asyncio.Future[Answer]]] = {}
        self._watchers: list[Callable[[Question | None], None]] = []

    async def __call__(self, confirmation: Confirmation) -> Answer | None:
        """Wait for the answer."""
        if not self._watchers:
            return None
        loop = asyncio.get_running_loop()
        question = Question(next(self._numbers), confirmation, loop.time() + confirmation.seconds)
        reply: asyncio.Future[Answer] = loop.create_future()
        self._waiting[question.number] = question, reply
        self._tell(question)
        try:
            return await reply
        finally:
            # Answered, withdrawn or expired: it is no longer on the desk.
            self._waiting.pop(question.number, None)
            self._tell(None)

    @contextmanager
    def watch(self, tell: Callable[[Question | None], None]) -> Iterator[None]:
        """Be one of those who can answer, told of each new question, and with None of one that is settled."""
        self._watchers.append(tell)
        try:
            yield
        finally:
            self._watchers.remove(tell)

    def pending(self) -> list[Question]:
        """Return the questions that wait, oldest first."""
        return [question for question, _ in self._waiting.values()]

    def answer(self, number: int, answer: Answer) -> bool:
        """Answer a question; False when it is settled or unknown."""
        waiting = self._waiting.get(number)
        if waiting is None or waiting[1].done():
            return False
        waiting[1].set_result(answer)
        return True

    def _tell(self, question: Question | None) -> None:
        for tell in tuple(self._watchers):
            notify_guarded(logger, "a watcher of the approval desk", tell, question)
