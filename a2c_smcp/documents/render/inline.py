"""Text with spans as Markdown: emphasis, code, links and pictures, with everything else escaped.

A text is cut where spans begin and end; its pieces are written from left to right, the span that reaches farthest
first.
Markdown cannot say everything: where a delimiter would not count beside its neighbours, the emphasis gives up a
character of punctuation, or itself. The words are always all there.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from a2c_smcp.documents.render import escape
from a2c_smcp.documents.render.values import clean

Spans: TypeAlias = Sequence[Mapping[str, Any]]

_MARKS: Final = {"strike": "~~", "strong": "**", "emphasis": "*"}
_STARS: Final = frozenset({"strong", "emphasis"})
_APART: Final = "<!-- -->"
_TICKS: Final = re.compile("`+")
_AUTOLINK: Final = re.compile(r"(?:https?|ftp)://[!-;=?-~]+|mailto:[\w.+-]+@[\w.-]+", re.ASCII)
_END: Final = " "
_CELL_BREAK: Final = "\x00"  # stands for <br> while a cell is written; clean text cannot contain it
_BLANK: Final = "".join(
    map(chr, (0, 9, 10, 11, 12, 13, 32, 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288))
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some of the text that is all alike; a line break is a piece of its own."""

    text: str
    styles: frozenset[str] = frozenset()
    link: int = -1
    image: int = -1
    is_code: bool = False
    is_break: bool = False

    @property
    def is_bare(self) -> bool:
        return not self.is_code and self.image < 0


def paragraphs(text: str, spans: Spans) -> list[str]:
    """Return the paragraphs of a text, which blank lines separate, and its blocks of code."""
    found: list[str] = []
    at = 0
    for block in sorted((span for span in spans if span["kind"] == "code_block"), key=lambda span: int(span["start"])):
        start, end = max(at, int(block["start"])), min(int(block["end"]), len(text))
        if start < end:
            found += _plain_paragraphs(text, spans, at, start)
            found.append(escape.fenced(text[start:end], str(block.get("language", ""))))
            at = end
    return found + _plain_paragraphs(text, spans, at, len(text))


def item_paragraphs(text: str, spans: Spans) -> list[str]:
    """Return the paragraphs of a list item."""
    return escape.after_marker(paragraphs(text, spans))


def line(text: str, spans: Spans, *, in_cell: bool = False, in_label: bool = False) -> str:
    """Return a text as one line; line breaks are blanks, in a cell `<br>`."""
    lines = _lines(_pieces(text, spans))
    together = _joined([one for one in lines if one], between=_CELL_BREAK if in_cell else " ")
    return _Writer(spans, in_cell=in_cell).write(together, in_label=in_label)


def heading(text: str, spans: Spans) -> str:
    """Return a text as the inside of a heading."""
    return escape.open_hashes(line(text, spans))


def _plain_paragraphs(text: str, spans: Spans, start: int, end: int) -> list[str]:
    here = [
        {**span, "start": int(span["start"]) - start, "end": int(span["end"]) - start}
        for span in spans
        if (int(span["start"]) < end and int(span["end"]) > start)
        or (span["kind"] == "image" and start <= int(span["start"]) <= end)
    ]
    groups: list[list[list[_Piece]]] = [[]]
    for one in _lines(_pieces(text[start:end], here)):
        if one:
            groups[-1].append(one)
        else:
            groups.append([])
    joined = (_joined(group) for group in groups if group)
    found = (_Writer(here, marks=_line_marks(pieces)).write(pieces) for pieces in joined)
    return [paragraph for paragraph in found if paragraph]


def _line_marks(pieces: list[_Piece]) -> frozenset[int]:
    marks: set[int] = set()
    start = 0
    for number, one in enumerate("".join(piece.text for piece in pieces).split("\n")):
        marks |= {start + mark for mark in (escape.line_start_marks(one, first=number == 0) if one else ())}
        start += len(one) + 1
    return frozenset(marks)


# Cutting


