"""What Markdown means: every character that shows, with what it is. Two texts that mean the same give the same."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from markdown_it.token import Token

from tests.unit.documents.render.structure import PARSER

_STYLES: Final = {"strong": "strong", "em": "emphasis", "s": "strike"}


class Character(NamedTuple):
    """A character, or a picture (its address), with its styles and where it leads."""

    text: str
    styles: frozenset[str] = frozenset()
    url: str | None = None


def characters(tokens: list[Token]) -> list[Character]:
    """Return the characters of inline tokens; blanks and line breaks that only wrap are left out."""
    return list(_characters(tokens))


def _characters(tokens: list[Token]) -> Iterator[Character]:
    styles: list[str] = []
    urls: list[str] = []
    for token in tokens:
        kind = token.type.removesuffix("_open").removesuffix("_close")
        url = urls[-1] if urls else None
        if kind in _STYLES:
            styles.append(_STYLES[kind]) if token.nesting > 0 else styles.remove(_STYLES[kind])
        elif kind == "link":
            urls.append(str(token.attrs["href"])) if token.nesting > 0 else urls.pop()
        elif kind == "image":
            yield Character(f"picture {token.attrs['src']} {_alt(token)}", frozenset(styles), url)
        elif kind == "hardbreak":
            yield Character("\n")
        elif kind in ("text", "text_special", "code_inline"):
            told = frozenset([*styles, "code"] if kind == "code_inline" else styles)
            yield from (Character(one, told, url) for one in token.content if not one.isspace())


def _alt(token: Token) -> str:
    inside = (_alt(child) if child.children else child.content for child in token.children or [])
    return "".join("".join(inside).split())


def paragraph(markdown: str) -> list[Character]:
    """Return the characters of all inline text of some Markdown."""
    return [
        one for token in PARSER.parse(markdown) if token.type == "inline" for one in characters(token.children or [])
    ]


def expected(text: str, spans: list[dict[str, Any]]) -> list[Character]:
    """Return the characters of a text as its spans say."""
    found: list[Character] = []
    for at, one in enumerate(text):
        if one.isspace():
            continue
        here = [span for span in spans if span["start"] <= at < span["end"]]
        links = [span["url"] for span in here if span["kind"] == "link"]
        styles = frozenset(span["kind"] for span in here if span["kind"] in {*_STYLES.values(), "code"})
        found.append(Character(one, styles, PARSER.normalizeLink(links[-1]) if links else None))
    return found
