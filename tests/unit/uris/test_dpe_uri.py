import dataclasses
import json
import pickle

import pytest

from a2c_smcp.errors import InvalidDPEUri, to_wire
from a2c_smcp.types import CATEGORIES
from a2c_smcp.uris.dpe import ParsedDPEUri, build_dpe_uri, is_valid_dpe_uri, parse_dpe_uri


def parsed(
    host: str = "h", doc_ref: str | None = None, sub_path: str | None = None, **query_params: str
) -> ParsedDPEUri:
    return ParsedDPEUri("dpe", host, doc_ref, sub_path, query_params)


def breach_of(raw: str) -> InvalidDPEUri:
    with pytest.raises(InvalidDPEUri) as caught:
        parse_dpe_uri(raw)
    return caught.value


def rule_and_part(error: InvalidDPEUri) -> tuple[int, str]:
    assert error.details is not None
    return error.details["rule"], error.details["part"]


SEED_EXAMPLES = [
    ("dpe://com.example.docs", 0, parsed("com.example.docs")),
    ("dpe://com.example.docs/rpt-2026", 1, parsed("com.example.docs", "rpt-2026")),
    (
        "dpe://com.example.docs/rpt-2026?depth=pages&offset=0&limit=10",
        1,
        parsed("com.example.docs", "rpt-2026", depth="pages", offset="0", limit="10"),
    ),
    ("dpe://com.example.docs/rpt-2026/pages/0", 2, parsed("com.example.docs", "rpt-2026", "pages/0")),
    (
        "dpe://com.example.docs/rpt-2026/pages/0?categories=table,pivot_table&format=markdown",
        2,
        parsed("com.example.docs", "rpt-2026", "pages/0", categories="table,pivot_table", format="markdown"),
    ),
    (
        "dpe://com.example.docs/rpt-2026/elements/tbl-001?format=json",
        3,
        parsed("com.example.docs", "rpt-2026", "elements/tbl-001", format="json"),
    ),
]


@pytest.mark.rule("7.1.levels")
@pytest.mark.parametrize(("uri", "level", "parts"), SEED_EXAMPLES)
def test_the_examples_of_the_contract_parse_to_their_parts_and_levels(
    uri: str, level: int, parts: ParsedDPEUri
) -> None:
    found = parse_dpe_uri(uri)
    assert (found, found.level) == (parts, level)


@pytest.mark.rule("7.1.identity")
@pytest.mark.parametrize("uri", [uri for uri, _, _ in SEED_EXAMPLES])
def test_the_examples_of_the_contract_build_back_to_exactly_themselves(uri: str) -> None:
    assert str(parse_dpe_uri(uri)) == uri


@pytest.mark.rule("7.1.levels")
def test_a_sub_path_that_is_neither_page_nor_element_has_no_level() -> None:
    assert parsed("h", "d", "chapters/1").level == -1


@pytest.mark.rule("7.1.1")
@pytest.mark.parametrize("raw", ["DPE://h/d", "Dpe://h/d"])
def test_the_scheme_may_be_written_in_any_case_and_is_kept_in_lower_case(raw: str) -> None:
    assert parse_dpe_uri(raw) == parsed("h", "d")


@pytest.mark.rule("7.1.2")
@pytest.mark.parametrize(
    "host",
    [
        *("Com.Example.Docs", "文档.example", "xn--nxa", "a_b", "a!$&'()*+,;=b", "..", "-", "a%2Fb", "%E5%B9%B4"),
        *("server:8080", "2001:db8::1", "[::1]", "[2001:DB8::1]:8080", "[::ffff:1.2.3.4]"),
    ],
)
def test_a_host_is_an_identifier_that_is_kept_as_it_is_written(host: str) -> None:
    uri = f"dpe://{host}/d"
    assert (parse_dpe_uri(uri), build_dpe_uri(host, "d")) == (parsed(host, "d"), uri)