def _pieces(text: str, spans: Spans) -> list[_Piece]:
    """Return a text cut where spans begin and end, and at its line breaks."""
    places = {0, len(text)}
    events: dict[int, list[int]] = {}
    empty: dict[int, list[int]] = {}
    for number, span in enumerate(spans):
        start, end = max(0, int(span["start"])), min(int(span["end"]), len(text))
        if start < end and span["kind"] != "code_block":
            places |= {start, end}
            events.setdefault(start, []).append(number)
        elif span["kind"] == "image" and start == end:
            places.add(start)
            empty.setdefault(start, []).append(number)
    found: list[_Piece] = []
    active: list[int] = []
    ordered = sorted(places)
    for at, place in enumerate(ordered):
        active = [number for number in active if min(int(spans[number]["end"]), len(text)) > place]
        found += (replace(_piece("", spans, active), image=number) for number in empty.get(place, ()))
        active += events.get(place, ())
        if at + 1 < len(ordered):
            _add(found, _piece(text[place : ordered[at + 1]], spans, active))
    return found


def _piece(text: str, spans: Spans, active: list[int]) -> _Piece:
    kinds = {spans[number]["kind"]: number for number in active}
    return _Piece(
        clean(text),
        frozenset(kind for kind in _MARKS if kind in kinds),
        kinds.get("link", -1) if "link" in kinds and escape.is_linkable(_url(spans, kinds["link"])) else -1,
        kinds.get("image", -1),
        "code" in kinds and "image" not in kinds,
        "break" in kinds,
    )


def _url(spans: Spans, number: int) -> str:
    return str(spans[number].get("url", "")).strip()


def _add(found: list[_Piece], piece: _Piece) -> None:
    last = found[-1] if found else None
    if last and piece.image >= 0 and piece.image == last.image:
        found[-1] = replace(last, text=last.text + piece.text)
    elif piece.image >= 0 or (piece.is_code and not piece.is_break):
        found.append(replace(piece, text=piece.text.replace("\n", " ")))
    else:
        found.append(piece)


