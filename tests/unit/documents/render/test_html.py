"""Markdown as HTML: whatever a document says, the page stays a page."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.render.html import MAX_TEXT, to_html

TAGS = {"a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"}
TAGS |= {"span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
pieces = st.sampled_from(
    [
        "<script>",
        "[a](",
        "javascript:x",
        ")",
        "![",
        "](http://evil/x.png)",
        "`",
        "\n\n",
        "| a |\n| - |\n",
        "<!--",
        "&lt;",
    ]
)


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("# Title", "<h1>Title</h1>\n"),
        ("a **b** `c`", "<p>a <strong>b</strong> <code>c</code></p>\n"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ('<img src=x onerror="x">', "<p>&lt;img src=x onerror=&quot;x&quot;&gt;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        ("[x](data:text/html,y)", "<p>[x](data:text/html,y)</p>\n"),
        ("[x](https://a.example/)", '<p><a href="https://a.example/">x</a></p>\n'),
        ("![a <b>](http://evil.example/p.png)", '<p><span class="picture">a &lt;b&gt;</span></p>\n'),
    ],
)
def test_only_what_markdown_can_say_is_said(markdown: str, html: str) -> None:
    assert to_html(markdown) == html


@given(st.lists(pieces | st.text(max_size=10), max_size=12).map("".join))
def test_no_tag_and_no_address_comes_from_the_text(markdown: str) -> None:
    html = to_html(markdown)
    assert {tag.lower() for tag in re.findall(r"</?([a-zA-Z][\w-]*)", html)} <= TAGS
    assert re.findall(r"<[^>]*\s(?:on\w+|style|src)\s*=", html) == []
    assert re.findall(r"href=\"\s*(?:javascript|data|vbscript):", html, re.IGNORECASE) == []


def test_a_text_too_long_for_a_page_is_cut() -> None:
    assert len(to_html("x" * (MAX_TEXT + 1000))) < MAX_TEXT + 100
