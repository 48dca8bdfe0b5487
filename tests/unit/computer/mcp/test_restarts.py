"""Pauses grow, jitter and become long; health forgets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.computer.mcp.restarts import RestartCounter, RestartDelay, RestartPolicy

POLICY = RestartPolicy()


def never() -> float:
    return 0.0


def always() -> float:
    return 1.0


@pytest.mark.rule("5.5")
def test_pauses_double_up_to_the_longest_while_a_server_is_out_of_reach() -> None:
    restarts = RestartCounter(POLICY, always)

    pauses = [restarts.next_delay(counts=False) for _ in range(9)]

    assert [pause.seconds for pause in pauses] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]


@pytest.mark.rule("5.5")
def test_after_the_fifth_failure_without_health_pauses_are_minutes_and_then_an_hour() -> None:
    restarts = RestartCounter(POLICY, always)

    pauses = [restarts.next_delay() for _ in range(9)]

    assert [pause.seconds for pause in pauses] == [0.5, 1.0, 2.0, 4.0, 300.0, 900.0, 3600.0, 3600.0, 3600.0]
    assert [pause.long for pause in pauses] == [False] * 4 + [True] * 5


def test_what_would_only_fail_again_is_tried_after_minutes_at_once() -> None:
    restarts = RestartCounter(POLICY, always)

    assert restarts.next_delay(counts=False, slow=True) == RestartDelay(300.0, long=True)
    assert restarts.next_delay() == RestartDelay(0.5)


def test_a_server_that_ran_long_enough_begins_anew() -> None:
    restarts = RestartCounter(POLICY, always)
    for _ in range(4):
        restarts.next_delay()

    restarts.ran_for(29.9)
    assert restarts.next_delay() == RestartDelay(300.0, long=True)
    restarts.ran_for(30.0)
    assert restarts.next_delay() == RestartDelay(0.5)


def test_being_out_of_reach_does_not_count_against_a_server() -> None:
    restarts = RestartCounter(POLICY, always)
    for _ in range(100):
        restarts.next_delay(counts=False)

    assert restarts.next_delay() == RestartDelay(60.0)


@given(st.lists(st.booleans(), max_size=200), st.floats(0, 1, exclude_max=True))
def test_every_pause_is_between_the_shortest_and_the_longest(strikes: list[bool], chance: float) -> None:
    restarts = RestartCounter(POLICY, lambda: chance)

    pauses = [restarts.next_delay(counts=strike) for strike in strikes]

    assert all(pause.long or POLICY.first <= pause.seconds <= POLICY.most for pause in pauses)
    assert all(not pause.long or POLICY.long[0] / 2 <= pause.seconds <= POLICY.long[-1] for pause in pauses)
    # From the fifth that counts on, those that count are followed by a long pause.
    counted = [pause for pause, strike in zip(pauses, strikes, strict=True) if strike]
    assert [pause.long for pause in counted] == [index >= POLICY.failures - 1 for index in range(len(counted))]


def test_chance_spreads_the_pauses() -> None:
    low, high = RestartCounter(POLICY, never), RestartCounter(POLICY, always)
    for _ in range(7):
        low.next_delay(counts=False)
        high.next_delay(counts=False)

    assert (low.next_delay(counts=False), high.next_delay(counts=False)) == (RestartDelay(30.0), RestartDelay(60.0))