@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        ("dpe://h/", parsed()),
        ("dpe://h?", parsed()),
        ("dpe://h/?format=text", parsed(format="text")),
        ("dpe://h/%E5%B9%B4", parsed("h", "年")),
        ("dpe://h/年", parsed("h", "年")),
        ("dpe://h/a%2Fb", parsed("h", "a/b")),
        ("dpe://h/a+b", parsed("h", "a+b")),
        ("dpe://h/a:b@c", parsed("h", "a:b@c")),
        ('dpe://h/a\\"<>^`{|}', parsed("h", 'a\\"<>^`{|}')),
        ("dpe://h/%00%20%7F", parsed("h", "\0 \x7f")),
        ("dpe://h/pages", parsed("h", "pages")),
        ("dpe://h/../pages/0", parsed("h", "..", "pages/0")),
        ("dpe://h/d/pages/007", parsed("h", "d", "pages/7")),
        ("dpe://h/d/pages/000", parsed("h", "d", "pages/0")),
        ("dpe://h/d/pages/999999999999999999", parsed("h", "d", "pages/999999999999999999")),
        ("dpe://h/d/pages/%31", parsed("h", "d", "pages/1")),
        ("dpe://h/d/p%61ges/1", parsed("h", "d", "pages/1")),
        ("dpe://h/d/elements/a%2Fb", parsed("h", "d", "elements/a/b")),
        ("dpe://h/d/elements/%E8%A1%A8", parsed("h", "d", "elements/表")),
        ("dpe://h/d/elements/pages", parsed("h", "d", "elements/pages")),
    ],
)
@pytest.mark.rule("7.1.3", "7.1.identity")
def test_a_path_is_decoded_segment_by_segment(raw: str, parts: ParsedDPEUri) -> None:
    assert parse_dpe_uri(raw) == parts


@pytest.mark.parametrize(
    ("query", "params"),
    [
        ("&&format=json&", {"format": "json"}),
        ("limit=010", {"limit": "010"}),
        ("limit=1", {"limit": "1"}),
        ("limit=100", {"limit": "100"}),
        ("offset=000", {"offset": "000"}),
        ("offset=999999999999999999", {"offset": "999999999999999999"}),
        ("categories=table%2Cchart", {"categories": "table,chart"}),
        ("categories=table,table", {"categories": "table,table"}),
        ("%66ormat=%6Ason", {"format": "json"}),
        ("lang=zh", {"lang": "zh"}),
        ("lang=%E5%B9%B4", {"lang": "年"}),
        ("lang=年", {"lang": "年"}),
        ("Format=xml", {"Format": "xml"}),
        ("flag", {"flag": ""}),
        ("flag=", {"flag": ""}),
        ("q=a+b", {"q": "a+b"}),
        ("q=a=b", {"q": "a=b"}),
        ("q=a?b/c;d", {"q": "a?b/c;d"}),
        ("a%26b=c%3Dd", {"a&b": "c=d"}),
    ],
)
@pytest.mark.parametrize("place", ["dpe://h", "dpe://h/d", "dpe://h/d/pages/1", "dpe://h/d/elements/e"])
def test_a_query_is_decoded_and_kept_in_order_at_every_level(place: str, query: str, params: dict[str, str]) -> None:
    found = parse_dpe_uri(f"{place}?{query}").query_params
    assert (found, list(found)) == (params, list(params))


