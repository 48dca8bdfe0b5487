"""What users import from `a2c_smcp.computer`."""

import a2c_smcp.computer


def test_the_front_door_lists_its_names_in_order() -> None:
    assert a2c_smcp.computer.__all__ == sorted(a2c_smcp.computer.__all__)


def test_every_listed_name_is_there() -> None:
    assert [name for name in a2c_smcp.computer.__all__ if not hasattr(a2c_smcp.computer, name)] == []
