"""Drawings of Word documents, new and old."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.docx import FORMAT
from tests.unit.documents.ooxml.office import CHART, NAMESPACES, document, paragraph

NOTHING: Mapping[str, str] = {}


def elements(
    folder: Path, inside: str, parts: Mapping[str, str] = NOTHING, links: Mapping[str, str] = NOTHING
) -> list[tuple[str, dict[str, Any]]]:
    found = FORMAT.open(document(folder / "file.docx", f"<w:p><w:r>{inside}</w:r></w:p>", parts, links))
    return [
        (element.category, dict(validate_content(element.category, element.content)))
        for element in found.page(0).elements
    ]


def drawing(inside: str, alt: str = "") -> str:
    about = f'<wp:docPr id="1" name="Drawing 1" descr="{alt}"/>'
    graphic = f"<a:graphic><a:graphicData>{inside}</a:graphicData></a:graphic>"
    return f"<w:drawing><wp:inline>{about}{graphic}</wp:inline></w:drawing>"


def box(*texts: str) -> str:
    return f"<wps:wsp><wps:txbx><w:txbxContent>{''.join(map(paragraph, texts))}</w:txbxContent></wps:txbx></wps:wsp>"


def test_charts_and_smart_art_are_read_from_their_parts(tmp_path: Path) -> None:
    chart = (
        f'<c:chartSpace xmlns:c="{CHART}"><c:chart><c:plotArea><c:pieChart><c:ser><c:val><c:numLit><c:pt idx="0">'
        "<c:v>3</c:v></c:pt></c:numLit></c:val></c:ser></c:pieChart></c:plotArea></c:chart></c:chartSpace>"
    )
    point = '<dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt>'
    data = f"<dgm:dataModel {NAMESPACES}><dgm:ptLst>{point}</dgm:ptLst></dgm:dataModel>"
    inside = drawing('<c:chart r:id="c"/>', "Shares") + drawing('<dgm:relIds r:dm="d"/>', "The plan")
    links = {"c:chart": "c.xml", "d:diagramData": "d.xml"}
    first, second = elements(tmp_path, inside, {"word/c.xml": chart, "word/d.xml": data}, links)
    assert (first[0], first[1]["title"], first[1]["series"]) == (
        "chart",
        "Shares",
        [{"name": "Series 1", "values": [3]}],
    )
    assert second == (
        "diagram",
        {
            "diagram_type": "SmartArt",
            "nodes": [{"id": "n1", "text": "Plan"}],
            "description": "Plan",
            "title": "The plan",
        },
    )


def canvas(*texts: str) -> str:
    shapes = "".join(
        f"<a:sp><a:txSp><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:txSp></a:sp>" for text in texts
    )
    return drawing(f'<lc:lockedCanvas xmlns:lc="urn:lc">{shapes}</lc:lockedCanvas>')


def test_shapes_pasted_from_another_program_keep_their_words(tmp_path: Path) -> None:
    nodes = [{"id": "n1", "text": "Sun"}, {"id": "n2", "text": "Moon"}]
    assert elements(tmp_path, canvas("Sun", "", "Moon") + canvas("Alone")) == [
        ("diagram", {"diagram_type": "drawing", "nodes": nodes, "description": "Sun; Moon"}),
        ("text", {"text": "Alone"}),
    ]


def test_a_control_tells_its_kind_and_name(tmp_path: Path) -> None:
    inside = '<w:object><w:control r:id="c" w:name="Agree"/></w:object><w:object><w:control w:name="Lost"/></w:object>'
    parts = {"word/x.xml": '<ax:ocx xmlns:ax="urn:ax" ax:classid="{8BD21D40-EC42-11CE-9E0D-00AA006002F3}"/>'}
    assert elements(tmp_path, inside, parts, {"c:control": "x.xml"}) == [
        ("widget", {"widget_type": "checkbox", "name": "Agree"}),
        ("widget", {"widget_type": "control", "name": "Lost"}),
    ]


def test_a_group_of_text_boxes_is_a_diagram(tmp_path: Path) -> None:
    assert elements(tmp_path, drawing(box("start") + box("go", "on"), "Flow")) == [
        (
            "diagram",
            {
                "diagram_type": "drawing",
                "nodes": [{"id": "n1", "text": "start"}, {"id": "n2", "text": "go\non"}],
                "description": "start; go on",
                "title": "Flow",
            },
        )
    ]


def test_pictures_in_a_group_are_told_one_by_one(tmp_path: Path) -> None:
    picture = '<pic:pic><pic:nvPicPr><pic:cNvPr id="{0}" name="P{0}" descr="{1}"/></pic:nvPicPr></pic:pic>'
    assert elements(tmp_path, drawing(picture.format(1, "one") + picture.format(2, "two"), "both")) == [
        ("image", {"alt": "one"}),
        ("image", {"alt": "two"}),
    ]


def test_a_picture_that_is_only_linked_has_its_address(tmp_path: Path) -> None:
    picture = '<pic:pic><pic:blipFill><a:blip r:link="x"/></pic:blipFill></pic:pic>'
    assert elements(tmp_path, drawing(picture), links={"x:image": "https://example.org/a.png"}) == [
        ("image", {"url": "https://example.org/a.png"})
    ]


def test_older_drawings_are_read(tmp_path: Path) -> None:
    shape = '<v:shape alt="A seal"><v:imagedata r:id="i" o:title="seal"/></v:shape>'
    old = f"<w:pict>{shape}<v:textbox><w:txbxContent>{paragraph('in a box')}</w:txbxContent></v:textbox></w:pict>"
    embedded = '<w:object><o:OLEObject ProgID="Excel.Sheet.12"/></w:object>'
    assert elements(tmp_path, old + embedded, {"word/seal.wmf": ""}, {"i:image": "seal.wmf"}) == [
        ("image", {"alt": "A seal", "mime_type": "image/wmf"}),
        ("text", {"text": "in a box"}),
        ("widget", {"widget_type": "embedded object", "name": "Excel.Sheet.12"}),
    ]


def test_a_picture_in_a_box_of_a_group_is_not_lost(tmp_path: Path) -> None:
    picture = drawing('<pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="P" descr="A duck"/></pic:nvPicPr></pic:pic>')
    second = box("y").replace("<w:t ", f"{picture}<w:t ")
    assert [category for category, _ in elements(tmp_path, drawing(box("x") + second))] == ["diagram", "image"]


def test_lists_and_tables_in_a_group_keep_their_words(tmp_path: Path) -> None:
    table = f"<w:tbl><w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr></w:tbl>"
    second = f"<wps:wsp><wps:txbx><w:txbxContent>{table}</w:txbxContent></wps:txbx></wps:wsp>"
    assert elements(tmp_path, drawing(box("x") + second))[0][1]["nodes"] == [
        {"id": "n1", "text": "x"},
        {"id": "n2", "text": "a | b"},
    ]