BREACHES = [
    # rule 0: what is no URI at all
    ("dpe://h/a b", 0, " "),
    ("dpe://h/d?q=a\tb", 0, "\t"),
    ("dpe://h/d?q=a\u2028b", 0, "\u2028"),
    ("dpe://h/d\x85", 0, "\x85"),
    ("dpe://h/d\n", 0, "\n"),
    (" dpe://h", 0, " "),
    ("dpe://h/%zz", 0, "%zz"),
    ("dpe://h/%2", 0, "%2"),
    ("dpe://h/d/elements/%ff", 0, "%ff"),
    ("dpe://h%zz/d", 0, "%zz"),
    ("dpe://h?q=%", 0, "%"),
    ("dpe://h?%E5=1", 0, "%E5"),
    ("dpe://h/d\ud800", 0, "\\ud800"),
    ("\udfff", 0, "\\udfff"),
    ("dpe://h/d#top", 0, "#top"),
    ("dpe://h/d?format=json#", 0, "#"),
    ("dpe://h?q=1&q=1", 0, "q"),
    ("dpe://h?q=1&%71=2", 0, "q"),
    ("dpe://h?=1", 0, "=1"),
    ("dpe://h?format=json&=", 0, "="),
    # rule 1: the scheme
    ("", 1, ""),
    ("com.example.docs", 1, "com.example.docs"),
    ("//h/d", 1, "//h/d"),
    ("http://h/d", 1, "http"),
    ("dpes://h", 1, "dpes"),
    ("window://h", 1, "window"),
    ("ｄｐｅ://h", 1, "ｄｐｅ"),
    # rule 2: the host
    ("dpe:", 2, ""),
    ("dpe:h/d", 2, ""),
    ("dpe:/h/d", 2, ""),
    ("dpe://", 2, ""),
    ("dpe:///d", 2, ""),
    ("dpe://?format=json", 2, ""),
    ("dpe://#h", 2, ""),
    ("dpe://:80/d", 2, ":80"),
    ("dpe://::1/d", 2, "::1"),
    ("dpe://me@h/d", 2, "@"),
    ("dpe://@", 2, "@"),
    ("dpe://[::1/d", 2, "[::1"),
    ("dpe://::1]/d", 2, "::1]"),
    ("dpe://a]b", 2, "a]b"),
    ("dpe://[]/d", 2, "[]"),
    ("dpe://[::1]x/d", 2, "[::1]x"),
    ("dpe://[::1]:/d", 2, "[::1]:"),
    ("dpe://[fe80::1%25eth0]/d", 2, "[fe80::1%25eth0]"),
    ("dpe://[host]/d", 2, "[host]"),
    ("dpe://a b/d", 2, "a b"),
    ("dpe://a\u3000b/d", 2, "a\u3000b"),
    ("dpe://a\0b/d", 2, "a\0b"),
    *[(f"dpe://a{wrong}b/d", 2, f"a{wrong}b") for wrong in '\\"<>^`{|}'],
    # rule 3: the sub-path
    ("dpe://h//", 3, "/"),
    ("dpe://h//pages/0", 3, "/pages/0"),
    ("dpe://h/d/", 3, "d/"),
    ("dpe://h/d/pages/0/", 3, "d/pages/0/"),
    ("dpe://h/d/pages//0", 3, "d/pages//0"),
    ("dpe://h/d/elements/", 3, "d/elements/"),
    ("dpe://h/d/pages", 3, "pages"),
    ("dpe://h/d/elements", 3, "elements"),
    ("dpe://h/d/pages/-1", 3, "pages/-1"),
    ("dpe://h/d/pages/+1", 3, "pages/+1"),
    ("dpe://h/d/pages/1.0", 3, "pages/1.0"),
    ("dpe://h/d/pages/1e3", 3, "pages/1e3"),
    ("dpe://h/d/pages/x", 3, "pages/x"),
    ("dpe://h/d/pages/٣", 3, "pages/٣"),
    ("dpe://h/d/pages/²", 3, "pages/²"),
    ("dpe://h/d/pages/1000000000000000000", 3, "pages/1000000000000000000"),
    ("dpe://h/d/pages/0000000000000000001", 3, "pages/0000000000000000001"),
    ("dpe://h/d/pages/0/elements/e", 3, "pages/0/elements/e"),
    ("dpe://h/d/pages%2F0", 3, "pages/0"),
    ("dpe://h/d/Pages/0", 3, "Pages/0"),
    ("dpe://h/d/chapters/1", 3, "chapters/1"),
    ("dpe://h/d/elements/a/b", 3, "elements/a/b"),
    ("dpe://h/pages/0", 3, "0"),
    # rules 4 to 8: the query
    *[(f"dpe://h?format={wrong}", 4, wrong) for wrong in ("", "xml", "JSON", "json,text")],
    ("dpe://h?format", 4, ""),
    ("dpe://h?format=json&format=json", 4, "format"),
    *[(f"dpe://h/d?depth={wrong}", 5, wrong) for wrong in ("", "page", "elements")],
    ("dpe://h/d?depth=pages&depth=metadata", 5, "depth"),
    *[(f"dpe://h/d?offset={wrong}", 6, wrong) for wrong in ("", "-1", "+1", "1.5", "1_0", "٣", "0" * 19)],
    ("dpe://h/d?offset=0&offset=0", 6, "offset"),
    *[(f"dpe://h/d?limit={wrong}", 7, wrong) for wrong in ("", "0", "000", "101", "-1", "1e1", "٣", "0" * 16 + "1")],
    ("dpe://h/d?limit=1&limit=2", 7, "limit"),
    ("dpe://h/d/pages/0?categories=", 8, ""),
    ("dpe://h/d/pages/0?categories=table,", 8, ""),
    ("dpe://h/d/pages/0?categories=,table", 8, ""),
    ("dpe://h/d/pages/0?categories=table,tabel,x", 8, "tabel"),
    ("dpe://h/d/pages/0?categories=Table", 8, "Table"),
    ("dpe://h/d/pages/0?categories=table,%20chart", 8, " chart"),
    ("dpe://h/d/pages/0?categories=table&categories=chart", 8, "categories"),
]  # fmt: skip


