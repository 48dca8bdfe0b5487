"""Valid URIs in their parts, and what goes wrong with written ones, for the laws and the fuzzer."""

from hypothesis import strategies as st

from a2c_smcp.types import CATEGORIES
from a2c_smcp.uris import ParsedDPEUri, ParsedWindowUri

characters = st.characters(exclude_categories=["Cs"])
names = st.text(characters, min_size=1, max_size=12)

_host_characters = st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters='%:/?#@[]\\"<>^`{|}')
hosts = st.one_of(
    st.sampled_from(
        ["com.example.docs", "[::1]", "[2001:db8::1]:8080", "Host:80", "文档.example", "a%2Fb", "2001:db8::1"]
    ),
    st.text(_host_characters, min_size=1, max_size=12),
)
_KNOWN_KEYS = {"format", "depth", "offset", "limit", "categories", "priority", "fullscreen"}
_unknown_keys = names.filter(lambda key: key not in _KNOWN_KEYS)
_unknown_params = st.dictionaries(_unknown_keys, st.text(characters, max_size=12), max_size=2)
_numbers = st.integers(0, 10**18 - 1)


def shuffled(params: dict[str, str]) -> st.SearchStrategy[dict[str, str]]:
    return st.permutations(list(params.items())).map(dict)


dpe_params = st.builds(
    lambda known, unknown: unknown | known,
    st.fixed_dictionaries(
        {},
        optional={
            "format": st.sampled_from(["json", "markdown", "text"]),
            "depth": st.sampled_from(["metadata", "pages"]),
            "offset": _numbers.map(str),
            "limit": st.integers(1, 100).flatmap(lambda n: st.sampled_from([str(n), f"{n:04}"])),
            "categories": st.lists(st.sampled_from(CATEGORIES), min_size=1, max_size=4).map(",".join),
        },
    ),
    _unknown_params,
).flatmap(shuffled)
_sub_paths = st.one_of(
    st.none(), _numbers.map(lambda number: f"pages/{number}"), names.map(lambda element: f"elements/{element}")
)
parsed_dpe_uris = st.one_of(
    st.builds(ParsedDPEUri, st.just("dpe"), hosts, st.none(), st.none(), dpe_params),
    st.builds(ParsedDPEUri, st.just("dpe"), hosts, names, _sub_paths, dpe_params),
)

window_params = st.builds(
    lambda known, unknown: unknown | known,
    st.fixed_dictionaries(
        {},
        optional={
            "priority": st.integers(0, 100).flatmap(lambda n: st.sampled_from([str(n), f"{n:04}"])),
            "fullscreen": st.sampled_from(["true", "1", "YES", "on", "false", "0", "No", "off"]),
        },
    ),
    _unknown_params,
).flatmap(shuffled)
parsed_window_uris = st.builds(
    ParsedWindowUri, st.just("window"), hosts, st.lists(names, max_size=4).map(tuple), window_params
)

# Any text at all, lone surrogates included, and text made of what the grammars care about.
_PIECES = [
    "dpe", "window", "DPE", ":", "//", "://", "/", "?", "#", "&", "=", "%", "%2F", "%zz", "%e4%b8", "%ff", "+", ",",
    "@", "[", "]", "[::1]", " ", "\t", "\n", "\0", "\x85", "\u2028", "\u3000", "\ud800", "\udfff", "年", "ſ", "İ", "٣",
    "0", "7", "101", "pages", "elements", "format", "json", "depth", "offset", "limit", "categories", "table",
    "priority", "fullscreen", "yes",
]  # fmt: skip
_pieces = st.sampled_from(_PIECES)
texts = st.one_of(
    st.text(st.characters(), max_size=60),
    st.lists(_pieces, max_size=16).map("".join),
    st.lists(_pieces, max_size=12).map(lambda pieces: "dpe://h" + "".join(pieces)),
    st.lists(_pieces, max_size=12).map(lambda pieces: "window://h" + "".join(pieces)),
)


@st.composite
def mutated(draw: st.DrawFn, uris: st.SearchStrategy[str]) -> str:
    """Written URIs with a few pieces inserted, removed or replaced."""
    uri = draw(uris)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(uri)))
        uri = uri[:at] + draw(_pieces | st.just("")) + uri[at + draw(st.integers(0, 3)) :]
    return uri
