"""Page citations in what a model wrote: those of pages that it was shown stay, in one form; the others go. Pure."""

import re
from collections.abc import Container
from dataclasses import dataclass
from typing import Final

_DASH: Final = r"(?:[-‐‑‒–—−~～〜]|至|到|\bto\b|\bthrough\b|\.{2,3}|…)"
_LABEL: Final = r"(?:pages?|pgs?\.?|pp?\.?|第|页码?|頁碼?)\s*[:：=#]?\s*"
_END: Final = r"(?:\s*[页頁])?(?:\s?ff?\b\.?)?"
_NUMBER: Final = r"\d{1,12}"
_SPAN: Final = rf"(?:{_LABEL})?{_NUMBER}{_END}(?:\s*{_DASH}\s*(?:{_LABEL})?{_NUMBER}{_END})?"
_COMMA: Final = r"\s*(?:[,;，；、/&+]\s*(?:and\b|or\b|&)?|\band\b|\bor\b|和|与|與|及)\s*"
_SPANS: Final = rf"{_SPAN}(?:{_COMMA}{_SPAN})*"
_LEAD: Final = r"(?:(?:see|cf\.?|source|ref\.?|on|参见|參見|见|見|来源|出处)\s*[:：]?\s*)?"
_NO_MORE: Final = r"(?![\w%]|[.,]\d)"

_CITATION: Final = re.compile(
    # In brackets, with the word for a page anywhere in them.
    rf"[\[［【(（〔]\s*{_LEAD}(?P<inside>{_SPANS})\s*[\]］】)）〕]"
    # At the beginning of brackets that hold something else as well.
    rf"|(?<=[\[［【(（〔])\s*(?P<begins>(?:pages?|pp?\.?)\s?{_SPANS})(?=\s*[,;:，；：])"
    # Without brackets: a list only after a plural.
    rf"|(?<![\w.])(?P<many>(?:pages|pgs\.?|pp\.)\s*{_SPANS}){_NO_MORE}"
    rf"|(?<![\w.])(?P<one>(?:page|pg\.?|p\.)\s*(?=[1-9])\d{{1,12}}(?:\s?{_DASH}\s?\d{{1,12}})?){_NO_MORE}"
    rf"|(?P<wide>第\s*{_NUMBER}(?:\s*(?:{_DASH}|[,，、])\s*第?\s*{_NUMBER})*\s*[页頁]"
    rf"(?:\s*(?:{_DASH}|[,，、和与及])\s*第\s*{_NUMBER}\s*[页頁])*)",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"p|第|页|頁", re.IGNORECASE)
_RANGE: Final = re.compile(rf"({_NUMBER}){_END}(?:\s*{_DASH}\s*(?:{_LABEL})?({_NUMBER}))?", re.IGNORECASE)
_LOOSE: Final = re.compile(r"(?:\b(?:on|see|at|in|from|cf\.?)|参见|见|在|于)?[ \t]*\Z", re.IGNORECASE)
_BEFORE_STOP: Final = re.compile(r"[ \t]+(?=[.,;:!?)\]。，；：！？）】\n]|\Z)")


@dataclass(frozen=True, slots=True)
class Citation:
    """Pages `first` to `last`, counted from 1."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"[p{self.first}]" if self.first == self.last else f"[p{self.first}-{self.last}]"


@dataclass(frozen=True, slots=True)
class Cited:
    """A text in parts, and how many of its citations were dropped."""

    parts: list[str | Citation]
    dropped: int = 0


def cited_in(text: str, pages: Container[int]) -> Cited:
    """Take the citations out of a text; those that name other than `pages` are dropped."""
    parts: list[str | Citation] = []
    dropped = at = 0
    for match in _CITATION.finditer(text):
        written = match[match.lastgroup or 0]
        if match.lastgroup == "inside" and not _NAMED.search(written):
            continue  # [1] and (2, 3) cite something else
        kept, lost = _checked(written, pages)
        dropped += lost
        before = text[at : match.start()]
        if not kept:
            before = _LOOSE.sub("", before)
        parts.append(before)
        for citation in kept:
            parts += [citation, " "]
        if kept:
            parts.pop()
        at = match.end()
    parts.append(text[at:])
    if dropped:
        parts = _closed_up(parts)
    return Cited([part for part in parts if part != ""], dropped)


def is_citation(text: str) -> bool:
    """Whether a text is nothing but a citation, with or without brackets."""
    stripped = text.strip().strip("[]［］【】()（）")
    return bool(re.fullmatch(_SPANS, stripped, re.IGNORECASE) and _NAMED.search(stripped))


def _checked(written: str, pages: Container[int]) -> tuple[list[Citation], int]:
    kept, lost = [], 0
    for first, last in _RANGE.findall(written):
        low, high = int(first), int(last or first)
        # Both ends and what is between: a page that could not be read is cited by nobody.
        if low <= high and high - low < _LONGEST and all(page in pages for page in range(low, high + 1)):
            kept.append(Citation(low, high))
        else:
            lost += 1
    return kept, lost


_LONGEST: Final = 100_000


def _closed_up(parts: list[str | Citation]) -> list[str | Citation]:
    """Remove the blanks that a dropped citation leaves before a stop, within a part and between two."""
    joined: list[str | Citation] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    last = len(joined) - 1
    return [
        _BEFORE_STOP.sub("", part) if isinstance(part, str) and number == last else _inner(part)
        for number, part in enumerate(joined)
    ]


def _inner(part: str | Citation) -> str | Citation:
    return (
        _BEFORE_STOP.sub(lambda match: "" if match.end() < len(part) else match[0], part)
        if isinstance(part, str)
        else part
    )
