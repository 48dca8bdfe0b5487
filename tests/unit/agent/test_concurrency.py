"""Waiting, with and without an event loop."""

import pytest

from a2c_smcp.agent import concurrency, sync_concurrency
from a2c_smcp.errors import BadRequest


async def soon(value: int) -> int:
    return value


async def test_answers_come_in_the_order_of_the_questions() -> None:
    assert await concurrency.gather(soon(n) for n in range(3)) == [0, 1, 2]
    assert sync_concurrency.gather(n for n in range(3)) == [0, 1, 2]


async def test_a_value_is_awaited_where_that_is_to_be_done() -> None:
    assert (await concurrency.resolve(soon(1)), await concurrency.resolve(2), sync_concurrency.resolve(3)) == (1, 2, 3)


def test_blocking_code_refuses_what_it_cannot_await() -> None:
    with pytest.raises(BadRequest, match="needs AsyncSMCPAgentClient"):
        sync_concurrency.resolve(soon(1))
