"""What applications import."""

import a2c_smcp.agent as door
from a2c_smcp.agent import types


def test_the_front_door_names_what_it_has_in_order() -> None:
    assert [name for name in door.__all__ if not hasattr(door, name)] == []
    assert door.__all__ == sorted(door.__all__)


def test_the_types_of_answers_are_in_one_place() -> None:
    assert [name for name in types.__all__ if not hasattr(types, name)] == []
    assert types.__all__ == sorted(types.__all__)
