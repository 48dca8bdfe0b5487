"""The digest as Markdown: head, contents, and the sections with their tables and images. Pure."""

import os.path
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import quote

from a2c_smcp.digest.extracts import Extract, cited
from a2c_smcp.digest.material import Material
from a2c_smcp.digest.page_texts import ranges_of
from a2c_smcp.digest.sections import Section, cite
from a2c_smcp.digest.wording import Words
from a2c_smcp.digest.writing import Written
from a2c_smcp.documents.render.escape import heading_text, label, line

MAX_SHOWN: Final = 6
"""Images that a section shows; the others are linked."""


@dataclass(frozen=True, slots=True)
class Part:
    """A section and what was made of it."""

    section: Section
    title: str
    extract: Extract
    figures: frozenset[int]
    text: str = ""
    error: str = ""
    dropped: int = 0
    calls: int = 0

    def written(self, by_model: Written) -> "Part":
        """The part with what the model wrote."""
        return replace(self, text=by_model.text, dropped=by_model.dropped_citations, calls=by_model.calls)

    def failed(self, error: str) -> "Part":
        """The part for which the model failed."""
        return replace(self, error=error)

    def told(self) -> dict[str, Any]:
        """What the response says of it."""
        value: dict[str, Any] = {
            "title": self.title,
            "pages": [self.section.first, self.section.last],
            "by": "model" if self.text else "extract",
        }
        if self.text:
            value |= {"calls": self.calls, "dropped_citations": self.dropped}
        return value | ({"error": self.error} if self.error else {})


def layout(
    material: Material, parts: Sequence[Part], words: Words, *, name: str, model: str, folder: Path
) -> tuple[str, list[Path]]:
    """Return the whole digest, and the images that it shows or links, in their order."""
    used: list[Path] = []
    made = words.by_model.format(model=label(model)) if model else words.extractive
    note = f"> {words.made_of.format(name=label(name), count=material.page_count)} {made}"
    if not material.exact:
        note += f" {words.approximate}"
    blocks = [f"# {heading_text(material.title) or label(name)}", note]
    if len(parts) > 1:
        entries = [f"{number}. {_title(part, words)} {part.section.citation}" for number, part in enumerate(parts, 1)]
        blocks += [f"## {words.contents}", "\n".join(entries)]
    for number, part in enumerate(parts, start=1):
        blocks.append(f"## {number}. {_title(part, words)} {part.section.citation}")
        blocks += _body(part, words, exact=material.exact)
        blocks += _images(part, material, words, folder, used)
    if loose := material.images.get(0):
        blocks += [f"## {words.images}", *(_picture(image, image.stem, folder) for image in loose)]
        used += loose
    return "\n\n".join(blocks) + "\n", used


def _title(part: Part, words: Words) -> str:
    pages = ranges_of(part.section.pages)
    return heading_text(part.title) or words.pages.format(pages)


def _body(part: Part, words: Words, *, exact: bool) -> Iterator[str]:
    extract = part.extract
    if part.error:
        yield f"> ⚠ {words.failed.format(line(part.error))}"
    if part.text:
        yield part.text
    elif not extract.sentences and not extract.headings and not extract.tables:
        yield f"*{words.nothing}*"
    else:
        if len(extract.headings) > 1:
            yield f"### {words.outline}"
            yield "\n".join(_outline(extract.headings, exact=exact))
        if extract.sentences:
            yield f"### {words.key_points}"
            said = [cited(page, line(text)) if exact else line(text) for page, text in extract.sentences]
            yield "\n".join(f"- {sentence}" for sentence in said)
    if extract.tables:
        yield f"### {words.tables}"
        for page, table in extract.tables:
            if exact:
                yield f"{words.page.format(page)} {cite(page)}"
            yield table
        if extract.tables_left:
            yield f"*{words.more_tables.format(extract.tables_left)}*"


def _outline(headings: Sequence[tuple[int, int, str]], *, exact: bool) -> Iterator[str]:
    """A list, nested as the headings are, however their levels jump."""
    open_levels: list[int] = []
    for page, level, text in headings:
        while open_levels and open_levels[-1] >= level:
            open_levels.pop()
        yield f"{'  ' * len(open_levels)}- {line(text)}{f' {cite(page)}' if exact else ''}"
        open_levels.append(level)


def _images(part: Part, material: Material, words: Words, folder: Path, used: list[Path]) -> Iterator[str]:
    """Show the pages with figures, or the first one; link the others."""
    there = [number for number in part.section.pages if material.images.get(number)]
    if not there:
        return
    shown = [number for number in there if number in part.figures][:MAX_SHOWN] or there[:1]
    yield f"### {words.images}"
    for number in shown:
        for image in material.images[number]:
            used.append(image)
            yield _picture(image, words.page.format(number), folder)
    links = []
    for number in there:
        if number not in shown:
            used += material.images[number]
            links += [f"[{number}]({_target(image, folder)})" for image in material.images[number]]
    if links:
        yield words.other_pages.format(" ".join(links))


def _picture(image: Path, text: str, folder: Path) -> str:
    return f"![{label(text)}]({_target(image, folder)})"


def _target(image: Path, folder: Path) -> str:
    try:
        relative = os.path.relpath(image, folder)
    except ValueError:  # another drive
        relative = str(image)
    return quote(PurePath(relative).as_posix())
