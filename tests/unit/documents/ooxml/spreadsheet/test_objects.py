"""What lies on a sheet besides its cells."""

from pathlib import Path

from a2c_smcp.documents.content import validate_content
from a2c_smcp.documents.formats.xlsx import FORMAT
from tests.unit.documents.ooxml.office import cells, relationships, workbook, worksheet


def test_form_controls_are_widgets(tmp_path: Path) -> None:
    control = '<formControlPr objectType="{}" {}/>'
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": relationships({"a:ctrlProp": "../a.xml", "b:ctrlProp": "../b.xml"}),
        "xl/a.xml": control.format("CheckBox", 'checked="Checked" fmlaLink="$B$2"'),
        "xl/b.xml": control.format("Drop", 'fmlaRange="$D$1:$D$3"'),
    }
    path = workbook(tmp_path / "book.xlsx", {"S": worksheet(cells((1, {"A": "words"})))}, parts)
    widgets = [element for element in FORMAT.open(path).page(0).elements if element.category == "widget"]
    assert [dict(validate_content("widget", widget.content)) for widget in widgets] == [
        {"widget_type": "checkbox", "name": "B2", "value": True},
        {"widget_type": "dropdown", "description": "one of D1:D3"},
    ]
