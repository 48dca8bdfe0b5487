import pytest

from a2c_smcp.bridge.changes import concerned, is_changed, scheme_of, windows_of
from a2c_smcp.bridge.uris import place_of


def test_a_rendered_desktop_is_read_back_window_by_window() -> None:
    assert windows_of(["window://a\n\none\n\ntwo", "window://b\n\n"]) == {"window://a": "one\n\ntwo", "window://b": ""}


@pytest.mark.parametrize(
    ("uri", "changed"),
    [
        ("window://same", False),
        ("window://other", True),
        ("window://new", True),
        ("window://gone", True),
        ("window://never-shown", True),
        ("dpe://h/d", False),
    ],
)
def test_a_window_is_told_of_when_it_may_have_changed(uri: str, changed: bool) -> None:
    before = {"window://same": "1", "window://other": "1", "window://gone": "1"}
    after = {"window://same": "1", "window://other": "2", "window://new": "1"}
    assert is_changed(before, after, uri) is changed


def test_a_change_concerns_who_named_the_computer_or_none() -> None:
    uris = ["a2c://desk/window/a", "a2c://laptop/window/a", "window://a", "dpe://h/d"]
    subscriptions = [(uri, place_of(uri)) for uri in uris]
    assert concerned(subscriptions, "desk", lambda uri: uri == "window://a") == [uris[0], uris[2]]


@pytest.mark.parametrize(("uri", "scheme"), [("WINDOW://x", "window"), ("dpe:", "dpe"), ("nothing", "")])
def test_schemes_have_no_case(uri: str, scheme: str) -> None:
    assert scheme_of(uri) == scheme
