"""What of a client's words may be repeated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.server.observer import KNOWN_EVENTS, event_label, event_name
from a2c_smcp.smcp import EVENTS


@pytest.mark.parametrize("event", [*EVENTS, "connect"])
def test_an_event_of_this_release_is_named(event: str) -> None:
    assert (event_label(event), event_name(event)) == (event, event)


def test_an_event_of_a_later_release_is_named_in_logs_only() -> None:
    assert (event_label("client:draw"), event_name("client:draw")) == ("other", "client:draw")


@pytest.mark.parametrize("event", ["", "client:", "client:my secret", "password=1", f"client:{'x' * 65}", "client:ä"])
def test_anything_else_is_not_repeated(event: str) -> None:
    assert (event_label(event), event_name(event)) == ("other", "other")


@given(st.text())
def test_there_are_no_more_labels_than_events(event: str) -> None:
    assert event_label(event) in KNOWN_EVENTS | {"other"}
