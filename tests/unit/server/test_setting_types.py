"""Sizes and lists as people write them."""

from typing import Any

import pytest

from a2c_smcp.server.setting_types import parse_bytes, split_list


@pytest.mark.parametrize(
    ("written", "size"),
    [(7, 7), ("7", 7), ("4MB", 4_000_000), ("4 MiB", 4_194_304), ("1.5kb", 1_500), ("2gib", 2**31), ("8b", 8)],
)
def test_a_size_is_a_number_with_a_unit(written: Any, size: int) -> None:
    assert parse_bytes(written) == size


@pytest.mark.parametrize("written", ["", "MB", "4 bytes", "4m", "-4", -4, None, False])
def test_what_is_no_size_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match="should be a size"):
        parse_bytes(written)


def test_a_size_is_whole_bytes() -> None:
    with pytest.raises(ValueError, match="whole number"):
        parse_bytes("1.5b")


@pytest.mark.parametrize(
    ("value", "items"), [("a, b,,c", ["a", "b", "c"]), (["a", " b "], ["a", "b"]), (("a", 7), ["a", 7]), ("", [])]
)
def test_a_list_is_a_list_or_text_with_commas(value: Any, items: list[Any]) -> None:
    assert split_list(value) == items
