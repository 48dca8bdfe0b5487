"""Which pages make a section: as asked, by the document's own outline, or in even parts. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, cast

from a2c_smcp.errors import BadRequest

PAGES_A_SECTION: Final = 8
MAX_SECTIONS: Final = 40
MAX_EVEN: Final = 12
NUMBERED_SHARE: Final = 0.8

_NUMBERED = re.compile(r"\s*(?:chapter\s+|part\s+|第\s*)?(\d{1,3})(?!\d)", re.IGNORECASE)
_CHAPTER = re.compile(r"\s*(?:(?:chapter|part)\s+\d|第\s*\d+\s*[章部篇]|\d{1,3}[.．]?\s+\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Section:
    """Pages `first` to `last`, counted from 1; `title` is empty where the document names none.

    Attributes:
        entries: The entries of the outline that it stands for where it stands for several: page and title.
    """

    first: int
    last: int
    title: str = ""
    entries: tuple[tuple[int, str], ...] = ()

    @property
    def pages(self) -> range:
        """The numbers of its pages."""
        return range(self.first, self.last + 1)

    @property
    def citation(self) -> str:
        """How the section is cited: `[p3-5]`."""
        return cite(self.first, self.last)


def cite(first: int, last: int | None = None) -> str:
    """Return a citation of pages."""
    return f"[p{first}]" if last in (None, first) else f"[p{first}-{last}]"


def sections_of(page_count: int, ranges: object = None, outline: Sequence[Mapping[str, Any]] = ()) -> list[Section]:
    """Return the sections of a document.

    Raises:
        BadRequest: The ranges make no sense, or there are no pages.
    """
    if page_count < 1:
        raise BadRequest("The document has no pages")
    if ranges is not None:
        check_ranges(ranges, page_count)
        return [Section(first, min(last, page_count)) for first, last in cast("list[list[int]]", ranges)]
    return _by_outline(page_count, outline) or _even(page_count)


def check_ranges(ranges: object, page_count: int | None = None) -> None:
    """Refuse section ranges that are none; against the document only where its number of pages is known.

    Raises:
        BadRequest: They make no sense.
    """
    example = "write them like [[1,5],[6,10]]"
    if not isinstance(ranges, list | tuple) or not ranges:
        raise BadRequest(f"section_ranges must be a list of pairs; {example}")
    for pair in ranges:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(type(end) is int for end in pair):
            raise BadRequest(f"section_ranges: {pair!r} is no pair of page numbers; {example}")
        first, last = pair
        if not 1 <= first <= last:
            raise BadRequest(f"section_ranges: {pair!r} must begin at 1 or later and not end before it begins")
        if page_count is not None and first > page_count:
            raise BadRequest(f"section_ranges: {pair!r} is beyond the {page_count} pages of the document")


def _by_outline(page_count: int, outline: Sequence[Mapping[str, Any]]) -> list[Section]:
    """The entries of the level that divides best; what stands before the first is a section of its own."""
    best: list[Section] = []
    finer: list[Section] = []
    for level in sorted({int(entry.get("level") or 1) for entry in outline}):
        starts: dict[int, str] = {}
        for entry in outline:
            page = entry.get("page")
            if int(entry.get("level") or 1) <= level and isinstance(page, int) and 1 <= page <= page_count:
                starts.setdefault(page, str(entry.get("title") or "").strip())
        sections = _between(starts, page_count)
        if len(sections) > MAX_SECTIONS:
            finer = sections
            break
        best = sections
        if len(sections) >= 3 and page_count / len(sections) <= 3 * PAGES_A_SECTION:
            break
    if len(best) > 1:
        return best
    return _by_number(finer) or _by_length(finer, page_count) if finer else []


def _by_number(sections: Sequence[Section]) -> list[Section]:
    """Group entries by the number that their titles begin with, such as 3 for "3.1 Methods", where most have one."""
    groups: list[list[Section]] = []
    numbered, now = 0, ""
    for section in sections:
        match = _NUMBERED.match(section.title)
        numbered += match is not None
        number = match[1] if match else now
        if not groups or number != now:
            groups.append([])
        groups[-1].append(section)
        now = number
    if numbered < NUMBERED_SHARE * len(sections) or not 2 <= len(groups) <= MAX_SECTIONS:
        return []
    return [_merged(group) for group in groups]


def _by_length(sections: Sequence[Section], page_count: int) -> list[Section]:
    """Group entries that follow one another into parts of about the same number of pages."""
    parts = min(max(-(-page_count // PAGES_A_SECTION), 2), MAX_SECTIONS)
    groups: list[list[Section]] = []
    for section in sections:
        if not groups or section.first > page_count * len(groups) / parts:
            groups.append([])
        groups[-1].append(section)
    return [_merged(group) for group in groups]


def _merged(group: Sequence[Section]) -> Section:
    titles = [section.title for section in group if section.title]
    title = titles[0] if titles else ""
    if len(titles) > 1 and not _CHAPTER.match(title):
        title = f"{title} – {titles[-1]}"
    entries = tuple((section.first, section.title) for section in group if section.title)
    return Section(group[0].first, group[-1].last, title, entries if len(group) > 1 else ())


def _between(starts: Mapping[int, str], page_count: int) -> list[Section]:
    if not starts:
        return []
    ordered = sorted(starts)
    sections = [Section(1, ordered[0] - 1)] if ordered[0] > 1 else []
    sections += [Section(first, following - 1, starts[first]) for first, following in pairwise(ordered)]
    return [*sections, Section(ordered[-1], page_count, starts[ordered[-1]])]


def _even(page_count: int) -> list[Section]:
    parts = min(max(-(-page_count // PAGES_A_SECTION), 1), MAX_EVEN)
    edges = [round(page_count * part / parts) for part in range(parts + 1)]
    return [Section(first + 1, last) for first, last in pairwise(edges)]
