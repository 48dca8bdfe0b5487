import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.bridge.cursors import Key, encoded, page_of
from a2c_smcp.errors import BadRequest

KEYS = st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), unique=True, max_size=30).map(sorted)


def walk(items: list[tuple[str, str]], size: int) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    cursor = None
    while True:
        page, cursor = page_of(items, lambda item: item, cursor, size)
        found += page
        if cursor is None:
            return found


@given(items=KEYS, size=st.integers(1, 7))
def test_pages_put_together_are_the_whole(items: list[tuple[str, str]], size: int) -> None:
    assert walk(items, size) == items


def test_no_empty_page_follows_a_full_one() -> None:
    assert page_of([("a",), ("b",)], lambda item: item, None, 2) == ([("a",), ("b",)], None)


def test_what_goes_or_comes_in_between_spoils_nothing_else() -> None:
    items: list[Key] = [("a",), ("c",), ("e",), ("g",)]
    first, cursor = page_of(items, lambda item: item, None, 2)
    second, _ = page_of([("a",), ("b",), ("d",), ("g",)], lambda item: item, cursor, 2)
    assert (first, second) == ([("a",), ("c",)], [("d",), ("g",)])


@pytest.mark.parametrize("cursor", ["", "x", "!!!", "bnVsbA", "WzFd", "W" * 5000, "é", "[]"])
def test_a_cursor_of_somebody_else_is_refused(cursor: str) -> None:
    with pytest.raises(BadRequest, match="list again"):
        page_of([("a",)], lambda item: item, cursor, 2)


@given(key=st.lists(st.text(), max_size=3).map(tuple))
def test_a_cursor_says_where_the_page_ended(key: Key) -> None:
    assert page_of([key], lambda item: item, encoded(key), 1) == ([], None)
