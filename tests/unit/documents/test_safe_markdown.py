"""Markdown of somebody else, written again so that it can stand in a document of ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from a2c_smcp.documents.safe_markdown import TrustedMarkdown, safe_markdown

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
KINDS = {
    *("root", "paragraph", "inline", "text", "softbreak", "hardbreak", "heading", "bullet_list", "ordered_list"),
    *("list_item", "blockquote", "fence", "code_inline", "em", "strong", "s", "link", "table", "thead", "tbody", "tr"),
    *("th", "td", "hr"),
}
PIECES = [
    *("# ", "## ", "\n", "\n\n", "- ", "  ", "    ", "> ", "```", "~~~", "`", "*", "**", "_", "~~", "[", "]", "(", ")"),
    *("![", "](", "<", "</b>", "<script>", "<!--", "-->", "javascript:x", "https://a.b", "[p3]", ":", "|", "---"),
    *("===", "a", "b c", "1. ", "2) ", "\\", "&lt;", "&#10;", "&#32;", "&", "<br>", "<div>", "+ ", "\t", "$", "[x]: "),
    *("!", '"', "<https://x.y>", "<a@b.c>", "\x0c", "\u202e", "|-|-|", "| a | b |\n", "<![x", "data:x", "第3页"),
]


def nodes(text: str) -> list[SyntaxTreeNode]:
    return list(SyntaxTreeNode(PARSER.parse(text)).walk())


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_nothing_but_the_safe_subset_comes_out_whatever_goes_in(text: str) -> None:
    found = nodes(safe_markdown(text))
    assert {node.type for node in found} <= KINDS
    assert all(int(node.tag[1:]) >= 3 for node in found if node.type == "heading")
    addresses = [str(node.attrs["href"]) for node in found if node.type == "link"]
    assert all(address.startswith(("http://", "https://", "mailto:")) for address in addresses)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("# A\n\n### B\n\ntext", "### A\n\n##### B\n\ntext"),
        ("Title\n=====\n\nSub\n---\n\ntext", "### Title\n\n#### Sub\n\ntext"),
        ("<script>alert(1)</script>\n\nHi <b>x</b> <script>bad()</script> y", "Hi x y"),
        ("<!-- hidden --> seen <img src=x onerror=alert(1)>", "seen"),
        ("![alt](https://evil.example/i.png)", "alt"),
        ("![alt](data:image/png;base64,AAAA)", "alt"),
        ("[a](javascript:alert(1)) [b](JaVaScRiPt&#58;alert(1))", "a b"),
        ("[a](vbscript:x) [b](file:///etc/passwd) [c](data:text/html,x) [d](//evil.example) [e](../x)", "a b c d e"),
        ("<javascript:alert(1)> end", "end"),
        ("[a]: javascript:x\n\n[a] [b]\n\n[b]: https://w.example", "a [b](https://w.example)"),
        ("[t](https://w.example/a?b=1&c=2 'title')", "[t](https://w.example/a?b=1&c=2)"),
        ("```\nnot closed\n# no heading", "```\nnot closed\n# no heading\n```"),
        ("````\n```\ninner\n```\n````", "````\n```\ninner\n```\n````"),
        ("> ```\n> not closed", "> ```\n> not closed\n> ```"),
        ("```mermaid\ngraph\n```", "```\ngraph\n```"),
        ("```python evil=1\nx\n```", "```python\nx\n```"),
        ("\\# no heading\n\\- no list\n1\\. no\n\\===", "\\# no heading\n\\- no list\n1\\. no\n\\==="),
        ("foo&#10;# forged&#10;---", "foo # forged ---"),
        ("a | b\n---|---\n1 \\| 2 | **x**", "| a | b |\n| --- | --- |\n| 1 \\| 2 | **x** |"),
        ("- a\n  - b\n- c", "- a\n  - b\n- c"),
        ("* a\n\n+ b", "- a\n\n* b"),
        ("**bold** *em* `code` ~~gone~~ snake_case 2 \\* 3", "**bold** *em* `code` ~~gone~~ snake_case 2 \\* 3"),
        ("!<https://w.example>", "\\![https://w.example](https://w.example)"),
        ("admin\u202etxt.exe", "admintxt.exe"),
        ("text &lt;script&gt;", "text \\<script\\>"),
        ("", ""),
    ],
)
def test_markdown_is_written_again(theirs: str, ours: str) -> None:
    assert safe_markdown(theirs) == ours


def test_plain_text_is_mended_and_code_is_not() -> None:
    def mend(run: str) -> list[str]:
        before, found, after = run.partition("[p3]")
        return [before, TrustedMarkdown("[[p3]](dpe://h/d/pages/2)"), after] if found else [run]

    text = "a [p3] `[p3]`\n\n```\n[p3]\n```"
    assert safe_markdown(text, mend=mend) == "a [[p3]](dpe://h/d/pages/2) `[p3]`\n\n```\n[p3]\n```"


def test_what_is_ours_is_no_link_of_theirs() -> None:
    assert safe_markdown("[p3](https://evil.example)", is_ours=lambda text: text == "p3") == "\\[p3\\]"


@pytest.mark.parametrize("text", ["[" * 20_000, "*a " * 20_000, "<" * 50_000, "![a](" * 5_000, "> " * 500 + "x"])
def test_what_is_made_to_take_long_is_written_in_time(text: str) -> None:
    assert {node.type for node in nodes(safe_markdown(text))} <= KINDS
