"""A sketch never calls a key new that was added."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.key_filter import KeyFilter


@given(st.lists(st.binary(max_size=40)))
def test_every_key_that_was_added_is_held(keys: list[bytes]) -> None:
    sketch = KeyFilter()
    sketch.add(keys)
    assert all(key in sketch for key in keys)


def test_few_of_the_others_are_taken_for_held() -> None:
    digests = [hashlib.sha256(bytes([number % 256, number // 256])).digest() for number in range(20_000)]
    sketch = KeyFilter()
    sketch.add(digests[:10_000])
    assert sum(digest in sketch for digest in digests[10_000:]) < 30
