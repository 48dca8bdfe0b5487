"""Web pages as a person sees them: every block an element, sections as pages, the frame around them last."""

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Description, OpenDocument
from a2c_smcp.documents.formats.html import FORMAT
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.web.page import AROUND, web_page
from a2c_smcp.errors import DocumentError


def opened(folder: Path, html: str | bytes) -> OpenDocument:
    path = folder / "a.html"
    path.write_bytes(html if isinstance(html, bytes) else html.encode())
    return FORMAT.open(path)


def elements(html: str) -> list[Element]:
    return [element for page in web_page(html)[1] for element in page.elements]


def contents(html: str) -> list[tuple[str, Any]]:
    return [(element.category, dict(element.content)) for element in elements(html)]


def titles(html: str) -> list[str]:
    return [page.title for page in web_page(html)[1]]


@pytest.mark.parametrize(
    ("html", "category", "content"),
    [
        ("<h2>Usage<a class=headerlink href=#usage>¶</a></h2>", "heading", {"level": 2, "text": "Usage"}),
        (
            "<h2><b>A <em>title</em></b></h2>",
            "heading",
            {"level": 2, "text": "A title", "spans": [{"start": 2, "end": 7, "kind": "emphasis"}]},
        ),
        (
            "<p>Some <b>bold</b>\n text<br>next <code>x  y</code></p>",
            "text",
            {
                "text": "Some bold text\nnext x y",
                "spans": [
                    {"start": 5, "end": 9, "kind": "strong"},
                    {"start": 14, "end": 15, "kind": "break"},
                    {"start": 20, "end": 23, "kind": "code"},
                ],
            },
        ),
        ("<div>bare <span>text</span></div>", "text", {"text": "bare text"}),
        ("<p>中文\n换行</p>", "text", {"text": "中文换行"}),
        *(
            (
                f"<p>A <a href='{url}'>link</a>.</p>",
                "text",
                {"text": "A link.", "spans": [{"start": 2, "end": 6, "kind": "link", "url": url}]},
            )
            for url in ("https://x.org/y", "/wiki/x")
        ),
        ("<p>No <a href='JavaScript:alert(1)'>link</a>.</p>", "text", {"text": "No link."}),
        (
            "<table><tr><th>a</th></tr><tr><td>see <a href=b.html>this</a><td>2</table>",
            "table",
            {
                "headers": ["a"],
                "rows": [["see this", "2"]],
                "cell_spans": [
                    {"row": 1, "column": 0, "spans": [{"start": 4, "end": 8, "kind": "link", "url": "b.html"}]}
                ],
            },
        ),
        ("<p>漢<ruby>字<rt>じ</rt></ruby></p>", "text", {"text": "漢字(じ)"}),
        ("<p><a href='https://x.org'>only</a></p>", "link", {"text": "only", "url": "https://x.org"}),
        ("<ul><li>a<li>b</ul>", "list", {"ordered": False, "items": ["a", "b"]}),
        ("<ol start=5><li>a<li>b</ol>", "list", {"ordered": True, "items": ["a", "b"], "start": 5}),
        (
            "<ul><li>a<ol start=3><li>b<ul><li>c</ul></ol><li>d</ul>",
            "list",
            {
                "ordered": False,
                "items": [
                    {
                        "text": "a",
                        "children": {
                            "ordered": True,
                            "start": 3,
                            "items": [{"text": "b", "children": {"ordered": False, "items": ["c"]}}],
                        },
                    },
                    "d",
                ],
            },
        ),
        (
            "<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>",
            "list",
            {"ordered": False, "items": [{"text": "done", "checked": True}, {"text": "open", "checked": False}]},
        ),
        (
            "<dl><dt>Term<dd>One<dd>Two<dt>Other</dl>",
            "list",
            {
                "ordered": False,
                "items": [{"text": "Term", "children": {"ordered": False, "items": ["One", "Two"]}}, "Other"],
            },
        ),
        (
            "<pre><code class='language-Python'>x = 1\n  y</code></pre>",
            "code",
            {"text": "x = 1\n  y", "language": "python"},
        ),
        ("<pre>plain\n\ttext</pre>", "code", {"text": "plain\n\ttext"}),
        ("<pre class=mermaid>a --> b</pre>", "diagram", {"source": "a --> b", "language": "mermaid"}),
        ("<hr>", "separator", {"separator_type": "line"}),
        (
            "<img src=a.png alt='An image' title=Told width=10 height=20>",
            "image",
            {"alt": "An image", "url": "a.png", "description": "Told", "width": 10, "height": 20},
        ),
        ("<img src='data:image/png;base64,AAAA' alt=x>", "image", {"alt": "x", "url": "", "mime_type": "image/png"}),
        (
            "<figure><img src=a.png alt=x><figcaption>The caption</figcaption></figure>",
            "image",
            {"alt": "x", "url": "a.png", "description": "The caption"},
        ),
        (
            "<svg><title>Drawing</title><text>one</text><text>two</text></svg>",
            "image",
            {"alt": "Drawing", "text": "one two", "mime_type": "image/svg+xml"},
        ),
        ("<audio src=a.mp3 title=Song></audio>", "audio", {"url": "a.mp3", "title": "Song"}),
        (
            "<video><source src=v.mp4 type=video/mp4>cannot be shown</video>",
            "video",
            {"url": "v.mp4", "mime_type": "video/mp4", "description": "cannot be shown"},
        ),
        (
            "<iframe src='https://www.youtube.com/embed/x' title=Film></iframe>",
            "video",
            {"url": "https://www.youtube.com/embed/x", "title": "Film"},
        ),
        (
            "<iframe src='https://maps.example/x' title=Map></iframe>",
            "widget",
            {"widget_type": "iframe", "name": "Map", "value": "https://maps.example/x"},
        ),
        (
            "<math><mfrac><mi>a</mi><mn>2</mn></mfrac><mo>=</mo><msqrt><mi>b</mi></msqrt></math>",
            "formula",
            {"expression": r"\frac{a}{2} = \sqrt{b}", "notation": "latex"},
        ),
        (
            "<math alttext='{\\displaystyle x^2}'><mi>x</mi></math>",
            "formula",
            {"expression": "x^2", "notation": "latex"},
        ),
        ("<body><script type='math/tex'>E=mc^2</script>", "formula", {"expression": "E=mc^2", "notation": "latex"}),
        ("<button>Press</button>", "widget", {"widget_type": "button", "name": "Press", "label": "Press"}),
        (
            "<aside role=doc-footnote>Note <a href='#r'>↩</a></aside>",
            "annotation",
            {"text": "Note", "annotation_type": "footnote"},
        ),
    ],
)
def test_an_element_of_every_kind(html: str, category: str, content: dict[str, Any]) -> None:
    [element] = elements(html)
    validate_content(element.category, dict(element.content))
    assert (element.category, element.content) == (category, content)


