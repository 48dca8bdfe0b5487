import pytest

from a2c_smcp.errors import InvalidDPEUri
from a2c_smcp.uris.dpe import ParsedDPEUri, build_dpe_uri


@pytest.mark.rule("7.1.identity")
@pytest.mark.parametrize(
    ("parts", "uri"),
    [
        (("h",), "dpe://h"),
        (("h", "a/b c"), "dpe://h/a%2Fb%20c"),
        (("h", "年~-._"), "dpe://h/%E5%B9%B4~-._"),
        (("h", "50%"), "dpe://h/50%25"),
        (("h", "d", "pages/007"), "dpe://h/d/pages/7"),
        (("h", "d", "elements/a/b"), "dpe://h/d/elements/a%2Fb"),
        (("h", "d", "elements//"), "dpe://h/d/elements/%2F"),
        (("h", "d", None, {"limit": "010", "format": "text"}), "dpe://h/d?limit=010&format=text"),
        (("h", None, None, {"q": "a b+c,d&e=f", "x,y": ""}), "dpe://h?q=a%20b%2Bc,d%26e%3Df&x%2Cy="),
        (("h", "d", None, {}), "dpe://h/d"),
    ],
)
def test_building_encodes_all_but_unreserved_characters(parts: tuple[str, ...], uri: str) -> None:
    assert build_dpe_uri(*parts) == uri  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "rule", "part"),
    [
        (("",), 2, ""),
        (("a/b",), 2, "a/b"),
        (("a?b",), 2, "a?b"),
        (("a#b",), 2, "a#b"),
        (("a b",), 2, "a b"),
        (("a@b",), 2, "@"),
        (("50%",), 0, "%"),
        (("\ud800",), 0, "\\ud800"),
        (("h", ""), 3, ""),
        (("h", "\udc00"), 0, "\\udc00"),
        (("h", None, "pages/0"), 3, "pages/0"),
        (("h", "d", ""), 3, ""),
        (("h", "d", "pages"), 3, "pages"),
        (("h", "d", "pages/"), 3, "pages/"),
        (("h", "d", "pages/-1"), 3, "pages/-1"),
        (("h", "d", "elements/"), 3, "elements/"),
        (("h", "d", "/pages/0"), 3, "/pages/0"),
        (("h", "d", "elements/\ud800"), 0, "\\ud800"),
        (("h", "d", None, {"limit": "0"}), 7, "0"),
        (("h", "d", None, {"": "x"}), 0, "=x"),
        (("h", "d", None, {"q": "\ud800"}), 0, "\\ud800"),
        (("h", "d", None, {"\ud800": ""}), 0, "\\ud800"),
    ],
)
def test_building_refuses_what_parsing_would(parts: tuple[str, ...], rule: int, part: str) -> None:
    with pytest.raises(InvalidDPEUri) as caught:
        build_dpe_uri(*parts)  # type: ignore[arg-type]
    assert caught.value.details is not None
    assert (caught.value.details["rule"], caught.value.details["part"]) == (rule, part)


def test_building_refuses_a_uri_over_the_limit() -> None:
    with pytest.raises(InvalidDPEUri, match="characters"):
        build_dpe_uri("h", "a" * 16_384)


def test_parts_of_another_scheme_have_no_canonical_uri() -> None:
    with pytest.raises(InvalidDPEUri, match="rule 1"):
        str(ParsedDPEUri("http", "h", None, None, {}))
