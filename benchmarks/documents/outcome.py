"""What a reader, or a person, found on a page, in one shape for all of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from a2c_smcp.documents.model import Element

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(.*)")
_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?")
_MARKS = re.compile(r"[*_`\\]|<br\s*/?>|\[([^\]]*)\]\([^)]*\)")


@dataclass(slots=True)
class Outcome:
    """Headings, list items with their depths, tables as rows, footnotes, and all text in order."""

    headings: list[str] = field(default_factory=list)
    items: list[tuple[int, str]] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    text: str = ""


@dataclass(slots=True)
class TruePage:
    """A page that a person has looked at."""

    file: str
    index: int
    outcome: Outcome


def read_truth(folder: Path) -> list[TruePage]:
    """Return the hand-checked pages. A file names its document, then lists what each page shows."""
    pages: list[TruePage] = []
    for path in sorted(folder.glob("*.txt")):
        name = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "file":
                name = rest
            elif kind == "page":
                pages.append(TruePage(name, int(rest), Outcome()))
            elif line:
                _add(pages[-1].outcome, kind, rest, line)
    return pages


def _add(outcome: Outcome, kind: str, rest: str, line: str) -> None:
    match kind:
        case "heading":
            outcome.headings.append(rest.partition(": ")[2])
        case "item":
            depth, _, text = rest.partition(": ")
            outcome.items.append((int(depth), text))
        case "note:":
            outcome.notes.append(rest)
        case "text:":
            outcome.texts.append(rest)
        case "table":
            outcome.tables.append([])
        case "|" | "||":
            outcome.tables[-1].append(cells_of(line))
        case _:
            raise ValueError(f"no such line: {line!r}")


def cells_of(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def of_elements(elements: Sequence[Element]) -> Outcome:
    """Return what our own reader found."""
    outcome = Outcome()
    parts: list[str] = []
    for element in elements:
        content = element.content
        match element.category:
            case "heading":
                outcome.headings.append(content["text"])
                parts.append(content["text"])
            case "list":
                items = list(_items(content, 0))
                outcome.items += items
                parts += [text for _, text in items]
            case "table":
                rows = [content["headers"], *content["rows"]] if content["headers"] else content["rows"]
                outcome.tables.append([[str(cell) for cell in row] for row in rows])
                parts += [str(cell) for row in rows for cell in row]
            case "annotation" if content.get("annotation_type") == "footnote":
                outcome.notes.append(content["text"])
                parts.append(content["text"])
            case "text" | "code" | "header" | "footer":
                parts.append(content["text"])
    outcome.text = "\n".join(parts)
    return outcome


def _items(content: Mapping[str, Any], depth: int) -> Iterator[tuple[int, str]]:
    for item in content["items"]:
        yield depth, item if isinstance(item, str) else item["text"]
        if not isinstance(item, str) and "children" in item:
            yield from _items(item["children"], depth + 1)


def of_markdown(markdown: str) -> Outcome:
    """Return what another reader's Markdown says."""
    outcome = Outcome(text=markdown)
    table: list[list[str]] | None = None
    for line in markdown.splitlines():
        if line.strip().startswith("|"):
            if table is None:
                table = []
                outcome.tables.append(table)
            if not _RULE.fullmatch(line.strip()):
                table.append([_plain(cell) for cell in cells_of(line)])
            continue
        table = None
        if heading := _HEADING.fullmatch(line.strip()):
            outcome.headings.append(_plain(heading[2]))
        elif item := _ITEM.fullmatch(line):
            outcome.items.append((len(item[1].expandtabs(4)) // 2, _plain(item[2])))
    return outcome


def _plain(text: str) -> str:
    return _MARKS.sub(lambda match: match[1] or "", text).strip()
