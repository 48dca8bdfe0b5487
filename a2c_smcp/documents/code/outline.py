"""Where the parts of a program begin: lines at the margin that define something. Pure.

No parser is asked: code that does not compile, or is of another version, is read as well.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

MAX_LINES: Final = 200
"""A part of more lines is divided further: at what it defines inside, at blank lines, anywhere."""

MAX_CHARACTERS: Final = 20_000
MIN_LINES: Final = 12
"""Smaller parts without a name of their own stay together."""

_WORDS: Final = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|unsafe|pub(?:\([\w:]+\))?|"
    r"extern(?:\s+\"C\")?|inline|virtual|override|sealed|partial|open|data|case|const|readonly|declare|local|export|"
    r"unsigned|signed|template\s*<[^>]{0,200}>)\s+)*"
)
_DEFINITION = re.compile(
    rf"{_WORDS}(?:def|class|function\*?|func|fn|fun|sub|struct|enum|union|interface|trait|impl(?:<[^>]{{0,100}}>)?|type|"
    r"module|namespace|package|object|protocol|extension|record|macro_rules!|defmodule|defp?|defn-?|message|service|rpc|"
    r"resource|variable|output|provider|procedure|program|subroutine|entity|architecture)\s+(?:\([^)]{0,120}\)\s*)?"
    r"[\"'`]?([A-Za-z_$][\w$:.<>-]{0,120})",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"(?:export\s+)?(?:const|let|var|local)\s+([A-Za-z_$][\w$]{0,80})\s*(?::[^=\n]{0,120})?=\s*(?:async\s*)?(?:function|\(|[\w$]+\s*=>)"
)
_C_FUNCTION = re.compile(
    r"(?!return|else|if|for|while|switch|typedef)[A-Za-z_][\w\s*&:<>,~]{0,160}?[\s*&]~?([A-Za-z_][\w:~]{0,120})\s*\([^;{]*\)?[^;]*$"
)
_SQL = re.compile(
    r"create\s+(?:or\s+replace\s+)?(?:\w+\s+){0,2}?(?:table|view|function|procedure|trigger|index|type|schema)\s+(?:if\s+not\s+exists\s+)?([\w.\"`\[\]]{1,120})",
    re.IGNORECASE,
)
_SECTION = re.compile(r"\[+([^\]\n]{1,120})\]+\s*$")
_KEY = re.compile(r"([A-Za-z_][\w.-]{0,80}):(?:\s|$)")
_TARGET = re.compile(r"([A-Za-z_.%][\w.%/-]{0,80}):(?!=)")
_TEX = re.compile(r"\\(?:part|chapter|(?:sub)*section|begin)\*?\{([^}\n]{1,120})\}")
_SELECTOR = re.compile(r"([^\s@/}{][^{}\n]{0,160}?)\s*\{|@(?:media|supports|keyframes|font-face)[^{\n]{0,160}")
_SHELL = re.compile(r"(?:function\s+)?([A-Za-z_][\w-]{0,80})\s*\(\)\s*\{?")

_C_LIKE: Final = frozenset({"c", "cpp", "cuda", "objectivec", "java", "csharp", "dart", "d", "glsl", "hlsl", "wgsl"})
_OWN: Final = {
    "sql": (_SQL,),
    "ini": (_SECTION,),
    "toml": (_SECTION,),
    "yaml": (_KEY,),
    "make": (_TARGET,),
    "latex": (_TEX,),
    "css": (_SELECTOR,),
    "scss": (_SELECTOR,),
    "less": (_SELECTOR,),
    "bash": (_SHELL, _DEFINITION),
    "xml": (),
    "diff": (re.compile(r"(?:diff --git a/|\+\+\+ b?/?)(\S{1,160})"),),
    "restructuredtext": (),
    "asciidoc": (re.compile(r"={1,5}\s+(.{1,120})"),),
}
_LEADING = re.compile(
    r"\s*(?:#(?!include|define|if|endif)|//|/\*|\*|--|;|%|@\w|\[[A-Z]\w*.*\]$|///|\"\"\"$|template\s*<)"
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some lines of a file; `name` is what they define."""

    first: int
    last: int
    text: str
    name: str = ""


