"""`dpe://{host}/{doc-ref}[/pages/{N}|/elements/{ID}][?query]`: documents, their pages and elements. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias, cast

from a2c_smcp.errors import InvalidDPEUri
from a2c_smcp.types import CATEGORIES, ElementCategory
from a2c_smcp.uris import syntax
from a2c_smcp.uris.syntax import NUMBER, Breach, Param, Scheme

Format: TypeAlias = Literal["json", "markdown", "text"]
Depth: TypeAlias = Literal["metadata", "pages"]

DEFAULT_FORMAT: Final[Format] = "json"
DEFAULT_DEPTH: Final[Depth] = "metadata"
DEFAULT_OFFSET: Final = 0
DEFAULT_LIMIT: Final = 20

SUB_PATH: Final = 3

_CATEGORY: Final = f"(?:{'|'.join(CATEGORIES)})"
_DPE = Scheme(
    name="dpe",
    error=InvalidDPEUri,
    rules=("syntax", "scheme", "host", "sub-path", "format", "depth", "offset", "limit", "categories"),
    path_rule=SUB_PATH,
    params={
        "format": Param(4, re.compile("json|markdown|text"), "json, markdown or text"),
        "depth": Param(5, re.compile("metadata|pages"), "metadata or pages"),
        "offset": Param(6, re.compile(NUMBER), f"a non-negative integer of at most {syntax.MAX_DIGITS} digits"),
        "limit": Param(7, re.compile("0{0,15}(?:100|[1-9][0-9]?)"), "an integer from 1 to 100"),
        "categories": Param(
            8,
            re.compile(f"{_CATEGORY}(?:,{_CATEGORY})*"),
            f"a comma-separated list, without blanks, of {', '.join(CATEGORIES)}",
            item=re.compile(_CATEGORY),
        ),
    },
)

_NUMBER = re.compile(NUMBER)
_PLAIN = re.compile(
    rf"[Dd][Pp][Ee]://({syntax.PLAIN_HOST})"
    rf"(?:/(?:({syntax.PLAIN_SEGMENT})(?:/pages/({NUMBER})|/elements/({syntax.PLAIN_SEGMENT}))?)?)?"
    rf"(?:\?({syntax.plain_pairs(_DPE.params)})?)?"
)


@dataclass(frozen=True, slots=True)
class ParsedDPEUri:
    """A `dpe://` URI in its parts, with `doc_ref` and the element id decoded. `str()` gives the canonical URI.

    The constructor keeps what it is given; the parts are checked when the URI is built.
    """

    scheme: str
    host: str
    doc_ref: str | None
    sub_path: str | None
    query_params: dict[str, str]

    def __hash__(self) -> int:
        return hash((self.host, self.doc_ref, self.sub_path, frozenset(self.query_params.items())))

    def __str__(self) -> str:
        if self.scheme != _DPE.name:
            breach = Breach(syntax.SCHEME, self.scheme, f"the scheme must be {_DPE.name}")
            raise _DPE.error_of(breach, f"{self.scheme}://{self.host}")
        return build_dpe_uri(self.host, self.doc_ref, self.sub_path, self.query_params)

    @property
    def level(self) -> int:
        """0 catalogue, 1 document, 2 page, 3 element; -1 for a sub-path that is neither page nor element."""
        if self.doc_ref is None:
            return 0
        if self.sub_path is None:
            return 1
        if self.sub_path.startswith("pages/"):
            return 2
        if self.sub_path.startswith("elements/"):
            return 3
        return -1

    @property
    def page_index(self) -> int | None:
        """The page, counted from 0, of a level 2 URI."""
        return int(self.sub_path.removeprefix("pages/")) if self.sub_path and self.level == 2 else None

    @property
    def element_id(self) -> str | None:
        """The element of a level 3 URI, decoded: it may contain slashes."""
        return self.sub_path.removeprefix("elements/") if self.sub_path and self.level == 3 else None

    @property
    def format(self) -> Format:
        """How the content is asked for, by default as JSON."""
        return cast("Format", self.query_params.get("format", DEFAULT_FORMAT))

    @property
    def depth(self) -> Depth:
        """Whether a document comes with its page index, by default without."""
        return cast("Depth", self.query_params.get("depth", DEFAULT_DEPTH))

    @property
    def offset(self) -> int:
        """The first page of the page index, by default 0."""
        return int(self.query_params.get("offset", DEFAULT_OFFSET))

    @property
    def limit(self) -> int:
        """The most pages in the page index, by default 20."""
        return int(self.query_params.get("limit", DEFAULT_LIMIT))

    @property
    def categories(self) -> tuple[ElementCategory, ...]:
        """The categories of elements asked for, by default all."""
        written = self.query_params.get("categories")
        return CATEGORIES if written is None else cast("tuple[ElementCategory, ...]", tuple(written.split(",")))


def parse_dpe_uri(raw: str) -> ParsedDPEUri:
    """Return the parts of a `dpe://` URI.

    Raises:
        InvalidDPEUri: One of the eight rules is broken; `details` name the rule and the offending part.
    """
    known = _remember(raw) if len(raw) <= syntax.SHORT else _remember_long(raw)
    # What is remembered is shared; a caller may change its own parameters.
    return ParsedDPEUri(known.scheme, known.host, known.doc_ref, known.sub_path, known.query_params.copy())


def is_valid_dpe_uri(uri: object) -> bool:
    """Whether this is a `dpe://` URI, of any level, that breaks no rule."""
    if not isinstance(uri, str):
        return False
    try:
        parse_dpe_uri(uri)
    except InvalidDPEUri:
        return False
    return True


def build_dpe_uri(
    host: str, doc_ref: str | None = None, sub_path: str | None = None, params: Mapping[str, str] | None = None
) -> str:
    """Return the canonical URI of decoded parts: `build_dpe_uri("h", "a/b", "pages/7")` is `dpe://h/a%2Fb/pages/7`.

    Raises:
        InvalidDPEUri: A part breaks its rule.
    """
    try:
        syntax.check_text(host, doc_ref, sub_path)
        syntax.check_host(host)
        return _DPE.join(host, _segments(doc_ref, sub_path), params or {})
    except Breach as breach:
        attempt = "/".join(part for part in (host, doc_ref, sub_path) if part is not None)
        raise _DPE.error_of(breach, f"{_DPE.name}://{attempt}") from None


def _parse(raw: str) -> ParsedDPEUri:
    return _parse_plain(raw) or _parse_carefully(raw)


_remember = lru_cache(maxsize=syntax.REMEMBERED)(_parse)
_remember_long = lru_cache(maxsize=syntax.REMEMBERED_LONG)(_parse)


def _parse_plain(raw: str) -> ParsedDPEUri | None:
    """Read the common shapes in one match; None for everything that wants a closer look."""
    match = _PLAIN.fullmatch(raw) if syntax.stays_short(raw) else None
    if match is None:
        return None
    host, doc_ref, page, element, query = match.groups()
    params = syntax.plain_query(query)
    if params is None:
        return None
    try:
        if doc_ref is not None and "%" in doc_ref:
            doc_ref = syntax.decode(doc_ref)
        if page is not None:
            sub_path = f"pages/{int(page)}"
        elif element is not None:
            sub_path = "elements/" + (syntax.decode(element) if "%" in element else element)
        else:
            sub_path = None
    except Breach:
        return None
    return ParsedDPEUri(_DPE.name, host, doc_ref, sub_path, params)


def _parse_carefully(raw: str) -> ParsedDPEUri:
    try:
        host, segments, query = _DPE.split(raw)
        doc_ref = segments[0] if segments else None
        place = _place(doc_ref, segments[1:])
        params = _DPE.query(query)
        if syntax.may_grow_too_long(raw):
            _DPE.join(host, [*segments[:1], *place], params)
    except Breach as breach:
        raise _DPE.error_of(breach, raw) from None
    return ParsedDPEUri(_DPE.name, host, doc_ref, "/".join(place) or None, params)


def _segments(doc_ref: str | None, sub_path: str | None) -> list[str]:
    if doc_ref is None:
        if sub_path is not None:
            raise Breach(SUB_PATH, sub_path, "a page or an element belongs to a document: give its doc-ref too")
        return []
    if not doc_ref:
        raise Breach(SUB_PATH, doc_ref, "the doc-ref is empty: leave it out to address the catalogue")
    return [doc_ref] if sub_path is None else [doc_ref, *_place(doc_ref, sub_path.split("/", 1))]


def _place(doc_ref: str | None, sub_path: list[str]) -> tuple[str, ...]:
    """Return where in the document a decoded sub-path points: nowhere, at a page, or at an element."""
    match sub_path:
        case []:
            return ()
        case ["pages", index] if _NUMBER.fullmatch(index):
            return "pages", str(int(index))
        case ["elements", element_id] if element_id:
            return "elements", element_id
        case _:
            raise Breach(SUB_PATH, "/".join(sub_path), _advice(doc_ref, sub_path))


def _advice(doc_ref: str | None, sub_path: list[str]) -> str:
    match sub_path:
        case ["pages"]:
            return "the page index is missing, as in pages/0"
        case ["pages", index]:
            return f"a page index is at most {syntax.MAX_DIGITS} digits, as in pages/0, not {syntax.quoted(index)}"
        case ["pages", *_]:
            return "nothing may follow the page index, as in pages/0"
        case ["elements"] | ["elements", ""]:
            return "the element id is missing, as in elements/tbl-001"
        case ["elements", *_]:
            return "an element id is one segment: write %2F for the slashes in it"
        case _ if doc_ref in {"pages", "elements"}:
            return f"the doc-ref before {doc_ref!r} is missing, as in dpe://host/doc-ref/{doc_ref}/…"
        case _:
            return f"a sub-path is pages/{{N}} or elements/{{ID}}, not {syntax.quoted('/'.join(sub_path))}"
