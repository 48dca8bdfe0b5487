"""The digest as Markdown: head, contents, and the sections with their tables and images. Pure."""

import os.path
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import quote

from a2c_smcp.digest.citations import Citation, cited_in, is_citation
from a2c_smcp.digest.extracts import SectionExtract
from a2c_smcp.digest.material import Material
from a2c_smcp.digest.page_texts import ranges_of
from a2c_smcp.digest.sections import Section
from a2c_smcp.digest.wording import Words
from a2c_smcp.digest.writing import Written
from a2c_smcp.documents.render.escape import heading_text, label, line
from a2c_smcp.documents.safe_markdown import TrustedMarkdown, safe_markdown

MAX_SHOWN: Final = 24
"""Images that a section shows; the others are linked."""

HEADING: Final = 3
"""The level of headings within a section."""


@dataclass(frozen=True, slots=True)
class DigestPart:
    """A section and what was made of it.

    Attributes:
        text: What a model wrote, as Markdown that may stand here.
        shown: Pages that are worth to be shown, the most first.
        cached: The model wrote it for an earlier run.
        unread: Pages of the section that could not be read, and why.
    """

    section: Section
    title: str
    extract: SectionExtract
    shown: Sequence[int] = ()
    text: str = ""
    error: str = ""
    dropped: int = 0
    calls: int = 0
    cached: bool = False
    unread: Mapping[int, str] = field(default_factory=dict)

    def written(self, by_model: Written, links: "Links", *, cached: bool) -> "DigestPart":
        """The part with what the model wrote, as far as it may stand in a document of ours."""
        dropped = 0
        pages = set(self.section.pages) - self.unread.keys()

        def mend(run: str) -> Iterator[str]:
            nonlocal dropped
            found = cited_in(run, pages)
            dropped += found.dropped
            return (TrustedMarkdown(links.cite(part)) if isinstance(part, Citation) else part for part in found.parts)

        text = safe_markdown(by_model.text, top=HEADING, mend=mend, is_ours=is_citation)
        calls = 0 if cached else by_model.calls
        return replace(self, text=text, dropped=dropped, calls=calls, cached=cached)

    def failed(self, error: str, calls: int) -> "DigestPart":
        """The part for which the model failed."""
        return replace(self, error=error, calls=calls)

    def told(self) -> dict[str, Any]:
        """What the response says of it."""
        value: dict[str, Any] = {
            "title": self.title,
            "pages": [self.section.first, self.section.last],
            "by": "model" if self.text else "extract",
        }
        if self.text:
            value |= {"calls": self.calls, "dropped_citations": self.dropped}
        if self.cached:
            value["cached"] = True
        if self.error:
            value |= {"error": self.error, "calls": self.calls}
        return value | ({"unread": sorted(self.unread)} if self.unread else {})


@dataclass(frozen=True, slots=True)
class Links:
    """Where things are that a digest refers to.

    Attributes:
        folder: The folder of the digest, from which its images are linked.
        source: The `dpe://` URI of the document, where it has one: citations lead to its pages.
    """

    folder: Path
    source: str = ""

    def cite(self, citation: Citation) -> str:
        """Return a citation, as a link to its first page where there is something to link to."""
        return f"[{citation}]({self.source}/pages/{citation.first - 1})" if self.source else str(citation)

    def page(self, first: int, last: int | None = None) -> str:
        """Return a citation of pages."""
        return self.cite(Citation(first, last or first))

    def image(self, image: Path) -> str:
        """Return the address of an image."""
        try:
            relative = os.path.relpath(image, self.folder)
        except ValueError:  # another drive
            relative = str(image)
        return quote(PurePath(relative).as_posix())


def layout(
    material: Material, parts: Sequence[DigestPart], words: Words, *, name: str, model: str, links: Links
) -> tuple[str, list[Path]]:
    """Return the whole digest, and the images that it shows or links, in their order."""
    used: list[Path] = []
    note = " ".join(_note(material, parts, words, name, model))
    blocks = [f"# {heading_text(material.title) or label(name)}", f"> {note}"]
    if len(parts) > 1:
        entries = [
            f"{number}. {_title(part, words)} {links.page(part.section.first, part.section.last)}"
            for number, part in enumerate(parts, 1)
        ]
        blocks += [f"## {words.contents}", "\n".join(entries)]
    for number, part in enumerate(parts, start=1):
        blocks.append(f"## {number}. {_title(part, words)} {part.section.citation}")
        blocks += _body(part, words, links, exact=material.exact)
        blocks += _images(part, material, words, links, used)
    if loose := material.images.get(0):
        blocks += [f"## {words.images}", *(_picture(image, image.stem, links) for image in loose)]
        used += loose
    return "\n\n".join(blocks) + "\n", used


