"""Lists that are read page by page end, whatever pages them."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from a2c_smcp.common.pagination import Page, PageLimits, walk
from a2c_smcp.errors import RequestTimeout

SMALL = PageLimits(pages=5, items=7, seconds=30)


async def read(
    ask: Callable[[str | None], Awaitable[Page[int]]], limits: PageLimits = SMALL
) -> tuple[list[int], list[str]]:
    cut: list[str] = []
    return [item async for page in walk(ask, limits, cut.append) for item in page], cut


def endless(size: int) -> Callable[[str | None], Awaitable[Page[int]]]:
    async def page(cursor: str | None) -> Page[int]:
        number = int(cursor or 0)
        return [number] * size, str(number + 1)

    return page


async def test_a_list_that_ends_is_read_whole() -> None:
    async def page(cursor: str | None) -> Page[int]:
        return ([1, 2], "next") if cursor is None else ([3], None)

    assert await read(page) == ([1, 2, 3], [])


@pytest.mark.parametrize(
    ("size", "found", "why"),
    [
        (1, [0, 1, 2, 3, 4], "it has more than 5 pages"),
        (0, [], "it has more than 5 pages"),
        (4, [0, 0, 0, 0, 1, 1, 1], "it has more than 7 items"),
    ],
)
async def test_an_endless_list_is_cut(size: int, found: list[int], why: str) -> None:
    assert await read(endless(size)) == (found, [why])


async def test_one_page_over_the_limit_is_cut() -> None:
    async def page(_: str | None) -> Page[int]:
        return list(range(9)), None

    assert await read(page) == (list(range(7)), ["it has more than 7 items"])


async def test_cursors_that_repeat_end_the_list() -> None:
    async def page(cursor: str | None) -> Page[int]:
        return [1], "b" if cursor == "a" else "a"

    assert await read(page) == ([1, 1, 1], ["its cursors repeat"])


async def test_a_list_that_stalls_is_cut_and_one_that_never_begins_fails() -> None:
    async def page(cursor: str | None) -> Page[int]:
        if cursor is not None:
            await asyncio.Event().wait()
        return [1], "next"

    quick = PageLimits(seconds=0.05)
    assert await read(page, quick) == ([1], ["it took longer than 0.05 s"])
    with pytest.raises(RequestTimeout, match=r"within 0\.05 s"):
        await read(lambda _: page("stall"), quick)


async def test_a_timeout_of_one_request_passes_through() -> None:
    async def page(_: str | None) -> Page[int]:
        raise TimeoutError("the server did not answer")

    with pytest.raises(TimeoutError, match="did not answer"):
        await read(page)
