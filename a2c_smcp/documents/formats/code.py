"""Source code and settings: elements are top-level definitions, pages some hundred lines of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from a2c_smcp.documents.code.languages import NAMED, SUFFIXES
from a2c_smcp.documents.code.outline import Chunk, chunks_of
from a2c_smcp.documents.formats.base import Description, OpenDocument, PagedDocument, suffix_of
from a2c_smcp.documents.formats.decoding import read_text
from a2c_smcp.documents.formats.elements import ElementMaker, clip
from a2c_smcp.documents.model import Element, Page

MAX_BYTES: Final = 8 << 20
LINES_A_PAGE: Final = 250

_DOCSTRING = re.compile(r'\A(?:\s*#[^\n]*\n|\s*\n)*\s*[rRuU]{0,2}("""|\'\'\'|"|\')(.+?)\1', re.DOTALL)
_COMMENT = re.compile(
    r"\A(?:#![^\n]*\n)?\s*(?:/\*+!?(.+?)\*/|((?:[ \t]*(?://[/!]?|#|--|;+|%+)[^\n]*(?:\n|\Z))+))", re.DOTALL
)
_MARKS = re.compile(r"^[\s/*#;%!-]+|[\s*/]+$")
_LEGAL = re.compile(
    r"copyright|licen[sc]e|spdx|all rights reserved|coding[:=]|vim:|eslint|@ts-|@flow|pylint", re.IGNORECASE
)


class CodeFormat:
    """Programs, scripts, style sheets and settings, by their names."""

    def file_type(self, name: str) -> str | None:
        """Accept the endings and names of some ninety languages; the ending is the type."""
        return (suffix_of(name) or name.lower()) if language_of(name) else None

    def open(self, path: Path) -> OpenDocument:
        """Read the whole file."""
        language = language_of(path.name) or "text"
        text = read_text(path, MAX_BYTES).lstrip("\ufeff")
        chunks = list(chunks_of(text, language))
        maker = ElementMaker()
        pages = list(_pages(chunks, language, maker))
        return PagedDocument(_describe(text, chunks, language, len(pages)), pages)


FORMAT: Final = CodeFormat()


def language_of(name: str) -> str | None:
    """Return the language that a file of this name is written in, None for files that are no code."""
    return NAMED.get(name.lower()) or SUFFIXES.get(suffix_of(name))


@dataclass(slots=True)
class _Sheet:
    """A page to be."""

    elements: list[Element]
    names: list[str]
    lines: int = 0


def _pages(chunks: Sequence[Chunk], language: str, maker: ElementMaker) -> Iterator[Page]:
    sheet = _Sheet([], [])
    index = 0
    for chunk in chunks:
        length = chunk.last - chunk.first + 1
        if sheet.elements and sheet.lines + length > LINES_A_PAGE:
            yield _page(index, sheet)
            index, sheet = index + 1, _Sheet([], [])
        metadata: dict[str, object] = {"source_lines": [chunk.first, chunk.last]}
        if chunk.name:
            metadata["symbol"] = chunk.name
            sheet.names.append(chunk.name)
        sheet.elements.append(maker.make("code", {"text": chunk.text, "language": language}, metadata))
        sheet.lines += length
    if sheet.elements:
        yield _page(index, sheet)


def _page(index: int, sheet: _Sheet) -> Page:
    names = list(dict.fromkeys(sheet.names))
    first, last = sheet.elements[0].metadata["source_lines"][0], sheet.elements[-1].metadata["source_lines"][1]
    return Page(index, clip(", ".join(names), 80) if names else f"Lines {first}–{last}", tuple(sheet.elements))


def _describe(text: str, chunks: Sequence[Chunk], language: str, page_count: int) -> Description:
    told = _told(text, language)
    listed = [name for chunk in chunks for name in chunk.name.split(", ") if name and not name.endswith(")")]
    names = tuple(dict.fromkeys(listed))
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    size = f"{language}, {lines} line{'' if lines == 1 else 's'}"
    summary = ": ".join(filter(None, (size, " ".join(told.split()) or ", ".join(names[:20]))))
    title = told.strip().split("\n")[0].strip() if told else ""
    return Description(clip(title, 120), page_count, names[:20], clip(summary if chunks else "Empty file", 200))


def _told(text: str, language: str) -> str:
    """Return what a file says of itself at its head: a docstring, or a comment that is not about licences."""
    head = text[:20_000]
    if language == "python":
        match = _DOCSTRING.match(head)
        return match[2].strip() if match else ""
    comment = _COMMENT.match(head)
    if not comment:
        return ""
    lines = [_MARKS.sub("", line) for line in (comment[1] or comment[2]).split("\n")]
    return "" if _LEGAL.search(" ".join(lines)) else "\n".join(filter(None, lines))