def _note(material: Material, parts: Sequence[DigestPart], words: Words, name: str, model: str) -> Iterator[str]:
    """Say what was done, and by whom."""
    yield words.made_of.format(name=label(name), count=material.page_count)
    written = sum(bool(part.text) for part in parts)
    if not model:
        yield words.extractive
    elif written == len(parts):
        yield words.by_model.format(model=label(model))
    elif written:
        yield words.partly_by_model.format(model=label(model), done=written, total=len(parts))
    elif any(part.error for part in parts):
        yield words.model_failed.format(model=label(model))
    else:
        yield f"{words.model_idle.format(model=label(model))} {words.extractive}"
    if dropped := sum(part.dropped for part in parts):
        yield words.checked.format(dropped)
    if material.unread:
        pages = ranges_of(sorted(material.unread))
        yield words.unread_count.format(count=len(material.unread), total=material.page_count, pages=pages)
    if not material.exact:
        yield words.approximate


def _title(part: DigestPart, words: Words) -> str:
    pages = ranges_of(part.section.pages)
    return heading_text(part.title) or words.pages.format(pages)


def _body(part: DigestPart, words: Words, links: Links, *, exact: bool) -> Iterator[str]:
    extract = part.extract
    yield from _unread(part.unread, words)
    if part.error:
        yield f"> ⚠ {words.failed.format(line(part.error))}"
    if part.section.entries:
        yield f"### {words.outline}"
        yield "\n".join(_outline([(page, 1, title) for page, title in part.section.entries], links, exact=exact))
    if part.text:
        yield part.text
    elif not extract.sentences and not extract.headings and not extract.tables:
        if len(part.unread) < len(part.section.pages):
            yield f"*{words.nothing}*"
    else:
        if len(extract.headings) > 1 and not part.section.entries:
            yield f"### {words.outline}"
            yield "\n".join(_outline(extract.headings, links, exact=exact))
        if extract.sentences:
            yield f"### {words.key_points}"
            said = [f"{line(text)} {links.page(page)}" if exact else line(text) for page, text in extract.sentences]
            yield "\n".join(f"- {sentence}" for sentence in said)
    if extract.tables:
        yield f"### {words.tables}"
        for page, table in extract.tables:
            if exact:
                yield f"{words.page.format(page)} {links.page(page)}"
            yield table
        if extract.tables_left:
            yield f"*{words.more_tables.format(extract.tables_left)}*"


def _unread(unread: Mapping[int, str], words: Words) -> Iterator[str]:
    for why in dict.fromkeys(unread.values()):
        pages = [number for number in sorted(unread) if unread[number] == why]
        named = (words.page if len(pages) == 1 else words.pages).format(ranges_of(pages))
        yield f"> ⚠ {words.unread.format(pages=named, why=line(why))}"


def _outline(headings: Iterable[tuple[int, int, str]], links: Links, *, exact: bool) -> Iterator[str]:
    """A list, nested as the headings are, however their levels jump."""
    open_levels: list[int] = []
    for page, level, text in headings:
        while open_levels and open_levels[-1] >= level:
            open_levels.pop()
        yield f"{'  ' * len(open_levels)}- {line(text)}{f' {links.page(page)}' if exact else ''}"
        open_levels.append(level)


def _images(part: DigestPart, material: Material, words: Words, links: Links, used: list[Path]) -> Iterator[str]:
    """Show the pages with figures, or the first one; link the others."""
    there = [number for number in part.section.pages if material.images.get(number)]
    if not there:
        return
    shown = sorted([number for number in part.shown if number in there][:MAX_SHOWN]) or there[:1]
    yield f"### {words.images}"
    for number in shown:
        for image in material.images[number]:
            used.append(image)
            yield _picture(image, words.page.format(number), links)
    others = []
    for number in there:
        if number not in shown:
            used += material.images[number]
            others += [f"[{number}]({links.image(image)})" for image in material.images[number]]
    if others:
        yield words.other_pages.format(" ".join(others))


def _picture(image: Path, text: str, links: Links) -> str:
    return f"![{label(text)}]({links.image(image)})"
