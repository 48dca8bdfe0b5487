from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from a2c_smcp.documents.formats.markdown_inline import alone, html_parts, image_content, link_content, plain, rich
from a2c_smcp.documents.rich_text import spans_json


def inline(text: str) -> SyntaxTreeNode:
    return SyntaxTreeNode(MarkdownIt("commonmark").enable("strikethrough").parse(text)).children[0].children[0]


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("*a* **b** ~~c~~ `d`", "a b c d"),
        ("a\\*b &amp; c &lt;d&gt;", "a*b & c <d>"),
        ("one\ntwo", "one two"),
        ("中文\n中文", "中文中文"),
        ("中文\nlatin", "中文 latin"),
        ("hard  \nbreak", "hard\nbreak"),
        ("a<br>b <b>c</b>", "a\nb c"),
        ("[text](https://example.com/a) here", "text here"),
        ("<https://example.com>!", "https://example.com!"),
        ("<me@example.com>", "me@example.com"),
        ("[top](#top) of it", "top of it"),
        ("[**bold** link](x.md)", "bold link"),
        ("see ![a cat](cat.png) there", "see a cat there"),
        ("[ref]\n\n[ref]: x.md", "ref"),
    ],
)
def test_inline_markup_becomes_plain_text(markdown: str, text: str) -> None:
    assert plain(inline(markdown)) == text


@pytest.mark.parametrize(
    ("markdown", "spans"),
    [
        ("*a* **b** ~~c~~ `d`", [(0, 1, "emphasis"), (2, 3, "strong"), (4, 5, "strike"), (6, 7, "code")]),
        ("[text](x.md) here", [(0, 4, "link", "x.md")]),
        ('[text](x.md "T")', [(0, 4, "link", "x.md", "T")]),
        ("[**bold** link](x.md)", [(0, 9, "link", "x.md"), (0, 4, "strong")]),
        ("see ![a cat](cat.png) there", [(4, 9, "image", "cat.png")]),
        ("see ![](cat.png)", [(3, 3, "image", "cat.png")]),
        ("hard  \nbreak", [(4, 5, "break")]),
        ("<b>a</b> <code>b</code> <a href='u'>c</a>", [(0, 1, "strong"), (2, 3, "code"), (4, 5, "link", "u")]),
        ("<b>never closed, <i>a</i>", [(14, 15, "emphasis")]),
        ("**中文\n中文** x", [(0, 4, "strong")]),
        ("[x](javascript:alert(1))", []),
    ],
)
def test_what_is_marked_is_told_beside_the_text(markdown: str, spans: list[tuple[Any, ...]]) -> None:
    names = ("start", "end", "kind", "url", "title")
    assert spans_json(rich(inline(markdown))) == [dict(zip(names, span, strict=False)) for span in spans]


@pytest.mark.parametrize(
    ("markdown", "kind", "count"),
    [
        ("[a](b)", "link", 1),
        (" ![a](b) \n ![c](d)", "image", 2),
        ("[a](b).", "link", 0),
        ("**x** [a](b)", "link", 0),
        ("[a](b) `c`", "link", 0),
        ("text", "image", 0),
    ],
)
def test_a_thing_is_alone_when_only_blanks_are_beside_it(markdown: str, kind: str, count: int) -> None:
    assert len(alone(inline(markdown), kind)) == count


def test_images_and_links_keep_what_they_say() -> None:
    image, link = inline('![a *cat*](cat.png "On a mat")').children[0], inline('[a](b "T")').children[0]
    assert image_content(image) == {"alt": "a cat", "url": "cat.png", "description": "On a mat"}
    assert link_content(link) == {"text": "a", "url": "b", "title": "T"}


@pytest.mark.parametrize(
    ("html", "text", "images"),
    [
        ("<!-- a comment -->", "", []),
        ("<p align=center>Hello,<br>you &amp; me</p>", "Hello,\nyou & me", []),
        ('<img src="a.png" alt="A"><img alt="none">', "", [{"alt": "A", "url": "a.png"}]),
        ("<script>alert(1)</script><style>p{}</style>kept", "kept", []),
        ("<div>\n\n  a\n\n\n  b</div>", "a\n\nb", []),
        ("<unclosed <tags", "<unclosed <tags", []),
    ],
)
def test_html_gives_its_text_and_images(html: str, text: str, images: list[dict[str, str]]) -> None:
    assert html_parts(html) == (text, images)


@pytest.mark.timeout(100)
@pytest.mark.parametrize("unit", ["<!--", "<a ", "<div>x", "<![", "&#", "</"])
def test_hostile_html_ends_in_time(unit: str) -> None:
    assert len(html_parts(unit * 100_000)[0]) <= len(unit) * 100_000
