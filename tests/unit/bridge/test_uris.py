import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.bridge.uris import (
    ResourceAddress,
    concerned,
    is_changed,
    origin_of,
    parse_address,
    qualify,
    scheme_of,
    windows_of,
)

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
SCHEMES = st.from_regex(r"[a-z][a-z0-9+.-]{0,8}", fullmatch=True)
REST = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.mark.parametrize(
    ("uri", "qualified"),
    [
        ("dpe://docs/report/pages/3?format=markdown", "a2c://desk/dpe/docs/report/pages/3?format=markdown"),
        ("window://board/c%2Fd?priority=5&fullscreen=true", "a2c://desk/window/board/c%2Fd?priority=5&fullscreen=true"),
        ("file:///etc/hosts", "a2c://desk/file//etc/hosts"),
        ("urn:isbn:0451450523", "a2c://desk/urn:isbn:0451450523"),
        (
            "dpe://{host}/{doc_ref}/pages/{page_index}{?format}",
            "a2c://desk/dpe/{host}/{doc_ref}/pages/{page_index}{?format}",
        ),
        ("{+uri}", "a2c://desk/{+uri}"),
        ("notes/today", "a2c://desk/notes%2Ftoday"),
        ("a2c://other/dpe/x", "a2c://desk/a2c/other/dpe/x"),
    ],
)
def test_a_uri_names_its_computer_and_leads_back(uri: str, qualified: str) -> None:
    assert (qualify("desk", uri), parse_address(qualified)) == (qualified, ResourceAddress(uri, "desk"))


@pytest.mark.parametrize("uri", ["dpe://docs/report", "urn:isbn:0451450523", "notes/today", "dpe://{host}/{doc_ref}"])
@pytest.mark.parametrize("server", ["files", "my server", "a/b", "@x", "文档"])
def test_a_uri_names_its_mcp_server_and_leads_back(uri: str, server: str) -> None:
    assert parse_address(qualify("desk", uri, server)) == ResourceAddress(uri, "desk", server)


def test_two_mcp_servers_of_one_computer_never_share_a_uri() -> None:
    both = [qualify("desk", "memo://a", server) for server in ("one", "two")]
    assert both == ["a2c://desk/@one/memo/a", "a2c://desk/@two/memo/a"]


@pytest.mark.parametrize("name", ["my desk", "a/b", "文档", "x?y#z", "..", "A%20B"])
def test_any_name_of_a_computer_can_be_in_a_uri(name: str) -> None:
    assert parse_address(qualify(name, "dpe://h/d")) == ResourceAddress("dpe://h/d", name)


@given(computer=NAMES, scheme=SCHEMES, slashes=st.sampled_from([":", "://"]), rest=REST)
def test_qualifying_is_undone_by_reading(computer: str, scheme: str, slashes: str, rest: str) -> None:
    uri = f"{scheme}{slashes}{rest}"
    assert parse_address(qualify(computer, uri)) == ResourceAddress(uri, computer)
    assert parse_address(qualify(computer, uri, computer)) == ResourceAddress(uri, computer, computer)


@given(computer=NAMES, uri=st.one_of(REST.filter(bool), st.just("/x"), st.just("a/b:c")))
def test_even_what_is_no_uri_leads_back(computer: str, uri: str) -> None:
    assert parse_address(qualify(computer, uri)) == ResourceAddress(uri, computer)


@pytest.mark.parametrize(
    "variant", ["a2c://desk/dpe://h/d?x=1", "a2c://desk/dpe%3A//h/d?x=1", "A2C://desk/dpe/h/d?x=1"]
)
def test_other_spellings_mean_the_same(variant: str) -> None:
    assert parse_address(variant) == ResourceAddress("dpe://h/d?x=1", "desk")


@pytest.mark.parametrize("uri", ["dpe://h/d", "a2c:", "a2c://", "a2c://desk", "a2c://desk/", "a2c:///x"])
def test_a_uri_without_a_computer_stands_for_itself(uri: str) -> None:
    assert parse_address(uri) == ResourceAddress(uri)


def test_two_computers_never_share_a_uri() -> None:
    assert qualify("a", "dpe://h/d") != qualify("b", "dpe://h/d")


@pytest.mark.parametrize(
    ("uri", "origin"),
    [("dpe://h/d/pages/1?x", "dpe://h"), ("DPE://h", "dpe://h"), ("test://a?b", "test://a"), ("urn:x:y", "urn:x:y")],
)
def test_uris_of_one_place_have_one_origin(uri: str, origin: str) -> None:
    assert origin_of(uri) == origin


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
    subscriptions = [(uri, parse_address(uri)) for uri in uris]
    assert concerned(subscriptions, "desk", lambda uri: uri == "window://a") == [uris[0], uris[2]]


@pytest.mark.parametrize(("uri", "scheme"), [("WINDOW://x", "window"), ("dpe:", "dpe"), ("nothing", "")])
def test_schemes_have_no_case(uri: str, scheme: str) -> None:
    assert scheme_of(uri) == scheme
