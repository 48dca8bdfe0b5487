"""Windows by their paths and URIs."""

import pytest

from a2c_smcp.docserver import Offer
from a2c_smcp.docserver.windows import OfferedWindow, OfferedWindows
from a2c_smcp.errors import BadRequest, InvalidWindowUri


def paint() -> str:
    """What it is."""
    return "text"


def opened(path: str, priority: int | None = None, fullscreen: bool = False) -> OfferedWindows:
    windows = OfferedWindows("h")
    windows.open(path, paint, priority=priority, fullscreen=fullscreen, name="")
    return windows


def test_a_window_is_described_by_its_function() -> None:
    assert list(opened("orders/today", 80, True)) == [
        OfferedWindow("window://h/orders/today?priority=80&fullscreen=true", "orders/today", "What it is.", paint)
    ]


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("window://h/a?priority=5", True),
        ("window://h/a", True),
        ("window://H/a", True),
        ("window://h/b", False),
        ("window://g/a", False),
        ("dpe://h/a", False),
        ("nonsense", False),
    ],
)
def test_the_query_does_not_matter_when_a_window_is_looked_for(uri: str, found: bool) -> None:
    assert (opened("a", 5).find(uri) is not None) == found


@pytest.mark.parametrize("priority", [-1, 101])
def test_a_priority_beyond_its_bounds_is_refused(priority: int) -> None:
    with pytest.raises(InvalidWindowUri):
        opened("a", priority)


def test_a_window_can_be_opened_anew_and_closed() -> None:
    windows = opened("a", 5)
    windows.open("a", paint, priority=9, fullscreen=False, name="A")
    assert [(window.uri, window.name) for window in windows] == [("window://h/a?priority=9", "A")]
    assert (windows.close("a"), windows.close("a"), bool(windows)) == (True, False, False)


async def test_a_function_may_be_asynchronous() -> None:
    async def later() -> str:
        return "later"

    window = OfferedWindows("h").open("a", later, priority=None, fullscreen=False, name="")
    assert await window.text() == "later"


def test_what_is_not_there_cannot_change() -> None:
    with pytest.raises(BadRequest, match="'a'"):
        Offer("h").changed("a")
