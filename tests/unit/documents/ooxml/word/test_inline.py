"""What a paragraph says, whatever it is made of."""

from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.documents.formats.docx import FORMAT
from tests.unit.documents.ooxml.office import document, paragraph

NUMBERS = {"n:numbering": "numbering.xml"}


def elements(folder: Path, body: str, links: dict[str, str] = {}) -> list[tuple[str, dict[str, Any]]]:  # noqa: B006
    found = FORMAT.open(document(folder / "file.docx", body, links=links))
    pages = [found.page(index) for index in range(found.describe().page_count)]
    return [(element.category, dict(element.content)) for page in pages for element in page.elements]


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("<w:t>a</w:t><w:tab/><w:t>b</w:t>", "a\tb"),
        ("<w:t>a</w:t><w:br/><w:t>b</w:t>", "a\nb"),
        ("<w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t>", "a-b"),
        ("<w:t>soft\u00adly</w:t>", "softly"),
        ('<w:sym w:font="Wingdings" w:char="F0FE"/><w:t> done</w:t>', "☑ done"),
        ('<w:sym w:font="Symbol" w:char="F061"/><w:t>=1</w:t>', "α=1"),
        ('<w:t>a</w:t><w:sym w:font="Other" w:char="zz"/>', "a"),
        (
            "<w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby>",
            "漢(kan)",
        ),
        ("<w:rPr><w:b/></w:rPr><w:t>a</w:t><w:lastRenderedPageBreak/><w:t>b</w:t>", "ab"),
    ],
)
def test_the_parts_of_a_run_become_text(tmp_path: Path, inside: str, text: str) -> None:
    (found,) = elements(tmp_path, f"<w:p><w:r>{inside}</w:r></w:p>")
    assert (found[0], found[1]["text"]) == ("text", text)


def test_codes_of_fields_are_not_text_but_their_results_are(tmp_path: Path) -> None:
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    code = '<w:r><w:instrText> IF x "y" </w:instrText></w:r>'
    nested = mark.format("begin") + code + mark.format("separate") + "<w:r><w:t>inner</w:t></w:r>" + mark.format("end")
    body = mark.format("begin") + code + nested + mark.format("separate") + "<w:r><w:t>shown</w:t></w:r>"
    simple = '<w:fldSimple w:instr="PAGE"><w:r><w:t> 7</w:t></w:r></w:fldSimple>'
    assert elements(tmp_path, f"<w:p>{body}{mark.format('end')}{simple}</w:p>")[0] == ("text", {"text": "innershown 7"})


def test_simple_fields_and_anchors_are_links_too(tmp_path: Path) -> None:
    simple = '<w:fldSimple w:instr="HYPERLINK https://a.org"><w:r><w:t>a</w:t></w:r></w:fldSimple>'
    anchor = '<w:hyperlink w:anchor="part"><w:r><w:t>b</w:t></w:r></w:hyperlink>'
    contents = '<w:hyperlink w:anchor="_Toc1"><w:r><w:t>c</w:t></w:r></w:hyperlink>'
    assert elements(tmp_path, f"<w:p>{simple}</w:p><w:p>{anchor}</w:p><w:p>{contents}</w:p>") == [
        ("link", {"text": "a", "url": "https://a.org"}),
        ("link", {"text": "b", "url": "#part"}),
        ("text", {"text": "c"}),
    ]


def test_what_was_moved_is_noted_where_it_was(tmp_path: Path) -> None:
    gone = "<w:moveFrom><w:r><w:t>words</w:t></w:r></w:moveFrom>"
    here = "<w:moveTo><w:r><w:t>words</w:t></w:r></w:moveTo>"
    assert elements(tmp_path, f"<w:p>{gone}</w:p><w:p>{here}</w:p>") == [
        ("annotation", {"text": "words", "annotation_type": "moved"}),
        ("text", {"text": "words"}),
    ]


def test_a_control_around_paragraphs_is_a_widget_after_them(tmp_path: Path) -> None:
    control = '<w:sdt><w:sdtPr><w:tag w:val="Summary"/><w:text/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>'
    assert elements(tmp_path, control.format(paragraph("filled in"))) == [
        ("text", {"text": "filled in"}),
        ("widget", {"widget_type": "text", "name": "Summary", "value": "filled in"}),
    ]


def test_a_placeholder_is_no_value(tmp_path: Path) -> None:
    properties = "<w:showingPlcHdr/><w:date/>"
    control = f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent><w:r><w:t>Pick</w:t></w:r></w:sdtContent></w:sdt>"
    found = elements(tmp_path, f"<w:p><w:r><w:t>Date: </w:t></w:r>{control}</w:p>")
    assert found[1] == ("widget", {"widget_type": "date", "label": "Date"})


def test_rules_are_separators(tmp_path: Path) -> None:
    border = '<w:p><w:pPr><w:pBdr><w:bottom w:val="single"/></w:pBdr></w:pPr></w:p>'
    drawn = '<w:p><w:r><w:pict><v:rect o:hr="t"/></w:pict></w:r></w:p>'
    assert elements(tmp_path, border + drawn) == [("separator", {"separator_type": "line"})] * 2
