"""Text and what its parts are: emphasis, code, links, pictures, line breaks. Pure.

Readers of formats that know such things work on `RichText` while they put blanks in order; elements get its plain text
and, beside it, its spans. Offsets are counted in characters (code points), as Python counts them.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["strong", "emphasis", "strike", "code", "link", "image", "break", "code_block"]

MAX_SPANS: Final = 2_000
"""Of one text; a text with more is a table of links, and the rest of it is plain."""


class Span(NamedTuple):
    """A part of a text; `url` of links and pictures, `title` what they add, `language` of a block of code."""

    start: int
    end: int
    kind: Kind
    url: str = ""
    title: str = ""
    language: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of it; a picture without words is still one."""
        return self.start >= self.end and self.kind != "image"


@dataclass(frozen=True, slots=True)
class RichText:
    """A text with its spans."""

    text: str = ""
    spans: tuple[Span, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text)

    def cut(self, start: int, end: int) -> "RichText":
        """Return the part between two offsets."""
        if not self.spans:
            return RichText(self.text[start:end])
        kept = (
            span._replace(start=max(span.start, start) - start, end=min(span.end, end) - start)
            for span in self.spans
            if span.start <= end and span.end >= start
        )
        return RichText(self.text[start:end], tuple(span for span in kept if not span.is_empty))

    def strip(self, characters: str | None = None) -> "RichText":
        """Return it without blanks, or these characters, at its ends."""
        start = len(self.text) - len(self.text.lstrip(characters))
        end = len(self.text.rstrip(characters))
        if (start, end) == (0, len(self.text)):
            return self
        end = max(start, end)
        # A picture without words may stand among the blanks.
        kept = (span._replace(start=min(span.start, end), end=min(span.end, end)) for span in self.spans)
        return RichText(self.text, tuple(span._replace(end=max(span.start, span.end)) for span in kept)).cut(start, end)

    def replaced(self, pattern: re.Pattern[str], by: str) -> "RichText":
        """Return it with `by` for every match of a pattern."""
        if not self.spans:
            return RichText(pattern.sub(by, self.text))
        edits = [(match.start(), match.end()) for match in pattern.finditer(self.text)]
        if not edits:
            return self
        text = by.join([self.text[a:b] for (_, a), (b, _) in _between(edits, len(self.text))])
        places = _Places(edits, len(by))
        moved = (span._replace(start=places.start(span.start), end=places.end(span.end)) for span in self.spans)
        return RichText(text, tuple(span for span in moved if not span.is_empty))

    def one_line(self) -> "RichText":
        """Return it with every run of blanks and line breaks as one blank."""
        kept = RichText(self.text, tuple(span for span in self.spans if span.kind != "break"))
        return kept.replaced(_BLANKS, " ").strip()

    def marked(self, kind: Kind, url: str = "", title: str = "", language: str = "") -> "RichText":
        """Return it with all of it as one more span, around the others."""
        return RichText(self.text, (Span(0, len(self.text), kind, url, title, language), *self.spans))

    def without_whole(self, *kinds: Kind) -> "RichText":
        """Return it without spans of these kinds that cover all of it: a heading is bold anyway."""
        length = len(self.text)
        return RichText(
            self.text,
            tuple(span for span in self.spans if span.kind not in kinds or (span.start, span.end) != (0, length)),
        )

    def tidy(self) -> "RichText":
        """Return it with its spans in order, neighbours of one kind as one, and no blanks at their ends."""
        found: list[Span] = []
        open_at: dict[tuple[Any, ...], int] = {}
        for given in sorted(self.spans, key=lambda one: (one.start, -one.end))[:MAX_SPANS]:
            span = _trimmed(given, self.text)
            if span.is_empty:
                continue
            key = tuple(span[2:])
            at = open_at.get(key)
            if (
                at is not None
                and span.kind not in ("image", "break", "code_block")
                and _touch(found[at], span, self.text)
            ):
                found[at] = found[at]._replace(end=max(found[at].end, span.end))
            else:
                open_at[key] = len(found)
                found.append(span)
        return RichText(self.text, tuple(found))


