"""Small Office files, written part by part, so that a test shows all that matters of its file."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

OFFICE = "http://schemas.openxmlformats.org"
MAIN = f"{OFFICE}/spreadsheetml/2006/main"
RELATIONSHIPS = f"{OFFICE}/officeDocument/2006/relationships"
WORD = f"{OFFICE}/wordprocessingml/2006/main"
DRAWING = f"{OFFICE}/drawingml/2006/main"
CHART = f"{OFFICE}/drawingml/2006/chart"
SLIDE = f"{OFFICE}/presentationml/2006/main"
MATH = f"{OFFICE}/officeDocument/2006/math"
NAMESPACES = (
    f'xmlns:w="{WORD}" xmlns:r="{RELATIONSHIPS}" xmlns:a="{DRAWING}" xmlns:c="{CHART}" xmlns:p="{SLIDE}" '
    f'xmlns:m="{MATH}" xmlns:wp="{OFFICE}/drawingml/2006/wordprocessingDrawing" '
    f'xmlns:pic="{OFFICE}/drawingml/2006/picture" xmlns:dgm="{OFFICE}/drawingml/2006/diagram" '
    f'xmlns:xdr="{OFFICE}/drawingml/2006/spreadsheetDrawing" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
)


def relationships(targets: Mapping[str, str]) -> str:
    """Targets by `id:kind`; addresses with a colon lead outside."""
    entries = []
    for key, target in targets.items():
        name, _, kind = key.partition(":")
        mode = ' TargetMode="External"' if ":" in target else ""
        entries.append(f'<Relationship Id="{name}" Type="{RELATIONSHIPS}/{kind or name}" Target="{target}"{mode}/>')
    return f'<Relationships xmlns="{OFFICE}/package/2006/relationships">{"".join(entries)}</Relationships>'


def write(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def core(**properties: str) -> str:
    fields = "".join(f"<{name}>{text}</{name}>" for name, text in properties.items())
    return f"<coreProperties>{fields}</coreProperties>"


def worksheet(rows: str, after: str = "", before: str = "") -> str:
    return (
        f'<worksheet xmlns="{MAIN}" xmlns:r="{RELATIONSHIPS}">{before}<sheetData>{rows}</sheetData>{after}</worksheet>'
    )


def cells(*lines: tuple[int, Mapping[str, object]]) -> str:
    """Rows by number, cells by column; text becomes inline strings, `=…` a formula without a value."""
    return "".join(
        f'<row r="{number}">{"".join(_cell(f"{column}{number}", value) for column, value in row.items())}</row>'
        for number, row in lines
    )


def _cell(reference: str, value: object) -> str:
    match value:
        case bool():
            return f'<c r="{reference}" t="b"><v>{int(value)}</v></c>'
        case tuple():
            formula, result = value
            return f'<c r="{reference}"><f>{formula}</f><v>{result}</v></c>'
        case str():
            return f'<c r="{reference}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{reference}"><v>{value}</v></c>'


def workbook(
    path: Path, sheets: Mapping[str, str], parts: Mapping[str, str | bytes] = {}, *, states: Mapping[str, str] = {}
) -> Path:
    """Sheets by name; `parts` adds to the package or replaces what is there."""
    entries = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="s{at}" {f"""state="{states[name]}" """ if name in states else ""}/>'
        for at, name in enumerate(sheets, 1)
    )
    targets = {f"s{at}:worksheet": f"worksheets/sheet{at}.xml" for at in range(1, len(sheets) + 1)}
    targets |= {"strings:sharedStrings": "sharedStrings.xml", "styles:styles": "styles.xml"}
    whole: dict[str, str | bytes] = {
        "_rels/.rels": relationships({"main:officeDocument": "xl/workbook.xml"}),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONSHIPS}"><sheets>{entries}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relationships(targets),
    }
    whole |= {f"xl/worksheets/sheet{at}.xml": xml for at, xml in enumerate(sheets.values(), 1)}
    return write(path, whole | dict(parts))


def document(path: Path, body: str, parts: Mapping[str, str | bytes] = {}, links: Mapping[str, str] = {}) -> Path:
    """A Word document; `links` are the relationships of its main part."""
    whole: dict[str, str | bytes] = {
        "_rels/.rels": relationships({"main:officeDocument": "word/document.xml"}),
        "word/document.xml": f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relationships(links),
    }
    return write(path, whole | dict(parts))


def paragraph(text: str, properties: str = "") -> str:
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def styled(text: str, style: str) -> str:
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


HEADINGS = (
    f"<w:styles {NAMESPACES}>"
    + "".join(
        f'<w:style w:type="paragraph" w:styleId="H{level}"><w:name w:val="heading {level}"/></w:style>'
        for level in range(1, 4)
    )
    + "</w:styles>"
)


def presentation(
    path: Path, slides: list[str], parts: Mapping[str, str | bytes] = {}, links: Mapping[int, Mapping[str, str]] = {}
) -> Path:
    """Slides by the shapes on them; `links` are the relationships of a slide, by its index."""
    ids = "".join(f'<p:sldId id="{256 + at}" r:id="s{at}"/>' for at in range(len(slides)))
    targets = {f"s{at}:slide": f"slides/slide{at + 1}.xml" for at in range(len(slides))}
    whole: dict[str, str | bytes] = {
        "_rels/.rels": relationships({"main:officeDocument": "ppt/presentation.xml"}),
        "ppt/presentation.xml": f"<p:presentation {NAMESPACES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relationships(targets),
    }
    for at, shapes in enumerate(slides):
        tree = f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
        whole[f"ppt/slides/slide{at + 1}.xml"] = f"<p:sld {NAMESPACES}>{tree}</p:sld>"
        whole[f"ppt/slides/_rels/slide{at + 1}.xml.rels"] = relationships(links.get(at, {}))
    return write(path, whole | dict(parts))


def shape(text: str, *, role: str = "", top: int = 0, left: int = 0, key: int = 1, inside: str = "") -> str:
    """A shape with a text of one paragraph a line, at a place in inches."""
    place = f'<a:xfrm><a:off x="{left * 914_400}" y="{top * 914_400}"/><a:ext cx="914400" cy="914400"/></a:xfrm>'
    paragraphs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{key}" name="Shape {key}"/><p:cNvSpPr/>'
        f'<p:nvPr>{f"""<p:ph type="{role}"/>""" if role else ""}</p:nvPr></p:nvSpPr><p:spPr>{place}</p:spPr>'
        f"<p:txBody>{inside or paragraphs}</p:txBody></p:sp>"
    )
