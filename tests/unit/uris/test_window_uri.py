import dataclasses
import pickle

import pytest

from a2c_smcp.errors import BadRequest, InvalidWindowUri, to_wire
from a2c_smcp.uris.window import ParsedWindowUri, build_window_uri, parse_window_uri


def parsed(host: str, *path: str, **query_params: str) -> ParsedWindowUri:
    return ParsedWindowUri("window", host, path, query_params)


def breach_of(raw: str) -> InvalidWindowUri:
    with pytest.raises(InvalidWindowUri) as caught:
        parse_window_uri(raw)
    return caught.value


def rule_and_part(error: InvalidWindowUri) -> tuple[int, str]:
    assert error.details is not None
    return error.details["rule"], error.details["part"]


SEED_EXAMPLES = [
    (
        "window://com.example.browser/main/tab1?priority=80&fullscreen=true",
        parsed("com.example.browser", "main", "tab1", priority="80", fullscreen="true"),
        (80, True),
    ),
    ("window://com.example.logger", parsed("com.example.logger"), (None, None)),
    (
        "window://com.example.editor/src%2Fmain/file%20name",
        parsed("com.example.editor", "src/main", "file name"),
        (None, None),
    ),
    ("window://com.example.browser/main?priority=80", parsed("com.example.browser", "main", priority="80"), (80, None)),
]


@pytest.mark.rule("6.1.scheme", "6.1.host", "6.1.path")
@pytest.mark.parametrize(("uri", "parts", "values"), SEED_EXAMPLES)
def test_the_examples_of_the_contract_parse_to_their_parts(
    uri: str, parts: ParsedWindowUri, values: tuple[int | None, bool | None]
) -> None:
    found = parse_window_uri(uri)
    assert (found, (found.priority, found.fullscreen)) == (parts, values)


@pytest.mark.parametrize("uri", [uri for uri, _, _ in SEED_EXAMPLES])
def test_the_examples_of_the_contract_build_back_to_exactly_themselves(uri: str) -> None:
    assert str(parse_window_uri(uri)) == uri


@pytest.mark.rule("6.1.path")
@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        ("WINDOW://h", parsed("h")),
        ("window://Host", parsed("Host")),
        ("window://[::1]:80/a", parsed("[::1]:80", "a")),
        ("window://窗口.example/a", parsed("窗口.example", "a")),
        ("window://h/", parsed("h")),
        ("window://h/?priority=1", parsed("h", priority="1")),
        ("window://h/c%2Fd", parsed("h", "c/d")),
        ("window://h/c/d", parsed("h", "c", "d")),
        ("window://h/%E7%AA%97/窗", parsed("h", "窗", "窗")),
        ("window://h/a+b", parsed("h", "a+b")),
        ("window://h/./..", parsed("h", ".", "..")),
        ("window://h?", parsed("h")),
        ("window://h?&lang=zh&", parsed("h", lang="zh")),
        ("window://h?flag", parsed("h", flag="")),
        ("window://h?Priority=high", parsed("h", Priority="high")),
        ("window://h?priority=%38%30", parsed("h", priority="80")),
    ],
)
def test_a_window_uri_is_read_leniently_where_all_readers_agree(raw: str, parts: ParsedWindowUri) -> None:
    assert parse_window_uri(raw) == parts


@pytest.mark.rule("6.1.priority")
@pytest.mark.parametrize(("written", "priority"), [("0", 0), ("100", 100), ("7", 7), ("007", 7), ("00", 0)])
def test_a_priority_is_kept_as_written_and_comes_as_a_number(written: str, priority: int) -> None:
    uri = parse_window_uri(f"window://h?priority={written}")
    assert (uri.query_params, uri.priority) == ({"priority": written}, priority)


@pytest.mark.rule("6.1.fullscreen")
@pytest.mark.parametrize(
    ("written", "fullscreen"),
    [
        *((word, True) for word in ("true", "1", "yes", "on", "TRUE", "Yes")),
        *((word, False) for word in ("false", "0", "no", "off", "False", "OFF")),
    ],
)
def test_fullscreen_is_one_of_eight_words_in_any_case(written: str, *, fullscreen: bool) -> None:
    uri = parse_window_uri(f"window://h?fullscreen={written}")
    assert (uri.query_params, uri.fullscreen) == ({"fullscreen": written}, fullscreen)


BREACHES = [
    # rule 0: what is no URI at all
    ("window://h/a b", 0, " "),
    ("window://h/a\n", 0, "\n"),
    ("window://h/%zz", 0, "%zz"),
    ("window://h/%ff", 0, "%ff"),
    ("window://h?q=%2", 0, "%2"),
    ("window://h/\ud800", 0, "\\ud800"),
    ("window://h#top", 0, "#top"),
    ("window://h?q=1&q=2", 0, "q"),
    ("window://h?=1", 0, "=1"),
    # rule 1: the scheme
    ("", 1, ""),
    ("h/a", 1, "h/a"),
    ("dpe://h", 1, "dpe"),
    ("wİndow://h", 1, "wİndow"),
    ("wındow://h", 1, "wındow"),
    # rule 2: the host
    ("window:", 2, ""),
    ("window:h", 2, ""),
    ("window://", 2, ""),
    ("window:///a", 2, ""),
    ("window://?priority=1", 2, ""),
    ("window://me@h", 2, "@"),
    ("window://a b", 2, "a b"),
    ("window://[::1", 2, "[::1"),
    # rule 3: the priority
    *[(f"window://h?priority={wrong}", 3, wrong) for wrong in ("", "101", "-1", "+1", "5.0", "high", "٣", "0" * 19)],
    ("window://h?priority", 3, ""),
    ("window://h?priority=1&priority=1", 3, "priority"),
    # rule 4: fullscreen
    *[(f"window://h?fullscreen={wrong}", 4, wrong) for wrong in ("", "2", "maybe", "y", "yeſ", "truetrue")],
    ("window://h?fullscreen=1&fullscreen=0", 4, "fullscreen"),
    # rule 5: the path
    ("window://h//", 5, "/"),
    ("window://h//a", 5, "/a"),
    ("window://h/a/", 5, "a/"),
    ("window://h/a//b", 5, "a//b"),
]