def chunks_of(text: str, language: str) -> Iterator[Chunk]:
    """Yield the parts of a file in order; together they are the file, blank lines between them left out."""
    lines = text.split("\n")
    starts = _starts(lines, language, 0)
    bounds = [*starts, (len(lines), "")]
    if not starts or starts[0][0] > 0:
        bounds = [(0, ""), *bounds]
    merged = _merged(bounds)
    for (start, name), (end, _) in pairwise(merged):
        yield from _pieces(lines, start, end, name, language)


def name_of(line: str, language: str) -> str:
    """Return what a line defines, empty where it defines nothing."""
    if language in _OWN:
        patterns: Sequence[re.Pattern[str]] = _OWN[language]
    else:
        patterns = (_DEFINITION, _ASSIGNED, _C_FUNCTION) if language in _C_LIKE else (_DEFINITION, _ASSIGNED)
    line = line[:400]
    for pattern in patterns:
        match = pattern.match(line)
        if match:
            return (match[1] or match[0] if match.groups() else match[0]).strip().strip("\"'`:")
    return ""


def _starts(lines: Sequence[str], language: str, indent: int, begin: int = 0) -> list[tuple[int, str]]:
    """Return the lines that begin a definition at this indent, moved up over its comments and decorators."""
    starts: list[tuple[int, str]] = []
    floor = begin
    for number in range(begin, len(lines)):
        line = lines[number]
        if len(line) - len(line.lstrip()) != indent or not line.strip():
            continue
        name = name_of(line.strip(), language)
        if not name:
            continue
        start = number
        while start > floor and lines[start - 1].strip() and _LEADING.match(lines[start - 1]):
            start -= 1
        starts.append((start, name))
        floor = number + 1
    return starts


def _merged(bounds: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return bounds with runs of very short parts (assignments, selectors, keys) put together."""
    kept: list[tuple[int, str]] = []
    for number, (start, name) in enumerate(bounds[:-1]):
        end = bounds[number + 1][0]
        small = end - start < MIN_LINES
        if kept and small and start - kept[-1][0] < MIN_LINES:
            both = ", ".join(filter(None, (kept[-1][1], name)))
            kept[-1] = (kept[-1][0], both if len(both) < 200 else kept[-1][1])
        else:
            kept.append((start, name))
    return [*kept, bounds[-1]]


def _pieces(lines: Sequence[str], start: int, end: int, name: str, language: str) -> Iterator[Chunk]:
    """Yield the lines of a part, divided where they are too many."""
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if start >= end:
        return
    if end - start <= MAX_LINES and sum(map(len, lines[start:end])) <= MAX_CHARACTERS:
        yield Chunk(start + 1, end, "\n".join(lines[start:end]), name)
        return
    cuts = _cuts(lines, start, end, language)
    for number, (first, last) in enumerate(pairwise(cuts)):
        text = "\n".join(lines[first:last])
        inner = name if number == 0 else f"{name} ({number + 1})" if name else ""
        for piece in range(0, max(len(text), 1), MAX_CHARACTERS):
            if text[piece : piece + MAX_CHARACTERS].strip():
                yield Chunk(first + 1, last, text[piece : piece + MAX_CHARACTERS], inner)


def _cuts(lines: Sequence[str], start: int, end: int, language: str) -> list[int]:
    """Return where a long part is divided: before what it defines inside, else at blank lines, else anywhere."""
    indents = [len(line) - len(line.lstrip()) for line in lines[start + 1 : end] if line.strip()]
    inner = min((indent for indent in indents if indent > 0), default=0)
    places = [place for place, _ in _starts(lines[:end], language, inner, start + 1)] if inner else []
    places += [number + 1 for number in range(start, end) if not lines[number].strip()] if len(places) < 2 else []
    cuts = [start]
    size = 0
    candidates = set(places)
    for number in range(start, end):
        size += len(lines[number])
        length = number - cuts[-1]
        if (length >= MAX_LINES // 2 and number in candidates) or length >= MAX_LINES or size > MAX_CHARACTERS:
            if number > cuts[-1]:
                cuts.append(number)
            size = len(lines[number])
    return [*cuts, end]