def test_a_form_has_its_fields_and_the_rest_stays_text() -> None:
    html = """<form action=/go aria-label=Order>
    <label for=n>Name</label><input id=n name=name value=Bob required>
    <label><input type=radio name=size checked> Small</label><label><input type=radio name=size> Large</label>
    <select name=colour><option>red<option selected>blue</select><textarea name=notes>text</textarea>
    <input type=hidden name=token value=secret><input type=password name=p value=hunter2>
    <p>Help text</p><button>Send</button></form>"""
    assert contents(html) == [
        (
            "form",
            {
                "title": "Order",
                "action": "/go",
                "fields": [
                    {"name": "name", "field_type": "text", "label": "Name", "value": "Bob", "required": True},
                    {"name": "size", "field_type": "radio", "options": ["Small", "Large"], "value": "Small"},
                    {"name": "colour", "field_type": "choice", "options": ["red", "blue"], "value": "blue"},
                    {"name": "notes", "field_type": "text", "value": "text"},
                    {"name": "p", "field_type": "password"},
                    {"name": "Send", "field_type": "button", "label": "Send"},
                ],
            },
        ),
        ("text", {"text": "Help text"}),
    ]


def test_footnotes_in_a_list_are_annotations_of_their_number() -> None:
    html = "<p>a<sup>1</sup><section class=footnotes><ol><li id=fn1>One<li id=fn2>Two</ol></section>"
    assert contents(html)[1:] == [
        ("annotation", {"text": "One", "annotation_type": "footnote", "target": "1"}),
        ("annotation", {"text": "Two", "annotation_type": "footnote", "target": "2"}),
    ]


