"""Values that are fetched when asked for, kept while they hold, and fetched once for all who ask at a time."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.common.cached_fetch import CachedFetch, run_within
from a2c_smcp.errors import InternalError, NotFound, RequestTimeout, SMCPError, ToolFailed
from tests.unit.computer.virtual_time import in_virtual_time, now, run

PAUSE = 10.0


@dataclass
class Source:
    """Something that changes, takes its time to read, and may fail."""

    value: int = 0
    takes: float = 1.0
    error: Exception | None = None
    read_at: list[float] = field(default_factory=list)

    async def fetch(self) -> int:
        value = self.value
        self.read_at.append(now())
        await asyncio.sleep(self.takes)
        if self.error is not None:
            raise self.error
        return value

    def cell(self) -> CachedFetch[int]:
        return CachedFetch(self.fetch, pause=PAUSE)


@in_virtual_time
async def test_a_value_is_fetched_once_and_kept() -> None:
    source = Source(7)
    cell = source.cell()
    assert not cell.settled
    assert [await cell.get(), await cell.get(), cell.value] == [7, 7, 7]
    assert source.read_at == [0]


@in_virtual_time
async def test_all_who_ask_at_a_time_share_one_fetch() -> None:
    source = Source(7)
    cell = source.cell()
    assert await asyncio.gather(*(cell.get() for _ in range(10))) == [7] * 10
    assert source.read_at == [0]


@in_virtual_time
async def test_what_has_expired_is_fetched_again() -> None:
    source = Source(1)
    cell = source.cell()
    await cell.get()
    source.value = 2
    cell.expire()
    assert (cell.value, await cell.get()) == (None, 2)


@in_virtual_time
async def test_who_asks_after_a_change_does_not_get_what_was_begun_before_it() -> None:
    source = Source(1)
    cell = source.cell()
    early = asyncio.create_task(cell.get())
    await asyncio.sleep(0.5)
    source.value = 2
    cell.expire()
    late = asyncio.create_task(cell.get())
    assert [await early, await late] == [1, 2]
    assert source.read_at == [0, 1]


@in_virtual_time
async def test_a_fetch_goes_on_when_who_asked_is_cancelled() -> None:
    source = Source(7)
    cell = source.cell()
    asking = asyncio.create_task(cell.get())
    await asyncio.sleep(0.5)
    asking.cancel()
    assert (await cell.get(), source.read_at) == (7, [0])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (NotFound("no"), NotFound),
        (TimeoutError(), RequestTimeout),
        (ZeroDivisionError("a bug"), InternalError),
    ],
)
@in_virtual_time
async def test_a_failure_is_remembered_for_a_while(error: Exception, told: type[SMCPError]) -> None:
    source = Source(7, error=error)
    cell = source.cell()
    for _ in range(3):
        with pytest.raises(told):
            await cell.get()
    assert (source.read_at, cell.settled, type(cell.error)) == ([0], True, told)
    source.error = None
    await asyncio.sleep(PAUSE)
    assert (await cell.get(), cell.error) == (7, None)


@in_virtual_time
async def test_each_who_asks_raises_an_error_of_its_own() -> None:
    cell = Source(error=NotFound("no", details={"a": 1})).cell()
    first, second = await asyncio.gather(cell.get(), cell.get(), return_exceptions=True)
    assert first is not second
    assert repr(first) == repr(second) == repr(NotFound("no", details={"a": 1}))


@in_virtual_time
async def test_a_change_ends_the_memory_of_a_failure() -> None:
    source = Source(7, error=NotFound("no"))
    cell = source.cell()
    with pytest.raises(NotFound):
        await cell.get()
    source.error = None
    cell.expire()
    assert await cell.get() == 7


@in_virtual_time
async def test_renewing_keeps_the_value_meanwhile_and_follows_what_is_being_fetched() -> None:
    source = Source(1)
    cell = source.cell()
    await cell.get()
    cell.renew()
    await asyncio.sleep(0.5)
    source.value = 2
    cell.renew()
    cell.renew()
    assert cell.value == 1
    await asyncio.sleep(3)
    assert (cell.value, source.read_at) == (2, [0, 1, 2])


@in_virtual_time
async def test_starting_joins_what_is_being_fetched() -> None:
    source = Source(1)
    cell = source.cell()
    cell.start()
    cell.start()
    assert (await cell.get(), source.read_at) == (1, [0])


@in_virtual_time
async def test_those_who_wait_for_a_cell_that_is_cancelled_get_an_error() -> None:
    cell = Source().cell()
    asking = asyncio.create_task(cell.get())
    await asyncio.sleep(0.5)
    cell.cancel()
    with pytest.raises(ToolFailed):
        await asking
    cell.cancel()


@in_virtual_time
async def test_a_closed_cell_fetches_no_more() -> None:
    source = Source()
    cell = source.cell()
    await cell.close()
    cell.start()
    await asyncio.sleep(0.5)
    cell.renew()
    await cell.close()
    await asyncio.sleep(5)
    assert (source.read_at, cell.settled) == ([0], False)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.3, 1.0, 2.5]), st.sampled_from(["ask", "change", "renew"])), max_size=30)
)
def test_no_answer_is_older_than_its_question(schedule: list[tuple[float, str]]) -> None:
    async def ask(cell: CachedFetch[int], source: Source) -> None:
        known = source.value
        assert await cell.get() >= known

    async def main() -> None:
        source = Source()
        cell = source.cell()
        asking = []
        for pause, step in schedule:
            await asyncio.sleep(pause)
            if step == "ask":
                asking.append(asyncio.create_task(ask(cell, source)))
            elif step == "renew":
                cell.renew()
            else:
                source.value += 1
                cell.expire()
        await asyncio.gather(*asking)
        assert await cell.get() == source.value
        assert len(source.read_at) <= 1 + len(schedule)

    run(main())


# Working in time


@in_virtual_time
async def test_what_is_not_done_in_time_is_dropped() -> None:
    done: list[int] = []

    async def work(seconds: int) -> None:
        await asyncio.sleep(seconds)
        done.append(seconds)

    await run_within([work(1), work(9), work(3)], 5)
    await asyncio.sleep(20)
    assert (done, now()) == ([1, 3], 25)


@in_virtual_time
async def test_no_work_takes_no_time() -> None:
    await run_within([], 5)
    assert now() == 0


@in_virtual_time
async def test_work_ends_with_whoever_wanted_it() -> None:
    done: list[int] = []

    async def work() -> None:
        await asyncio.sleep(3)
        done.append(3)

    wanting = asyncio.create_task(run_within([work()], 5))
    await asyncio.sleep(1)
    wanting.cancel()
    await asyncio.sleep(5)
    assert done == []


@in_virtual_time
async def test_a_bug_in_the_work_is_not_hidden() -> None:
    async def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run_within([work()], 5)