def _lines(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Return the lines of a text without blanks at their ends; those that show nothing are empty."""
    lines: list[list[_Piece]] = [[]]
    for piece in pieces:
        parts = piece.text.split("\n")
        for number, part in enumerate(parts):
            if number:
                # The break itself goes with the line before it, where `_joined` finds it.
                lines[-1].append(replace(piece, text="\n"))
                lines.append([])
            if part or piece.image >= 0:
                lines[-1].append(replace(piece, text=part, is_break=False))
    return [_stripped(one) for one in lines]


def _stripped(pieces: list[_Piece]) -> list[_Piece]:
    ends = [piece for piece in pieces if piece.text == "\n"]
    kept = [piece for piece in pieces if piece.text != "\n"]
    while kept and kept[0].is_bare and not (text := kept[0].text.lstrip(" \t")):
        kept = kept[1:]
    if kept and kept[0].is_bare:
        kept[0] = replace(kept[0], text=text)
    while kept and kept[-1].is_bare and not (text := kept[-1].text.rstrip(" \t")):
        kept = kept[:-1]
    if kept and kept[-1].is_bare:
        kept[-1] = replace(kept[-1], text=text)
    if all(piece.is_bare and not piece.text.strip() for piece in kept):
        return []
    return kept + ends


def _joined(lines: list[list[_Piece]], between: str = "\n") -> list[_Piece]:
    """Return lines as one run of pieces, with `between` for the line breaks."""
    found: list[_Piece] = []
    for number, one in enumerate(lines):
        inside = [piece for piece in one if piece.text != "\n" or piece.image >= 0]
        if number:
            last, first = found[-1], inside[0]
            link = last.link if last.link == first.link else -1
            is_hard = between == "\n" and any(piece.is_break for piece in lines[number - 1] if piece.text == "\n")
            found.append(_Piece(between, last.styles & first.styles, link, is_break=is_hard))
        found += inside
    return found


# Writing


class _Around(NamedTuple):
    """What holds where pieces are written: the styles and the link that are open, and what will follow."""

    active: frozenset[str] = frozenset()
    in_link: bool = False
    after: str = _END

    def following(self, pieces: Sequence[_Piece]) -> str:
        """Return what will be written for these pieces, as far as a delimiter before them has to know."""
        if not pieces:
            return self.after
        piece = pieces[0]
        if not piece.is_bare:
            return "`"
        if not piece.text or piece.text[0] in _BLANK:
            return piece.text[:1] or _END
        if piece.link >= 0 and not self.in_link:
            return "["
        return "_" if piece.styles - self.active else piece.text[0]

    def before(self, pieces: Sequence[_Piece]) -> "_Around":
        """Return what holds for pieces that these come after."""
        return self._replace(after=self.following(pieces))


@dataclass(slots=True)
class _Writer:
    spans: Spans
    in_cell: bool = False
    out: list[str] = field(default_factory=list)
    last: str = _END
    closed: str = ""
    """The character of the delimiter that was closed last, as long as nothing follows it."""
    opened: str = ""
    """What stood before the delimiters that were opened last, as long as nothing follows them."""
    merged: bool = False
    """Whether strong emphasis and emphasis have begun as one run of stars, which others inside could close."""
    marks: frozenset[int] = frozenset()
    """Where lines would begin something other than a paragraph, as places of the plain text."""
    offset: int = 0
    """How much of the plain text has been written."""

    def write(self, pieces: list[_Piece], *, in_label: bool = False) -> str:
        self.last = "[" if in_label else _END
        self.merged, self.offset = False, 0
        self._write(pieces, _Around(in_link=in_label, after="]" if in_label else _END))
        return "".join(self.out).replace(_CELL_BREAK, "<br>")

    def _write(self, pieces: list[_Piece], around: _Around) -> None:
        at = 0
        while at < len(pieces):
            link_end = _reach(pieces, at, lambda one, other: one.link == other.link)
            link_end = at if around.in_link or pieces[at].link < 0 else link_end
            ends = {
                style: _reach(pieces, at, partial(_share, style))
                for style in _MARKS
                if style in pieces[at].styles and style not in around.active
            }
            if not around.in_link:
                ends = {style: _whole_links(pieces, at, end) for style, end in ends.items()}
            style = max(ends, key=lambda one: ends[one], default="")
            if link_end > at and link_end >= ends.get(style, 0):
                self._link(pieces[at:link_end], around.active)
                at = link_end
            elif ends.get(style, at) > at:
                end = ends[style]
                self._styled(pieces[at:end], style, around.before(pieces[end:]))
                at = end
            else:
                end = _reach(pieces, at, _are_one_code) if pieces[at].is_code else at + 1
                self._leaf(pieces[at:end])
                self.offset += sum(len(piece.text) for piece in pieces[at:end])
                at = end

    def _styled(self, pieces: list[_Piece], style: str, around: _Around) -> None:
        """Write pieces that all have a style, which gives up blanks and what delimiters cannot stand beside."""
        head, inner, tail = _apart(pieces)
        mark, done = _MARKS[style], around.active | {style}
        if inner:
            edges = [
                _edge(piece, mark, done, at, in_link=around.in_link) for piece, at in ((inner[0], 0), (inner[-1], -1))
            ]
            before = head[-1].text[-1] if head else self.opened if self.opened and self.last == mark[0] else self.last
            after = around.following(tail).lstrip(mark[0])[:1] or _END
            if self.merged and around.active & _STARS and mark[0] == "*" and _can_close(before, edges[0]):
                head, inner, tail = [*head, *inner, *tail], [], []
            elif not (_is_word(edges[0]) or _is_outside(before)):
                given, inner = _first_apart(inner)
                head += given
            elif not (_is_word(edges[1]) or _is_outside(after)):
                inner, given = _last_apart(inner)
                tail = given + tail
            else:
                self._plain(head, style, around.before(inner))
                self._delimited(inner, style, around.before([_without(piece, style) for piece in tail]))
                self._plain(tail, style, around)
                return
        rest = [*inner, *(_without(piece, style) for piece in tail)]
        self._plain(head, style, around.before(rest))
        if rest:
            self._write(rest, around)

    def _plain(self, pieces: list[_Piece], style: str, around: _Around) -> None:
        self._write([_without(piece, style) for piece in pieces], around)

    def _delimited(self, inner: list[_Piece], style: str, around: _Around) -> None:
        mark = _MARKS[style]
        if self.closed == mark[0]:
            mark = self._told_apart(mark, around.after)
        before = self.last
        if self.opened and self.last == mark[0]:
            before, self.merged = self.opened, True
        self._put(mark, mark[-1])
        self.opened = before
        self._write(inner, around._replace(active=around.active | {style}, after=mark + around.after))
        self._put(mark, mark[-1])
        self.closed = mark[0]
        self.merged = self.merged and bool(around.active & _STARS)

    def _told_apart(self, mark: str, after: str) -> str:
        """Return a delimiter that is not taken for more of the one before it."""
        if mark[0] == "*" and _is_outside(after.lstrip("*")[:1] or _END):
            return mark.replace("*", "_")
        self._put(_APART, ">")
        return mark

    def _link(self, pieces: list[_Piece], active: frozenset[str]) -> None:
        span = self.spans[pieces[0].link]
        url, title = _url(self.spans, pieces[0].link), " ".join(clean(str(span.get("title", ""))).split())
        plain = len(pieces) == 1 and pieces[0].is_bare and not pieces[0].styles - active
        if plain and not title and _AUTOLINK.fullmatch(url) and pieces[0].text in (url, url.removeprefix("mailto:")):
            self._put(f"<{pieces[0].text}>", ">")
            return
        if self.out and self.out[-1].endswith("!"):
            self.out[-1] = self.out[-1][:-1] + "\\!"
        self._put("[", "[")
        self._write(pieces, _Around(active, in_link=True, after="]"))
        self._put(f"]({_target(url, title, in_cell=self.in_cell)})", ")")

    def _leaf(self, pieces: list[_Piece]) -> None:
        piece = pieces[0]
        if piece.image >= 0:
            self._image(piece)
        elif piece.is_code:
            if self.last == "`":
                self._put(_APART, ">")
            # A line that begins with brackets and a colon is a definition, also where these stand in code.
            text = "".join(one.text for one in pieces)
            parts = text.replace("]:", "]\n:").split("\n") if self.out[:1] == ["["] else [text]
            self._put(_APART.join(_code(part, in_cell=self.in_cell) for part in parts), "`")
        elif piece.text == "\n":
            self._put("\\\n" if piece.is_break else "\n", "\n")
        elif piece.text:
            marks = {mark - self.offset for mark in self.marks if 0 <= mark - self.offset < len(piece.text)}
            self._put(escape.literal(piece.text, marks, in_cell=self.in_cell), piece.text[-1])

    def _image(self, piece: _Piece) -> None:
        url = _url(self.spans, piece.image)
        title = " ".join(clean(str(self.spans[piece.image].get("title", ""))).split())
        if url and escape.is_linkable(url):
            alt = escape.label(piece.text, in_cell=self.in_cell)
            self._put(f"![{alt}]({_target(url, title, in_cell=self.in_cell)})", ")")
        elif piece.text.strip():
            self._put(escape.literal(piece.text, set(), in_cell=self.in_cell), piece.text[-1])

    def _put(self, text: str, last: str) -> None:
        if text:
            self.out.append(text)
            self.last, self.closed, self.opened = last, "", ""


def _reach(pieces: list[_Piece], at: int, belongs: Callable[[_Piece, _Piece], bool]) -> int:
    """Return where the pieces end that belong to the one at a place."""
    end = at
    while end < len(pieces) and belongs(pieces[end], pieces[at]):
        end += 1
    return end


def _share(style: str, one: _Piece, _: _Piece) -> bool:
    return style in one.styles


def _are_one_code(one: _Piece, other: _Piece) -> bool:
    return one.is_code and one.image < 0 and (one.styles, one.link) == (other.styles, other.link)


def _target(url: str, title: str, *, in_cell: bool) -> str:
    if not title:
        return escape.destination(url)
    told = re.sub(r'([\\"&<|])' if in_cell else r'([\\"&<])', r"\\\1", title)
    return f'{escape.destination(url) or "<>"} "{told}"'


def _code(text: str, *, in_cell: bool) -> str:
    text = text.replace(_CELL_BREAK, " ")
    if not text:
        return ""
    runs = {len(run) for run in _TICKS.findall(text)}
    fence = next("`" * length for length in range(1, len(runs) + 2) if length not in runs)
    pad = " " if text[0] == "`" or text[-1] == "`" or (text[0] == text[-1] == " " and text.strip()) else ""
    return f"{fence}{pad}{text.replace('|', chr(92) + '|') if in_cell else text}{pad}{fence}"


def _without(piece: _Piece, style: str) -> _Piece:
    return replace(piece, styles=piece.styles - {style})


def _apart(pieces: list[_Piece]) -> tuple[list[_Piece], list[_Piece], list[_Piece]]:
    """Return blanks before, the rest, and blanks after: no delimiter counts beside a blank inside of it."""
    head: list[_Piece] = []
    tail: list[_Piece] = []
    inner = list(pieces)
    while inner and inner[0].is_bare and (text := inner[0].text.lstrip(_BLANK)) != inner[0].text:
        head.append(replace(inner[0], text=inner[0].text[: len(inner[0].text) - len(text)]))
        inner = [replace(inner[0], text=text), *inner[1:]] if text else inner[1:]
    while inner and inner[-1].is_bare and (text := inner[-1].text.rstrip(_BLANK)) != inner[-1].text:
        tail.insert(0, replace(inner[-1], text=inner[-1].text[len(text) :]))
        inner = [*inner[:-1], replace(inner[-1], text=text)] if text else inner[:-1]
    return head, inner, tail


def _first_apart(pieces: list[_Piece]) -> tuple[list[_Piece], list[_Piece]]:
    """Return the first character, or the first piece where it cannot be divided, and the rest."""
    first = pieces[0]
    if first.is_bare and len(first.text) > 1:
        return [replace(first, text=first.text[0])], [replace(first, text=first.text[1:]), *pieces[1:]]
    return [first], pieces[1:]


def _last_apart(pieces: list[_Piece]) -> tuple[list[_Piece], list[_Piece]]:
    """Return all but the last character, or the last piece where it cannot be divided, and that."""
    last = pieces[-1]
    if last.is_bare and len(last.text) > 1:
        return [*pieces[:-1], replace(last, text=last.text[:-1])], [replace(last, text=last.text[-1])]
    return pieces[:-1], [last]


def _whole_links(pieces: list[_Piece], at: int, end: int) -> int:
    """Return an end that cuts no link in two."""
    if end < len(pieces) and pieces[end].link >= 0 and pieces[end - 1].link == pieces[end].link:
        while end > at and pieces[end - 1].link == pieces[end].link:
            end -= 1
    return end


def _edge(piece: _Piece, mark: str, done: frozenset[str], at: int, *, in_link: bool) -> str:
    """Return the character that a delimiter has on its inner side."""
    if not piece.is_bare:
        return "`"
    if piece.link >= 0 and not in_link:
        return "["
    # Delimiters of one character count as one run; others are punctuation.
    others = {_MARKS[one][0] for one in piece.styles - done} - {mark[0]}
    return next(iter(others), piece.text[at])


def _is_word(character: str) -> bool:
    return not character.isspace() and character != _CELL_BREAK and unicodedata.category(character)[0] not in "PSZC"


def _can_close(before: str, inner: str) -> bool:
    """Whether a delimiter that opens could close one as well."""
    return not before.isspace() and (_is_word(before) or not _is_word(inner))


def _is_outside(character: str) -> bool:
    """Whether a delimiter counts beside it whatever is inside: a blank, or punctuation by every definition."""
    kind = unicodedata.category(character)
    return kind[0] == "P" or kind == "Zs" or character in f"{_CELL_BREAK}\t\n\f\r<>`~$+=^|"
