"""List items as nested lists, and tables of contents as lists. Pure."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from a2c_smcp.documents.pdf.layout import text_of
from a2c_smcp.documents.pdf.words import Block

_INSIDE: Final = 6
"""How far to the right an inner list begins at least, in points."""

_NO_NUMBER = re.compile(r"[\s().（）]+")


def lists_of(items: Sequence[Block]) -> list[list[Block]]:
    """Return consecutive items list by list: where signs change to numbers at the outside, another one begins."""
    lists: list[list[Block]] = []
    for item in items:
        if lists:
            first = lists[-1][0]
            is_inside = item.lines[0].x0 > first.lines[0].x0 + _INSIDE
            if is_inside or _is_sign(item.label) == _is_sign(first.label):
                lists[-1].append(item)
                continue
        lists.append([item])
    return lists


def list_content(items: Sequence[Block]) -> dict[str, Any]:
    """Return consecutive items as one list; those set further to the right nest in the one above."""
    root = _List(items[0])
    stack = [root]
    for item in items:
        left = item.lines[0].x0
        while len(stack) > 1 and left < stack[-1].left - 3:
            stack.pop()
        if left > stack[-1].left + _INSIDE and stack[-1].items:
            stack.append(stack[-1].items[-1].setdefault("children", _List(item)))
        stack[-1].add(item)
    return root.content()


@lru_cache(maxsize=512)
def _is_sign(label: str) -> bool:
    label = label.strip()
    return bool(label) and not any(character.isalnum() for character in label)


@lru_cache(maxsize=512)
def _number_in(label: str) -> int | None:
    number = _NO_NUMBER.sub("", label)
    return int(number) if number.isdecimal() and number.isascii() else None


class _List:
    """A list that grows."""

    def __init__(self, first: Block) -> None:
        self.left = first.lines[0].x0
        self.items: list[dict[str, Any]] = []
        self._numbers: list[int | None] = []

    def add(self, item: Block) -> None:
        text, label = text_of(item.lines), item.label
        self._numbers.append(_number_in(label))
        self.items.append({"text": text[len(label) :].lstrip() if _is_sign(label) else text, "label": label})

    def content(self) -> dict[str, Any]:
        first = self._numbers[0]
        counted = first is not None and self._numbers == list(range(first, first + len(self._numbers)))
        items: list[str | dict[str, Any]] = []
        for item in self.items:
            # Numbers that count on are told by the list; other labels stay in the text.
            text = item["text"][len(item["label"]) :].lstrip() if counted else item["text"]
            children = item.get("children")
            items.append({"text": text, "children": children.content()} if children else text)
        content: dict[str, Any] = {"ordered": counted, "items": items}
        if counted and first != 1:
            content["start"] = first
        return content
