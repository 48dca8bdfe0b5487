"""The plain text of a mail as paragraphs, with what it quotes marked as such. Pure."""

import re
from collections.abc import Iterator
from typing import Any, Final

from a2c_smcp.documents.formats.elements import ElementMaker
from a2c_smcp.documents.model import Element

MAX_PARAGRAPH: Final = 8_000

_QUOTE = re.compile(r"(?:>[ ]?)+")
_RULE = re.compile(r"\s*[-_=*]{5,}\s*")
_ITEM = re.compile(r"\s{0,4}(?:[-*•]|(\d{1,3})[.)])\s+(?=\S)")


def body_elements(text: str, maker: ElementMaker, *, flowed: bool = False) -> Iterator[Element]:
    """Yield the elements of a plain text: paragraphs, lists, rules; quoted ones say so, and how deep they are."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    block: list[str] = []
    depth = 0
    for line in [*(_flowed(text) if flowed else text.split("\n")), ""]:
        level, words = _unquoted(line)
        if block and (level != depth or not words.strip() or _RULE.fullmatch(words)):
            yield from _block(block, depth, maker)
            block = []
        depth = level
        if _RULE.fullmatch(words):
            yield maker.make("separator", {"separator_type": "line"}, _metadata(level))
        elif words.strip():
            block.append(words.rstrip())


def _block(lines: list[str], depth: int, maker: ElementMaker) -> Iterator[Element]:
    marks = [_ITEM.match(line) for line in lines]
    if len(lines) > 1 and marks[0] and sum(map(bool, marks)) > len(lines) / 2:
        yield maker.make("list", _list(lines), _metadata(depth))
        return
    text = "\n".join(lines)
    for start in range(0, len(text), MAX_PARAGRAPH):
        yield maker.make("text", {"text": text[start : start + MAX_PARAGRAPH]}, _metadata(depth))


def _list(lines: list[str]) -> dict[str, Any]:
    items: list[str] = []
    first = _ITEM.match(lines[0])
    for line in lines:
        mark = _ITEM.match(line)
        if mark:
            items.append(line[mark.end() :])
        else:
            items[-1] = f"{items[-1]} {line.strip()}"
    number = first[1] if first else None
    content: dict[str, Any] = {"ordered": number is not None, "items": items}
    return content | {"start": int(number)} if number not in (None, "1") else content


def _unquoted(line: str) -> tuple[int, str]:
    match = _QUOTE.match(line)
    return (match[0].count(">"), line[match.end() :]) if match else (0, line)


def _flowed(text: str) -> Iterator[str]:
    """Yield the lines of RFC 3676: a blank at the end means that the line goes on."""
    whole, depth = "", 0
    for line in text.split("\n"):
        level, words = _unquoted(line)
        words = words.removeprefix(" ") if level == 0 else words
        if whole and level != depth:
            yield ">" * depth + whole
            whole = ""
        depth = level
        whole += words
        if not words.endswith(" ") or words == "-- ":
            yield ">" * depth + whole
            whole = ""
    if whole:
        yield ">" * depth + whole


def _metadata(depth: int) -> dict[str, Any]:
    return {"quoted": True, "level": depth} if depth else {}
