"""Word documents: elements by styles and numbering, pages as a person turns them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Description, HasOutline, Illustrated, OpenDocument, OutlineEntry
from a2c_smcp.documents.formats.docx import FORMAT
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.errors import DocumentError
from tests.unit.documents.ooxml.office import HEADINGS, MATH, NAMESPACES, core, document, paragraph, styled

STYLES = {"s:styles": "styles.xml"}
NOTHING: Mapping[str, str] = {}


def opened(
    folder: Path, body: str, parts: Mapping[str, str | bytes] = NOTHING, links: Mapping[str, str] = NOTHING
) -> OpenDocument:
    whole = {"word/styles.xml": HEADINGS, **parts}
    found = FORMAT.open(document(folder / "file.docx", body, whole, {**STYLES, **links}))
    for index in range(found.describe().page_count):
        for element in found.page(index).elements:
            validate_content(element.category, element.content)
            assert found.find(element.id) == (index, element)
    return found


def elements(document: OpenDocument) -> list[tuple[str, dict[str, Any]]]:
    pages = [document.page(index) for index in range(document.describe().page_count)]
    return [(element.category, dict(element.content)) for page in pages for element in page.elements]


def run(inside: str) -> str:
    return f"<w:p><w:r>{inside}</w:r></w:p>"


@pytest.mark.rule("7.2.categories")
def test_headings_have_the_levels_of_their_styles(tmp_path: Path) -> None:
    found = opened(tmp_path, styled("Top", "H1") + paragraph("Some words.") + styled("Below", "H2"))
    assert found.page(0) == Page(
        0,
        "Top",
        (
            Element("h-001", "heading", {"level": 1, "text": "Top"}, "Top"),
            Element("txt-001", "text", {"text": "Some words."}, "Some words."),
            Element("h-002", "heading", {"level": 2, "text": "Below"}, "Below"),
        ),
    )
    assert found.describe() == Description("Top", 1, ("Below",), "Some words.")
    assert isinstance(found, HasOutline)
    assert found.outline() == [OutlineEntry("Top", 0, 1), OutlineEntry("Below", 0, 2)]


def test_properties_come_before_what_the_text_says(tmp_path: Path) -> None:
    parts = {"docProps/core.xml": core(title="Given", keywords="x", description="About")}
    found = opened(tmp_path, styled("Top", "H1") + paragraph("Words"), parts)
    assert found.describe() == Description("Given", 1, ("x",), "About")


def test_outline_levels_make_headings_with_and_without_a_style(tmp_path: Path) -> None:
    styles = (
        f'<w:styles {NAMESPACES}><w:style w:type="paragraph" w:styleId="A"><w:name w:val="Chapter"/><w:pPr>'
        '<w:outlineLvl w:val="1"/></w:pPr></w:style><w:style w:type="paragraph" w:styleId="B"><w:name w:val="Mine"/>'
        '<w:basedOn w:val="A"/></w:style><w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>'
        "</w:styles>"
    )
    body = styled("a", "B") + paragraph("b", '<w:outlineLvl w:val="0"/>') + paragraph("c", '<w:outlineLvl w:val="9"/>')
    found = opened(tmp_path, body + styled("d", "T"), {"word/styles.xml": styles})
    assert [(category, content.get("level")) for category, content in elements(found)] == [
        ("heading", 2),
        ("heading", 1),
        ("text", None),
        ("heading", 1),
    ]
    assert found.describe().title == "d"


def levels(kind: str) -> str:
    level = '<w:lvl w:ilvl="{}"><w:start w:val="1"/><w:numFmt w:val="{}"/></w:lvl>'
    return "".join(level.format(at, kind) for at in range(3))


LISTS = "".join(
    f'<w:abstractNum w:abstractNumId="{at}">{levels(kind)}</w:abstractNum>'
    f'<w:num w:numId="{at}"><w:abstractNumId w:val="{at}"/></w:num>'
    for at, kind in ((1, "bullet"), (2, "decimal"), (3, "lowerLetter"))
)
ANEW = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
NUMBERING = (
    f'<w:numbering {NAMESPACES}>{LISTS}<w:num w:numId="4"><w:abstractNumId w:val="2"/>{ANEW}</w:num></w:numbering>'
)


def item(text: str, level: int = 0, kind: int = 1) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{kind}"/></w:numPr>')


def listed(folder: Path, body: str) -> list[dict[str, Any]]:
    found = opened(folder, body, {"word/numbering.xml": NUMBERING}, {"n:numbering": "numbering.xml"})
    return [content for category, content in elements(found) if category == "list"]


def test_lists_nest_by_their_levels(tmp_path: Path) -> None:
    body = item("a") + item("b", 1) + item("c", 2) + item("d", 1, 2) + item("e")
    assert listed(tmp_path, body) == [
        {
            "ordered": False,
            "items": [
                {
                    "text": "a",
                    "children": {
                        "ordered": False,
                        "items": [{"text": "b", "children": {"ordered": False, "items": ["c"]}}, "d"],
                    },
                },
                "e",
            ],
        }
    ]


def test_numbers_go_on_after_an_interruption(tmp_path: Path) -> None:
    body = item("a", 0, 2) + item("b", 0, 2) + paragraph("between") + item("c", 0, 2) + item("x", 0, 4)
    assert listed(tmp_path, body) == [
        {"ordered": True, "items": ["a", "b"]},
        {"ordered": True, "items": ["c"], "start": 3},
        {"ordered": True, "items": ["x"], "start": 5},
    ]


def test_letters_are_an_order_too(tmp_path: Path) -> None:
    assert listed(tmp_path, item("a", 0, 3)) == [{"ordered": True, "numbering": "lowerLetter", "items": ["a"]}]


def test_headings_know_the_number_that_is_shown_before_them(tmp_path: Path) -> None:
    level = '<w:lvl w:ilvl="{}"><w:numFmt w:val="{}"/><w:lvlText w:val="{}"/></w:lvl>'
    levels = level.format(0, "upperRoman", "%1.") + level.format(1, "decimal", "%1.%2")
    numbering = (
        f'<w:numbering {NAMESPACES}><w:abstractNum w:abstractNumId="1">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>'
    )

    def numbered(text: str, level: int) -> str:
        place = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="{level}"/>'
        return paragraph(text, place)

    body = "".join(numbered(text, at) for text, at in (("a", 0), ("b", 1), ("c", 0), ("d", 1), ("e", 1)))
    found = opened(tmp_path, body, {"word/numbering.xml": numbering}, {"n:numbering": "numbering.xml"})
    assert [(element.summary, element.metadata["number"]) for element in found.page(0).elements] == [
        ("a", "I"),
        ("b", "I.1"),
        ("c", "II"),
        ("d", "II.1"),
        ("e", "II.2"),
    ]


def test_the_table_of_contents_is_a_list(tmp_path: Path) -> None:
    styles = f"<w:styles {NAMESPACES}>" + "".join(
        f'<w:style w:type="paragraph" w:styleId="T{n}"><w:name w:val="toc {n}"/></w:style>' for n in (1, 2)
    )
    found = opened(tmp_path, styled("One 1", "T1") + styled("Two 2", "T2"), {"word/styles.xml": f"{styles}</w:styles>"})
    assert elements(found) == [
        ("list", {"ordered": False, "items": [{"text": "One 1", "children": {"ordered": False, "items": ["Two 2"]}}]})
    ]


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def test_tables_keep_merged_cells_and_header(tmp_path: Path) -> None:
    down, on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    table = (
        row(cell("a"), cell("both", '<w:gridSpan w:val="2"/>'), properties="<w:tblHeader/>")
        + row(cell("down", down), cell("1"), cell("2"))
        + row(cell("", on), cell("3"), cell("4"))
    )
    caption = '<w:tblPr><w:tblCaption w:val="Sums"/></w:tblPr>'
    assert elements(opened(tmp_path, f"<w:tbl>{caption}{table}</w:tbl>")) == [
        (
            "table",
            {
                "headers": ["a", "both", ""],
                "rows": [["down", "1", "2"], [None, "3", "4"]],
                "merged": [
                    {"row": 0, "column": 1, "row_span": 1, "column_span": 2},
                    {"row": 1, "column": 0, "row_span": 2, "column_span": 1},
                ],
                "caption": "Sums",
            },
        )
    ]


def test_a_table_inside_a_cell_stays_in_it_and_a_table_of_one_cell_is_a_frame(tmp_path: Path) -> None:
    inner = f"<w:tbl>{row(cell('x'), cell('y'))}</w:tbl>"
    outer = f"<w:tbl>{row(cell('a').replace('</w:tc>', f'{inner}</w:tc>'), cell('b'))}</w:tbl>"
    inside = styled("Framed", "H1") + paragraph("words")
    frame = f"<w:tbl>{row(f'<w:tc>{inside}</w:tc>')}</w:tbl>"
    assert elements(opened(tmp_path, outer + frame)) == [
        ("table", {"headers": [], "rows": [["a\nx | y", "b"]]}),
        ("heading", {"level": 1, "text": "Framed"}),
        ("text", {"text": "words"}),
    ]


def test_emphasis_code_and_links_are_spans_of_text_lists_and_cells(tmp_path: Path) -> None:
    def run(text: str, properties: str = "") -> str:
        return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'

    styles = HEADINGS.replace(
        "</w:styles>",
        '<w:style w:type="character" w:styleId="Verbatim"><w:name w:val="Verbatim Char"/></w:style></w:styles>',
    )
    link = f'<w:hyperlink r:id="x">{run("there", "<w:i/>")}</w:hyperlink>'
    inside = run("a ") + run("bo", "<w:b/>") + run("ld", "<w:b/>") + run(" not", '<w:b w:val="0"/>')
    code = run(" x()", '<w:rStyle w:val="Verbatim"/>') + run(" gone ", "<w:strike/>") + link
    linked = f"<w:tc><w:p>{link}</w:p></w:tc>"
    body = f"<w:p>{inside}{code}</w:p><w:tbl>{row(cell('h'), cell('i'))}{row(cell('1'), linked)}</w:tbl>"
    parts = {"word/styles.xml": styles}
    links = {"x:hyperlink": "https://a.org/", "s:styles": "styles.xml"}
    text, table = elements(opened(tmp_path, body, parts, links=links))
    assert text == (
        "text",
        {
            "text": "a bold not x() gone there",
            "spans": [
                {"start": 2, "end": 6, "kind": "strong"},
                {"start": 10, "end": 14, "kind": "code"},
                {"start": 15, "end": 19, "kind": "strike"},
                {"start": 20, "end": 25, "kind": "emphasis"},
                {"start": 20, "end": 25, "kind": "link", "url": "https://a.org/"},
            ],
        },
    )
    assert table[1]["cell_spans"] == [
        {
            "row": 1,
            "column": 1,
            "spans": [
                {"start": 0, "end": 5, "kind": "emphasis"},
                {"start": 0, "end": 5, "kind": "link", "url": "https://a.org/"},
            ],
        }
    ]


def test_links_are_spans_of_their_paragraph_and_alone_where_they_are_all_of_it(tmp_path: Path) -> None:
    link = '<w:hyperlink r:id="x"><w:r><w:t>site</w:t></w:r></w:hyperlink>'
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
    code = '<w:r><w:instrText> HYPERLINK "https://b.org" \\l "part"</w:instrText></w:r>'
    shown = "<w:r><w:t>b</w:t></w:r>"
    field = mark.format("begin") + code + mark.format("separate") + shown + mark.format("end")
    body = f"<w:p><w:r><w:t>See </w:t></w:r>{link}</w:p><w:p>{link}</w:p><w:p>{field}</w:p>"
    assert elements(opened(tmp_path, body, links={"x:hyperlink": "https://a.org/"})) == [
        ("text", {"text": "See site", "spans": [{"start": 4, "end": 8, "kind": "link", "url": "https://a.org/"}]}),
        ("link", {"text": "site", "url": "https://a.org/"}),
        ("link", {"text": "b", "url": "https://b.org#part"}),
    ]


def test_notes_follow_what_they_are_about_and_are_counted(tmp_path: Path) -> None:
    notes = "".join(
        f'<w:{{0}} w:id="{at}" {kind}>{paragraph(f"note {at}")}</w:{{0}}>'
        for at, kind in ((0, 'w:type="separator"'), (7, ""), (8, ""))
    )
    body = run('<w:t>a</w:t><w:footnoteReference w:id="7"/><w:t>b</w:t><w:endnoteReference w:id="8"/>')
    parts = {
        "word/footnotes.xml": f"<w:footnotes {NAMESPACES}>{notes.format('footnote')}</w:footnotes>",
        "word/endnotes.xml": f"<w:endnotes {NAMESPACES}>{notes.format('endnote')}</w:endnotes>",
    }
    found = opened(tmp_path, body, parts, {"f:footnotes": "footnotes.xml", "e:endnotes": "endnotes.xml"})
    assert elements(found) == [
        ("text", {"text": "a[1]b[e1]"}),
        ("annotation", {"text": "note 7", "annotation_type": "footnote", "target": "[1]"}),
        ("annotation", {"text": "note 8", "annotation_type": "endnote", "target": "[e1]"}),
        ("annotation", {"text": "note 8", "annotation_type": "footnote"}),
        ("annotation", {"text": "note 7", "annotation_type": "endnote"}),
    ]


def test_comments_know_their_passage_and_their_answers(tmp_path: Path) -> None:
    body = (
        '<w:p><w:r><w:t>Not this, </w:t></w:r><w:commentRangeStart w:id="1"/><w:r><w:t>but this</w:t></w:r>'
        '<w:commentRangeEnd w:id="1"/><w:r><w:commentReference w:id="1"/></w:r></w:p>'
    )
    comments = "".join(
        f'<w:comment w:id="{at}" w:author="{who}" w:date="2024-05-01T10:00:00Z"><w:p w14:paraId="{at}">'
        f"<w:r><w:t>{text}</w:t></w:r></w:p></w:comment>"
        for at, who, text in ((1, "Ann", "why?"), (2, "Bob", "so"))
    )
    extended = (
        '<x:commentsEx xmlns:x="urn:x"><x:commentEx x:paraId="1" x:done="1"/>'
        '<x:commentEx x:paraId="2" x:paraIdParent="1"/></x:commentsEx>'
    )
    parts = {
        "word/comments.xml": f"<w:comments {NAMESPACES}>{comments}</w:comments>",
        "word/commentsExtended.xml": extended,
    }
    links = {"c:comments": "comments.xml", "x:commentsExtended": "commentsExtended.xml"}
    said = {"author": "Ann", "created": "2024-05-01T10:00:00Z"}
    assert elements(opened(tmp_path, body, parts, links))[1:] == [
        (
            "annotation",
            {"text": "why?", "annotation_type": "comment", **said, "resolved": True, "target": "but this"}
            | {"replies": [{"text": "so", "author": "Bob", "created": said["created"]}]},
        )
    ]


def test_insertions_are_text_and_deletions_are_noted(tmp_path: Path) -> None:
    body = (
        '<w:p><w:r><w:t>old </w:t></w:r><w:ins w:author="A"><w:r><w:t>new</w:t></w:r></w:ins>'
        '<w:del w:author="A" w:date="2024-05-01T10:00:00Z"><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>'
    )
    deletion = {"text": "gone", "annotation_type": "deletion", "author": "A", "created": "2024-05-01T10:00:00Z"}
    assert elements(opened(tmp_path, body)) == [("text", {"text": "old new"}), ("annotation", deletion)]


def test_controls_are_widgets_and_several_in_a_row_a_form(tmp_path: Path) -> None:
    def box(checked: int, label: str) -> str:
        kind = f'<w14:checkbox><w14:checked w14:val="{checked}"/></w14:checkbox>'
        return (
            f"<w:sdt><w:sdtPr>{kind}</w:sdtPr><w:sdtContent><w:r><w:t>☐</w:t></w:r></w:sdtContent></w:sdt>"
            f"<w:r><w:t> {label} </w:t></w:r>"
        )

    choice = (
        '<w:sdt><w:sdtPr><w:alias w:val="Size"/><w:dropDownList><w:listItem w:displayText="S"/>'
        '<w:listItem w:value="M"/></w:dropDownList></w:sdtPr>'
        "<w:sdtContent><w:r><w:t>M</w:t></w:r></w:sdtContent></w:sdt>"
    )
    body = f"<w:p>{box(1, 'agreed')}</w:p><w:p>{box(1, 'yes')}{box(0, 'no')}</w:p>"
    body += f"<w:p><w:r><w:t>Pick: </w:t></w:r>{choice}</w:p>"
    assert [one for one in elements(opened(tmp_path, body)) if one[0] != "text"] == [
        ("widget", {"widget_type": "checkbox", "label": "agreed", "value": True}),
        (
            "form",
            {
                "fields": [
                    {"name": "yes", "field_type": "checkbox", "label": "yes", "value": True},
                    {"name": "no", "field_type": "checkbox", "label": "no", "value": False},
                ]
            },
        ),
        ("widget", {"widget_type": "choice", "name": "Size", "label": "Pick", "value": "M", "options": ["S", "M"]}),
    ]


def test_fields_of_older_forms_are_read(tmp_path: Path) -> None:
    def field(data: str, shown: str) -> str:
        mark = '<w:r><w:fldChar w:fldCharType="{}">{}</w:fldChar></w:r>'
        begin = mark.format("begin", f'<w:ffData><w:name w:val="f"/>{data}</w:ffData>')
        return f"{begin}{mark.format('separate', '')}<w:r><w:t>{shown}</w:t></w:r>{mark.format('end', '')}"

    body = (
        f"<w:p><w:r><w:t>Name: </w:t></w:r>{field('<w:textInput/>', 'Ann')}</w:p>"
        f'<w:p>{field("""<w:checkBox><w:default w:val="1"/></w:checkBox>""", "")}<w:r><w:t>ok</w:t></w:r></w:p>'
    )
    assert [content for category, content in elements(opened(tmp_path, body)) if category == "widget"] == [
        {"widget_type": "text", "name": "f", "label": "Name", "value": "Ann"},
        {"widget_type": "checkbox", "name": "f", "label": "ok", "value": True},
    ]


def test_equations_are_formulas(tmp_path: Path) -> None:
    equation = f'<m:oMath xmlns:m="{MATH}"><m:r><m:t>x=1</m:t></m:r></m:oMath>'
    body = f"<w:p><m:oMathPara>{equation}</m:oMathPara></w:p><w:p><w:r><w:t>Let </w:t></w:r>{equation}</w:p>"
    formula = ("formula", {"expression": "x=1", "notation": "latex"})
    assert elements(opened(tmp_path, body)) == [formula, ("text", {"text": "Let x=1"}), formula]


def test_code_keeps_its_blanks(tmp_path: Path) -> None:
    style = '<w:style w:type="paragraph" w:styleId="C"><w:name w:val="Source Code"/></w:style>'
    styles = f"<w:styles {NAMESPACES}>{style}</w:styles>"
    body = styled("def f():", "C") + styled("    return 1", "C")
    assert elements(opened(tmp_path, body, {"word/styles.xml": styles})) == [
        ("code", {"text": "def f():\n    return 1"})
    ]


def test_drawings_are_pictures_and_text_boxes(tmp_path: Path) -> None:
    picture = (
        '<w:drawing><wp:inline><wp:extent cx="95250" cy="95250"/><wp:docPr id="1" name="Picture 1" descr="A duck"/>'
        '<a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:embed="i"/></pic:blipFill></pic:pic>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing>"
    )
    box = (
        '<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><wps:txbx><w:txbxContent>'
        f"{paragraph('in a box')}</w:txbxContent></wps:txbx></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict>"
        f"<v:textbox><w:txbxContent>{paragraph('in a box')}</w:txbxContent></v:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent>"
    )
    parts: dict[str, str | bytes] = {"word/media/duck.jpeg": b"\xff\xd8"}
    found = opened(tmp_path, run(picture) + run(box), parts, {"i:image": "media/duck.jpeg"})
    assert elements(found) == [
        ("image", {"alt": "A duck", "mime_type": "image/jpeg"}),
        ("text", {"text": "in a box"}),
    ]
    assert isinstance(found, Illustrated)
    assert found.element_image("img-001") == ("image/jpeg", b"\xff\xd8")
    assert found.element_image("txt-001") is None


def test_a_document_without_a_body_is_refused(tmp_path: Path) -> None:
    path = document(tmp_path / "file.docx", "", {"word/document.xml": "<workbook/>"})
    with pytest.raises(DocumentError, match="not a Word document"):
        FORMAT.open(path)


def test_nesting_without_end_is_refused_or_read(tmp_path: Path) -> None:
    deep = "<w:ins>" * 240 + "<w:r><w:t>deep</w:t></w:r>" + "</w:ins>" * 240
    assert elements(opened(tmp_path, f"<w:p>{deep}</w:p>")) == [("text", {"text": "deep"})]


@pytest.mark.parametrize(("name", "kind"), [("a.DOCX", "docx"), ("a.docm", "docx"), ("a.doc", None)])
def test_files_are_known_by_their_endings(name: str, kind: str | None) -> None:
    assert FORMAT.file_type(name) == kind
