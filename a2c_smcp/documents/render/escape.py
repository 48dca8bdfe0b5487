r"""Text as Markdown that shows just that text, with as few escapes as that takes.

CommonMark with the tables and strikethrough of GitHub. A character is escaped only where it would take effect: the
underscores of `snake_case`, the stars of `2 * 3 * 4` and the bracket of `[1]` stay as they are. Where telling exactly
is not worth it, the rules here err on the side of one backslash too many.

Escapes are worked out on the whole of an inline text (a paragraph, a cell, a heading), because what one character does
depends on the others; `_inline_marks` and `_line_marks` return positions, and `_put` writes the backslashes.
"""

import re
import string
from html.entities import html5
from typing import Final
from urllib.parse import quote

from a2c_smcp.documents.render.values import clean, one_line

_BREAK: Final = "\x00"  # stands for <br> while a cell is worked on; clean text cannot contain it

_INTERESTING: Final = re.compile(r"[\\`*_~<&\]]")
_PUNCTUATION: Final = re.escape(string.punctuation)
_BACKSLASH: Final = re.compile(rf"\\(?=[{_PUNCTUATION}\n{_BREAK}]|\Z)")
_TICKS: Final = re.compile("`+")
_DELIMITERS: Final = {mark: re.compile(f"{re.escape(mark)}+") for mark in "*_~"}
_ENTITY: Final = re.compile(r"&(?:#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|([A-Za-z][A-Za-z0-9]{1,31}));")
_ENTITY_START: Final = re.compile(r"&#?[A-Za-z0-9]{0,31}\Z")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?]|[^\s<>@]*@)")
_LINK_TAIL: Final = re.compile(r"\](?=\()")

_THEMATIC: Final = re.compile(r"([-_*])(?:[ \t]*\1){2,}[ \t]*\Z")
_BULLET: Final = re.compile(r"[-+*](?=[ \t]|\Z)")
_NUMBER: Final = re.compile(r"([0-9]{1,9})[.)](?=[ \t]|\Z)")
_HEADING: Final = re.compile(r"#{1,6}(?=[ \t]|\Z)")
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_SETEXT: Final = re.compile(r"=+\Z")
_TABLE_RULE: Final = re.compile(r"[|:-][|: \t-]*\Z")
_AFTER_MARKER: Final = re.compile(r"\[[ xX]\](?!\S)|-[- \t]*$", re.MULTILINE)
_CLOSING_HASHES: Final = re.compile(r"(?:(?<=[ \t])|\A)#+\Z")

_FENCE_TICKS: Final = re.compile("`{3,}")
_PARAGRAPH_END: Final = re.compile(r"\n\s*\n")
_NOT_IN_URLS: Final = re.compile(r'[\s\x00-\x20\x7f<>"\\^`{|}]')
_REFUSED: Final = re.compile(r"(?:javascript|vbscript|file|data(?!:image/(?:gif|png|jpeg|webp);)):", re.IGNORECASE)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of `text`, which blank lines separate; line breaks inside them stay."""
    found = (_paragraph(block) for block in _PARAGRAPH_END.split(clean(text)))
    return [paragraph for paragraph in found if paragraph]


def item_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a list item.

    After its marker, `[x]` would be a task and dashes alone a thematic break.
    """
    return after_marker(paragraphs(text))


def after_marker(found: list[str]) -> list[str]:
    """Return paragraphs of a list item so that the first of them is not taken for a task or a thematic break."""
    if found and _AFTER_MARKER.match(found[0]):
        found[0] = "\\" + found[0]
    return found


def literal(text: str, marks: set[int], *, in_cell: bool = False) -> str:
    """Return a piece of a text that has Markdown around it, with everything escaped that could join in with that.

    `marks` are further places to escape.
    """
    marks = {mark for mark in marks if mark < len(text)} | _all(text, "\\`*~[]|" if in_cell else "\\`*~[]")
    marks |= {match.start() for match in _ENTITY.finditer(text) if not match[1] or f"{match[1]};" in html5}
    marks |= {match.start() for match in _ENTITY_START.finditer(text)}  # what follows could complete it
    marks |= {at for at in _all(text, "<") if not text[at + 1 : at + 2].isspace()}
    marks |= {at for at in _all(text, "_") if not (text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum())}
    return _put(text, marks)


def open_hashes(text: str) -> str:
    """Return the inside of a heading so that hashes at its end are not taken for the end of the heading."""
    hashes = _CLOSING_HASHES.search(text)
    return f"{text[: hashes.start()]}\\{text[hashes.start() :]}" if hashes else text