@pytest.mark.rule("7.1.1", "7.1.2", "7.1.3", "7.1.4", "7.1.5", "7.1.6", "7.1.7", "7.1.8")
@pytest.mark.parametrize(("raw", "rule", "part"), BREACHES)
def test_a_breach_names_its_rule_and_the_offending_part(raw: str, rule: int, part: str) -> None:
    assert rule_and_part(breach_of(raw)) == (rule, part)


@pytest.mark.rule("7.1.7")
def test_a_breach_is_error_4204_with_a_message_that_says_how_to_mend_it() -> None:
    error = breach_of("dpe://h/d?limit=101")
    assert isinstance(error, ValueError)
    assert to_wire(error, "r1") == {
        "error": {
            "code": 4204,
            "message": "Invalid DPE URI: limit must not be '101': write an integer from 1 to 100 (rule 7, limit)",
            "details": {"uri": "dpe://h/d?limit=101", "rule": 7, "rule_name": "limit", "part": "101"},
        },
        "req_id": "r1",
    }


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        ("dpe://h/a b", "write %20"),
        ("dpe://h/a%", "write two hexadecimal digits, or %25"),
        ("dpe://h/a#b", "write %23 for a literal #"),
        ("dpe://h/d/elements/a/b", "write %2F for the slashes"),
        ("dpe://h/d//e", "remove the extra slash"),
        ("dpe://h/pages/0", "dpe://host/doc-ref/pages"),
        ("dpe://h/d/pages", "as in pages/0"),
        ("dpe://h/d/pages/x", "at most 18 digits"),
        ("dpe://h/d/pages/0/x", "nothing may follow the page index"),
        ("dpe://h/d/elements", "as in elements/tbl-001"),
        ("dpe://h/d/x", "pages/{N} or elements/{ID}"),
        ("dpe://[x]", "brackets hold a whole IPv6 address"),
        ("dpe://h?categories=x", "write a comma-separated list, without blanks, of text, heading"),
    ],
)
def test_the_message_of_a_breach_helps(raw: str, hint: str) -> None:
    assert hint in breach_of(raw).message


def test_a_password_in_a_uri_is_not_repeated_by_the_error() -> None:
    error = breach_of("dpe://me:my secret@h/d")
    assert "secret" not in f"{error.message} {error.details}"


def test_a_breach_in_a_long_uri_of_broken_characters_can_be_sent_as_small_json() -> None:
    error = breach_of("dpe://" + "\ud800" * 10_000)
    assert len(json.dumps(to_wire(error), ensure_ascii=False).encode()) < 4_000


def test_a_uri_of_10_kilobytes_is_read() -> None:
    doc_ref = "年" * 1_100 + "a" * 100
    uri = build_dpe_uri("h", doc_ref)
    assert (len(uri), parse_dpe_uri(uri)) == (10_008, parsed("h", doc_ref))


