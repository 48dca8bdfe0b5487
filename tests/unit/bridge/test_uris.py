import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.bridge.uris import Place, origin_of, place_of, qualify

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
    assert (qualify("desk", uri), place_of(qualified)) == (qualified, Place(uri, "desk"))


@pytest.mark.parametrize("uri", ["dpe://docs/report", "urn:isbn:0451450523", "notes/today", "dpe://{host}/{doc_ref}"])
@pytest.mark.parametrize("server", ["files", "my server", "a/b", "@x", "文档"])
def test_a_uri_names_its_mcp_server_and_leads_back(uri: str, server: str) -> None:
    assert place_of(qualify("desk", uri, server)) == Place(uri, "desk", server)


def test_two_mcp_servers_of_one_computer_never_share_a_uri() -> None:
    both = [qualify("desk", "memo://a", server) for server in ("one", "two")]
    assert both == ["a2c://desk/@one/memo/a", "a2c://desk/@two/memo/a"]


@pytest.mark.parametrize("name", ["my desk", "a/b", "文档", "x?y#z", "..", "A%20B"])
def test_any_name_of_a_computer_can_be_in_a_uri(name: str) -> None:
    assert place_of(qualify(name, "dpe://h/d")) == Place("dpe://h/d", name)


@given(computer=NAMES, scheme=SCHEMES, slashes=st.sampled_from([":", "://"]), rest=REST)
def test_qualifying_is_undone_by_reading(computer: str, scheme: str, slashes: str, rest: str) -> None:
    uri = f"{scheme}{slashes}{rest}"
    assert place_of(qualify(computer, uri)) == Place(uri, computer)
    assert place_of(qualify(computer, uri, computer)) == Place(uri, computer, computer)


@given(computer=NAMES, uri=st.one_of(REST.filter(bool), st.just("/x"), st.just("a/b:c")))
def test_even_what_is_no_uri_leads_back(computer: str, uri: str) -> None:
    assert place_of(qualify(computer, uri)) == Place(uri, computer)


@pytest.mark.parametrize(
    "variant", ["a2c://desk/dpe://h/d?x=1", "a2c://desk/dpe%3A//h/d?x=1", "A2C://desk/dpe/h/d?x=1"]
)
def test_other_spellings_mean_the_same(variant: str) -> None:
    assert place_of(variant) == Place("dpe://h/d?x=1", "desk")


@pytest.mark.parametrize("uri", ["dpe://h/d", "a2c:", "a2c://", "a2c://desk", "a2c://desk/", "a2c:///x"])
def test_a_uri_without_a_computer_stands_for_itself(uri: str) -> None:
    assert place_of(uri) == Place(uri)


def test_two_computers_never_share_a_uri() -> None:
    assert qualify("a", "dpe://h/d") != qualify("b", "dpe://h/d")


@pytest.mark.parametrize(
    ("uri", "origin"),
    [("dpe://h/d/pages/1?x", "dpe://h"), ("DPE://h", "dpe://h"), ("test://a?b", "test://a"), ("urn:x:y", "urn:x:y")],
)
def test_uris_of_one_place_have_one_origin(uri: str, origin: str) -> None:
    assert origin_of(uri) == origin
