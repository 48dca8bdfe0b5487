"""The block of `key: value` lines between `---` lines that many Markdown files begin with. Pure.

Only what a catalogue needs is read (title, keywords, summary), in the plain forms people write; no YAML library is
asked, so nothing in a file can make one do more.
"""

import re
from dataclasses import dataclass
from typing import Final

_BLOCK = re.compile(r"---[^\S\n]*\n(.{0,16384}?)\n(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"([A-Za-z_][\w-]*):(?:[^\S\n]+(.*))?")
_ITEM = re.compile(r"\s*-\s+(.*)")
_BLOCK_SCALARS: Final = frozenset({"|", ">", "|-", ">-", "|+", ">+"})


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a file says of itself before it begins."""

    title: str = ""
    keywords: tuple[str, ...] = ()
    summary: str = ""


def split_front_matter(text: str) -> tuple[FrontMatter, str, int]:
    """Return the front matter, the rest of the text, and how many lines came before that rest."""
    match = _BLOCK.match(text)
    lines = match[1].split("\n") if match else []
    if match is None or not any(_PAIR.fullmatch(line) for line in lines):
        return FrontMatter(), text, 0
    values = _values(lines)
    front = FrontMatter(
        title=_first(values, "title"),
        keywords=tuple(values.get("keywords") or values.get("tags") or ()),
        summary=_first(values, "description", "summary"),
    )
    return front, text[match.end() :], match[0].count("\n")


def _values(lines: list[str]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    key, scalar = "", False
    for line in lines:
        pair = _PAIR.fullmatch(line)
        item = _ITEM.fullmatch(line)
        if pair:
            key, written = pair[1].lower(), (pair[2] or "").strip()
            scalar = written in _BLOCK_SCALARS
            values[key] = [] if scalar else _several(written, listed=key in ("keywords", "tags"))
        elif item and key and not scalar:
            values[key].append(_unquoted(item[1]))
        elif key and line.strip():
            values[key] = [" ".join([*values[key], line.strip()])]
    return values


def _several(written: str, *, listed: bool) -> list[str]:
    if listed:
        written = written.removeprefix("[").removesuffix("]")
        return [part for part in (_unquoted(part) for part in written.split(",")) if part]
    return [_unquoted(written)] if written else []


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text


def _first(values: dict[str, list[str]], *keys: str) -> str:
    return next((" ".join(values[key]) for key in keys if values.get(key)), "")
