"""What a Markdown parser makes of rendered Markdown, as plain values to compare."""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token

Block: TypeAlias = tuple[Any, ...]

PARSER: Final = MarkdownIt("commonmark").enable("table").enable("strikethrough")
CELL_BREAK: Final = "<br>"


def blocks(markdown: str) -> list[Block]:
    """Return the blocks: a paragraph, a heading, a list and so on, each a tuple that begins with its kind.

    Inline text is a string with its white space collapsed; anything Markdown does to it (emphasis, a link, a tag)
    makes it a list that differs from every string.
    """
    return _blocks(iter(PARSER.parse(markdown)), None)


def shown(text: str) -> str:
    """Return text as a reader sees it: with any white space as one blank."""
    return " ".join(text.split())


def _blocks(tokens: Iterator[Token], end: str | None) -> list[Block]:
    found: list[Block] = []
    for token in tokens:
        match token.type:
            case kind if kind == end:
                return found
            case "paragraph_open":
                found.append(("paragraph", _inline(next(tokens))))
                next(tokens)
            case "heading_open":
                found.append(("heading", int(token.tag[1:]), _inline(next(tokens))))
                next(tokens)
            case "fence":
                found.append(("code", token.info, token.content))
            case "html_block":
                found.append(("html", token.content.strip()))
            case "bullet_list_open":
                found.append(("list", False, 1, _items(tokens, "bullet_list_close")))
            case "ordered_list_open":
                found.append(("list", True, token.attrs.get("start", 1), _items(tokens, "ordered_list_close")))
            case "table_open":
                found.append(("table", _rows(tokens)))
            case kind:
                found.append((kind, token.content))
    return found


def _items(tokens: Iterator[Token], end: str) -> list[list[Block]]:
    items = []
    for token in tokens:
        if token.type == end:
            break
        items.append(_blocks(tokens, "list_item_close"))
    return items


def _rows(tokens: Iterator[Token]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for token in tokens:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_inline(token))
    return rows


def _inline(token: Token) -> Any:
    parts: list[Any] = [""]
    for child in token.children or []:
        match child.type:
            case "text" | "text_special":
                text = child.content
            case "softbreak":
                text = "\n"
            case "html_inline" if child.content == CELL_BREAK:
                text = "\n"
            case "image":
                parts += [("image", child.attrs["src"], _inline(child)), ""]
                continue
            case "link_open":
                parts += [("link", child.attrs["href"]), ""]
                continue
            case "link_close":
                parts += [("end of link",), ""]
                continue
            case kind:
                parts += [(kind, child.content), ""]
                continue
        parts[-1] += text
    parts = [shown(part) if isinstance(part, str) else part for part in parts]
    return parts[0] if len(parts) == 1 else [part for part in parts if part]
