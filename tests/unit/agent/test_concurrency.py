"""The support names of modules that have a blocking twin."""

import pytest

from a2c_smcp.agent.concurrency import gather, resolve, sync_gather, sync_resolve
from a2c_smcp.errors import BadRequest


async def soon(value: int) -> int:
    return value


async def test_results_are_in_the_order_of_the_requests() -> None:
    assert await gather(soon(n) for n in range(3)) == [0, 1, 2]
    assert sync_gather(n for n in range(3)) == [0, 1, 2]


async def test_a_value_is_awaited_if_it_is_awaitable() -> None:
    assert (await resolve(soon(1)), await resolve(2), sync_resolve(3)) == (1, 2, 3)


def test_blocking_code_refuses_a_coroutine() -> None:
    with pytest.raises(BadRequest, match="needs AsyncSMCPAgentClient"):
        sync_resolve(soon(1))