def test_a_quotation_is_marked() -> None:
    [element] = elements("<blockquote><p>said</p></blockquote>")
    assert element.metadata == {"quoted": True}


def test_code_in_a_list_item_is_an_element_and_the_numbering_goes_on() -> None:
    html = "<ol><li>first<li>second<pre>x</pre><li>third</ol>"
    assert contents(html) == [
        ("list", {"ordered": True, "items": ["first"]}),
        ("list", {"ordered": True, "items": ["second"], "start": 2}),
        ("code", {"text": "x"}),
        ("list", {"ordered": True, "items": ["third"], "start": 3}),
    ]


def test_buttons_in_a_list_are_widgets() -> None:
    html = "<ul><li><button>Light</button><li>Text<li><button>Dark</button></ul>"
    assert [(category, content.get("items") or content.get("label")) for category, content in contents(html)] == [
        ("list", ["Text"]),
        ("widget", "Light"),
        ("widget", "Dark"),
    ]


def test_links_are_kept_beside_the_text() -> None:
    [element] = elements("<p>See <a href='/a' title=T>this</a> and <a href='#b'>that</a>.</p>")
    assert element.content == {
        "text": "See this and that.",
        "spans": [
            {"start": 4, "end": 8, "kind": "link", "url": "/a", "title": "T"},
            {"start": 13, "end": 17, "kind": "link", "url": "#b"},
        ],
    }


def test_addresses_are_resolved_against_the_base_of_the_page() -> None:
    [element] = elements("<head><base href='https://x.org/d/'></head><img src=i.png alt=i>")
    assert element.content["url"] == "https://x.org/d/i.png"


def test_the_page_says_what_it_is() -> None:
    html = """<head><title> The  title </title><meta name=description content=Told><meta name=keywords content='a, b,a'>
    </head><h1>Other</h1>"""
    assert web_page(html)[0] == Description("The title", 1, ("a", "b"), "Told")


def test_without_a_head_the_first_heading_is_the_title_and_sections_are_keywords() -> None:
    long = "A paragraph that is long enough to tell what the page is about, and then some more words."
    html = f"<h1>Title</h1><p>Short</p><p>{long}</p><h2>One</h2>x<h2>Two</h2>y"
    assert web_page(html)[0] == Description("Title", 3, ("One", "Two"), long)


def test_sections_are_pages() -> None:
    assert titles("<h1>T</h1><p>x<h2>A</h2><p>x<h3>A1</h3><p>x<h2>B</h2><p>y") == ["T", "A", "B"]


def test_a_long_section_is_divided_at_its_own_headings() -> None:
    text = f"<p>{'word ' * 3000}</p>"
    html = f"<h1>T</h1><h2>A</h2><h3>A1</h3>{text}<h3>A2</h3>{text}<h2>B</h2>x"
    assert titles(html) == ["A1", "A2", "B"]


def test_a_page_without_headings_is_divided_by_size() -> None:
    html = "".join(f"<p>{number} {'word ' * 1000}</p>" for number in range(12))
    assert [len(page.elements) for page in web_page(html)[1]] == [4, 4, 4]


