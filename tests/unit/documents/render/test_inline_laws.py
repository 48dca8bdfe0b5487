"""Whatever is emphasized, code or a link, its Markdown says so, and the words around it stay what they are."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.model import Element
from a2c_smcp.documents.render.markdown import element_markdown
from a2c_smcp.documents.render.values import clean
from tests.unit.documents.render.meaning import Character, characters, expected, paragraph
from tests.unit.documents.render.strategies import nasty_text
from tests.unit.documents.render.structure import PARSER, blocks

pytestmark = pytest.mark.rule("7.8.escape")

words = st.text("ab 中。.,!*_`~[]()<>&\\#-+1|:\n\"'", max_size=25)
texts = (nasty_text | words).map(clean)
urls = st.sampled_from(["https://example.com/a?b=c&d=e", "x.md", "#top", "dpe://h/d/pages/0", "a b.html", "x(1).md"])


def span_of(text: str) -> st.SearchStrategy[dict[str, Any]]:
    def span(start: int, length: int, kind: str) -> dict[str, Any]:
        return {"start": start, "end": min(start + length, len(text)), "kind": kind}

    kinds = st.sampled_from(["strong", "emphasis", "strike", "code"])
    return st.builds(span, st.integers(0, max(len(text) - 1, 0)), st.integers(1, 8), kinds)


@st.composite
def spanned(draw: st.DrawFn, *, links: bool = True) -> tuple[str, list[dict[str, Any]]]:
    text = draw(texts.filter(str.strip))
    spans = draw(st.lists(span_of(text), min_size=1, max_size=4))
    if links and draw(st.booleans()):
        start = draw(st.integers(0, len(text) - 1))
        spans.append(
            {"start": start, "end": draw(st.integers(start + 1, len(text))), "kind": "link", "url": draw(urls)}
        )
    return text, [span for span in spans if span["start"] < span["end"]]


def same(text: str, spans: list[dict[str, Any]], markdown: str, found: list[Character] | None = None) -> None:
    found, wanted = found or paragraph(markdown), expected(text, spans)
    assert "".join(one.text for one in found) == "".join(one.text for one in wanted), markdown
    for one, other in zip(found, wanted, strict=True):
        # Markdown cannot begin or end emphasis everywhere, so some of it may be missing; none may be added.
        assert one.styles <= other.styles, (markdown, one, other)
        assert ("code" in one.styles, one.url) == ("code" in other.styles, other.url), (markdown, one, other)


@given(spanned())
def test_a_text_says_what_its_spans_say(made: tuple[str, list[dict[str, Any]]]) -> None:
    text, spans = made
    same(text, spans, element_markdown(Element("e", "text", {"text": text, "spans": spans})))


@given(spanned())
def test_a_heading_and_a_list_item_say_so_too(made: tuple[str, list[dict[str, Any]]]) -> None:
    text, spans = made
    same(text, spans, element_markdown(Element("e", "heading", {"level": 2, "text": text, "spans": spans})))
    content = {"ordered": False, "items": [{"text": text, "spans": spans}]}
    markdown = element_markdown(Element("e", "list", content))
    same(text, spans, markdown)
    assert [block[0] for block in blocks(markdown)] == ["list"]


@given(spanned())
def test_a_cell_says_so_too_and_stays_one_cell(made: tuple[str, list[dict[str, Any]]]) -> None:
    text, spans = made
    stripped = text.strip()
    start = text.index(stripped)
    spans = [
        {**span, "start": max(0, span["start"] - start), "end": min(span["end"] - start, len(stripped))}
        for span in spans
    ]
    spans = [span for span in spans if span["start"] < span["end"]]
    content = {"headers": ["h", "i"], "rows": [[text, "x"]], "cell_spans": [{"row": 1, "column": 0, "spans": spans}]}
    markdown = element_markdown(Element("e", "table", content))
    [(kind, rows)] = blocks(markdown)
    assert (kind, [len(row) for row in rows], rows[1][1]) == ("table", [2, 2], "x")
    tokens = [token for token in PARSER.parse(markdown) if token.type == "inline"]
    same(stripped, spans, markdown, characters(tokens[2].children or []))


@pytest.mark.parametrize(
    ("text", "spans", "markdown"),
    [
        ("some bold words", [(5, 9, "strong")], "some **bold** words"),
        ("bold and more", [(0, 8, "strong"), (5, 8, "emphasis")], "**bold *and*** more"),
        ("both", [(0, 4, "strong"), (0, 4, "emphasis")], "***both***"),
        ("gone", [(0, 4, "strike")], "~~gone~~"),
        ("bold。后", [(0, 5, "strong")], "**bold**。后"),
        ("ab", [(0, 1, "strong"), (1, 2, "emphasis")], "**a**_b_"),
        ("abc", [(0, 1, "strong"), (1, 2, "emphasis")], "**a**<!-- -->*b*c"),
        ("a`b", [(0, 3, "code")], "``a`b``"),
        ("see it now", [(4, 6, "link", "https://e.org/")], "see [it](https://e.org/) now"),
        ("see it now", [(0, 10, "strong"), (4, 6, "link", "x")], "**see [it](x) now**"),
        ("at https://e.org/ now", [(3, 17, "link", "https://e.org/")], "at <https://e.org/> now"),
        ("no script", [(3, 9, "link", "javascript:alert(1)")], "no script"),
        ("no data", [(3, 7, "link", "data:text/html,x")], "no data"),
        ("wow!it", [(4, 6, "link", "x")], "wow\\![it](x)"),
        ("a cat here", [(2, 5, "image", "cat.png")], "a ![cat](cat.png) here"),
        ("a  b", [(2, 2, "image", "cat.png")], "a ![](cat.png) b"),
        ("one\ntwo\nsix", [(3, 4, "break")], "one\\\ntwo\nsix"),
        ("1. x *y*", [(3, 4, "code")], "1\\. `x` \\*y\\*"),
        ("a\n\nb", [(0, 4, "strong")], "**a**\n\n**b**"),
        ("far out", [(3, 99, "strong")], "far **out**"),
    ],
)
def test_what_is_written(text: str, spans: list[tuple[Any, ...]], markdown: str) -> None:
    told = [dict(zip(("start", "end", "kind", "url"), span, strict=False)) for span in spans]
    assert element_markdown(Element("e", "text", {"text": text, "spans": told})) == markdown


def test_a_block_of_code_in_a_list_item_stays_one() -> None:
    content = {
        "ordered": True,
        "items": [
            {"text": "Run:\n\nmake\n\n  up\n\nThen wait", "spans": [{"start": 6, "end": 16, "kind": "code_block"}]}
        ],
    }
    markdown = element_markdown(Element("e", "list", content))
    assert blocks(markdown) == [
        ("list", True, 1, [[("paragraph", "Run:"), ("code", "", "make\n\n  up\n"), ("paragraph", "Then wait")]])
    ]


def test_a_link_with_a_picture_keeps_it() -> None:
    content = {"text": "build", "url": "ci", "spans": [{"start": 0, "end": 5, "kind": "image", "url": "b.svg"}]}
    assert element_markdown(Element("e", "link", content)) == "[![build](b.svg)](ci)"
