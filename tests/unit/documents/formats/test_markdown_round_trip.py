"""A Markdown file that is read and written again means the same."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.tree import SyntaxTreeNode

from a2c_smcp.documents.formats.front_matter import split_front_matter
from a2c_smcp.documents.formats.markdown import open_text
from a2c_smcp.documents.formats.markdown_inline import alone, html_parts
from a2c_smcp.documents.model import Document
from a2c_smcp.documents.render.markdown import render_page
from tests.unit.documents.render.meaning import Character, characters
from tests.unit.documents.render.structure import PARSER

ROOT: Final = Path(__file__).parents[4]
DOCUMENT: Final = Document("h", "d", "file:///d.md", "md", "D", 1)
FILES: Final = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/data/**/*.md")])

Block: TypeAlias = tuple[Any, ...]


def written(markdown: str) -> str:
    """Return Markdown as it comes back."""
    opened = open_text(markdown)
    pages = (opened.page(index) for index in range(opened.describe().page_count))
    return "\n\n".join(render_page(DOCUMENT, page) for page in pages)


def meaning(markdown: str) -> list[Block]:
    """Return what Markdown means, diagrams and how tables are aligned left out."""
    found = _blocks(SyntaxTreeNode(PARSER.parse(markdown)), 0)
    return [block for block in found if not (block[1] == "paragraph" and block[2][:9] == _plain("[diagram:"))]


def _blocks(parent: SyntaxTreeNode, quoted: int) -> Iterator[Block]:
    for node in parent.children:
        if node.type == "blockquote":
            yield from _blocks(node, quoted + 1)
        else:
            yield from ((quoted, *block) for block in _block(node))


def _block(node: SyntaxTreeNode) -> Iterator[Block]:
    match node.type:
        case "paragraph":
            yield from _paragraph(node.children[0])
        case "heading":
            yield "heading", node.tag, _inline(node.children[0]) if node.children else []
        case "fence" | "code_block":
            language = next(iter(node.info.split()), "").lower() if node.type == "fence" else ""
            if language not in ("mermaid", "math", "latex"):
                yield "code", language, node.content.rstrip("\n")
        case "bullet_list" | "ordered_list":
            yield "list", node.type, node.attrs.get("start", 1), [list(_item(item)) for item in node.children]
        case "table":
            rows = [row for part in node.children for row in part.children]
            yield (
                "table",
                [[_inline(cell.children[0]) if cell.children else [] for cell in row.children] for row in rows],
            )
        case "hr":
            yield "paragraph", _plain("[separator: line]")
        case "html_block":
            text, images = html_parts(node.content)
            for image in images:
                yield "paragraph", [Character(f"picture {image['url']} {''.join(image['alt'].split())}")]
            yield from (("paragraph", _plain(part)) for part in text.split("\n\n") if part)


def _item(item: SyntaxTreeNode) -> Iterator[Block]:
    """Yield the texts of an item before the lists in it, which become one list."""
    nested = [child for child in item.children if child.type.endswith("_list")]
    for child in item.children:
        if child not in nested:
            yield from _block(child)
    found = [block for child in nested for block in _block(child)]
    if found:
        yield (*found[0][:3], [entry for block in found for entry in block[3]])


def _paragraph(inline: SyntaxTreeNode) -> Iterator[Block]:
    # A row of links, or of badges, is one element each.
    apart = alone(inline, "image") or alone(inline, "link")
    if apart:
        for part in apart:
            yield "paragraph", characters(part.to_tokens())
    elif found := _inline(inline):
        yield "paragraph", found


def _inline(node: SyntaxTreeNode) -> list[Character]:
    (token,) = node.to_tokens()
    return [one for one in characters(token.children or []) if one.text != "\n"]


def _plain(text: str) -> list[Character]:
    return [Character(one) for one in text if not one.isspace()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_real_file_comes_back_equal_in_meaning(path: Path) -> None:
    text = split_front_matter(path.read_text(encoding="utf-8"))[1]
    back = written(text)
    assert meaning(back) == meaning(text)


words = st.text("ab 中", min_size=1, max_size=8).map(str.strip).filter(bool)


@st.composite
def inline_markdown(draw: st.DrawFn, depth: int = 2) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        inner = draw(inline_markdown(depth - 1)) if depth else draw(words)
        form = draw(
            st.sampled_from(["{}", "**{}**", "*{}*", "~~{}~~", "`a {{}}`", "[{}](x.md)", "![{}](p.png)", "_{}_"])
        )
        parts.append(form.format(inner))
    # A line break between wide characters means nothing, and Markdown has no emphasis that ends right before one.
    return draw(st.sampled_from([" ", "\n"]) if "中" not in "".join(parts) else st.just(" ")).join(parts)


blocks = st.one_of(
    inline_markdown(),
    inline_markdown().map(lambda text: "## " + text.replace("\n", " ")),
    inline_markdown().map(lambda text: "> " + text.replace("\n", "\n> ")),
    st.lists(inline_markdown(), min_size=1, max_size=3).map(
        lambda items: "\n".join("- " + item.replace("\n", "\n  ") for item in items)
    ),
    inline_markdown().map(lambda text: "1. " + text.replace("\n", " ") + "\n\n   ```py\n   x = 1\n   ```"),
    inline_markdown().map(lambda text: f"| a | {text.replace(chr(10), ' ')} |\n| --- | --- |\n| *b* | `c` |"),
    st.just("```sh\nmake\n```"),
)


@given(st.lists(blocks, min_size=1, max_size=4))
def test_any_markdown_comes_back_equal_in_meaning(found: list[str]) -> None:
    text = "\n\n<!-- -->\n\n".join(found)
    back = written(text)
    assert meaning(back) == meaning(text), back