def fenced(text: str, language: str = "") -> str:
    """Return a block of code."""
    text = clean(text)
    longest = max(map(len, _FENCE_TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    # Of an info string only the first word counts, and in it these would mean something else.
    word = re.sub(r"[`\\&|]", "", clean(language)).split()[:1]
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{fence}{''.join(word)}\n{text}{end}{fence}"


def line(text: str) -> str:
    """Return `text` as a paragraph of one line."""
    return _paragraph(one_line(text))


def formula(expression: str) -> str:
    """Return `expression` between dollar signs, which it cannot close itself."""
    text = f"$ {one_line(expression)}".rstrip() + " $"
    return _put(text, _inline_marks(text) | (_all(text, "$") - {0, len(text) - 1}))


def heading_text(text: str) -> str:
    """Return `text` as the inside of a heading."""
    text = one_line(text)
    marks = _inline_marks(text)
    if hashes := _CLOSING_HASHES.search(text):
        marks.add(hashes.start())
    return _put(text, marks)


def label(text: str, *, in_cell: bool = False) -> str:
    """Return `text` as the inside of the brackets of a link or an image."""
    text = one_line(text)
    return _put(text, _inline_marks(text, embedded=True) | _all(text, "[]|" if in_cell else "[]"))


def cell(text: str) -> str:
    """Return `text` as the inside of a table cell; line breaks become `<br>`."""
    text = "\n".join(part for part in map(str.strip, clean(text).split("\n")) if part).replace("\n", _BREAK)
    return _put(text, _inline_marks(text, embedded=True) | _all(text, "|")).replace(_BREAK, "<br>")


def is_linkable(url: str) -> bool:
    """Whether Markdown renderers make a link of it: not of scripts, local files and most inline data."""
    return _REFUSED.match(clean(url).strip()) is None


def destination(url: str) -> str:
    """Return `url` as the inside of the parentheses of a link or an image.

    What may not stand in a URL is percent-encoded, all else stays.
    """
    url = _NOT_IN_URLS.sub(lambda match: quote(match.group()), clean(url).strip())
    url = _ENTITY.sub(lambda match: "&amp;" + match.group()[1:], url)
    return f"<{url}>" if "(" in url or ")" in url else url


def _paragraph(text: str) -> str:
    lines = [line.strip(" \t") for line in text.split("\n") if line.strip()]
    text = "\n".join(lines)
    marks = _line_marks(lines, text)
    marks |= _inline_marks(text, escape_ticks=any(text[mark] == "`" for mark in marks))
    return _put(text, marks)


def _put(text: str, marks: set[int]) -> str:
    if not marks:
        return text
    pieces: list[str] = []
    done = 0
    for mark in sorted(marks):
        pieces += text[done:mark], "\\"
        done = mark
    return "".join(pieces) + text[done:]


def _all(text: str, characters: str) -> set[int]:
    if not any(character in text for character in characters):
        return set()
    return {index for index, character in enumerate(text) if character in characters}


def _inline_marks(text: str, *, embedded: bool = False, escape_ticks: bool = False) -> set[int]:
    """Return where emphasis, code, HTML, entities, links and hard breaks would take effect.

    Args:
        embedded: More Markdown follows in the same inline text, which may close a tag that is opened here.
        escape_ticks: Backticks have to be escaped in any case.
    """
    if not _INTERESTING.search(text):
        return set()
    marks = {match.start() for match in _BACKSLASH.finditer(text)}
    marks |= {match.start() for match in _LINK_TAIL.finditer(text)}
    marks |= {match.start() for match in _ENTITY.finditer(text) if not match[1] or f"{match[1]};" in html5}
    last = len(text) if embedded else text.rfind(">")
    marks |= {at for match in _TAG.finditer(text) if (at := match.start()) < last or text[at - 1 : at] in {"", "\n"}}
    # A code span is closed even by an escaped backtick, so it is all of them or none.
    runs = [len(run) for run in _TICKS.findall(text)]
    if escape_ticks or len(set(runs)) < len(runs):
        marks |= _all(text, "`")
    for mark in _DELIMITERS:
        marks |= _delimiter_marks(text, mark)
    return marks


def _delimiter_marks(text: str, mark: str) -> set[int]:
    """Return the characters of all runs of `mark` that open or close, if any could open before another closes."""
    opening: list[int] = []
    closing: list[int] = []
    active: set[int] = set()
    for run in _DELIMITERS[mark].finditer(text):
        before, after = text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
        opens = after not in {"", " ", "\t", "\n"} and not (mark == "_" and before.isalnum())
        closes = before not in {"", " ", "\t", "\n"} and not (mark == "_" and after.isalnum())
        if opens:
            opening.append(run.start())
        if closes:
            closing.append(run.start())
        if opens or closes:
            active.update(range(*run.span()))
    return active if opening and closing and opening[0] < closing[-1] else set()


def _line_marks(lines: list[str], text: str) -> set[int]:
    """Return where a line would begin something other than a paragraph."""
    marks: set[int] = set()
    if text.startswith("[") and "]:" in text:
        marks.add(0)  # a link reference definition would vanish
    start = 0
    for number, line in enumerate(lines):
        marks |= {start + mark for mark in line_start_marks(line, first=number == 0)}
        start += len(line) + 1
    return marks


def line_start_marks(line: str, *, first: bool) -> set[int]:
    """Return where the start of a line would begin something other than a paragraph, or go on in one."""
    if _HEADING.match(line) or line[0] == ">" or _BULLET.match(line):
        return {0}
    if number := _NUMBER.match(line):
        # In the middle of a paragraph only a list that starts with 1 begins.
        return {number.end(1)} if first or int(number[1]) == 1 else set()
    if fence := _FENCE.match(line):
        return set(range(fence.end()))
    if _THEMATIC.match(line):
        # The whole of a run: half of it could still open or close emphasis.
        return set(range(len(line) - len(line.lstrip("*_")))) or {0}
    if not first and (_SETEXT.match(line) or (_TABLE_RULE.match(line) and "-" in line)):
        return {0}
    return set()