@pytest.mark.parametrize("doc_ref", ["a" * (16_384 - len("dpe://h/")), "%41" * 5_458, "!" * 5_458])
def test_a_uri_may_be_as_long_as_the_limit(doc_ref: str) -> None:
    uri = f"dpe://h/{doc_ref}"
    assert parse_dpe_uri(str(parse_dpe_uri(uri))) == parse_dpe_uri(uri)


@pytest.mark.parametrize("doc_ref", ["a" * (16_385 - len("dpe://h/")), "%41" * 5_459, "!" * 5_459, "年" * 1_820])
def test_a_uri_that_is_too_long_as_written_or_once_encoded_is_refused(doc_ref: str) -> None:
    assert rule_and_part(breach_of(f"dpe://h/{doc_ref}"))[0] == 0


def test_what_a_uri_does_not_say_has_the_defaults_of_the_contract() -> None:
    uri = parse_dpe_uri("dpe://h/d")
    found = (uri.page_index, uri.element_id, uri.format, uri.depth, uri.offset, uri.limit, uri.categories)
    assert found == (None, None, "json", "metadata", 0, 20, CATEGORIES)


def test_what_a_uri_says_comes_as_values() -> None:
    uri = parse_dpe_uri("dpe://h/d/pages/7?format=text&depth=pages&offset=05&limit=010&categories=table,chart")
    found = (uri.page_index, uri.element_id, uri.format, uri.depth, uri.offset, uri.limit, uri.categories)
    assert found == (7, None, "text", "pages", 5, 10, ("table", "chart"))


def test_an_element_id_comes_decoded() -> None:
    uri = parse_dpe_uri("dpe://h/d/elements/a%2Fb")
    assert (uri.element_id, uri.page_index) == ("a/b", None)


def test_parsed_uris_are_values_that_hash_and_travel() -> None:
    uri = parse_dpe_uri("dpe://h/d?format=json&limit=5")
    same = parsed("h", "d", limit="5", format="json")
    assert {uri, same, pickle.loads(pickle.dumps(uri))} == {uri}


def test_parsed_uris_cannot_be_changed() -> None:
    uri = parse_dpe_uri("dpe://h/d?format=json")
    with pytest.raises(dataclasses.FrozenInstanceError):
        uri.host = "other"  # type: ignore[misc]


@pytest.mark.parametrize("doc_ref", ["d", "d" * 10_000])
def test_a_uri_that_was_just_read_is_not_read_again(doc_ref: str) -> None:
    first, again = parse_dpe_uri(f"dpe://h/{doc_ref}"), parse_dpe_uri(f"dpe://h/{doc_ref}")
    assert first.doc_ref is again.doc_ref


def test_the_limit_counts_the_canonical_page_index() -> None:
    uri = "dpe://h/" + "!" * 5_455 + "/pages/000000000000000007"
    assert len(str(parse_dpe_uri(uri))) == 16_381


def test_a_changed_copy_of_a_parsed_uri_builds_its_own_uri() -> None:
    uri = parse_dpe_uri("dpe://h/d?format=json")
    assert str(dataclasses.replace(uri, sub_path="pages/3", query_params={})) == "dpe://h/d/pages/3"


@pytest.mark.parametrize(
    ("uri", "valid"),
    [
        ("dpe://h", True),
        ("dpe://h/doc", True),
        ("dpe://h/doc/pages/0?format=text", True),
        ("dpe://h/doc/pages/x", False),
        ("window://h", False),
        ("", False),
        (None, False),
    ],
)
def test_a_uri_of_any_level_is_valid_where_it_breaks_no_rule(uri: object, valid: bool) -> None:
    assert is_valid_dpe_uri(uri) is valid


def test_query_parameters_are_a_plain_dict_of_their_own() -> None:
    first, second = parse_dpe_uri("dpe://h/doc?format=text"), parse_dpe_uri("dpe://h/doc?format=text")
    assert (type(first.query_params), first.query_params) == (dict, {"format": "text"})
    first.query_params["limit"] = "5"
    assert second.query_params == {"format": "text"}
