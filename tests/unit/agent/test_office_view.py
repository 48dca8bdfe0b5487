"""Snapshots of the office."""

import pytest

from a2c_smcp.agent.office_view import ComputerView, OfficeView


def test_a_snapshot_stays_as_it_was() -> None:
    office = OfficeView()
    office.enter("a")
    before = office.computers
    office.update("a", "desktop", ["w"])
    office.enter("b")
    office.leave("a")
    assert dict(before) == {"a": ComputerView("a")}
    assert dict(office.computers) == {"b": ComputerView("b")}


def test_nobody_can_write_into_a_snapshot() -> None:
    office = OfficeView()
    office.enter("a")
    with pytest.raises(TypeError):
        office.computers["b"] = ComputerView("b")  # type: ignore[index]


def test_who_enters_again_brings_nothing_from_before() -> None:
    office = OfficeView()
    office.enter("a")
    office.update("a", "desktop", ["w"])
    office.enter("a")
    assert office.computers["a"] == ComputerView("a")


def test_a_list_says_who_is_new_and_who_has_gone_and_keeps_what_is_known() -> None:
    office = OfficeView()
    office.enter("a")
    office.enter("b")
    office.update("b", "desktop", ["w"])
    assert office.set_members(["b", "c"]) == (["c"], ["a"])
    assert dict(office.computers) == {"b": ComputerView("b", desktop=["w"]), "c": ComputerView("c")}


def test_what_is_seen_of_somebody_who_has_left_is_dropped() -> None:
    office = OfficeView()
    office.update("a", "desktop", ["w"])
    assert (office.leave("a"), dict(office.computers)) == (False, {})
