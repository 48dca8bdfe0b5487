"""Names that look alike have one skeleton, and others do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.common.lookalikes import skeleton


@pytest.mark.parametrize(
    "name",
    [
        "BANK__Pay",
        "ｂａｎｋ＿＿ｐａｙ",
        "bаnk__pаy",
        "bank__\u200bpay",
        "bank_\u2060_pay\ufe0f",
        "bank__pay\u3164",
        "bank‿‿pay",
        " bank__pay ",
        "bank__\u0440ay",
    ],
)
def test_a_name_written_in_another_way_has_the_same_skeleton(name: str) -> None:
    assert skeleton(name) == skeleton("bank__pay") == "bank__pay"


@pytest.mark.parametrize(("one", "other"), [("pay", "pays"), ("bank_pay", "bank__pay"), ("天气", "天汽"), ("कि", "कु")])
def test_names_that_look_different_have_different_skeletons(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


@given(st.text(max_size=20))
def test_a_skeleton_never_fails(name: str) -> None:
    assert isinstance(skeleton(name), str)