@pytest.mark.rule("6.1.scheme", "6.1.host", "6.1.priority", "6.1.fullscreen", "6.1.path")
@pytest.mark.parametrize(("raw", "rule", "part"), BREACHES)
def test_a_breach_names_its_rule_and_the_offending_part(raw: str, rule: int, part: str) -> None:
    assert rule_and_part(breach_of(raw)) == (rule, part)


@pytest.mark.rule("6.1.fullscreen")
def test_a_breach_is_error_400_with_a_message_that_says_how_to_mend_it() -> None:
    error = breach_of("window://h?fullscreen=maybe")
    assert isinstance(error, BadRequest)
    assert to_wire(error) == {
        "error": {
            "code": 400,
            "message": "Invalid window URI: fullscreen must not be 'maybe': "
            "write true, 1, yes or on, or false, 0, no or off (rule 4, fullscreen)",
            "details": {
                "uri": "window://h?fullscreen=maybe",
                "rule": 4,
                "rule_name": "fullscreen",
                "part": "maybe",
            },
        }
    }


@pytest.mark.parametrize("path", ["a" * 16_384, "!" * 6_000, "窗" * 2_000])
def test_a_uri_that_is_too_long_as_written_or_once_encoded_is_refused(path: str) -> None:
    assert rule_and_part(breach_of(f"window://h/{path}"))[0] == 0


def test_a_uri_of_10_kilobytes_is_read() -> None:
    uri = build_window_uri("h", "窗" * 1_000, "a" * 1_000)
    assert parse_window_uri(uri) == parsed("h", "窗" * 1_000, "a" * 1_000)


@pytest.mark.parametrize(
    ("built", "uri"),
    [
        (build_window_uri("h"), "window://h"),
        (build_window_uri("h", "a/b", "c d", "窗"), "window://h/a%2Fb/c%20d/%E7%AA%97"),
        (build_window_uri("h", priority=0), "window://h?priority=0"),
        (build_window_uri("h", fullscreen=False), "window://h?fullscreen=false"),
        (
            build_window_uri("h", "a", priority=80, fullscreen=True, params={"lang": "zh"}),
            "window://h/a?priority=80&fullscreen=true&lang=zh",
        ),
        (
            build_window_uri("h", params={"fullscreen": "YES", "priority": "07"}),
            "window://h?fullscreen=YES&priority=07",
        ),
    ],
)
def test_building_encodes_the_segments_and_writes_the_named_parameters_first(built: str, uri: str) -> None:
    assert built == uri


@pytest.mark.parametrize("priority", [-1, 101, True])
def test_building_refuses_a_priority_that_is_no_integer_in_range(priority: int) -> None:
    with pytest.raises(InvalidWindowUri) as caught:
        build_window_uri("h", priority=priority)
    assert rule_and_part(caught.value) == (3, str(priority))


@pytest.mark.parametrize(
    ("host", "path", "params", "rule", "part"),
    [
        ("", [], {}, 2, ""),
        ("a/b", [], {}, 2, "a/b"),
        ("\ud800", [], {}, 0, "\\ud800"),
        ("h", ["a", ""], {}, 5, "a/"),
        ("h", ["\ud800"], {}, 0, "\\ud800"),
        ("h", [], {"fullscreen": "maybe"}, 4, "maybe"),
        ("h", [], {"": ""}, 0, "="),
        ("h", [], {"q": "\ud800"}, 0, "\\ud800"),
    ],
)
def test_building_refuses_what_parsing_would(
    host: str, path: list[str], params: dict[str, str], rule: int, part: str
) -> None:
    with pytest.raises(InvalidWindowUri) as caught:
        build_window_uri(host, *path, params=params)
    assert rule_and_part(caught.value) == (rule, part)


def test_building_refuses_a_parameter_that_is_named_twice() -> None:
    with pytest.raises(InvalidWindowUri) as caught:
        build_window_uri("h", priority=1, params={"priority": "1"})
    assert rule_and_part(caught.value) == (3, "priority")


def test_parts_of_another_scheme_have_no_canonical_uri() -> None:
    with pytest.raises(InvalidWindowUri, match="rule 1"):
        str(ParsedWindowUri("http", "h", (), {}))


def test_parsed_uris_are_values_that_hash_and_travel() -> None:
    uri = parse_window_uri("window://h/a?priority=1")
    same = ParsedWindowUri("window", "h", ["a"], {"priority": "1"})  # type: ignore[arg-type]
    assert {uri, same, pickle.loads(pickle.dumps(uri))} == {uri}


def test_parsed_uris_cannot_be_changed() -> None:
    uri = parse_window_uri("window://h/a?priority=1")
    with pytest.raises(dataclasses.FrozenInstanceError):
        uri.host = "other"  # type: ignore[misc]


@pytest.mark.parametrize("same", [["src/main", "file"], ("src/main", "file")])
def test_the_path_is_equal_to_a_list_and_to_a_tuple(same: object) -> None:
    path: object = parse_window_uri("window://h/src%2Fmain/file").path
    assert path == same
    assert same == path
    assert path != ["src", "main", "file"]
    assert hash(path) == hash(("src/main", "file"))
