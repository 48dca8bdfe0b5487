"""Controls to fill in: content controls, and the form fields of older documents."""

from dataclasses import dataclass
from typing import Any

from a2c_smcp.documents.ooxml.xml import Node, attribute, child, children, is_on, local, number, value_of

_KINDS = {
    "checkbox": "checkbox",
    "dropDownList": "choice",
    "comboBox": "choice",
    "date": "date",
    "text": "text",
    "picture": "picture",
    "richText": "text",
}


@dataclass(slots=True)
class Control:
    """A field with what is filled in; `label` is added by whoever knows the text around it."""

    kind: str
    name: str
    value: str | bool | None
    options: list[str]
    label: str = ""

    def as_field(self, number_: int) -> dict[str, Any]:
        """Return it as a field of a form."""
        field: dict[str, Any] = {"name": self.name or self.label or f"field {number_}", "field_type": self.kind}
        if self.label:
            field["label"] = self.label
        if self.value is not None:
            field["value"] = self.value
        if self.options:
            field["options"] = self.options
        return field

    def as_widget(self) -> dict[str, Any]:
        """Return it as a control of its own."""
        widget: dict[str, Any] = {"widget_type": self.kind}
        if self.name:
            widget["name"] = self.name
        if self.label:
            widget["label"] = self.label
        if self.value is not None:
            widget["value"] = self.value
        if self.options:
            widget["options"] = self.options
        return widget


def read_control(node: Node, shown: str) -> Control | None:
    """Return a content control; None for those that only hold things together, like a table of contents."""
    properties = child(node, "sdtPr")
    kind_node = next((part for part in properties if local(part) in _KINDS), None) if properties is not None else None
    if properties is None or kind_node is None:
        return None
    kind = _KINDS[local(kind_node)]
    name = value_of(properties, "alias") or value_of(properties, "tag")
    value: str | bool | None = shown
    if kind == "checkbox":
        value = is_on(value_of(kind_node, "checked", default="0"))
    elif child(properties, "showingPlcHdr") is not None and is_on(child_value(properties, "showingPlcHdr")):
        value = None
    options = [attribute(item, "displayText") or attribute(item, "value") for item in children(kind_node, "listItem")]
    return Control(kind, name, value, [option for option in options if option])


def child_value(node: Node, name: str) -> str | None:
    """Return the value of a child, None where it has none."""
    found = child(node, name)
    return attribute(found, "val") or None if found is not None else None


def legacy_control(node: Node, shown: str) -> Control | None:
    """Return the form field that begins at a field mark, None where there is none."""
    data = child(node, "ffData")
    if data is None:
        return None
    name = value_of(data, "name")
    box, choice = child(data, "checkBox"), child(data, "ddList")
    if box is not None:
        state = child(box, "checked") if child(box, "checked") is not None else child(box, "default")
        return Control("checkbox", name, state is not None and is_on(attribute(state, "val") or None), [])
    if choice is not None:
        options = [attribute(entry, "val") for entry in children(choice, "listEntry")]
        at = number(value_of(choice, "result", default="0"))
        return Control("choice", name, options[at] if 0 <= at < len(options) else None, options)
    return Control("text", name, shown.strip("\u2002 ") or None, [])