def test_the_main_content_comes_first_and_nothing_around_it_is_lost() -> None:
    html = f"""<header><nav><ul><li><a href=/>Home</a></ul></nav></header><div>Beside</div>
    <main><h1>Title</h1><p>{"main text " * 30}</p></main><footer><p>© 2024</p></footer>"""
    pages = web_page(html)[1]
    assert [page.title for page in pages] == ["Title", AROUND]
    assert [element.category for element in pages[1].elements] == ["list", "text", "footer"]


def test_the_ids_of_an_unchanged_page_stay_the_same(tmp_path: Path) -> None:
    html = "<h1>T</h1><p>a<table><tr><th>x<tr><td>1</table><p>b"
    first, second = opened(tmp_path, html), opened(tmp_path, html)
    assert [element.id for element in first.page(0).elements] == ["h-001", "txt-001", "tbl-001", "txt-002"]
    assert first.page(0) == second.page(0)
    assert first.find("tbl-001") == (0, first.page(0).elements[2])


@pytest.mark.parametrize(
    "data",
    [
        "<p>Grüße 你好".encode(),
        b"\xef\xbb\xbf" + "<p>Grüße 你好".encode(),
        "<p>Grüße 你好".encode("utf-16"),
        "<meta charset=gb2312><p>Grüße 你好".encode("gb18030"),
        b'<meta http-equiv=Content-Type content="text/html; charset=GBK">' + "<p>Grüße 你好".encode("gb18030"),
    ],
)
def test_the_encoding_is_found(tmp_path: Path, data: bytes) -> None:
    document = opened(tmp_path, data)
    assert document.page(0).elements[0].content == {"text": "Grüße 你好"}


def test_a_declared_western_encoding_is_used(tmp_path: Path) -> None:
    document = opened(tmp_path, b"<meta charset=iso-8859-1><p>na\xefve caf\xe9")
    assert document.page(0).elements[0].content == {"text": "naïve café"}


@pytest.mark.parametrize(
    ("html", "why"),
    [
        (b"<div>" * 100_000, "deeper"),
        (b"<select>" + b"<option>x" * 20_000, "options"),
        (b"\0\1\2\3" * 100, "binary|not text"),
        (b"<table><tr>" + b"<td colspan=1000 rowspan=60000>x" * 2_000 + b"<tr>" * 500, "cells"),
    ],
)
def test_hostile_pages_are_refused_quickly(tmp_path: Path, html: bytes, why: str) -> None:
    started = time.process_time()
    with pytest.raises(DocumentError, match=why):
        opened(tmp_path, html)
    assert time.process_time() - started < 10


def test_deep_but_possible_nesting_loses_no_text() -> None:
    assert [element.content["text"] for element in elements("<div>" * 3_000 + "deep")] == ["deep"]


def test_an_empty_file_has_no_pages(tmp_path: Path) -> None:
    assert opened(tmp_path, b"").describe() == Description(summary="Empty file")


TAGS = [
    "p",
    "div",
    "ul",
    "li",
    "table",
    "tr",
    "td",
    "th",
    "b",
    "a",
    "h1",
    "h2",
    "pre",
    "form",
    "figure",
    "blockquote",
    "dl",
    "dd",
]
pieces = st.one_of(
    st.sampled_from(
        [f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS] + ["<br>", "<hr>", "<input>", "<img alt=q>"]
    ),
    st.text("xyz", min_size=1, max_size=3),
)


@given(st.lists(pieces, max_size=40))
def test_whatever_the_markup_no_text_is_lost_and_content_is_valid(parts: list[str]) -> None:
    from a2c_smcp.documents.render.text import element_text

    html = "".join(parts)
    found = elements(html)
    for element in found:
        validate_content(element.category, dict(element.content))
    shown = "".join(element_text(element) for element in found)
    wanted = [part for part in parts if not part.startswith("<")]
    for letter in "xyz":
        assert shown.count(letter) >= sum(part.count(letter) for part in wanted)


def test_the_title_of_a_drawing_is_not_that_of_the_page() -> None:
    page = "<body><svg><title>Figure</title><g><title>Part</title></g></svg><h1>Page</h1></body>"
    assert web_page(page)[0].title == "Page"
