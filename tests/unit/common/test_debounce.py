"""Coalescing: many changes make few pushes, and the last change is never lost."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2c_smcp.common.debounce import LONGEST_PAUSE, Debouncer
from a2c_smcp.errors import NotInOffice
from tests.unit.computer.virtual_time import in_virtual_time, now, run

WINDOW = 0.1


@dataclass
class Line:
    """Whom a Computer tells: each push takes some time, and may fail."""

    takes: float = 0.0
    failing: int = 0
    error: Exception = field(default_factory=lambda: ConnectionError("no line"))
    started: list[tuple[float, str]] = field(default_factory=list)
    busy: set[str] = field(default_factory=set)

    async def emit(self, kind: str) -> None:
        assert kind not in self.busy, "two pushes of one kind at a time"
        self.busy.add(kind)
        self.started.append((round(now(), 6), kind))
        try:
            await asyncio.sleep(self.takes)
            if self.failing:
                self.failing -= 1
                raise self.error
        finally:
            self.busy.discard(kind)

    def times(self, kind: str = "desktop") -> list[float]:
        return [at for at, told in self.started if told == kind]


@pytest.mark.rule("6.6")
def test_the_first_change_is_told_at_once() -> None:
    async def main() -> list[tuple[float, str]]:
        line = Line()
        Debouncer(line.emit, window=WINDOW).trigger("desktop")
        await asyncio.sleep(0)
        return line.started

    assert run(main()) == [(0.0, "desktop")]


@pytest.mark.rule("6.6")
def test_many_changes_within_a_window_make_one_more_push() -> None:
    async def main() -> list[float]:
        line = Line()
        pushes = Debouncer(line.emit, window=WINDOW)
        for _ in range(50):
            pushes.trigger("desktop")
            await asyncio.sleep(0.001)
        await asyncio.sleep(1)
        return line.times()

    assert run(main()) == [0.0, WINDOW]


@pytest.mark.rule("6.6")
def test_a_change_while_a_push_is_being_sent_makes_another_one() -> None:
    async def main() -> list[float]:
        line = Line(takes=0.5)
        pushes = Debouncer(line.emit, window=WINDOW)
        pushes.trigger("desktop")
        await asyncio.sleep(0.3)
        pushes.trigger("desktop")
        await asyncio.sleep(2)
        return line.times()

    assert run(main()) == [0.0, 0.5]


def test_a_lone_change_makes_a_lone_push() -> None:
    async def main() -> tuple[list[float], frozenset[str]]:
        line = Line()
        pushes = Debouncer(line.emit, window=WINDOW)
        pushes.trigger("desktop")
        await asyncio.sleep(10)
        pushes.trigger("desktop")
        await asyncio.sleep(10)
        return line.times(), pushes.pending

    assert run(main()) == ([0.0, 10.0], frozenset())


def test_a_slow_push_of_one_kind_holds_back_no_other_kind() -> None:
    async def main() -> list[tuple[float, str]]:
        line = Line(takes=60)
        pushes = Debouncer(line.emit, window=WINDOW)
        pushes.trigger("desktop")
        await asyncio.sleep(1)
        pushes.trigger("finder")
        await asyncio.sleep(1)
        await pushes.close()
        return line.started

    assert run(main()) == [(0.0, "desktop"), (1.0, "finder")]


def test_what_changed_without_a_connection_is_told_after_it_is_back() -> None:
    async def main() -> tuple[frozenset[str], list[tuple[float, str]]]:
        line = Line()
        pushes = Debouncer(line.emit, window=WINDOW, held=True)
        for kind in ("desktop", "config", "desktop"):
            pushes.trigger(kind)
        await asyncio.sleep(100)
        pending = pushes.pending
        pushes.release()
        await asyncio.sleep(1)
        return pending, sorted(line.started)

    assert run(main()) == (frozenset({"desktop", "config"}), [(100.0, "config"), (100.0, "desktop")])


def test_a_change_within_the_window_before_the_connection_broke_is_told_after_it_is_back() -> None:
    async def main() -> list[float]:
        line = Line()
        pushes = Debouncer(line.emit, window=WINDOW)
        pushes.trigger("desktop")
        await asyncio.sleep(0.01)
        pushes.trigger("desktop")
        pushes.hold()
        await asyncio.sleep(5)
        pushes.release()
        await asyncio.sleep(5)
        return line.times()

    assert run(main()) == [0.0, 5.01]


def test_a_push_that_fails_is_tried_again_after_growing_pauses(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> list[float]:
        line = Line(failing=3)
        Debouncer(line.emit, window=WINDOW).trigger("desktop")
        await asyncio.sleep(10)
        return line.times()

    with caplog.at_level(logging.ERROR):
        assert run(main()) == [0.0, 0.2, 0.6, 1.4]
    assert [record.getMessage() for record in caplog.records] == ["update failed: retrying kind=desktop"] * 3


def test_the_pauses_stop_growing(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> list[float]:
        line = Line(failing=100)
        Debouncer(line.emit, window=WINDOW).trigger("desktop")
        await asyncio.sleep(1_000)
        return line.times()

    times = run(main())
    assert max(later - earlier for earlier, later in pairwise(times)) == pytest.approx(LONGEST_PAUSE)


def test_a_connection_that_is_back_ends_the_pause_after_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> list[float]:
        line = Line(failing=12)
        pushes = Debouncer(line.emit, window=WINDOW)
        pushes.trigger("desktop")
        await asyncio.sleep(110)
        tried = len(line.started)
        line.failing = 0
        pushes.hold()
        pushes.release()
        await asyncio.sleep(0)
        return line.times()[tried:]

    assert run(main()) == [110.0]


def test_nothing_is_sent_after_closing() -> None:
    async def main() -> list[tuple[float, str]]:
        line = Line(takes=1)
        pushes = Debouncer(line.emit, window=WINDOW)
        pushes.trigger("desktop")
        pushes.trigger("finder")
        await asyncio.sleep(1.05)
        pushes.trigger("desktop")
        await asyncio.sleep(0.5)
        pushes.trigger("desktop")
        await pushes.close()
        pushes.trigger("config")
        await asyncio.sleep(10)
        return line.started

    assert run(main()) == [(0.0, "desktop"), (0.0, "finder"), (1.05, "desktop")]


def test_that_there_is_nobody_to_tell_is_said_quietly(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> list[float]:
        line = Line(failing=1, error=NotInOffice("in no office"))
        Debouncer(line.emit, window=WINDOW).trigger("desktop")
        await asyncio.sleep(10)
        return line.times()

    with caplog.at_level(logging.INFO):
        assert run(main()) == [0.0, 0.2]
    assert caplog.messages == ["update delayed: kind=desktop reason=in no office"]


@in_virtual_time
async def test_closing_ends_the_pause_after_a_push() -> None:
    line = Line()
    pushes = Debouncer(line.emit, window=WINDOW)
    pushes.trigger("desktop")
    await asyncio.sleep(0.01)
    pushes.trigger("desktop")
    await pushes.close()
    await asyncio.sleep(1)
    assert line.times() == [0.0]


@in_virtual_time
async def test_a_push_that_was_sent_in_spite_of_closing_is_the_last() -> None:
    started: list[float] = []
    problems: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, problem: problems.append(problem))

    async def emit(_: str) -> None:
        started.append(now())
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(1)

    pushes = Debouncer(emit, window=WINDOW)
    pushes.trigger("desktop")
    await asyncio.sleep(0.5)
    await pushes.close()
    await asyncio.sleep(10)
    assert (started, problems) == ([0.0], [])


@in_virtual_time
async def test_one_can_wait_until_everything_is_sent() -> None:
    line = Line(takes=1, failing=1)
    pushes = Debouncer(line.emit, window=WINDOW)
    await pushes.drained()
    pushes.trigger("desktop")
    pushes.trigger("finder")
    await pushes.drained()
    assert pushes.pending == frozenset()
    assert now() == pytest.approx(2.2)


@in_virtual_time
async def test_closing_ends_the_wait_until_everything_is_sent() -> None:
    pushes = Debouncer(Line(takes=60).emit)
    pushes.trigger("desktop")
    waiting = asyncio.create_task(pushes.drained())
    await asyncio.sleep(1)
    await pushes.close()
    await waiting
    assert now() == 1


steps = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.001, 0.03, 0.1, 0.25, 3.0]),
        st.sampled_from(["desktop", "finder", "hold", "release", "break"]),
    ),
    max_size=40,
)


@pytest.mark.rule("6.6")
@settings(max_examples=300)
@given(steps, st.sampled_from([0.0, 0.02, 0.1, 0.7]))
def test_after_the_last_change_a_push_always_starts_and_pushes_keep_their_distance(
    schedule: list[tuple[float, str]], takes: float
) -> None:
    async def main() -> None:
        logging.getLogger("a2c_smcp.common.debounce").setLevel(logging.CRITICAL)
        line = Line(takes)
        pushes = Debouncer(line.emit, window=WINDOW)
        last: dict[str, float] = {}
        for pause, step in schedule:
            await asyncio.sleep(pause)
            match step:
                case "hold":
                    pushes.hold()
                case "release":
                    pushes.release()
                case "break":
                    line.failing = 1
                case kind:
                    last[kind] = round(now(), 6)
                    pushes.trigger(kind)
        pushes.release()
        await asyncio.sleep(120)

        assert pushes.pending == frozenset()
        for kind, told in last.items():
            times = line.times(kind)
            assert times[-1] >= told
            if not any(step == "break" for _, step in schedule):
                assert all(later - earlier >= WINDOW - 1e-6 for earlier, later in pairwise(times))

    try:
        run(main())
    finally:
        logging.getLogger("a2c_smcp.common.debounce").setLevel(logging.NOTSET)
