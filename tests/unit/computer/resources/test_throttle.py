"""Asking one MCP server: a few questions at a time, none for ever, and no more while it hangs."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from a2c_smcp.computer.resources.cached_server import ServerThrottle
from a2c_smcp.errors import NotFound, RequestTimeout, SMCPError, ToolFailed, ToolTimeout
from tests.unit.computer.virtual_time import in_virtual_time, now


def gate() -> ServerThrottle:
    return ServerThrottle("docs", at_once=2, timeout=10, pause=30)


def taking(seconds: float, error: Exception | None = None) -> Callable[[], Awaitable[float]]:
    async def request() -> float:
        await asyncio.sleep(seconds)
        if error is not None:
            raise error
        return seconds

    return request


@in_virtual_time
async def test_requests_pass_a_few_at_a_time() -> None:
    door = gate()
    assert await asyncio.gather(*(door.request(taking(3)) for _ in range(4))) == [3] * 4
    assert now() == 6


@in_virtual_time
async def test_a_request_that_takes_too_long_is_a_time_out_that_names_the_server() -> None:
    with pytest.raises(RequestTimeout) as caught:
        await gate().request(taking(60))
    assert (now(), caught.value.details) == (10, {"mcp_server": "docs"})


@pytest.mark.parametrize("error", [NotFound("no"), ToolFailed("died"), ZeroDivisionError("a bug")])
@in_virtual_time
async def test_an_error_of_the_request_passes(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        await gate().request(taking(1, error))
    assert caught.value is error


@in_virtual_time
async def test_a_server_that_hangs_is_left_alone_for_a_while() -> None:
    door = gate()
    waiting = [door.request(taking(60)) for _ in range(20)]
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {RequestTimeout}
    assert now() == 10
    await asyncio.sleep(30)
    assert await door.request(taking(1)) == 1


@in_virtual_time
async def test_one_slow_request_among_good_ones_closes_no_gate() -> None:
    door = gate()
    slow = asyncio.create_task(door.request(taking(60)))
    await asyncio.sleep(1)
    await door.request(taking(1))
    with pytest.raises(RequestTimeout):
        await slow
    assert await door.request(taking(1)) == 1


@in_virtual_time
async def test_an_error_is_an_answer_too() -> None:
    door = gate()
    slow = asyncio.create_task(door.request(taking(60)))
    with pytest.raises(SMCPError):
        await door.request(taking(1, NotFound("no")))
    with pytest.raises(RequestTimeout):
        await slow
    assert await door.request(taking(1)) == 1


@in_virtual_time
async def test_a_time_out_of_the_request_itself_counts_as_silence() -> None:
    door = gate()
    with pytest.raises(RequestTimeout):
        await door.request(taking(1, ToolTimeout()))
    with pytest.raises(RequestTimeout):
        await door.request(taking(1))
    assert now() == 1


@in_virtual_time
async def test_another_server_behind_the_gate_is_asked_at_once() -> None:
    door = gate()
    with pytest.raises(RequestTimeout):
        await door.request(taking(60))
    door.reset()
    assert await door.request(taking(1)) == 1
