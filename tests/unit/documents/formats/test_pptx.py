"""Presentations: a slide is a page, its shapes are read as a person reads them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.base import Description, Illustrated, OpenDocument
from a2c_smcp.documents.formats.pptx import FORMAT
from a2c_smcp.documents.model import Element, Page, PageEntry
from a2c_smcp.errors import DocumentError
from tests.unit.documents.ooxml.office import CHART, MATH, NAMESPACES, core, presentation, relationships, shape

NOTHING: Mapping[str, str] = {}


def opened(
    folder: Path, *slides: str, parts: Mapping[str, str | bytes] = NOTHING, links: Mapping[str, str] = NOTHING
) -> OpenDocument:
    found = FORMAT.open(presentation(folder / "file.pptx", list(slides), parts, {0: links}))
    for index in range(found.describe().page_count):
        for element in found.page(index).elements:
            validate_content(element.category, element.content)
            assert found.find(element.id) == (index, element)
    return found


def elements(document: OpenDocument, index: int = 0) -> list[tuple[str, dict[str, Any]]]:
    return [(element.category, dict(element.content)) for element in document.page(index).elements]


@pytest.mark.rule("7.2.categories")
def test_the_title_comes_first_then_shapes_from_top_to_bottom(tmp_path: Path) -> None:
    slide = (
        shape("below", top=4) + shape("right", top=2, left=5) + shape("left", top=2) + shape("T", role="title", top=9)
    )
    found = opened(tmp_path, slide)
    assert found.page(0) == Page(
        0,
        "T",
        (
            Element("p0-h-001", "heading", {"level": 1, "text": "T"}, "T"),
            Element("p0-txt-001", "text", {"text": "left"}, "left"),
            Element("p0-txt-002", "text", {"text": "right"}, "right"),
            Element("p0-txt-003", "text", {"text": "below"}, "below"),
        ),
    )


def test_the_catalogue_knows_properties_and_the_first_title(tmp_path: Path) -> None:
    found = opened(tmp_path, shape("Start", role="ctrTitle"), shape("words"))
    assert found.describe() == Description("Start", 2, (), "2 slides, beginning with “Start”")
    assert list(found.entries(1, 9)) == [PageEntry(1, "words", 1)]
    parts = {"docProps/core.xml": core(title="Given", keywords="k", subject="About")}
    told = opened(tmp_path, shape("Start", role="title"), parts=parts).describe()
    assert told == Description("Given", 1, ("k",), "About. 1 slide, beginning with “Start”")


def test_paragraphs_with_bullets_are_lists_by_level(tmp_path: Path) -> None:
    def line(text: str, level: int, mark: str) -> str:
        return f'<a:p><a:pPr lvl="{level}">{mark}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>'

    bullet, none = '<a:buChar char="•"/>', "<a:buNone/>"
    inside = line("intro", 0, none) + line("a", 0, bullet) + line("b", 1, bullet) + line("c", 0, "<a:buAutoNum/>")
    assert elements(opened(tmp_path, shape("", inside=inside))) == [
        ("text", {"text": "intro"}),
        (
            "list",
            {
                "ordered": False,
                "items": [{"text": "a", "children": {"ordered": False, "items": ["b"]}}, "c"],
            },
        ),
    ]


def test_bullets_and_places_come_from_layout_and_master(tmp_path: Path) -> None:
    role = '<p:nvSpPr><p:cNvPr id="2" name="Body"/><p:cNvSpPr/><p:nvPr><p:ph idx="1"/></p:nvPr></p:nvSpPr>'
    body = f"<p:sp>{role}<p:spPr/>{{}}</p:sp>"
    text = "<p:txBody><a:p><a:r><a:t>point</a:t></a:r></a:p></p:txBody>"
    placed = body.format("").replace(
        "<p:spPr/>", '<p:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="9" cy="9"/></a:xfrm></p:spPr>'
    )
    style = '<p:txStyles><p:bodyStyle><a:lvl1pPr><a:buChar char="•"/></a:lvl1pPr></p:bodyStyle></p:txStyles>'
    parts = {
        "ppt/layout.xml": f"<p:sldLayout {NAMESPACES}><p:cSld><p:spTree>{placed}</p:spTree></p:cSld></p:sldLayout>",
        "ppt/_rels/layout.xml.rels": relationships({"m:slideMaster": "master.xml"}),
        "ppt/master.xml": f"<p:sldMaster {NAMESPACES}>{style}</p:sldMaster>",
    }
    slide = shape("lower", top=3) + body.format(text)
    assert elements(opened(tmp_path, slide, parts=parts, links={"l:slideLayout": "../layout.xml"})) == [
        ("list", {"ordered": False, "items": ["point"]}),
        ("text", {"text": "lower"}),
    ]


def test_the_members_of_a_group_stay_together(tmp_path: Path) -> None:
    frame = '<p:grpSpPr><a:xfrm><a:off x="0" y="914400"/><a:ext cx="9" cy="9"/></a:xfrm></p:grpSpPr>'
    group = f"<p:grpSp>{frame}{shape('in 2', top=9)}{shape('in 1', top=1)}</p:grpSp>"
    found = elements(opened(tmp_path, shape("after", top=3) + group + shape("before")))
    assert [content["text"] for _, content in found] == ["before", "in 1", "in 2", "after"]


def test_shapes_in_groups_of_groups_are_read(tmp_path: Path) -> None:
    assert elements(opened(tmp_path, "<p:grpSp>" * 100 + shape("deep") + "</p:grpSp>" * 100)) == [
        ("text", {"text": "deep"})
    ]


def test_controls_and_the_picture_behind_a_slide_are_told_last(tmp_path: Path) -> None:
    controls = '<p:controls><p:control name="Agree" r:id="c"/></p:controls>'
    behind = '<p:bg><p:bgPr><a:blipFill><a:blip r:embed="b"/><a:stretch/></a:blipFill></p:bgPr></p:bg>'
    slide = f"<p:sld {NAMESPACES}><p:cSld>{behind}<p:spTree>{shape('words')}</p:spTree>{controls}</p:cSld></p:sld>"
    parts: dict[str, str | bytes] = {
        "ppt/slides/slide1.xml": slide,
        "ppt/activeX/x.xml": '<ocx classid="{D7053240-CE69-11CD-A777-00DD01143C57}"/>',
        "ppt/media/scan.png": b"png",
    }
    found = opened(tmp_path, "", parts=parts, links={"c:control": "../activeX/x.xml", "b:image": "../media/scan.png"})
    assert elements(found) == [
        ("text", {"text": "words"}),
        ("widget", {"widget_type": "button", "name": "Agree"}),
        ("image", {"mime_type": "image/png"}),
    ]
    assert isinstance(found, Illustrated)
    assert found.element_image("p0-img-001") == ("image/png", b"png")


def test_connected_shapes_are_a_diagram(tmp_path: Path) -> None:
    line = (
        '<p:cxnSp><p:nvCxnSpPr><p:cNvCxnSpPr><a:stCxn id="1"/><a:endCxn id="2"/></p:cNvCxnSpPr></p:nvCxnSpPr></p:cxnSp>'
    )
    slide = shape("start", key=1) + shape("end", key=2, left=3) + line + shape("alone", key=3, top=5)
    assert elements(opened(tmp_path, slide)) == [
        (
            "diagram",
            {
                "diagram_type": "connected shapes",
                "description": "start; end",
                "nodes": [{"id": "n1", "text": "start"}, {"id": "n2", "text": "end"}],
                "edges": [{"source": "n1", "target": "n2"}],
            },
        ),
        ("text", {"text": "alone"}),
    ]


def frame(inside: str, alt: str = "") -> str:
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" name="Frame" descr="{alt}"/></p:nvGraphicFramePr>'
        f"<a:graphic><a:graphicData>{inside}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def test_tables_keep_header_and_merged_cells(tmp_path: Path) -> None:
    def cell(text: str, spans: str = "") -> str:
        return f"<a:tc {spans}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"

    both, none = cell("a", 'gridSpan="2"'), cell("", 'hMerge="1"')
    first = f"<a:tr>{both}{none}</a:tr>"
    table = f'<a:tbl><a:tblPr firstRow="1"/>{first}<a:tr>{cell("1")}{cell("2")}</a:tr></a:tbl>'
    assert elements(opened(tmp_path, frame(table, "Sums"))) == [
        (
            "table",
            {
                "headers": ["a", ""],
                "rows": [["1", "2"]],
                "merged": [{"row": 0, "column": 0, "row_span": 1, "column_span": 2}],
                "caption": "Sums",
            },
        )
    ]


def test_charts_and_smart_art_are_read_from_their_parts(tmp_path: Path) -> None:
    chart = (
        f'<c:chartSpace xmlns:c="{CHART}"><c:chart><c:plotArea><c:pieChart><c:ser><c:val><c:numLit><c:pt idx="0">'
        "<c:v>3</c:v></c:pt></c:numLit></c:val></c:ser></c:pieChart></c:plotArea></c:chart></c:chartSpace>"
    )
    point = '<dgm:pt modelId="{}" type="{}"><dgm:t><a:p><a:r><a:t>{}</a:t></a:r></a:p></dgm:t></dgm:pt>'
    points = point.format(0, "doc", "") + point.format(1, "node", "Plan") + point.format(2, "node", "Step")
    data = (
        f"<dgm:dataModel {NAMESPACES}><dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>"
        '<dgm:cxn modelId="9" srcId="1" destId="2"/></dgm:cxnLst></dgm:dataModel>'
    )
    slide = frame('<c:chart r:id="c"/>', "Shares") + frame('<dgm:relIds r:dm="d"/>')
    links = {"c:chart": "../c.xml", "d:diagramData": "../d.xml"}
    found = elements(opened(tmp_path, slide, parts={"ppt/c.xml": chart, "ppt/d.xml": data}, links=links))
    assert found == [
        (
            "chart",
            {
                "chart_type": "pie",
                "title": "Shares",
                "data_summary": "Pie chart of 1 series: Series 1 3",
                "series": [{"name": "Series 1", "values": [3]}],
            },
        ),
        (
            "diagram",
            {
                "diagram_type": "SmartArt",
                "nodes": [{"id": "n1", "text": "Plan"}, {"id": "n2", "text": "Step", "parent": "n1"}],
                "description": "Plan; Step",
            },
        ),
    ]


def picture(media: str = "", alt: str = "A duck") -> str:
    return (
        f'<p:pic><p:nvPicPr><p:cNvPr id="4" name="Clip" descr="{alt}"/><p:cNvPicPr/><p:nvPr>{media}</p:nvPr>'
        '</p:nvPicPr><p:blipFill><a:blip r:embed="i"/></p:blipFill></p:pic>'
    )


def test_pictures_sound_and_film_are_told_apart(tmp_path: Path) -> None:
    slide = picture() + picture('<a:videoFile r:link="v"/>', "") + picture('<a:audioFile r:link="a"/>', "")
    links = {"i:image": "../media/x.png", "v:video": "../media/v.mp4", "a:audio": "https://example.org/a.mp3"}
    parts: dict[str, str | bytes] = {"ppt/media/x.png": b"png", "ppt/media/v.mp4": b""}
    found = opened(tmp_path, slide, parts=parts, links=links)
    assert elements(found) == [
        ("image", {"alt": "A duck", "mime_type": "image/png"}),
        ("video", {"title": "Clip", "mime_type": "video/mp4"}),
        ("audio", {"title": "Clip", "mime_type": "audio/mpeg", "url": "https://example.org/a.mp3"}),
    ]
    assert isinstance(found, Illustrated)
    assert found.element_image("p0-img-001") == ("image/png", b"png")
    assert [found.element_image(key) for key in ("p0-vid-001", "p9-img-001", "x")] == [None, None, None]


def test_links_lead_outside_or_to_another_slide(tmp_path: Path) -> None:
    link = '<a:p><a:r><a:rPr><a:hlinkClick r:id="{}"/></a:rPr><a:t>{}</a:t></a:r></a:p>'
    slide = shape("", inside=link.format("x", "site") + link.format("s", "next"))
    links = {"x:hyperlink": "https://example.org/", "s:slide": "slide2.xml"}
    assert elements(opened(tmp_path, slide, shape("two"), links=links)) == [
        ("link", {"text": "site", "url": "https://example.org/"}),
        ("link", {"text": "next", "url": "#slide-2"}),
    ]


def test_emphasis_and_links_inside_a_text_are_its_spans(tmp_path: Path) -> None:
    runs = (
        '<a:p><a:r><a:t>See </a:t></a:r><a:r><a:rPr b="1"><a:hlinkClick r:id="x"/></a:rPr><a:t>this</a:t></a:r>'
        '<a:r><a:rPr strike="sngStrike"/><a:t> gone</a:t></a:r></a:p>'
    )
    links = {"x:hyperlink": "https://example.org/"}
    assert elements(opened(tmp_path, shape("", inside=runs), links=links)) == [
        (
            "text",
            {
                "text": "See this gone",
                "spans": [
                    {"start": 4, "end": 8, "kind": "link", "url": "https://example.org/"},
                    {"start": 4, "end": 8, "kind": "strong"},
                    {"start": 9, "end": 13, "kind": "strike"},
                ],
            },
        )
    ]


def test_equations_are_formulas(tmp_path: Path) -> None:
    equation = f'<a14:m xmlns:a14="urn:a14"><m:oMath xmlns:m="{MATH}"><m:r><m:t>x=1</m:t></m:r></m:oMath></a14:m>'
    assert elements(opened(tmp_path, shape("", inside=f"<a:p>{equation}</a:p>"))) == [
        ("formula", {"expression": "x=1", "notation": "latex"})
    ]


def test_footers_notes_and_comments_close_a_slide(tmp_path: Path) -> None:
    comment = '<p:cm authorId="0" dt="2024-05-01"><p:text>why?</p:text></p:cm>'
    parts = {
        "ppt/notes.xml": f"<p:notes {NAMESPACES}><p:cSld><p:spTree>{shape('say it', role='body')}"
        f"{shape('1', role='sldNum')}</p:spTree></p:cSld></p:notes>",
        "ppt/comments.xml": f"<p:cmLst {NAMESPACES}>{comment}</p:cmLst>",
        "ppt/authors.xml": f'<p:cmAuthorLst {NAMESPACES}><p:cmAuthor id="0" name="Ann"/></p:cmAuthorLst>',
        "ppt/_rels/presentation.xml.rels": relationships(
            {"s0:slide": "slides/slide1.xml", "a:commentAuthors": "authors.xml"}
        ),
    }
    slide = shape("words") + shape("confidential", role="ftr", top=9) + shape("3", role="sldNum", top=9)
    links = {"n:notesSlide": "../notes.xml", "c:comments": "../comments.xml"}
    assert elements(opened(tmp_path, slide, parts=parts, links=links)) == [
        ("text", {"text": "words"}),
        ("footer", {"text": "confidential · 3"}),
        ("annotation", {"text": "say it", "annotation_type": "notes"}),
        ("annotation", {"text": "why?", "author": "Ann", "created": "2024-05-01", "annotation_type": "comment"}),
    ]


def test_a_hidden_slide_is_named_as_such(tmp_path: Path) -> None:
    slide = f'<p:sld {NAMESPACES} show="0"><p:cSld><p:spTree>{shape("T", role="title")}</p:spTree></p:cSld></p:sld>'
    found = opened(tmp_path, "", parts={"ppt/slides/slide1.xml": slide})
    assert found.page(0).title == "T (hidden)"


def test_an_empty_slide_still_has_a_name(tmp_path: Path) -> None:
    assert opened(tmp_path, "").page(0) == Page(0, "Slide 1")


def test_another_kind_of_document_is_refused(tmp_path: Path) -> None:
    path = presentation(tmp_path / "file.pptx", [], {"ppt/presentation.xml": "<workbook/>"})
    with pytest.raises(DocumentError, match="not a presentation"):
        FORMAT.open(path)
