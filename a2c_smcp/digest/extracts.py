"""A digest without a model: headings, key sentences, tables and pictures of some pages, in their order. Pure."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from a2c_smcp.documents.formats.elements import clip
from a2c_smcp.documents.formats.markdown import open_text
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.render.markdown import element_markdown
from a2c_smcp.documents.render.text import element_text

MAX_SENTENCES: Final = 8
MIN_SENTENCES: Final = 2
MAX_LINE: Final = 300
MAX_TABLES: Final = 6
MAX_ROWS: Final = 30
MAX_HEADINGS: Final = 20

# A sentence ends at a stop that blanks and a capital follow, but not after an initial or an abbreviation.
_END = re.compile(
    r"(?<=[.!?])(?<!\b\w\.)(?<!\b(?:Mr|Dr|Ms|vs|No|cf|al)\.)(?<!\b(?:Mrs|Fig|e\.g|i\.e|Vol|Sec|etc)\.)[\"'”’)\]]*\s+(?=[\"'“(\[]?[A-Z\d])"
    r"|(?<=[。！？])[”’」』）]*"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_WIDE = re.compile(r"[\u3400-\u9fff]")
_CUES = re.compile(
    r"\b(?:in summary|in conclusion|conclude[sd]?|results?|found|shows?|significant|important|recommend\w*|must|should|"
    r"key|main|therefore|overall|purpose|aims?|defines?|means)\b"
    r"|总之|结论|结果|表明|显示|建议|推荐|必须|应当|重要|关键|主要|目的|因此|定义",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\.\s?){3,}\s*\d*\s*$|(?:\s\.){2,}\s*\d+\s*$|(?:\. ?){5,}|…{2,}|_{4,}")
_SILENT = re.compile(r"\[(?:图片|header|footer|separator|widget|audio|video): [^\]]*\]")
_BULLET = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
_STOPPED: Final = """\
the a an of to and in is for that this with as are on be by or it from at was which not can will have has were but
you your if all their its these may more than one two also used use using when each such other into any only our we"""
_STOP: Final = frozenset(_STOPPED.split())


@dataclass(frozen=True, slots=True)
class SectionExtract:
    """What is worth reading of some pages."""

    headings: list[tuple[int, int, str]]
    sentences: list[tuple[int, str]]
    tables: list[tuple[int, str]]
    tables_left: int = 0


@dataclass(frozen=True, slots=True)
class _Sentence:
    page: int
    text: str
    words: tuple[str, ...]
    first: bool


def extract_of(pages: Mapping[int, Sequence[Element]], *, sentences: int = MAX_SENTENCES) -> SectionExtract:
    """Return the extract of pages given as elements by their numbers."""
    headings: list[tuple[int, int, str]] = []
    tables: list[tuple[int, str]] = []
    spoken: list[_Sentence] = []
    lines: list[tuple[int, str]] = []
    for number in sorted(pages):
        for element in pages[number]:
            if element.category == "heading" and not _LEADERS.search(str(element.content["text"])):
                headings.append((number, int(element.content["level"]), str(element.content["text"]).strip()))
            elif element.category == "table":
                tables.append((number, _shortened(element)))
            elif element.category in ("text", "list"):
                text = _SILENT.sub("", element_text(element)).strip()
                spoken += _sentences(number, text, lines=element.category == "list")
                lines.append((number, clip(text, MAX_LINE)))
    said = best_of(spoken, sentences)
    if len(said) < MIN_SENTENCES:  # forms, invoices, slides: what they say is in short lines
        told = {line: number for number, line in reversed(lines) if any(map(str.isalnum, line))}
        said = [(number, line) for line, number in reversed(told.items())][:sentences]
    return SectionExtract(headings[:MAX_HEADINGS], said, tables[:MAX_TABLES], max(len(tables) - MAX_TABLES, 0))


def elements_of(markdown: str) -> list[Element]:
    """Return the elements of Markdown, by the document core."""
    document = open_text(markdown)
    count = document.describe().page_count
    return [element for index in range(count) for element in document.page(index).elements]


def best_of(spoken: Sequence[_Sentence], wanted: int) -> list[tuple[int, str]]:
    """Return the sentences that say most of what the others say, in their order, none that repeats another."""
    if not spoken:
        return []
    frequency = Counter(word for sentence in spoken for word in set(sentence.words))
    total = len(spoken)
    scores = {
        index: _score(sentence, frequency, total) for index, sentence in enumerate(spoken) if len(sentence.words) >= 4
    }
    chosen: list[int] = []
    for index in sorted(scores, key=lambda one: -scores[one]):
        words = set(spoken[index].words)
        if all(len(words & set(spoken[other].words)) < 0.6 * len(words) for other in chosen):
            chosen.append(index)
        if len(chosen) == wanted:
            break
    return [(spoken[index].page, spoken[index].text) for index in sorted(chosen)]


def _score(sentence: _Sentence, frequency: Mapping[str, int], total: int) -> float:
    # Words that many sentences share say what a section is about; those that all share say nothing.
    weight = sum(frequency[word] * math.log(1 + total / frequency[word]) for word in set(sentence.words))
    score = weight / math.sqrt(len(sentence.words))
    score *= 1.3 if _CUES.search(sentence.text) else 1.0
    score *= 1.2 if sentence.first else 1.0
    return score * (0.6 if len(sentence.text) > 400 else 1.0)


def _sentences(page: int, text: str, *, lines: bool) -> Iterable[_Sentence]:
    for part in text.split("\n") if lines else [text]:
        # A line of a table of contents is no sentence.
        if _LEADERS.search(part):
            continue
        plain = _BULLET.sub("", " ".join(part.split()))
        for number, piece in enumerate(_END.split(plain)):
            sentence = piece.strip()
            if 20 <= len(sentence.encode()) <= 1_200:
                yield _Sentence(page, sentence, tuple(words_of(sentence)), first=number == 0)


def words_of(text: str) -> Iterable[str]:
    """Yield the words that carry meaning; of Chinese, pairs of characters."""
    for match in _WORD.finditer(text.casefold()):
        word = match[0]
        if _WIDE.search(word):
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        elif word not in _STOP:
            yield word


def _shortened(element: Element) -> str:
    rows = element.content.get("rows") or []
    if len(rows) <= MAX_ROWS:
        return element_markdown(element)
    cut = Element(element.id, "table", {**element.content, "rows": rows[:MAX_ROWS]}, element.summary)
    return f"{element_markdown(cut)}\n\n*… {len(rows) - MAX_ROWS} more rows*"
