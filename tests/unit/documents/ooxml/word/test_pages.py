"""Pages of Word documents: as laid out, as the author parted them, or of a sane size."""

from pathlib import Path

from a2c_smcp.documents.formats.docx import FORMAT
from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.word.body import Break, Item
from a2c_smcp.documents.ooxml.word.pages import MAX_CHARACTERS, MAX_ELEMENTS, paginate
from tests.unit.documents.ooxml.office import HEADINGS, NAMESPACES, document, paragraph, styled

PAGE, LAID_OUT = Break("explicit"), Break("rendered")


def text(words: str, length: int = 0) -> Draft:
    return Draft("text", {"text": words.ljust(length, ".")})


def heading(words: str, level: int = 1) -> Draft:
    return Draft("heading", {"level": level, "text": words})


def starts(*items: Item) -> list[list[str]]:
    return [[draft.content["text"].rstrip(".") for draft in page] for page in paginate(items)]


def test_a_short_document_is_one_page() -> None:
    assert starts(heading("a"), text("b"), heading("c"), text("d")) == [["a", "b", "c", "d"]]


def test_pages_part_where_the_author_wanted_it() -> None:
    assert starts(text("a"), PAGE, text("b"), PAGE, PAGE, text("c"), PAGE) == [["a"], ["b"], ["c"]]


def test_where_the_document_was_laid_out_its_pages_are_those() -> None:
    assert starts(text("a", 9_000), LAID_OUT, text("b"), PAGE, LAID_OUT, text("c")) == [["a"], ["b"], ["c"]]


def test_long_pages_part_at_headings_once_there_is_enough() -> None:
    items = [
        heading("a"),
        text("b", 4_000),
        heading("c", 2),
        text("d", 100),
        heading("e"),
        text("f", 100),
        heading("g"),
    ]
    assert starts(*items) == [["a", "b", "c", "d"], ["e", "f", "g"]]


def test_without_headings_pages_part_by_their_size() -> None:
    assert len(starts(*(text("x", 1_000) for _ in range(30)))) == -(-30_000 // MAX_CHARACTERS)
    assert [len(page) for page in starts(*(text("x") for _ in range(MAX_ELEMENTS + 1)))] == [MAX_ELEMENTS, 1]


def test_headers_come_first_and_footers_last() -> None:
    header, footer = Draft("header", {"text": "h"}), Draft("footer", {"text": "f"})
    assert starts(footer, text("a"), header) == [["h", "a", "f"]]


def section(*margins: tuple[str, str, str], kind: str = "nextPage") -> str:
    references = "".join(f'<w:{name}Reference w:type="{pages}" r:id="{key}"/>' for name, pages, key in margins)
    return f'<w:sectPr>{references}<w:type w:val="{kind}"/></w:sectPr>'


def test_margins_stand_on_the_pages_they_are_for(tmp_path: Path) -> None:
    first = section(("header", "first", "a"), ("header", "default", "b"), ("footer", "default", "c"))
    page_break = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
    body = paragraph("one") + page_break + paragraph("two") + f"<w:p><w:pPr>{first}</w:pPr></w:p>"
    body += paragraph("three") + section(kind="continuous")
    parts = {
        f"word/{key}.xml": f"<w:hdr {NAMESPACES}>{paragraph(text)}</w:hdr>"
        for key, text in (("a", "first header"), ("b", "header"), ("c", "footer"))
    }
    links = {"a:header": "a.xml", "b:header": "b.xml", "c:footer": "c.xml"}
    found = FORMAT.open(document(tmp_path / "file.docx", body, parts, links))
    pages = [found.page(index) for index in range(found.describe().page_count)]
    assert [[element.content["text"] for element in page.elements] for page in pages] == [
        ["first header", "one", "footer"],
        ["header", "two", "three"],
    ]


def test_a_page_without_a_heading_is_called_after_what_it_continues(tmp_path: Path) -> None:
    after = paragraph("more", "<w:pageBreakBefore/>")
    body = styled("Start", "H1") + styled("Middle", "H2") + paragraph("words") + after
    path = document(tmp_path / "file.docx", body, {"word/styles.xml": HEADINGS}, {"s:styles": "styles.xml"})
    assert [entry.title for entry in FORMAT.open(path).entries(0, 9)] == ["Start", "Middle (continued)"]
