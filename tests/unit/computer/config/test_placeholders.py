"""Placeholders are found, and never resolved."""

import pytest

from a2c_smcp.computer.config.field_types import has_placeholder, input_ids


@pytest.mark.parametrize("text", ["${input:a}", "x ${env:HOME} y", "${workspaceFolder}/b", "${A:-b}", "${/}"])
def test_every_kind_of_placeholder_is_seen(text: str) -> None:
    assert has_placeholder(text)


@pytest.mark.parametrize("text", ["", "plain", "$HOME", "$ {a}", "{a}", "${a"])
def test_what_only_resembles_a_placeholder_is_plain_text(text: str) -> None:
    assert not has_placeholder(text)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Bearer ${input:token}", ["token"]),
        ("${input:user}:${input:pass word}@${input:user}", ["user", "pass word", "user"]),
        ("${input:}", [""]),
        ("${env:input}", []),
        ("${A:-${input:b}}", ["b"]),
    ],
)
def test_input_ids_come_in_order(text: str, ids: list[str]) -> None:
    assert input_ids(text) == ids