PLAIN: Final = RichText()
_BLANKS: Final = re.compile(r"\s+")


def joined(parts: Iterable[RichText], between: str = "") -> RichText:
    """Return texts as one."""
    texts: list[str] = []
    spans: list[Span] = []
    length = 0
    for part in parts:
        if texts and between:
            length += len(between)
        spans += (span._replace(start=span.start + length, end=span.end + length) for span in part.spans)
        texts.append(part.text)
        length += len(part.text)
    return RichText(between.join(texts), tuple(spans))


class RichBuilder:
    """Puts a text together piece by piece; a span reaches from where the text was to where it is."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self._spans: list[Span] = []

    def add(self, text: str) -> None:
        """Append a text."""
        self.parts.append(text)
        self.length += len(text)

    def mark(self, start: int, kind: Kind, url: str = "", title: str = "") -> None:
        """Note what the text from `start` on is."""
        if self.length > start or kind == "image":
            self._spans.append(Span(start, self.length, kind, url, title))

    def build(self) -> RichText:
        """Return what was put together."""
        return RichText("".join(self.parts), tuple(self._spans))


# Content


def spans_json(rich: RichText) -> list[dict[str, Any]]:
    """Return the spans of a text as its content tells them."""
    return [
        {"start": span.start, "end": span.end, "kind": span.kind}
        | {
            key: value
            for key, value in (("url", span.url), ("title", span.title), ("language", span.language))
            if value
        }
        for span in rich.tidy().spans
    ]


def text_content(rich: RichText, **others: Any) -> dict[str, Any]:
    """Return the content of a text: its words, and its spans where it has any."""
    content = {**others, "text": rich.text}
    return content | {"spans": spans} if rich.spans and (spans := spans_json(rich)) else content


def item_content(rich: RichText) -> str | dict[str, Any]:
    """Return a list item: its words where it has no spans."""
    content = text_content(rich)
    return content if "spans" in content else rich.text


def cell_spans(lines: Iterable[Sequence[RichText | None]], first: int = 0) -> list[dict[str, Any]]:
    """Return the spans of the cells of some lines of a table, whose first line is counted as `first`."""
    return [
        {"row": row, "column": column, "spans": spans}
        for row, line in enumerate(lines, first)
        for column, cell in enumerate(line)
        if cell is not None and cell.spans and (spans := spans_json(cell))
    ]


def _between(edits: list[tuple[int, int]], length: int) -> Iterable[tuple[tuple[int, int], tuple[int, int]]]:
    return zip([(0, 0), *edits], [*edits, (length, length)], strict=True)


class _Places:
    """Where offsets of a text are after parts of it have been replaced."""

    def __init__(self, edits: list[tuple[int, int]], width: int) -> None:
        self._edits, self._width = edits, width
        self._ends = [end for _, end in edits]
        self._shift = [0]
        for start, end in edits:
            self._shift.append(self._shift[-1] + width - (end - start))

    def start(self, place: int) -> int:
        return self._at(place, inside=self._width)

    def end(self, place: int) -> int:
        return self._at(place, inside=0)

    def _at(self, place: int, inside: int) -> int:
        number = bisect_left(self._ends, place)
        if number < len(self._edits) and self._edits[number][0] < place < self._edits[number][1]:
            return self._edits[number][0] + self._shift[number] + inside
        if number < len(self._edits) and self._edits[number][1] == place > self._edits[number][0]:
            number += 1
        return place + self._shift[number]


def _trimmed(span: Span, text: str) -> Span:
    start, end = max(0, span.start), min(span.end, len(text))
    if span.kind in ("strong", "emphasis", "strike", "link"):
        part = text[start:end]
        start, end = start + len(part) - len(part.lstrip()), start + len(part.rstrip())
    return span._replace(start=start, end=end)


def _touch(first: Span, second: Span, text: str) -> bool:
    """Whether nothing but blanks is between two spans; between two pieces of code not even these."""
    if second.start <= first.end:
        return True
    return (
        first.kind != "code"
        and text[first.end : second.start].isspace()
        and "\n\n" not in text[first.end : second.start]
    )
