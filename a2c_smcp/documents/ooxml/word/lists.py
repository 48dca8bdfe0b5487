"""List items of a document as nested lists. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from a2c_smcp.documents.rich_text import RichText, Span, item_content, text_content


@dataclass(frozen=True, slots=True)
class WordListItem:
    """A paragraph that is an item: `source` is its list, `format` how it is numbered (empty for bullets)."""

    text: str
    level: int
    source: str
    format: str = ""
    count: int = 1
    checked: bool | None = None
    spans: tuple[Span, ...] = ()

    def continues(self, items: Sequence["WordListItem"]) -> bool:
        """Whether the item belongs to the list of those before it."""
        base = min(item.level for item in items)
        if self.level > base:
            return True
        same_level = [item for item in items if item.level == base]
        return self.source == same_level[-1].source or (
            self.format == same_level[-1].format and (not self.format or self.count == same_level[-1].count + 1)
        )


def list_content(items: Sequence[WordListItem]) -> dict[str, Any]:
    """Return items as one list; deeper ones become the lists inside those before them."""
    base = min(item.level for item in items)
    # Items that begin too deep have nothing to hang on, so they come up to the first level.
    first = next(index for index, item in enumerate(items) if item.level == base)
    content: dict[str, Any] = {"ordered": bool(items[first].format), "items": []}
    if items[first].format and items[first].count != 1 and items[first].count >= 0:
        content["start"] = items[first].count
    if items[first].format not in ("", "decimal"):
        content["numbering"] = items[first].format
    index = 0
    while index < len(items):
        end = index + 1
        while end < len(items) and items[end].level > base:
            end += 1
        below = items[index + 1 : end]
        content["items"].append(_item(items[index], below))
        index = end
    return content


def _item(item: WordListItem, below: Sequence[WordListItem]) -> str | dict[str, Any]:
    rich = RichText(item.text, item.spans)
    if not below and item.checked is None:
        return item_content(rich)
    told = text_content(rich)
    if item.checked is not None:
        told["checked"] = item.checked
    if below:
        told["children"] = list_content(below)
    return told
